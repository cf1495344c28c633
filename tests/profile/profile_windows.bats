#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace profile --pc and --counters with --range, --profiler-api, --steps: only what lies in the windows.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' 'empty 70 long_scoreboard 600' 'empty 70 wait 400' >script
	export SIMCUDA_PC_SCRIPT=$PWD/script
}

# sampled OPTIONS -- MODE ROUNDS: the samples of the program `windows`, one burst of 5 ms in each 100 ms.
sampled() {
	run -0 --separate-stderr ct profile --pc --bursts 5ms/100ms --json -o out.json "${@:1:$#-3}" -- "$SIM" "$WORKLOADS/windows" "${@: -2}"
	echo "$output" >out
}

@test "profile --pc --range (a quarter of the time) has the samples of bursts that were wholly in the range, and counts those cut" {
	sampled --range step -- long 2
	json out.json '.collected | .by == "range" and .range == "step" and .windows == 2 and .open == 0'
	# 1000 samples a burst. If a busy machine makes two bursts one, the first part of it has none yet.
	json out.json '.lost.total == 0 and .windows == .collected.bursts'
	json out.json '.samples.placed as $placed | $placed % 1000 == 0 and $placed >= 500 * .windows and $placed <= 1000 * .windows'
	# A burst in each 100 ms: of the 24 of the program at most these, and some for sure.
	json out.json ".windows >= 1 and .windows <= $(expect_key out most_ns) / 1e8 + 2"
	json out.json ".collected.window_ns >= $(expect_key out least_ns) and .collected.window_ns <= $(expect_key out most_ns)"
	json out.json '.collected.bursts_cut <= 4'
	# All the time there are more.
	sampled -- long 2
	json out.json '.collected == null and .windows > 14'
}

@test "profile --pc --range (text, -g, a recording) says in which windows it collected, and has the stacks of launches" {
	run -0 --separate-stderr ct profile --pc --bursts 5ms/100ms --range step --skip-steps 1 -g --folded f.folded --record r.db -o out.txt -- \
		"$SIM" "$WORKLOADS/windows" long 2
	grep -q "^Collected only in the NVTX range 'step': 1 window, " out.txt
	grep -q ';main;.*;cuLaunchKernel;empty;.*;wait ' f.folded
	[ "$(sqlite3 r.db 'SELECT count(*) FROM CUDA_TRACE_PC_SAMPLES')" -ge 1 ]
}

@test "profile --pc --range (never open, not open for long enough) shows nothing, and says why" {
	sampled --range other -- long 1
	json out.json '.windows == 0 and .samples.placed == 0 and .collected.windows == 0'
	[[ $stderr == *"no NVTX range 'other' was opened"* ]]
	# Ranges of some 3 ms: no burst of 5 ms is in one.
	sampled --range step -- range 20
	json out.json '.windows == 0 and .samples.placed == 0 and .collected.windows == 20'
}

@test "profile --pc --profiler-api (too short for a burst) sees the calls" {
	sampled --profiler-api -- profiler 6
	json out.json '.collected | .by == "profiler_api" and .windows == 6'
}

@test "profile --counters --range, --profiler-api, --steps has the kernels that were launched in the windows" {
	local args
	for args in "range --range step" "profiler --profiler-api" "torch --step-range ProfilerStep#* --skip-steps 4"; do
		read -ra args <<<"$args"
		run -0 --separate-stderr ct profile --counters quick --json -o out.json "${args[@]:1}" -- "$SIM" "$WORKLOADS/windows" "${args[0]}" 6
		echo "$output" >out
		# Launches of graphs are not counted. From the fifth step on there are two, and the work before the sixth.
		if [ "${args[0]}" = torch ]; then
			assert_equal "$(jq -s 'map(select(.kernel)) | length' out.json)" 6
		else
			assert_equal "$(jq -s 'map(select(.kernel)) | length' out.json)" "$(expect_key out in_launches)"
		fi
	done
}

@test "profile (windows with what does not know them) says so and exits 2" {
	run -2 --separate-stderr ct profile --device --range step
	[[ $stderr == *"--pc and --counters"* ]]
	run -2 --separate-stderr ct profile --sass --profiler-api -- true
	[[ $stderr == *"--pc and --counters"* ]]
	run -2 --separate-stderr ct profile --counters quick --kernels 3 --range step -- true
	[[ $stderr == *"--kernels"* ]]
	run -2 --separate-stderr ct profile --counters quick --replay application --range step -- true
	[[ $stderr == *"--replay application"* ]]
	run -2 --separate-stderr ct profile --pc --max-overhead 1 --range step -- true
	[[ $stderr == *"--max-overhead"* ]]
}
