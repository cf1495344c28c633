#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# bcc attaches to the probes of a running program and reads their arguments. It compiles each program against headers of
# a kernel: those of the running one, or $BCC_KERNEL_SOURCE. $PYTHON is one that has bcc (Debian: python3-bpfcc).

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# consumer: bcc | itself | launches and kernels of a running program, with their arguments
@test "bcc (launches and kernels of a running program) sees each with its arguments" {
	requires root bpf sim
	"${PYTHON:-python3}" -c 'import bcc' 2>/dev/null || skip "needs python3-bpfcc"
	[ -e "${BCC_KERNEL_SOURCE:-/lib/modules/$(uname -r)/build}/include/linux/kconfig.h" ] || [ -e /sys/kernel/kheaders.tar.xz ] ||
		skip "needs headers of the running kernel, against which bcc compiles"
	# Nothing listens while it begins; bcc raises the semaphores of one process, by its pid.
	start storm env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" SIMCUDA_KERNEL_NS=5000 \
		"$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	wait_for 20 grep -q ready storm.out
	start bcc "${PYTHON:-python3}" "$TOP/tests/agent/read_bcc.py" "$AGENT" "$(pgrep -n -x launch-storm)"
	wait_for 40 grep -q ^ended bcc.out || fail "$(cat bcc.out bcc.err)"
	kill -INT "$storm_PID" 2>/dev/null || true
	# The program's own stream. "ended LAUNCHES FAILED BACKWARDS KERNELS KERNEL_NS DEVICE STREAM NAME"
	read -r _ launches failed backwards kernels ns device stream name <bcc.out
	assert [ "$launches" -gt 100 ]
	assert [ "$kernels" -gt 100 ]
	assert_equal "$failed $backwards $device $stream $name" "0 0 0 9 empty"
	assert_equal "$ns" $((kernels * 5000))
}
