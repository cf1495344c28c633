#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record --at: everything is attached beforehand, and what begins at TIME or later is stored.

load ../lib/helpers

setup() {
	requires root bpf sim sqlite3
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sql FILE SELECT
sql() {
	sqlite3 "$1" "$2"
}

# meta FILE NAME: of META_DATA_CAPTURE.
meta() {
	sql "$1" "SELECT value FROM META_DATA_CAPTURE WHERE name = '$2'"
}

# times FILE: when its first launch begins and its last one does, ns after the beginning of the recording.
times() {
	sql "$1" "SELECT min(start) || ' ' || max(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
}

@test "record --at -d (12 recorders of one program) all begin and end at the same moment" {
	local n=${RECORDERS:-12} i at pids=() first last
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 120 -p 200
	ready storm
	# All are attached by then, however busy the machine is; else they say so.
	at=$(($(date +%s) + n * 5 / 4))
	for ((i = 0; i < n; i++)); do
		ct record -q -e kernels -p "$storm_PID" --at "@$at.25" -d 500ms -o "r$i.db" 2>"err$i" 3>&- &
		pids+=($!)
	done
	for ((i = 0; i < n; i++)); do
		wait "${pids[i]}" || fail "recorder $i: $(cat "err$i")"
		refute grep 'time of --at' "err$i"
	done
	for ((i = 0; i < n; i++)); do
		assert_equal "$(meta "r$i.db" BEGIN_UTC_NS)" "${at}250000000"
		assert_equal "$(meta "r$i.db" AT)" "$(date -u -d "@$at" +%Y-%m-%dT%H:%M:%S).250000000Z"
		assert_equal "$(sql "r$i.db" 'SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME')" "${at}250000000"
		meta "r$i.db" BEGIN_MONOTONIC_NS >>begins
		read -r first last <<<"$(times "r$i.db")"
		echo "$((first + $(tail -n 1 begins)))" >>firsts
		echo "$((last + $(tail -n 1 begins)))" >>lasts
		((first >= 0 && last < 500000000)) || fail "recorder $i has launches from $first to $last"
		# Nor does any kernel begin before.
		assert_equal "$(sql "r$i.db" 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < 0 OR start >= 500000000')" 0
	done
	# Beginnings by CLOCK_MONOTONIC, which launches have: first and last launches are the same ones.
	for i in begins firsts lasts; do
		sort -n "$i" | awk -v count="$n" 'NR == 1 { least = substr($1, length($1) - 14) } { most = substr($1, length($1) - 14) }
			END { exit !(NR == count && most - least < 1000000) }' || fail "$i: $(sort -n "$i")"
	done
}

@test "record --at (PROGRAM) starts it at once, and stores what begins from TIME on" {
	# On a busy machine, attaching takes up to two seconds.
	ct record -f -q -o r.db --at +3 -- "$SIM" "$WORKLOADS/launch-storm" -s 5 -p 1000 >out 2>err
	assert_equal "$(cat err)" ''
	read -r first last <<<"$(times r.db)"
	# Its launches go on for 5 s from its start on: some of them are before.
	((first >= 0 && last > 0 && last < 5000000000)) || fail "launches from $first to $last"
	assert_equal "$(sql r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < 0")" 0
	assert_equal "$(sql r.db 'SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST')" 0
}

@test "record --at --steps counts steps from TIME on, and --idle cuts waits at it" {
	ct record -f -q -o r.db --at +1 --idle -e kernels,nvtx -- "$SIM" "$WORKLOADS/launch-storm" -s 2 -p 1000 >out 2>err
	assert_equal "$(sql r.db 'SELECT count(*) > 0, min(start) >= 0 FROM CUDA_TRACE_THREAD_STATES')" '1|1'
	# All steps of this program are over by then.
	run -0 --separate-stderr ct record -f -o r.db --at +2 --steps 2 -- bash -c '"$0" "$1" torch 4; sleep 3' "$SIM" "$WORKLOADS/windows"
	[[ $stderr == *"nothing was collected: no NVTX range was seen at all"* ]] || fail "$stderr"
}

@test "record --at (an interrupt before TIME) has no events, and says why" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	start recorder "$CUDA_TRACE" record -v -o r.db -p "$storm_PID" --at +3600
	wait_for 30 test -e r.db.part
	wait_for 30 grep -q "$AGENT" /proc/"$storm_PID"/maps
	kill -INT "$recorder_PID"
	wait_for 30 test -e r.db
	wait_for 30 grep -q 'recording ended before the time of --at' recorder.err
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 0
	assert_equal "$(meta r.db BEGIN_UTC_NS)" ''
	[[ $(meta r.db AT) == *Z ]]
}

@test "record --at (TIME in the past, or no time) is wrong usage, on one line" {
	local text
	for text in @1000000000 2020-01-01T00:00:00Z 2020-01-01T00:00:00.5+01:00; do
		run -2 --separate-stderr ct record --at "$text" -p 1
		assert_equal "${#stderr_lines[@]}" 1
		assert_equal "$stderr" "cuda-trace record: --at: $text is in the past (see cuda-trace record --help)"
	done
	for text in now 25:00 12:60 12 +x @ 2099-13-01T00:00:00Z 2099-01-01T00:00:00 2099-02-30T01:00:00Z '@5 ' 12:00:00.; do
		run -2 --separate-stderr ct record --at "$text" -p 1
		assert_equal "${#stderr_lines[@]}" 1
		[[ $stderr == *"--at wants a time such as 14:30"*"not '$text'"* ]] || fail "$text: $stderr"
	done
	run -2 --separate-stderr ct record --at @99999999999 -p 1
}

@test "start_time (every form of a time, in two time zones) has the right moment" {
	cc -D_GNU_SOURCE -I"$TOP" -o times -x c - "$(tool_sources start_time)" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/cli/start_time.h"
int main(int argc, char **argv)
{
	uint64_t now = strtoull(argv[1], NULL, 10), time = 0;
	char text[48];
	for (int i = 2; i < argc; i++) {
		int err = start_time__parse(argv[i], now, &time);
		printf("%s\n", err ? "error" : start_time__utc(text, sizeof(text), time));
	}
}
C
	# 2026-11-26T13:30:00Z.
	run -0 env TZ=UTC ./times 1795699800000000000 14:00 13:30:00 13:29:59.5 9:05 +1.25 @1795699800.000000001 \
		2026-11-26T13:30:00Z 2026-11-26t15:30:01.123456789123+02:00 '2026-11-26 13:00:00-01:00' 2026-11-26T13:29:59Z
	assert_output "2026-11-26T14:00:00.000000000Z
2026-11-27T13:30:00.000000000Z
2026-11-27T13:29:59.500000000Z
2026-11-27T09:05:00.000000000Z
2026-11-26T13:30:01.250000000Z
2026-11-26T13:30:00.000000001Z
2026-11-26T13:30:00.000000000Z
2026-11-26T13:30:01.123456789Z
2026-11-26T14:00:00.000000000Z
error"
	run -0 env TZ=EST5 ./times 1795699800000000000 08:30:00.5 08:00
	assert_output "2026-11-26T13:30:00.500000000Z
2026-11-27T13:00:00.000000000Z"
}
