#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The readable probes as a contract with others: the distribution's bpftrace attaches to them by name
# and sees the arguments that libcupti-usdt(7) documents.

load ../lib/helpers

setup() {
	requires bpf sim bpftrace
	cd "$BATS_TEST_TMPDIR" || return 1
}

# heard_by SCRIPT PROGRAM ARGS...: bpftrace listens while PROGRAM runs; what it found is in `heard`,
# the program's output in `out`. @name of SCRIPT is a line "@name: value".
heard_by() {
	local script=${1//PROBE:/usdt:$AGENT:cuda:}; shift
	# Only one END: that of a script, where it has one.
	[[ $script == *$'\nEND\n{'* ]] || script+=$'\nEND\n{\n}'
	script=${script/$'\nEND\n{'/$'\nEND\n{\n\tprintf("the end\\n");'}
	start others bpftrace -e "$script interval:ms:100 { printf(\"attached\n\"); }"
	# It prints nothing of that before all probes are there.
	wait_for 30 grep -q '^attached' others.out
	CUDA_INJECTION64_PATH=$AGENT sim "$@" >out
	sleep 0.5
	ended() { kill -INT "$others_PID" 2>/dev/null; sleep 0.2; grep -q '^the end' others.out; }
	wait_for 20 ended
	finished "$others_PID"
	grep -q '^the end' others.out || fail "$(cat others.out others.err)"
	cp others.out heard
}

value() {
	sed -n "s/^@$1: //p" heard
}

# consumer: bpftrace | itself | launches, kernels and copies, by the six arguments that it knows
@test "bpftrace (launches, kernels, copies of saxpy) sees each with its arguments" {
	heard_by 'PROBE:kernel_launch { @launches = count(); @called[str(arg3)] = count(); @failed = sum(arg4);
			@backwards = sum(arg1 < arg0); @correlation[arg2] = 1; }
		PROBE:kernel_exec { @kernels = count(); @ran[str(arg3)] = count(); @gpu = sum(arg1 - arg0);
			@paired = sum(@correlation[arg2]); @device = max(arg4); @stream = max(arg5); }
		PROBE:memcpy { @copy_device = max(arg5); @copies = count(); @bytes = sum(arg3); @direction[arg4] = count(); }' "$WORKLOADS/saxpy"
	assert_equal "$(value launches) $(value failed) $(value backwards)" "$(expect_key out launches) 0 0"
	assert_equal "$(value kernels) $(value paired) $(value device) $(value copy_device)" "$(expect_key out kernels) $(expect_key out kernels) 0 0"
	# CUPTI's number of the default stream.
	assert_equal "$(value stream)" 7
	assert_equal "$(value 'called\[saxpy\]') $(value 'ran\[saxpy\]')" "$(expect_key out launches) $(expect_key out kernels)"
	assert_equal "$(value copies) $(value bytes)" "$(expect_key out memcpys) $(expect_key out memcpy_bytes)"
	# 1 to the device, 2 back
	assert_equal "$(value 'direction\[1\]') $(value 'direction\[2\]')" "2 1"
	# The same kernels take the same time each run.
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out2
	assert_equal "$(value gpu)" "$(json out.json .totals.gpu_ns)"
}

# consumer: bpftrace | itself | memory, fills, waits and failures
@test "bpftrace (memory, fills, waits, failures) sees each with its arguments" {
	heard_by 'PROBE:memory /arg2 < 6/ { @operation[arg1] = count(); @bytes[arg1] = sum(arg4); }
		PROBE:api_error { @result[arg4] = count(); @domain = max(arg5); }
		PROBE:sync { @waits = sum(arg3 != 2); }' "$WORKLOADS/memory"
	# Kinds from 6 on are variables of modules.
	assert_equal "$(value 'operation\[1\]') $(value 'operation\[2\]')" "$(expect_key out allocs) $(expect_key out frees)"
	assert_equal "$(($(value 'bytes\[1\]') - $(value 'bytes\[2\]')))" "$(expect_key out live_bytes)"
	# 2 is CUDA_ERROR_OUT_OF_MEMORY, of the driver.
	assert_equal "$(value 'result\[2\]') $(value domain)" "$(expect_key out api_errors) 1"
	assert_equal "$(value waits)" "$(expect_key out syncs)"
	heard_by 'PROBE:memset { @fills = count(); @bytes = sum(arg3); @device = max(arg4); }' "$WORKLOADS/copies"
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/copies" >out2
	assert_equal "$(value fills) $(value bytes)" \
		"$(expect_key out memsets) $(json out.json '[.copies[] | select(.direction == "memset").bytes] | add')"
}

# What is tested lies below this folder: "" if it is what the system has.
BELOW=${CUDA_TRACE%/usr/bin/cuda-trace}

# script NAME PROGRAM ARGS...: likewise, with a script that is shipped
script() {
	local name=$1 text; shift
	text=$(sed "s,\([ :\"]\)/usr/,\1$BELOW/usr/,g" "$BELOW/usr/share/cuda-trace/bpftrace/$name.bt")
	heard_by "$text" "$@"
}

# total MAP: the sum over the map's keys, whatever they are.
total() {
	sed -n "s/^@$1\[.*\]: \(-\?[0-9]*\)$/\1/p" heard | awk '{ sum += $1 } END { print sum + 0 }'
}

# consumer: bpftrace | itself | what programs did, from batches, by each script that we ship
@test "bpftrace (the scripts that are shipped) count what programs did, from batches" {
	local name
	script kernels "$WORKLOADS/saxpy"
	assert_equal "$(value 'kernels\[[0-9]*, saxpy\]')" "$(expect_key out kernels)"
	assert_equal "$(total grids)" "$(expect_key out kernels)"
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out2
	assert_equal "$(value 'gpu_ns\[[0-9]*, saxpy\]')" "$(json out.json .totals.gpu_ns)"
	script launches "$WORKLOADS/failures"
	assert_equal "$(total launches) $(total failed)" "$(expect_key out launches) $(expect_key out launch_errors)"
	script launches "$WORKLOADS/launch-storm" -n 5000 -t 2
	assert_equal "$(total launches)" "$(expect_key out launches)"
	script copies "$WORKLOADS/saxpy"
	assert_equal "$(total copies) $(total bytes)" "$(expect_key out memcpys) $(expect_key out memcpy_bytes)"
	script memory "$WORKLOADS/memory"
	# Kinds from 6 on are variables of modules.
	grep -v '^@.*\[.*, [67]\]' heard >without && cp without heard
	assert_equal "$(total allocations) $(total frees) $(total in_use)" \
		"$(expect_key out allocs) $(expect_key out frees) $(expect_key out live_bytes)"
	script waits "$WORKLOADS/saxpy"
	assert_equal "$(total waits)" "$(expect_key out syncs)"
	script errors "$WORKLOADS/memory"
	grep -q '^[0-9:]* [0-9]* .* cuMemAlloc.* result 2$' heard
	# None is left out here.
	for name in "$BELOW"/usr/share/cuda-trace/bpftrace/*.bt; do
		grep -q "script $(basename "$name" .bt) " "$BATS_TEST_FILENAME"
	done
}

# consumer: bpftrace | itself | times of its own clock, also of programs in time namespaces
@test "bpftrace (a program in a time namespace) sees times of its own clock" {
	local ahead
	unshare --time true 2>/dev/null || skip "needs a kernel with time namespaces"
	for ahead in 100000 -500; do
		heard_by 'PROBE:kernel_launch { @seen = count(); @wrong = sum(arg1 > nsecs || nsecs - arg1 > 10000000000); }' \
			unshare --fork --time --monotonic "$ahead" -- "$WORKLOADS/launch-storm" -n 500
		assert_equal "$(value seen) $(value wrong)" "500 0"
	done
}
