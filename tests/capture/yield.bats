#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A watched program that uses CUPTI itself: it must see all of its kernels, as if nobody watched.
# docs/internals/yield.md has what can go wrong.
# shellcheck disable=SC2154 # job_PID and the like are made by start

load ../lib/helpers

setup() {
	requires root bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	JSON=$BATS_TEST_TMPDIR/stat.json
}

# saw_all FILE: the client was refused nothing, saw all of its kernels, and got no memory of ours.
saw_all() {
	assert_equal "refused $(expect_key "$1" refused)" "refused 0"
	assert_equal "seen $(expect_key "$1" seen)" "seen $(expect_key "$1" profiled)"
	assert_equal "foreign $(expect_key "$1" foreign)" "foreign 0"
}

# job ARGS...: a program that profiles itself, started and about to launch; its pid is in $JOB.
job() {
	CUDA_INJECTION64_PATH=$AGENT start job "$SIM" "$WORKLOADS/profiler-client" "$@"
	ready job
	JOB=$job_PID
}

state_is() { # STATE
	ct list --json 2>/dev/null | jq -s -e "any(.pid == $JOB and .state == \"$1\")" >/dev/null
}

@test "yield (sessions) lets the client see all, and comes back after each of them" {
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/profiler-client" -s 3 -b 300 -w 10000 -o 10 -a 200 >out
	saw_all out
	assert_equal "$(expect_key out profiled)" 300
	json "$JSON" '.processes[0] | .yields == 3 and .client == "profiler-client"'
	# Back within a second each time: the sessions themselves take some ms.
	json "$JSON" '.processes[0].yielded_ns < 3000000000'
	# The loops before and after, and nothing of the sessions, which only the client has.
	json "$JSON" ".totals.kernels > 200 and .totals.kernels < $(expect_key out kernels)"
	json "$JSON" '.lost | .total == 0 and .yielded == 3'
}

@test "yield (stat's text) names the client and claims no complete total" {
	ct stat -- "$SIM" "$WORKLOADS/profiler-client" -s 1 -b 300 -d 200 >out 2>err
	saw_all out
	grep -Eq '^process [0-9]+: yielded CUPTI to profiler-client 1 time, for 0\.[0-9]+ s' err
	grep -q '^cuda-trace: lost 1 (yielded): ' err
	run ! grep -q 'nothing was lost' err
}

@test "yield (client within the first 300 ms) is let in" {
	for _ in 1 2 3; do
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/profiler-client" -s 1 >out
		saw_all out
	done
}

@test "yield (tool attaches and a client comes at once) is let in" {
	job -b 700 -s 20 -g 30
	ct stat --json -o "$JSON" -p "$JOB" -d 3 2>err
	finished "$job_PID"
	saw_all job.out
}

@test "yield (client runs before the tool comes) waits for its end" {
	job -s 1 -d 4000 -a 1500
	sleep 0.2
	ct stat --json -o "$JSON" -p "$JOB" 2>err
	finished "$job_PID"
	saw_all job.out
	json "$JSON" '.processes[0].kernels > 100 and .lost.yielded == 1'
}

@test "yield (activity API only) counts as a client, and is not spoilt after it" {
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/profiler-client" -m activity -s 4 -b 300 -w 10000 -a 1 >out
	saw_all out
	json "$JSON" '.processes[0].yields == 4'
}

@test "yield (work is under way) gives none of our buffers to the client" {
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/profiler-client" -b 300 -l 20000 -s 2 -g 500 >out
	saw_all out
}

@test "yield (client never leaves) says so for as long as it lives" {
	job -m keep -b 2500 -s 3 -g 100 -a 5000
	start tool "$CUDA_TRACE" stat --json -o "$JSON" -p "$JOB"
	wait_for 20 state_is yielded
	ct list --json | jq -c "select(.pid == $JOB)" >row
	json row '.note | test("^another CUPTI client has CUPTI since 20")'
	json row '.source == "driver"'
	finished "$job_PID"
	finished "$tool_PID"
	saw_all job.out
	json "$JSON" '.processes[0] | .yields == 1 and .client == "profiler-client" and .yielded_ns > 3000000000'
	run ! grep -q 'no working injection library' tool.err
	# At the driver's entry points: most of 5,000 ms with a launch each.
	json "$JSON" '.totals.launches > 2000'
}

@test "yield (two of our tools) lets the client in, and both come back" {
	job -b 1500 -s 2 -d 200 -g 1200 -w 10000 -a 1500
	start other "$CUDA_TRACE" stat --json -o other.json -p "$JOB"
	ct stat --json -o "$JSON" -p "$JOB" 2>err
	finished "$job_PID"
	finished "$other_PID"
	saw_all job.out
	json "$JSON" '.processes[0].yields == 2 and .totals.kernels > 400'
	json other.json '.processes[0].yields == 2 and .totals.kernels > 400'
}

@test "yield (the tool is stopped) holds the client for 800 ms, not longer" {
	job -b 2500 -s 1 -a 100
	start tool "$CUDA_TRACE" stat --json -o "$JSON" -p "$JOB"
	wait_for 20 state_is active
	kill -STOP "$tool_PID"
	finished "$job_PID"
	kill -CONT "$tool_PID"
	assert_equal "$status" 0
	[ "$(expect_key job.out slowest_us)" -ge 790000 ]
	[ "$(expect_key job.out slowest_us)" -lt 1500000 ]
}

@test "yield (the tool is killed) leaves nothing that holds the client" {
	job -b 2500 -s 2 -g 10
	start tool "$CUDA_TRACE" stat --json -o "$JSON" -p "$JOB"
	wait_for 20 state_is active
	kill -KILL "$tool_PID"
	finished "$job_PID"
	saw_all job.out
	[ "$(expect_key job.out slowest_us)" -lt 250000 ]
}

@test "yield (a second copy of libcupti) is reported" {
	cp -L "$B/simcuda/libcupti.so.13" libcupti.so.13
	ct stat -- "$SIM" "$WORKLOADS/profiler-client" -c "$PWD/libcupti.so.13" -b 5500 -s 0 >out 2>err
	grep -q "has a second copy of libcupti, $PWD/libcupti.so.13 beside .*/simcuda/libcupti.so" err
}

@test "yield (100 sessions under metrics) loses the client none" {
	requires curl
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
	# Some are so close that we stay away between them, some so far apart that we come back.
	for gap in 0 50 800; do
		CUDA_INJECTION64_PATH=$AGENT sim "$WORKLOADS/profiler-client" -b 300 -s "$((gap == 800 ? 20 : 40))" -g $gap >out
		echo "gap $gap: $(tail -n 1 out)"
		saw_all out
	done
	curl -sS -f --max-time 10 -o scrape "$URL/metrics"
	yields=$(sed -n 's/^cuda_trace_yields_total //p' scrape)
	[ "$yields" -ge 20 ] || fail "$yields yields"
}

@test "yield (metrics) shows who has CUPTI, and since when" {
	requires curl
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
	job -m keep -b 500 -s 1 -a 4000
	shows() {
		curl -sS -f --max-time 10 -o scrape "$URL/metrics" &&
			grep -E "^cuda_trace_yielded_since_seconds\{.*client=\"profiler-client\"\} 1[0-9]" scrape
	}
	wait_for 15 shows
	grep -qx 'cuda_trace_yielding_processes 1' scrape
	finished "$job_PID"
	saw_all job.out
}
