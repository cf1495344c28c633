#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Whom trace and stat watch: -p with children, -c, -u, --cgroup, -a.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Two programs of different names that launch until they are ended.
start_two() {
	cp "$WORKLOADS/launch-storm" ./first
	cp "$WORKLOADS/launch-storm" ./second
	start first "$SIM" env CUDA_INJECTION64_PATH="$AGENT" ./first -s 30 -p 1000
	start second "$@" "$SIM" env CUDA_INJECTION64_PATH="$AGENT" ./second -s 30 -p 1000
	ready first
	ready second
}

@test "-p (two programs) sees the one" {
	start_two
	ct stat -p "$second_PID" -d 1 --json -o out.json
	json out.json "[.processes[].pid] == [$second_PID]"
}

@test "-p (a shell) sees the child that runs already and those that come" {
	mkfifo go
	start shell sh -c '"$@" & read -r _ <go; "$@"; wait' sh "$SIM" env CUDA_INJECTION64_PATH="$AGENT" \
		"$WORKLOADS/launch-storm" -s 8 -p 1000
	ready shell
	start tool "$CUDA_TRACE" stat -v -p "$shell_PID" --json -o out.json
	wait_for 30 grep -q watching tool.err
	echo >go
	both_are_ready() { [ "$(grep -cx ready shell.out)" = 2 ]; }
	wait_for 30 both_are_ready
	sleep 1
	kill -INT "$tool_PID"
	finished "$tool_PID"
	json out.json '.processes | length == 2'
	json out.json ".processes | all(.pid != $shell_PID)"
}

@test "-c (two programs) sees the one of that name" {
	start_two
	ct stat -c second -d 1 --json -o out.json
	json out.json "[.processes[].pid] == [$second_PID]"
}

@test "-u (another user's program) sees that one" {
	requires setpriv
	chmod 755 "$BATS_TEST_TMPDIR"
	start_two setpriv --reuid 65534 --regid 65534 --clear-groups
	ct stat -u 65534 -d 1 --json -o out.json
	json out.json "[.processes[].pid] == [$second_PID] and .processes[0].uid == 65534"
}

@test "--cgroup (a group of its own) sees what runs below it" {
	local mount
	mount=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	[ -w "$mount" ] || skip "needs a writable cgroup version 2"
	mkdir -p "$mount/cuda-trace-test-$$/below"
	start_two
	echo "$second_PID" >"$mount/cuda-trace-test-$$/below/cgroup.procs"
	ct stat --cgroup "cuda-trace-test-$$" -d 1 --json -o out.json
	ct stat --cgroup "$mount/cuda-trace-test-$$/below" -d 1 --json -o deeper.json
	stop_started
	rmdir "$mount/cuda-trace-test-$$/below" "$mount/cuda-trace-test-$$"
	json out.json "[.processes[].pid] == [$second_PID]"
	json out.json ".processes[0].cgroup == \"/cuda-trace-test-$$/below\""
	json deeper.json "[.processes[].pid] == [$second_PID]"
}

@test "--cgroup (no such group) is said" {
	run ct stat --cgroup no/such/group -d 1
	assert_failure 1
	assert_output --partial 'cuda-trace: --cgroup no/such/group: No such file or directory'
}

@test "-a (two programs) sees both" {
	start_two
	ct stat -a -d 1 --json -o out.json
	json out.json "[.processes[].pid] | index($first_PID) != null and index($second_PID) != null"
}

@test "-a (a program that starts later with a copy of the library) sees it" {
	mkdir copy
	cp "$AGENT" copy/
	start tool "$CUDA_TRACE" stat -v -c launch-storm -d 8 --json
	wait_for 30 grep -q watching tool.err
	"$SIM" env CUDA_INJECTION64_PATH="$PWD/copy/libcupti-usdt.so" "$WORKLOADS/launch-storm" -s 3 -p 1000 >out
	finished "$tool_PID"
	json tool.out '.totals.kernels > 100'
}
