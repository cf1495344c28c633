#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# NVTX ranges in ways that go wrong elsewhere: nested too deep, left open, written in wide characters.

load helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "trace -e nvtx (20 ranges in each other, of one domain and of two) has the outer 16 as they were, and counts the others" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx" deep >out
	assert_equal "$(jq -s 'map(select(.event == "range")) | length' out.json)" "$(expect_key out nvtx_ranges)"
	assert_equal "$(tail -n 1 out.json | jq -c '.lost | [.total, .ranges_full]')" \
		"[$(expect_key out nvtx_lost),$(expect_key out nvtx_lost)]"
	# Each began within its push, and ended within its pop.
	sed -n 's/^range //p' out | sort >truth
	jq -r 'select(.event == "range") | "\(.name) \(.launch_start_ns) \(.launch_start_ns + .launch_ns)"' out.json | sort >seen
	assert_equal "$(wc -l <truth)" "$(expect_key out nvtx_ranges)"
	run join truth seen
	assert_equal "${#lines[@]}" "$(expect_key out nvtx_ranges)"
	run -0 awk '$6 < $2 || $6 > $3 || $7 < $4 || $7 > $5' <<<"$output"
	assert_output ""
}
