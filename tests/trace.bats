#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace trace: one line an event.

load helpers

EMIT=$B/tests/emitter/emit

# The tool, watching the emitter's library from the start.
ct_emit() {
	CUDA_TRACE_GUEST=$B/tests/emitter/libcupti-usdt.so ct "$@"
}

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "trace (saxpy) shows each kernel with both halves" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	assert_equal "$(jq -s 'map(select(.event == "kernel")) | length' out.json)" "$(expect_key out kernels)"
	run jq -es 'map(select(.event == "kernel")) | all(
		.kernel == "saxpy" and .result == 0 and .result_name == "ok" and .source == "cupti" and
		.process == "saxpy" and .pid > 0 and .tid > 0 and .device == 0 and .block == [256,1,1] and
		.gpu_ns == .gpu_end_ns - .gpu_start_ns and .gpu_ns > 0 and .launch_ns > 0 and
		(.queue_ns == .gpu_start_ns - .launch_start_ns or .queue_ns == 0))' out.json
	assert_success
	assert_equal "$(jq -s 'map(select(.event == "kernel").correlation) | unique | length' out.json)" \
		"$(expect_key out kernels)"
	assert_equal "$(tail -n 1 out.json | jq '.lost.total')" 0
}

@test "trace (text) has one header and a line an event, kernel name last" {
	ct trace -o out.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	assert_equal "$(grep -c KERNEL out.txt)" 1
	assert_equal "$(grep -c ' cupti  saxpy$' out.txt)" "$(expect_key out launches)"
	assert_equal "$(wc -l <out.txt)" 11
}

@test "trace --wide shows registers, shared memory, correlation and GPU start and end" {
	ct trace -w -o out.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	run head -n 1 out.txt
	assert_output --regexp 'GPU-START +GPU-END +GPU-TIME +SSMEM +DSMEM +REGS +CORR +GRAPH'
}

@test "trace (failed launches) shows them with the result's name" {
	ct_emit trace --json -o out.json -- "$EMIT" failures >out
	assert_equal "$(jq -s 'map(select(.event == "launch" and .result != 0)) | length' out.json)" \
		"$(expect_key out launch_errors)"
	run jq -r 'select(.result == 1).result_name' out.json
	assert_line CUDA_ERROR_INVALID_VALUE
	run jq -r 'select(.result == 98765) | .result_name, .gpu_ns' out.json
	assert_line unknown
	assert_line null
}

@test "trace (kernels that never finish) shows the launches with empty GPU columns" {
	ct_emit trace --json -o out.json -- "$EMIT" unfinished 4 >out
	assert_equal "$(jq -s 'map(select(.event == "launch" and .gpu_ns == null)) | length' out.json)" 4
	ct_emit trace -o out.txt -- "$EMIT" unfinished 4 >out
	assert_equal "$(grep -c ' - ok ' out.txt)" 4
}

@test "trace -n ends after so many lines, the program goes on" {
	ct trace -n 3 --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 20000 >out
	assert_equal "$(jq -s 'map(select(.event != "lost")) | length' out.json)" 3
	assert_equal "$(expect_key out launches)" 20000
}

@test "trace (a reader that stops reading) ends quietly" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$GUEST" "$WORKLOADS/launch-storm" -s 20 -p 500
	sleep 0.3
	timeout 20 bash -c '"$0" trace -p "$1" 2>err | head -n 2 >head; echo "${PIPESTATUS[0]}" >status' \
		"$CUDA_TRACE" "$storm_PID"
	assert_equal "$(cat err)" ''
	assert_equal "$(cat status)" 0
	assert_equal "$(wc -l <head)" 2
}

@test "trace (nothing can be written) says so and exits 1" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$GUEST" "$WORKLOADS/launch-storm" -s 20 -p 500
	sleep 0.3
	run ct trace -p "$storm_PID" -o /dev/full
	assert_failure 1
	assert_output --partial 'cannot write /dev/full: No space left on device'
	run ct trace -p "$storm_PID" -o /nonexistent/x
	assert_failure 1
	assert_output 'cuda-trace trace: cannot write /nonexistent/x: No such file or directory'
}

@test "trace -k and --min-duration keep what they name" {
	ct trace -k 'sax.y' --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	assert_equal "$(grep -c '"event":"kernel"' out.json)" 10
	ct trace -k 'saxpz' --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	run grep -c '"event":"kernel"' out.json
	assert_output 0
	ct trace --min-duration 1s --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	run grep -c '"event":"kernel"' out.json
	assert_output 0
}

@test "trace (hostile names) lets no control character out and keeps JSON valid" {
	ct_emit trace -o out.txt -- "$EMIT" names >out
	run grep -nP '[\x00-\x08\x0b-\x1f\x7f]' out.txt
	assert_failure
	assert_equal "$(wc -l <out.txt)" 8
	ct_emit trace --json -o out.json -- "$EMIT" names >out
	assert_equal "$(jq -s 'map(select(.event == "kernel")) | length' out.json)" 7
}

@test "trace (batches of nonsense) survives, JSON valid" {
	ct_emit trace --json -o out.json -- "$EMIT" nonsense >out
	run jq -es 'last | .event == "lost" and .lost.malformed > 0' out.json
	assert_success
}

@test "trace --json has exactly the documented keys" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	head -n 1 out.json | jq -r 'keys[]' | sort >keys
	sed -n '/^## KEYS/,/^## /s/^\*\([a-z_]*\)\*.*/\1/p' "$TOP/man/cuda-trace-trace.1.scd" | sort >documented
	run diff documented keys
	assert_success
}
