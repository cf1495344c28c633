#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs whose work is done by processes that end without exit(): by _exit(), as Python ends its
# workers, or by a signal.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	export PYTHONDONTWRITEBYTECODE=1
	WORKERS=$TOP/tests/workloads/workers.py
}

@test "stat (Python's workers, which end by _exit) has every launch and kernel" {
	local how launches
	for how in fork spawn forkserver executor; do
		ct stat --json -o out.json -- "$SIM" python3 "$WORKERS" $how >out
		launches=$(expect_key out launches)
		assert_equal "$how $(json out.json '.totals | [.launches, .kernels] | @text')" "$how [$launches,$launches]"
		json out.json '.lost.total == 0 and .lost.killed == 0 and (.processes | map(.state) | unique == ["ended"])'
	done
}
