#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What Linux does when a command begins, and its user waits: the verifier of eBPF programs, page faults, memory for
# maps. The verifier checked 57,000 instructions for stat,
# 307,000 for record -g and 854,000 for metrics (more in a PID namespace), until loops whose body it checked anew
# in each step got functions of their own. 6,600 to 9,600 page faults came of reading the kernel's types, until the
# memory for that was populated at once.

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

# hashed PID: KB of kernel memory for the hash tables that this process holds.
hashed() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | awk '/^map_type/ {type = $2} /^memlock/ {bytes = $2}
		/^map_id/ && type == 1 {map[$2] = bytes} END {for (id in map) sum += map[id]; print int(sum / 1024)}'
}

# begin NAME INSNS KB COMMAND...: it loads all of its programs, for fewer instructions and less memory for hash tables
# than that, and with fewer page faults than it takes to read the kernel's types into memory and copy them.
begin() {
	local name=$1 limit=$2 kb=$3 tool insns faults pages
	shift 3
	start "$name" timeout 60 "$CUDA_TRACE" "$@"
	wait_for 20 tool_of "$name"
	tool=$(tool_of "$name")
	wait_for 20 settled "$tool"
	insns=$(checked "$tool")
	echo "$name: $insns instructions"
	run cat "$name.err"
	refute_output --partial refuse
	[ "$insns" -lt "$limit" ]
	faults=$(awk '{print $10}' "/proc/$tool/stat") pages=$(($(stat -c %s /sys/kernel/btf/vmlinux) / 4096))
	echo "$name: $faults page faults, $(hashed "$tool") KB for hash tables"
	[ "$faults" -lt $((2 * pages)) ]
	[ "$(hashed "$tool")" -lt "$kb" ]
}

@test "stat, stat --idle, record -g, metrics (all programs of each) are accepted, soon, and in little memory" {
	requires bpf sim
	kernel_is 6.6 || skip "before, there are other programs"
	begin stat 45000 4000 stat -v -d 20 -- sleep 20
	begin idle 90000 12000 stat -v --idle -d 20 -- sleep 20
	begin record 120000 4000 record -v -g -o r.db -d 20 -- sleep 20
	begin metrics 280000 10000 metrics -v -l 127.0.0.1:9412
}
