#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Process numbers that are used again while a tool looks on: what the first one did is not taken for
# the second's, each has its own name and container, and nothing is lost.

load ../lib/helpers

setup() {
	requires bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
	cc -std=gnu11 -D_GNU_SOURCE -o with_pid "$TOP/tests/capture/with_pid.c"
	# As it was used a moment ago, nobody gets it by itself before all others.
	NUMBER=$(($(cat /proc/sys/kernel/ns_last_pid) - 3))
	while [ -e "/proc/$NUMBER" ]; do NUMBER=$((NUMBER - 1)); done
	./with_pid "$NUMBER" true || skip "no process can be given a number here"
	ID=$((RANDOM % 1000))
	cp "$WORKLOADS/launch-storm" "./first$ID"
	cp "$WORKLOADS/launch-storm" "./second$ID"
	groups=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	[ -w "$groups" ] || skip "needs a writable cgroup version 2"
	FIRST=$(printf '%064x' $((1000000 + $$))) SECOND=$(printf '%064x' $((2000000 + $$)))
	# Below one of our own: programs of others are nobody's business here.
	ABOVE=$groups/reuse-$$
	GROUPS_MADE=("$ABOVE/docker-a${FIRST:1}.scope" "$ABOVE/docker-b${SECOND:1}.scope")
	mkdir "$ABOVE" "${GROUPS_MADE[@]}"
}

teardown() {
	[ -z "${tool_PID:-}" ] || kill -CONT "$tool_PID" 2>/dev/null || true
	stop_started
	[ -z "${GROUPS_MADE:-}" ] || wait_for 10 rmdir "${GROUPS_MADE[@]}" "$ABOVE" 2>/dev/null
}

# numbered WHICH ENV... -- ARGS...: launch-storm as process $NUMBER under the name and in the
# container of its own: first or second.
numbered() {
	local which=$1 group=${GROUPS_MADE[0]} environment=()
	[ "$which" = first ] || group=${GROUPS_MADE[1]}
	shift
	while [ "$1" != -- ]; do environment+=("$1"); shift; done
	shift
	start "$which" ./with_pid "$NUMBER" sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$group" \
		env "${environment[@]}" "$SIM" "./$which$ID" "$@"
}

# over WHICH: waits for its end.
over() {
	local pid=${1}_PID
	finished "${!pid}"
	assert_equal "$1 $status" "$1 0"
}

scrape() {
	curl -sS -f --max-time 20 -o scrape "$URL/metrics"
}

exporter() {
	start tool "${CUDA_TRACE[@]}" metrics --listen 127.0.0.1:0 --by-pid "$@"
	wait_for 15 grep -q 'listening on' tool.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' tool.err)
}

# of WHICH METRIC: the metric's value for it, with its own container and number, in $value; nothing of
# it is under other labels.
of() {
	local container=a${FIRST:1:11}
	[ "$1" = first ] || container=b${SECOND:1:11}
	value=$(awk -v name="$2" -v comm="comm=\"$1$ID\"" -v container="container_id=\"$container\"" -v pid="pid=\"$NUMBER\"" '
		index($1, name "{") == 1 && index($0, comm) {
			if (index($0, container) && index($0, pid)) sum += $NF
			else { print "other labels: " $0; exit } }
		END { print sum + 0 }' scrape)
}

counted() {
	local which
	for which in first second; do
		of $which cuda_kernel_launches_total
		assert_equal "$which $value" "$which $(expect_key $which.out launches)"
	done
}

# Should programs of others run here, what was lost may be theirs.
nothing_lost() {
	if grep '^cuda_kernel_launches_total{' scrape | grep -qv "comm=\"\(first\|second\)$ID\""; then return; fi
	assert_equal "$(awk '/^cuda_trace_lost_records_total/ { n += $NF } END { print n }' scrape)" 0
}

@test "metrics (a process number used again) has each one's counters under its own name and container" {
	exporter
	numbered first CUDA_INJECTION64_PATH="$AGENT" -- -n 3000
	over first
	numbered second CUDA_INJECTION64_PATH="$AGENT" -- -n 5000
	over second
	sleep 0.3
	scrape
	counted
	for which in first second; do
		of $which cuda_kernel_duration_seconds_count
		assert_equal "$which $value" "$which $(expect_key $which.out kernels)"
	done
	nothing_lost
}

# asleep_meanwhile: the exporter sees neither's start nor the first one's end as they happen.
asleep_meanwhile() {
	kill -STOP "$tool_PID"
	numbered first CUDA_INJECTION64_PATH="$AGENT" -- -n 3000
	over first
	mkfifo last
	numbered second CUDA_INJECTION64_PATH="$AGENT" PROGRAM_LAST_GATE=last -- -n 5000
	wait_for 20 grep -q ^expect second.out
	sleep 0.3
	kill -CONT "$tool_PID"
	scrape
	: >last
	over second
}

@test "metrics (a process number used again while the exporter sleeps) takes neither for the other" {
	exporter
	asleep_meanwhile
	counted
	nothing_lost
}

# held_by_first: a program that keeps its memory until `last` is opened, and has $held bytes.
held_by_first() {
	cp "$WORKLOADS/memory" "./first$ID"
	mkfifo last
	numbered first CUDA_INJECTION64_PATH="$AGENT" PROGRAM_LAST_GATE=last -- 10 1048576
	wait_for 20 grep -q ^expect first.out
	sleep 0.3
	scrape
	of first cuda_memory_live_bytes
	[ "$value" -ge 1048576 ]
}

# end_unheard: the event of its end does not fit into the ring buffer, which has 1 MiB.
end_unheard() {
	kill -STOP "$tool_PID"
	# shellcheck disable=SC2016 # for the inner shell
	CUDA_INJECTION64_PATH=$AGENT "$SIM" sh -c 'for i in $(seq 500); do "$0" -n 1 >/dev/null; done' "$WORKLOADS/launch-storm"
	sleep 2 >last
	over first
}

@test "metrics (a process number used again, the first one's end unreported) forgets what the first one held" {
	local lost
	exporter
	held_by_first
	end_unheard
	mkfifo last2
	numbered second CUDA_INJECTION64_PATH="$AGENT" PROGRAM_LAST_GATE=last2 -- -n 5000
	wait_for 20 grep -q ^expect second.out
	sleep 0.3
	kill -CONT "$tool_PID"
	scrape
	lost=$(sed -n 's/^cuda_trace_lost_names_total //p' scrape)
	[ "$lost" -gt 0 ]
	# What it did stays, and is all that stays.
	scrape
	of first cuda_memory_frees_total
	[ "$value" -gt 0 ]
	of first cuda_memory_live_bytes
	assert_equal "$value" 0
	of second cuda_kernel_launches_total
	assert_equal "$value" "$(expect_key second.out launches)"
	: >last2
	over second
}

@test "metrics (the same, and the second one has no agent) forgets it within half a minute" {
	exporter
	held_by_first
	end_unheard
	numbered second -- -s 60 -p 100000
	kill -CONT "$tool_PID"
	for _ in {1..40}; do
		sleep 1
		scrape
		of first cuda_memory_live_bytes
		[ "$value" != 0 ] || break
	done
	assert_equal "$value" 0
	kill "$second_PID"
}

@test "metrics (the same, without the right to look a control group up) says no container rather than the other's" {
	requires setpriv
	CUDA_TRACE=(setpriv --inh-caps -dac_read_search --bounding-set -dac_read_search "$CUDA_TRACE")
	exporter
	asleep_meanwhile
	of second cuda_kernel_launches_total
	assert_equal "$value" "$(expect_key second.out launches)"
	run -0 awk -v comm="comm=\"first$ID\"" 'index($1, "cuda_kernel_launches_total{") == 1 && index($0, comm)' scrape
	assert_equal "${#lines[@]} ${output##* }" "1 $(expect_key first.out launches)"
	refute_output --partial "container_id="
	nothing_lost
}

@test "metrics (a process number used again, neither with the agent) has each one's counters under its own name and container" {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	local which
	exporter
	driven() { scrape; [ "$(sed -n 's/^cuda_processes{source="driver"} //p' scrape)" -gt "$1" ]; }
	scrape
	before=$(sed -n 's/^cuda_processes{source="driver"} //p' scrape)
	mkfifo first.gate second.gate
	numbered first PROGRAM_GATE=first.gate -- -n 3000
	wait_for 20 driven "$before"
	# What the first one did, its end and the second's start: all while nobody looks.
	kill -STOP "$tool_PID"
	: >first.gate
	over first
	numbered second PROGRAM_GATE=second.gate -- -n 5000
	wait_for 20 grep -q libcuda "/proc/$NUMBER/maps"
	kill -CONT "$tool_PID"
	wait_for 20 driven "$before"
	: >second.gate
	over second
	scrape
	counted
	nothing_lost
}

@test "top (a process number used again) shows two processes, each with its own name, container and figures" {
	local which container
	start tool "$CUDA_TRACE" top --json --cgroup "$ABOVE" -d 300ms
	wait_for 15 test -s tool.out
	for which in first second; do
		numbered $which CUDA_INJECTION64_PATH="$AGENT" -- -n $((${#which} * 1000))
		over $which
	done
	for which in first second; do
		container=a${FIRST:1:11}
		[ $which = first ] || container=b${SECOND:1:11}
		done_by() { [ "$(jq -s "[.[].processes[] | select(.pid == $NUMBER and .process == \"$which$ID\")] | last |
			.ended and .container == \"$container\" and .totals.launches == $(expect_key $which.out launches) and
			.totals.kernels == $(expect_key $which.out kernels)" tool.out 2>/dev/null)" = true ]; }
		wait_for 20 done_by || fail "$(tail -n 2 tool.out)"
	done
}

@test "stat (a process number used again) has a line for each, with its own name, container and counts" {
	local which container
	start tool "$CUDA_TRACE" stat --json -o json --cgroup "$ABOVE" -d 60
	sleep 2
	for which in first second; do
		numbered $which CUDA_INJECTION64_PATH="$AGENT" -- -n $((${#which} * 1000))
		over $which
	done
	sleep 0.5
	kill -INT "$tool_PID"
	finished "$tool_PID"
	for which in first second; do
		container=a${FIRST:1:11}
		[ $which = first ] || container=b${SECOND:1:11}
		json json ".processes | map(select(.pid == $NUMBER and .process == \"$which$ID\")) |
			length == 1 and .[0].container == \"$container\" and .[0].launches == $(expect_key $which.out launches) and
			.[0].kernels == $(expect_key $which.out kernels)"
	done
}

@test "stat -p (its process's number is another's while it sleeps) counts the one that was meant" {
	mkfifo gate
	numbered first CUDA_INJECTION64_PATH="$AGENT" PROGRAM_GATE=gate -- -n 3000
	wait_for 20 grep -q libcuda "/proc/$NUMBER/maps"
	start tool "$CUDA_TRACE" stat --json -o json -p "$NUMBER" -d 60
	sleep 2
	kill -STOP "$tool_PID"
	: >gate
	over first
	numbered second CUDA_INJECTION64_PATH="$AGENT" -- -n 5000
	over second
	kill -CONT "$tool_PID"
	finished "$tool_PID"
	json json "[.processes[] | {process, launches}] == [{process: \"first$ID\", launches: $(expect_key first.out launches)}]"
	json json ".totals.launches == $(expect_key first.out launches) and .lost.total == 0"
}
