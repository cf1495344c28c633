#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Recordings of processes without a working injection library.

load ../lib/helpers

setup() {
	requires bpf sim
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# on_driver ARGS... -- CMD...: recorded at the entry points of the simulated libcuda, into r.db
on_driver() {
	LD_LIBRARY_PATH=$B/simcuda ct record -q -f -o r.db --source driver "$@" >out
}

@test "record --source driver (launches, copies, memory, waits, errors) keeps what the programs count" {
	local workload key
	for workload in saxpy copies memory syncs failures streams peers refused; do
		on_driver -- "$WORKLOADS/$workload"
		ct report --json r.db >out.json
		for key in launches launch_errors graph_launches memcpys memcpy_bytes allocs frees live_bytes syncs; do
			assert_equal "$workload $key=$(json out.json ".totals.$key")" \
				"$workload $key=$(expect_key out "$key")"
		done
		json out.json '.source == "driver" and .lost.total == 0 and .totals.kernels == 0 and .totals.gpu_ns == 0'
	done
}

@test "record --source driver (against stat) has the same kernels, shapes, failures, copies and calls" {
	local workload
	# A time of its own is all in which two runs differ, and processes.
	local same='del(.. | .pid?, .total_ns?, .mean_ns?, .min_ns?, .max_ns?, .sync_ns?, .uid?, .cgroup?) |
		.kernels, .copies, .memory, .syncs, .errors, .totals'
	for workload in saxpy failures copies memory graphs; do
		on_driver -- "$WORKLOADS/$workload"
		ct report --json r.db | jq -S "$same" >recorded
		LD_LIBRARY_PATH=$B/simcuda ct stat --source driver --json -o stat.json -- "$WORKLOADS/$workload" >out
		jq -S "$same" stat.json >summed
		run -0 diff recorded summed
	done
	grep -q cuGraphLaunch <(ct report --api --csv r.db)
}

@test "record --source driver (no time of the GPU) has no rows in tables of GPU times" {
	requires sqlite3
	on_driver -- "$WORKLOADS/copies"
	assert_equal "$(sqlite3 r.db 'SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) ||
		(SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)')" 00
	assert_equal "$(sqlite3 r.db 'SELECT count(*), sum(bytes), sum(end < start) FROM CUDA_TRACE_COPIES')" \
		"$(expect_key out memcpys)|$(expect_key out memcpy_bytes)|0"
	ct report --copy-calls --json r.db >copies.json
	assert_equal "$(jq -s 'map(.calls) | add' copies.json)" "$(expect_key out memcpys)"
	assert_equal "$(jq -r 'select(.direction == "host to device").calls' copies.json)" "$(expect_key out h2d)"
	# What cuMemFree() frees is no more held, as whatever it was allocated.
	ct report --memory --json r.db >memory.json
	assert_equal "$(jq -sc 'map(select(.memory == "managed") | .allocations, .frees, .live_at_end_bytes)' memory.json)" "[1,1,0]"
	assert_equal "$(jq -s 'map(.live_at_end_bytes) | add' memory.json)" "$(expect_key out live_bytes)"
	on_driver -- "$WORKLOADS/failures"
	ct report --launches --json r.db >launches.json
	assert_equal "$(jq -s 'map(.launches) | add' launches.json)" "$(expect_key out launches)"
	assert_equal "$(jq -s 'map(.failed) | add' launches.json)" "$(expect_key out launch_errors)"
	ct report --html page.html r.db
	grep -q '"launches":\[{' page.html
	# Arrows lead nowhere, and no GPU waits.
	on_driver -- "$WORKLOADS/syncs"
	ct report --timeline timeline.json r.db
	assert_equal "$(jq -c '[.traceEvents[] | select(.ph == "s" or .ph == "f")] | length' timeline.json)" 0
	assert_equal "$(jq -c '[.traceEvents[] | select(.cat == "cuda_sync")] | length' timeline.json)" "$(expect_key out syncs)"
	assert_equal "$(jq -c '[.traceEvents[].pid] | unique | length' timeline.json)" 1
}

@test "record --source driver -e (some kinds) keeps no others" {
	requires sqlite3
	on_driver -e kernels -- "$WORKLOADS/saxpy"
	assert_equal "$(sqlite3 r.db 'SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME),
		(SELECT count(*) FROM CUDA_TRACE_COPIES), (SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS),
		(SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)')" "$(expect_key out launches)|0|0|0"
}

@test "record -p (a program without the agent, whose kernels were named before) has their handles" {
	requires sqlite3
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	run -0 --separate-stderr ct record --no-attach -q -f -o r.db -p "$storm_PID" -d 1
	[[ $stderr == *'1 process has no working injection library'* ]]
	[[ "$(sqlite3 r.db 'SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = launchName')" =~ ^'[handle 0x'[0-9a-f]+']'$ ]]
	run -0 ct record --no-attach -q -f -o none.db --source cupti -p "$storm_PID" -d 1
	assert_equal "$(sqlite3 none.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME')" 0
}

@test "record (one program with the agent, one without) distinguishes the two" {
	start with "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	start without "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready with
	ready without
	ct record -q -f -o r.db -c launch-storm -d 2
	ct report --json r.db >out.json
	json out.json ".processes[] | select(.pid == $with_PID) | .source == \"cupti\" and .kernels > 100"
	json out.json ".processes[] | select(.pid == $without_PID) | .source == \"driver\" and .launches > 100 and .kernels == 0"
	json out.json '.source == "mixed"'
	ct report --processes --json r.db >processes.json
	run -0 jq -es "map(select(.pid == $with_PID).source) == [\"cupti\"] and map(select(.pid == $without_PID).source) == [\"driver\"]" processes.json
	# Shapes are for launches whose kernels have no rows.
	ct report --launches --json r.db >launches.json
	assert_equal "$(jq -s 'map(.launches) | add' launches.json)" \
		"$(json out.json ".processes[] | select(.pid == $without_PID).launches")"
}

@test "record (the recorder of a program without the agent is killed) leaves all but the last second" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	start recorder "$CUDA_TRACE" record --no-attach -q -f -o r.db -p "$storm_PID"
	wait_for 20 test -s r.db.part
	sleep 3
	kill -9 "$recorder_PID"
	# Its lock goes with its last descriptor: closing links takes the kernel a moment.
	finished "$recorder_PID"
	ct report --json r.db >both
	jq -e 'select(.table == "losses").reason == "recorder_died"' both
	head -n 1 both >out.json
	json out.json '.source == "driver" and .totals.launches > 500'
}

@test "record -g --source driver (there are no stacks) is a usage error" {
	run -2 ct record -g --source driver -o r.db -- touch ran
	assert_output --partial "-g needs the injection library"
	[ ! -e ran ]
}

@test "stat --max-overhead (a program without the agent beside) compares launches that can be stamped, only" {
	# Where a step of the histogram begins (a sixteenth of 2^14): a median within one is computed as if it was evenly filled.
	start with "$SIM" env CUDA_INJECTION64_PATH="$AGENT" SIMCUDA_LAUNCH_NS=20480 "$WORKLOADS/launch-storm" -s 30 -p 100
	start without "$SIM" "$WORKLOADS/launch-storm" -s 30 -p 10
	ready with
	ready without
	ct stat --max-overhead 5% --json -o s.json -c launch-storm -d 5
	json s.json ".processes[] | select(.pid == $without_PID) | .source == \"driver\" and .launches > 1000"
	json s.json '[.. | .launch_ns? | numbers] | length == 1 and .[0] >= 20480'
}
