#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# NVTX ranges in ways that go wrong elsewhere: kernels in them, nested too deep, of domains made before anybody came, left open, in wide characters.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

all_off() {
	tail -n 1 "$SIMCUDA_LOG" | grep -q 'subscribed=0 .*callbacks=0 .*kinds=- '
}

# are_true SEEN TRUTH: each range in the JSON lines SEEN began within its push, and ended within its pop, but for a
# microsecond: the program reads a clock, and the agent a counter that it converts.
are_true() {
	sed -n 's/^range //p' "$2" | sort >truth
	jq -r 'select(.event == "range") | "\(.name) \(.launch_start_ns) \(.launch_start_ns + .launch_ns)"' "$1" | sort >seen
	assert_equal "$(join truth seen | wc -l)" "$(wc -l <seen)"
	run -0 awk '$6 < $2 - 1000 || $6 > $3 + 1000 || $7 < $4 - 1000 || $7 > $5 + 1000' <(join truth seen)
	assert_output ""
}

@test "trace -e nvtx (20 ranges in each other, of one domain and of two) has the outer 16 as they were, and counts the others" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx" deep >out
	assert_equal "$(jq -s 'map(select(.event == "range")) | length' out.json)" "$(expect_key out nvtx_ranges)"
	assert_equal "$(tail -n 1 out.json | jq -c '.lost | [.total, .ranges_full]')" \
		"[$(expect_key out nvtx_lost),$(expect_key out nvtx_lost)]"
	assert_equal "$(grep -c '^range ' out)" "$(expect_key out nvtx_ranges)"
	are_true out.json out
}

more_ranges_than() {
	[ "$(grep -c '"event":"range"' "$2")" -gt "$1" ]
}

@test "trace -e nvtx (attached to three times, ranges open whenever it comes and goes) has each range with its own times" {
	export SIMCUDA_LOG=$PWD/cupti.log NVTX_INJECTION64_PATH=$B/simcuda/libcupti.so.13
	start apart "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/nvtx" apart "$PWD/stop"
	ready apart
	for i in 1 2 3; do
		# Until it has some, however slow the machine.
		start trace "$CUDA_TRACE" trace -p "$apart_PID" -e nvtx --json -o out$i.json
		wait_for 30 more_ranges_than 10 out$i.json
		kill -INT "$trace_PID"
		finished "$trace_PID"
		assert_equal "$(tail -n 1 out$i.json | jq .lost.total)" 0
		wait_for 10 all_off
	done
	touch stop
	finished "$apart_PID"
	assert_equal "$status" 0
	for i in 1 2 3; do
		are_true out$i.json apart.out
	done
}

@test "trace -e nvtx (texts of wide characters) shows them as UTF-8, cut, and what is no character as a question mark" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx" wide >out
	run jq -r 'select(.event != "lost") | "\(.event)|\(.domain)|\(.name[:20])|"' out.json
	assert_output - <<-'EOF'
		mark||€ mark|
		range||😀 push|
		range||start|
		range|domäne|attributes é|
		range|domäne|registered|
		mark||€€€€€€€€€€€€€€€€€€€€|
		mark||a???b|
		mark|||
	EOF
	assert_equal "$(jq -r 'select(.event == "mark" and (.name | startswith("€€"))).name | explode | unique, length' out.json | xargs)" \
		'[ 8364 ] 340'
	assert_equal "$(tail -n 1 out.json | jq .lost.total)" 0
}

@test "trace -e nvtx (domains, colours, categories) says them, in text and in JSON" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx" 3 >out
	run jq -rs 'map(select(.event != "lost") | "\(.event) \(.name)|\(.domain)|\(.color)|\(.category)") |
		group_by(.) | map("\(length) \(.[0])")[]' out.json
	assert_output - <<-'EOF'
		3 mark a mark in a domain|workload|#ff00ff00|7
		3 mark a mark||null|null
		3 range across||null|null
		3 range in a domain|workload|#ff00ff00|7
		3 range inner||null|null
		3 range outer||null|null
		3 range registered|workload|#ff00ff00|7
	EOF
	ct trace -e nvtx -o out.txt -- "$SIM" "$WORKLOADS/nvtx" 3 >out
	assert_equal "$(grep -c '  \[range\] in a domain, domain workload, #ff00ff00$' out.txt)" 3
	assert_equal "$(grep -c '  \[mark\] a mark$' out.txt)" 3
}

# owners_of JSON: the table of kernels by range as tests/workloads/ranges.c prints it.
owners_of() {
	jq -r '.kernel_ranges[] | "owner \(.domain // "")|\(.name // "")|\(.entered)|\(.launches)|\(.kernels)|" +
		"\(.self_launches)|\(.self_kernels)"' "$1" | sort
}

@test "stat -e nvtx (ranges in ranges, of two domains, around graphs, on two threads) has each kernel in its ranges" {
	ct stat -e kernels,nvtx --json -o out.json -- "$SIM" "$WORKLOADS/ranges" 500 >out
	assert_equal "$(owners_of out.json)" "$(grep '^owner ' out | sort)"
	assert_equal "$(jq .lost.total out.json)" 0
	# Every kernel is in one range or in none, and all GPU time is reported.
	json out.json '([.kernel_ranges[].self_kernels] | add) == .totals.kernels'
	json out.json '([.kernel_ranges[].self_gpu_ns] | add) == .totals.gpu_ns'
	json out.json '[.kernel_ranges[].gpu_ns] | . == (sort | reverse)'
	# What a program calls a range must not reach the terminal, nor be taken for ours.
	ct stat -e kernels,nvtx -- "$SIM" "$WORKLOADS/ranges" 3 >out 2>text
	grep -qF ' \x1b[31mred\x09|"\' text
	run ! grep -q $'\033' text
	grep -qE '^ +[0-9.]+% .* 3 workload:outer$' text
	# Who does not request NVTX gets nothing of it.
	ct stat -e kernels --json -o out.json -- "$SIM" "$WORKLOADS/ranges" 3 >out
	json out.json '.kernel_ranges == null'
}

@test "stat -e graphs,nvtx (graphs stamped as a whole) has their time in their range" {
	ct stat -e kernels,graphs,nvtx --json -o out.json -- "$SIM" "$WORKLOADS/ranges" 5 >out
	json out.json '.graphs.count == 5 and .graphs.total_ns > 0'
	assert_equal "$(json out.json '.kernel_ranges[] | select(.name == "graph") | "\(.launches) \(.kernels) \(.gpu_ns)"')" \
		"5 0 $(json out.json .graphs.total_ns)"
}

@test "report (a recording of NVTX ranges) has each kernel in its ranges" {
	local table owners
	ct record -q -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/ranges" 200 >out
	# A recording has texts as they may be shown.
	owners=$(grep '^owner ' out | sed $'s/\033/\\\\x1b/; s/\t/\\\\x09/' | sort)
	ct report --json r.db >out.json
	assert_equal "$(owners_of out.json)" "$owners"
	# Rows in any order are the same recording.
	for table in NVTX_EVENTS CUPTI_ACTIVITY_KIND_RUNTIME; do
		sqlite3 r.db "CREATE TABLE other AS SELECT * FROM $table ORDER BY random(); DELETE FROM $table;
			INSERT INTO $table SELECT * FROM other; DROP TABLE other"
	done
	ct report --json r.db >out.json
	assert_equal "$(owners_of out.json)" "$owners"
}
