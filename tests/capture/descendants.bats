#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs that start others: what runs on after PROGRAM, and what a launcher's workers do.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# In the background, as nohup and "server &" do: its pid is in the file `daemon`.
background="\"\$@\" >/dev/null 2>&1 & echo \$! >daemon"

teardown() {
	[ ! -s daemon ] || kill "$(cat daemon)" 2>/dev/null || true
	stop_started
}

@test "stat (PROGRAM ends, what it started runs on) names it, and --wait" {
	run -0 --separate-stderr ct stat -o s.txt -- sh -c "$background" sh "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	[[ $stderr == *"PROGRAM has ended, but processes that it started still run and are no longer watched: "*" ($(cat daemon))"* ]] || fail "$stderr"
	[[ $stderr == *"--wait waits for them"* ]]
	# Everything has ended: nothing to say.
	run -0 --separate-stderr ct stat -o s.txt -- sh -c "$SIM $WORKLOADS/saxpy >out"
	[[ $stderr != *"runs on"* ]]
}

@test "stat, record --wait (PROGRAM ends, what it started runs on) see all of it, and keep the exit status" {
	requires sqlite3
	run -7 ct stat --wait --json -o s.json -- sh -c "$background; exit 7" sh \
		"$SIM" "$WORKLOADS/launch-storm" -n 200 -p 5000
	json s.json '.totals.launches == 200 and .totals.kernels == 200'
	ct record -q --wait -o r.db -- sh -c "$background" sh "$SIM" "$WORKLOADS/launch-storm" -n 200 -p 5000
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 200
}

@test "stat --wait (Ctrl-C, TERM, -d while others run on) ends, with the totals so far" {
	local number
	for number in INT TERM; do
		start stat "$CUDA_TRACE" stat --wait --json -o s.json -- sh -c "$background" sh \
			"$SIM" "$WORKLOADS/launch-storm" -s 30 -p 1000
		wait_for 20 test -s daemon
		sleep 1
		kill -$number "$stat_PID"
		finished "$stat_PID" 10
		json s.json '.totals.launches > 10'
		kill "$(cat daemon)"
		rm daemon
	done
	run -0 ct stat --wait -d 1 --json -o s.json -- sh -c "$background" sh "$SIM" "$WORKLOADS/launch-storm" -s 30 -p 1000
	json s.json '.totals.launches > 10'
}

@test "--wait (without a PROGRAM, with --device) is refused" {
	run -2 ct stat --wait -a
	assert_output --partial '--wait goes with a PROGRAM'
	run -2 ct profile --device --wait -- true
	assert_output --partial '--wait does not go with --device'
}

@test "stat -p (a launcher whose workers run) does not say that it waits for CUDA" {
	start launcher env CUDA_INJECTION64_PATH="$AGENT" sh -c '"$@" & "$@" & wait' sh \
		"$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	wait_for 20 sh -c '[ "$(grep -c ready launcher.out)" = 2 ]'
	run -0 --separate-stderr ct stat -p "$launcher_PID" -d 1 --json
	[[ $stderr == *"process $launcher_PID (sh) is not a CUDA program, but 2 of the processes that it started are, and are watched"* ]] ||
		fail "$stderr"
	[[ $stderr != *'waiting for it'* ]]
	jq -e '.totals.launches > 100' <<<"$output"
}

@test "record (0 events) says why" {
	run -0 ct record -o r.db -- true
	assert_output --partial 'r.db: 0 events'
	assert_output --partial 'neither PROGRAM nor any process that it started made a CUDA call'
	run -0 env CUDA_TRACE=off "$CUDA_TRACE" record --source cupti -o r.db -- "$SIM" "$WORKLOADS/saxpy"
	assert_output --partial 'CUDA_TRACE=off is set'
}

@test "record (PROGRAM cannot be run) leaves nothing behind that stops the next try" {
	run -127 ct record -o r.db -- no-such-program
	assert [ ! -e r.db.part ]
	run -0 ct record -o r.db -- true
}

@test "record (on a terminal) says that it attaches, and when it records; not with -q, nor into a file" {
	requires script
	script -qec "$CUDA_TRACE record -o r.db -- true" terminal >/dev/null
	grep -q 'record: attaching to the probes' terminal
	grep -q 'record: attached; PROGRAM starts' terminal
	script -qec "$CUDA_TRACE record -q -o r.db -- true" quiet >/dev/null
	run grep -c attaching quiet
	assert_output 0
	run -0 ct record -o r.db -- true
	refute_output --partial attaching
}
