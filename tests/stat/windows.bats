#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace stat --range, --profiler-api, --steps: only what is called in windows counts, and all of that.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# collected MODE OPTIONS...: what of the program `windows` was collected is what it made inside.
collected() {
	local mode=$1 key; shift
	run --separate-stderr ct stat --json -o out.json "$@" -- "$SIM" "$WORKLOADS/windows" "$mode" 6
	assert_success
	echo "$output" >out
	jq -c .collected,.totals out.json
	for key in launches graph_launches:graphs memcpys memsets syncs; do
		assert_equal "$key=$(json out.json ".totals.${key%:*}")" "$key=$(expect_key out "in_${key#*:}")"
	done
	assert_equal "$(json out.json '[.kernels[].count] | add')" "$(expect_key out in_kernels)"
	json out.json '.lost.total == 0 and .totals.unfinished == 0 and .collected.placed_by_gpu_time == 0'
}

# The windows are those of the program, and shares are of their length.
windows_are_right() {
	assert_equal "$(json out.json .collected.windows)" "$(expect_key out windows)"
	json out.json ".collected.window_ns >= $(expect_key out least_ns) and .collected.window_ns <= $(expect_key out most_ns)"
	json out.json '.time.window_ns == .collected.window_ns and .time.gpu_busy_ns <= .time.gpus_window_ns'
}

@test "stat --range (ranges in each other, kernels that end later) counts what was called in the range" {
	collected range --range step
	windows_are_right
	# The kernels that end after their windows are whole in the table, and not in the shares.
	json out.json '.totals.gpu_ns > 6 * 3e6 and .totals.gpu_ns > .time.gpu_busy_ns'
	json out.json '.collected | .by == "range" and .range == "step" and .domain == null and .open == 0'
}

@test "stat --range (start/end ranges, threads, domains, one that stays open) counts the same" {
	collected started --range step
	windows_are_right
	collected threads --range 'st[e]p'
	windows_are_right
	collected domain --range step@loop
	windows_are_right
	json out.json '.collected.domain == "loop"'
	# It lasts as long as its process, which the program itself cannot know.
	collected open --range step
	json out.json ".collected | .open == 1 and .windows == 1 and .window_ns >= $(expect_key out least_ns)"
}

@test "stat --range (for seconds) closes each window, whenever the agent compares its clocks" {
	run -0 --separate-stderr ct stat --json -o out.json --range step -- "$SIM" "$WORKLOADS/windows" range 200
	echo "$output" >out
	windows_are_right
	assert_equal "$(json out.json .totals.launches)" "$(expect_key out in_launches)"
	json out.json '.collected | .windows == 200 and .open == 0'
}

@test "stat --profiler-api counts between cudaProfilerStart() and cudaProfilerStop()" {
	collected profiler --profiler-api
	windows_are_right
	json out.json '.collected | .by == "profiler_api" and .range == null'
	collected driver --profiler-api
	windows_are_right
	# The calls that mark windows, and those that say when copies were made, are no output.
	json out.json '.api == null'
}

@test "stat --range (-e nvtx and other events) keeps to what was requested" {
	collected range --range step -e kernels,copies,sync,nvtx,api
	json out.json '[.ranges[] | .name] | sort == ["around", "step"]'
	run -0 --separate-stderr ct stat --range step -e copies --json -o out.json -- "$SIM" "$WORKLOADS/windows" range 6
	echo "$output" >out
	assert_equal "$(json out.json .totals.memcpys)" "$(expect_key out in_memcpys)"
	json out.json '.totals.launches == 0 and .totals.kernels == 0 and .ranges == [] and .api == null'
}

@test "stat --range (text) names the windows and their length" {
	run -0 ct stat --range step -- "$SIM" "$WORKLOADS/windows" range 3
	assert_line --regexp "^Collected only in the NVTX range 'step': 3 windows, [0-9.]+ ms"
	assert_line --regexp '^Where the time went \([0-9.]+ ms in 3 windows\)'
	run -0 ct stat --profiler-api -- "$SIM" "$WORKLOADS/windows" profiler 1
	assert_line --partial "Collected only between cudaProfilerStart() and cudaProfilerStop(): 1 window,"
}

@test "stat --range, --profiler-api (no window opens) says why" {
	run -0 ct stat --range stop -- "$SIM" "$WORKLOADS/windows" range 1
	assert_line --partial "nothing was collected: no NVTX range 'stop' was opened; others were: 'around', 'step'"
	assert_line --regexp '^0 launches .* 0 kernels'
	run -0 ct stat --range step@other -- "$SIM" "$WORKLOADS/windows" range 1
	assert_line --partial "no NVTX range 'step' was opened in the domain 'other'"
	run -0 ct stat --range step -- "$SIM" "$WORKLOADS/saxpy"
	assert_line --partial 'no NVTX range was seen at all. Ranges are seen in programs that cuda-trace starts'
	run -0 ct stat --profiler-api -- "$SIM" "$WORKLOADS/saxpy"
	assert_line --partial 'no process called cudaProfilerStart() while it was observed'
}

@test "stat (windows that exclude each other, or need more) is refused" {
	local options
	for options in '--range a --profiler-api' '--range a --sample 10ms/1s' '--range a --source driver' \
		'--range a --idle' '--profiler-api --energy' '--range @a' '--step-range a' '--profiler-api --steps 1'; do
		# shellcheck disable=SC2086 # words
		run -2 ct stat $options -- true
	done
}

@test "stat --steps, --skip-steps (PyTorch's ranges) collects from the first step to the end of the last" {
	run -0 --separate-stderr ct stat --skip-steps 2 --steps 3 --json -o out.json -- "$SIM" "$WORKLOADS/windows" torch 6
	# Each step does what the work between two of them does.
	json out.json '.totals | .launches == 10 and .graph_launches == 5 and .kernels == 25 and .memcpys == 5 and .syncs == 2'
	json out.json '.collected | .by == "steps" and .range == "ProfilerStep#*" and .windows == 1 and .open == 0'
	json out.json '.collected | .skip_steps == 2 and .steps == 3'
	run -0 --separate-stderr ct stat --skip-steps 4 --step-range 'ProfilerStep#?@' --json -o out.json -- \
		"$SIM" "$WORKLOADS/windows" torch 6
	json out.json '.totals.launches == 6 and .collected.open == 1 and .collected.domain == ""'
}

@test "stat --range with --steps collects in so many of its ranges" {
	run -0 --separate-stderr ct stat --range step --skip-steps 2 --steps 3 --json -o out.json -- \
		"$SIM" "$WORKLOADS/windows" range 6
	json out.json '.totals | .launches == 6 and .graph_launches == 3 and .kernels == 15 and .syncs == 1'
	json out.json '.collected | .by == "range" and .windows == 3'
	run -0 ct stat --range step --skip-steps 6 -- "$SIM" "$WORKLOADS/windows" range 6
	assert_line --partial 'nothing was collected: no process began more than the 6 steps of --skip-steps'
}
