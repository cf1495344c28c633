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
	local script=${1//PROBE:/usdt:$GUEST:cuda:}; shift
	start others bpftrace -e "$script interval:ms:100 { printf(\"attached\n\"); } END { printf(\"the end\n\"); }"
	# It prints nothing of that before all probes are there.
	wait_for 30 grep -q '^attached' others.out
	CUDA_INJECTION64_PATH=$GUEST sim "$@" >out
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

@test "bpftrace (launches, kernels, copies of saxpy) sees each with its arguments" {
	heard_by 'PROBE:kernel_launch { @launches = count(); @called[str(arg3)] = count(); @failed = sum(arg4);
			@backwards = sum(arg1 < arg0); @correlation[arg2] = 1; }
		PROBE:kernel_exec { @kernels = count(); @ran[str(arg3)] = count(); @gpu = sum(arg1 - arg0);
			@paired = sum(@correlation[arg2]); @device = max(arg4); }
		PROBE:memcpy { @copies = count(); @bytes = sum(arg3); @direction[arg4] = count(); }' "$WORKLOADS/saxpy"
	assert_equal "$(value launches) $(value failed) $(value backwards)" "$(expect_key out launches) 0 0"
	assert_equal "$(value kernels) $(value paired) $(value device)" "$(expect_key out kernels) $(expect_key out kernels) 0"
	assert_equal "$(value 'called\[saxpy\]') $(value 'ran\[saxpy\]')" "$(expect_key out launches) $(expect_key out kernels)"
	assert_equal "$(value copies) $(value bytes)" "$(expect_key out memcpys) $(expect_key out memcpy_bytes)"
	# 1 to the device, 2 back
	assert_equal "$(value 'direction\[1\]') $(value 'direction\[2\]')" "2 1"
	# The same kernels take the same time each run.
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out2
	assert_equal "$(value gpu)" "$(json out.json .totals.gpu_ns)"
}

@test "bpftrace (memory, fills, waits, failures) sees each with its arguments" {
	heard_by 'PROBE:memory /arg3 < 6/ { @operation[arg2] = count(); @bytes[arg2] = sum(arg5); }
		PROBE:api_error { @result[arg4] = count(); @domain = max(arg5); }
		PROBE:sync { @waits = sum(arg3 != 2); }' "$WORKLOADS/memory"
	# Kinds from 6 on are variables of modules.
	assert_equal "$(value 'operation\[1\]') $(value 'operation\[2\]')" "$(expect_key out allocs) $(expect_key out frees)"
	assert_equal "$(($(value 'bytes\[1\]') - $(value 'bytes\[2\]')))" "$(expect_key out live_bytes)"
	# 2 is CUDA_ERROR_OUT_OF_MEMORY, of the driver.
	assert_equal "$(value 'result\[2\]') $(value domain)" "$(expect_key out api_errors) 1"
	assert_equal "$(value waits)" "$(expect_key out syncs)"
	heard_by 'PROBE:memset { @fills = count(); @bytes = sum(arg3); }' "$WORKLOADS/copies"
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/copies" >out2
	assert_equal "$(value fills) $(value bytes)" \
		"$(expect_key out memsets) $(json out.json '[.copies[] | select(.direction == "memset").bytes] | add')"
}
