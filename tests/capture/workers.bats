#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs whose work is done by processes that end without exit(): by _exit(), as Python ends its
# workers, or by a signal.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
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

@test "stat (Python's workers, which are killed right after their launches) counts what they had not sent" {
	local how
	for how in killed pool; do
		ct stat --json -o out.json -- "$SIM" python3 "$WORKERS" $how 200 >out
		json out.json ".totals.launches <= $(expect_key out launches)"
		[ $how = pool ] || json out.json '.lost.killed == 3'
		# Before, a process has no memory any more where its end is noticed.
		kernel_is 6.16 || continue
		json out.json ".totals.launches + .lost.unsent == $(expect_key out launches) and .lost.total == .lost.unsent"
	done
}

@test "stat (Python's workers, which are killed right after their launches) concludes nothing from what is missing" {
	ct stat --json -o out.json -- "$SIM" python3 "$WORKERS" killed 200 >out
	# Whether some kernels came is a matter of moments; either way no time is shown as idle that is unknown.
	json out.json '.time.killed_processes as $killed | if .totals.kernels * 100 < .totals.launches * 99 then $killed > 0 else true end'
	ct stat -o out.txt -- "$SIM" python3 "$WORKERS" killed 200 >out
	grep -q 'lost 3 (killed)' out.txt
	if ! grep -q '^600 launches .* 600 kernels' out.txt; then
		grep -q 'the records of their last kernels are lost' out.txt
	fi
}
