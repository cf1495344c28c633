#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What Linux' verifier does when a command begins: the user waits for it. It checked 57,000 instructions for stat,
# 307,000 for record -g and 854,000 for metrics (more in a PID namespace), until loops whose body it checked anew
# in each step got functions of their own.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	stop_started
}

# tool_of NAME: the tool that timeout has started.
tool_of() {
	local pid=${1}_PID
	pgrep -P "${!pid}" -x cuda-trace
}

# checked PID: how many instructions the verifier has checked for the programs that this process holds.
checked() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | awk '/^prog_id/ {id = $2} /^verified_insns/ {insns[id] = $2}
		END {for (id in insns) sum += insns[id]; print sum + 0}'
}

# settled PID: all of them are loaded.
settled() {
	local before
	before=$(checked "$1")
	sleep 0.5
	[ "$before" -gt 1000 ] && [ "$before" = "$(checked "$1")" ]
}

# begin NAME LIMIT COMMAND...: it loads all of its programs, for fewer instructions than LIMIT.
begin() {
	local name=$1 limit=$2 tool insns
	shift 2
	start "$name" timeout 60 "$CUDA_TRACE" "$@"
	wait_for 20 tool_of "$name"
	tool=$(tool_of "$name")
	wait_for 20 settled "$tool"
	insns=$(checked "$tool")
	echo "$name: $insns instructions"
	run cat "$name.err"
	refute_output --partial refuse
	[ "$insns" -lt "$limit" ]
}

@test "stat, stat --idle, record -g, metrics (all programs of each) are accepted, and soon" {
	requires bpf sim
	kernel_is 6.6 || skip "before, there are other programs"
	begin stat 45000 stat -v -d 20 -- sleep 20
	begin idle 90000 stat -v --idle -d 20 -- sleep 20
	begin record 120000 record -v -g -o r.db -d 20 -- sleep 20
	begin metrics 280000 metrics -v -l 127.0.0.1:9412
}
