#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The second source: processes without a working guest, seen at libcuda's entry points.

load helpers

setup() {
	requires bpf sim
	# One link for all entry points: uprobe_multi.
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# on_driver CMD...: with the simulated libcuda, known to the tool before CMD starts.
on_driver() {
	LD_LIBRARY_PATH=$B/simcuda ct stat --source driver --json -o out.json -- "$@" >out
}

@test "stat --source driver (launches, copies, memory, waits, errors) counts what the programs count" {
	local workload key
	for workload in saxpy copies memory syncs failures streams; do
		on_driver "$WORKLOADS/$workload"
		for key in launches launch_errors graph_launches memcpys memcpy_bytes allocs frees live_bytes syncs; do
			assert_equal "$workload $key=$(json out.json ".totals.$key")" \
				"$workload $key=$(expect_key out "$key")"
		done
		json out.json '.source == "driver" and .lost.total == 0'
	done
}

@test "stat --source driver (no time of the GPU) invents none, and knows the kernels' names" {
	on_driver "$WORKLOADS/saxpy"
	json out.json '.totals | .gpu_ns == 0 and .kernels == 0 and .unfinished == 0'
	json out.json '[.kernels[] | [.name, .launches]] == [["saxpy", 10]]'
	json out.json '.copies | all(.total_ns == 0 and .bytes_per_second == null)'
	json out.json '.errors == []'
}

@test "stat --source driver (runtime API) knows the kernels' names, too" {
	on_driver "$WORKLOADS/runtime"
	assert_equal "$(json out.json .totals.launches)" "$(expect_key out launches)"
	json out.json '[.kernels[].name] == ["saxpy"]'
}

@test "stat -p (a program without the guest) sees its launches, and says why there is no more" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	sleep 0.5
	run --separate-stderr ct stat -p "$storm_PID" -d 1 --json
	assert_success
	echo "$output" >out.json
	json out.json '.source == "driver" and .totals.launches > 100'
	[[ $stderr == *'1 process is without a working guest: launches, sizes and results are seen, GPU times are not (source driver)'* ]]
}

@test "stat --source cupti -p (a program without the guest) sees nothing" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	sleep 0.5
	ct stat --source cupti -p "$storm_PID" -d 1 --json -o out.json
	json out.json '.source == "none" and .totals.launches == 0'
}

@test "trace (a program without the guest) marks every line with its source, GPU columns empty" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	sleep 0.5
	ct trace -e kernels -p "$storm_PID" -n 20 --json -o out.json
	run jq -es 'map(select(.event != "lost")) | length == 20 and all(.source == "driver" and .gpu_ns == null and
		.event == "launch" and .launch_ns > 0 and .result == 0 and .grid == [1,1,1])' out.json
	assert_success
}

@test "stat (one program with the guest, one without) tells the two apart" {
	start with "$SIM" env CUDA_INJECTION64_PATH="$GUEST" "$WORKLOADS/launch-storm" -s 20 -p 1000
	start without "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	sleep 0.5
	ct stat -c launch-storm -d 2 --json -o out.json
	json out.json ".processes[] | select(.pid == $with_PID) | .source == \"cupti\" and .kernels > 100"
	json out.json ".processes[] | select(.pid == $without_PID) | .source == \"driver\" and .launches > 100"
	json out.json '.source == "mixed"'
}

@test "stat --source (something else) is refused" {
	run -2 ct stat --source magic -- true
	assert_output --partial 'cuda-trace stat: --source is auto, cupti or driver'
}

@test "stat (a program whose guest finds no libcupti) goes over to the driver source at once, and says why" {
	run --separate-stderr ct stat --json -o out.json -- \
		"$SIM" env CUDA_TRACE_LIBCUPTI=/nonexistent.so "$WORKLOADS/launch-storm" -s 2 -p 1000
	assert_success
	echo "$output" >out
	json out.json '.source == "driver" and (.processes[0] | .source == "driver" and .state == "ended" and
		(.trouble | startswith("no usable libcupti was found")))'
	# What it launched before the probes were there is missing: some 20 ms of 2 s.
	[ "$(json out.json .totals.launches)" -gt "$(($(expect_key out launches) * 3 / 4))" ]
	[[ $stderr == *'calls made before this are not counted'* ]]
}

@test "stat --source cupti (a program whose guest finds no libcupti) claims no source, and says why" {
	ct stat --source cupti --json -o out.json -- \
		"$SIM" env CUDA_TRACE_LIBCUPTI=/nonexistent.so "$WORKLOADS/saxpy" >out
	json out.json '.source == "none" and .totals.launches == 0 and (.processes[0] |
		.source == "none" and (.trouble | startswith("no usable libcupti was found")))'
}
