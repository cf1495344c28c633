#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace trace: one line an event.

load ../lib/helpers

EMIT=$B/tests/agent/emitter/emit

# The tool, watching the emitter's library from the start.
ct_emit() {
	CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so ct "$@"
}

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "trace (saxpy) shows each kernel with both halves" {
	ct trace -e kernels --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
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
	ct trace -e kernels -o out.txt -- "$SIM" "$WORKLOADS/saxpy" >out
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

@test "trace (the manual page's filter for failures) lets through those alone" {
	local filter
	filter=$(sed -n "s/.*trace -a --json.* | jq '\(.*\)'$/\1/p" "$TOP/man/cuda-trace-trace.1.scd")
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/failures" >out
	jq -c "$filter" out.json >failed.json
	assert_equal "$(wc -l <failed.json)" "$(expect_key out launch_errors)"
	assert_equal "$(jq -s 'map(.event) | unique | tojson' failed.json)" '"[\"launch\"]"'
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
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 500
	ready storm
	timeout 20 bash -c '"$0" trace -p "$1" 2>err | head -n 2 >head; echo "${PIPESTATUS[0]}" >status' \
		"$CUDA_TRACE" "$storm_PID"
	assert_equal "$(cat err)" ''
	assert_equal "$(cat status)" 0
	assert_equal "$(wc -l <head)" 2
}

@test "trace (nothing can be written) says so and exits 1" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 500
	ready storm
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
	ct trace -e kernels --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	head -n 1 out.json | jq -r 'keys[]' | sort >keys
	sed -n '/^## KEYS/,/^## /s/^\*\([a-z_]*\)\*.*/\1/p' "$TOP/man/cuda-trace-trace.1.scd" | sort >documented
	run diff documented keys
	assert_success
}

# sum_of EVENT KEY: over the lines of out.json.
sum_of() {
	jq -s "map(select(.event == \"$1\").$2) | add // 0" out.json
}

count_of() {
	jq -s "map(select(.event == \"$1\")) | length" out.json
}

@test "trace (copies) shows each with direction, kinds, bytes and throughput" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/copies" >out
	assert_equal "$(sum_of memcpy copies)" "$(expect_key out memcpys)"
	assert_equal "$(sum_of memcpy bytes)" "$(expect_key out memcpy_bytes)"
	assert_equal "$(count_of memset)" "$(expect_key out memsets)"
	run jq -es 'map(select(.event == "memcpy")) | all(.gpu_ns > 0 and .bytes_per_second > 0 and
		(.direction | IN("HtoD", "DtoH", "DtoD", "HtoH", "PtoP")) and
		(.from | IN("pageable", "pinned", "device", "managed")))' out.json
	assert_success
	# What the program does in each of its 10 rounds, and how often.
	run jq -rs 'map(select(.event == "memcpy") | "\(.direction) \(.from) \(.to) \(.asynchronous)") |
		group_by(.) | map("\(.[0]) \(length / 10)")[]' out.json
	assert_output - <<-'EOF'
		DtoD device device false 1
		DtoD device device true 2
		DtoD device managed false 1
		DtoH device pageable false 3
		DtoH device pageable true 1
		DtoH device pinned true 1
		DtoH managed pinned false 1
		HtoD pageable device false 1
		HtoD pinned device true 1
	EOF
	run jq -rs 'map(select(.event == "memset") | "\(.value) \(.to) \(.bytes) \(.asynchronous)") |
		group_by(.) | map("\(.[0]) \(length / 10)")[]' out.json
	assert_output - <<-EOF
		$((0x3322)) device 1048576 false 1
		$((0x11)) device 1048576 false 1
		$((0x77665544)) device 1048576 false 1
		$((0x19)) device 1048576 true 1
		$((0x1a1a1a1a)) device 1048576 true 1
	EOF
	ct trace -o out.txt -- "$SIM" "$WORKLOADS/copies" >out
	grep -q '\[memcpy HtoD\] pageable to device, [0-9]* bytes, ' out.txt
}

@test "trace (copies between GPUs) shows from which one to which" {
	SIMCUDA_DEVICES=3 ct trace -e copies,kernels --json -o out.json -- "$SIM" "$WORKLOADS/peers" 2 >out
	assert_equal "$(expect_key out peer_copies)" 6
	assert_equal "$(jq -sc 'map(select(.direction == "PtoP") | [.device, .from_device, .to_device]) |
		group_by(.) | map(.[0] + [length])' out.json)" '[[0,0,1,2],[1,1,2,2],[2,2,0,2]]'
	assert_equal "$(jq -sc 'map(select(.event == "kernel").device) | unique' out.json)" '[0,1,2]'
	assert_equal "$(sum_of memcpy bytes)" "$(expect_key out memcpy_bytes)"

	# Where no GPU reaches the other: as the driver does it.
	SIMCUDA_DEVICES=2 SIMCUDA_PEER_ACCESS=0 ct trace -e copies --json -o out.json -- "$SIM" "$WORKLOADS/peers" 1 >out
	assert_equal "$(jq -sc 'map(select(.event == "memcpy") | "\(.direction) \(.device)")' out.json)" \
		'["HtoD 0","DtoH 0","HtoD 1","DtoH 1","HtoD 0","DtoH 1"]'
	assert_equal "$(sum_of memcpy copies) $(sum_of memcpy bytes)" "$(expect_key out memcpys) $(expect_key out memcpy_bytes)"
}

@test "trace (memory) shows allocations and frees with address, bytes and kind" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/memory" >out
	assert_equal "$(count_of alloc)" "$(expect_key out allocs)"
	assert_equal "$(count_of free)" "$(expect_key out frees)"
	assert_equal "$(jq -s '(map(select(.event == "alloc").bytes) | add) -
		(map(select(.event == "free").bytes) | add)' out.json)" "$(expect_key out live_bytes)"
	# 10 rounds: three of the device, two of pools, two pinned, one managed; what is not freed at the end is one
	# of the device and one pinned.
	run jq -rs 'map(select(.event == "alloc" or .event == "free") | "\(.event) \(.kind) \(.asynchronous)") |
		group_by(.) | map("\(.[0]) \(length)")[]' out.json
	assert_output - <<-'EOF'
		alloc device false 31
		alloc device true 20
		alloc managed false 10
		alloc pinned false 21
		free device false 30
		free device true 20
		free managed false 10
		free pinned false 20
	EOF
	# What is freed was allocated there, with those bytes, of that kind, and nothing is allocated where something is.
	run jq -nrc 'reduce (inputs | select(.event == "alloc" or .event == "free")) as $e ({};
		if $e.event == "alloc" and .[$e.address] == null then .[$e.address] = [$e.kind, $e.bytes]
		elif $e.event == "free" and .[$e.address] == [$e.kind, $e.bytes] then del(.[$e.address])
		else error("\($e)") end) | (keys | all(test("^0x[1-9a-f][0-9a-f]+$"))), (map(.) | sort | .[])' out.json
	assert_output - <<-EOF
		true
		["device",1048576]
		["pinned",1048576]
	EOF
}

@test "trace (memory) shows when a pool is created, trimmed and destroyed" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/memory" 7 >out
	# Its own one, which it trims in each round; what the device's default one goes through is nobody's call.
	run jq -rs 'map(select(.event == "pool")) | (map(.address) | unique | length), (map(.operation) | group_by(.) |
		map("\(.[0]) \(length)")[])' out.json
	assert_output - <<-'EOF'
		1
		created 1
		destroyed 1
		trimmed 7
	EOF
	json <(jq -s . out.json) 'map(select(.event == "pool")) | sort_by(.timestamp) | .[0].operation == "created" and
		.[-1].operation == "destroyed" and all(.kind == "local" and .used_bytes <= .bytes and .device == 0)'
	json <(jq -s . out.json) 'map(select(.event == "pool" and .operation == "trimmed")) |
		all(.keep_bytes == 0 and .correlation > 0)'
	json <(jq -s . out.json) 'map(select(has("keep_bytes"))) | all(.operation == "trimmed")'
	ct trace -o out.txt -- "$SIM" "$WORKLOADS/memory" 7 >out
	assert_equal "$(grep -cE '  \[pool trimmed\] local, [0-9]+ bytes at 0x[0-9a-f]+$' out.txt)" 7
}

@test "trace (syncs) shows each wait of the host with its kind and length" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/syncs" 10 30000 >out
	assert_equal "$(jq -s 'map(select(.event == "sync" and .kind != "stream_wait_event")) | length' out.json)" \
		"$(expect_key out syncs)"
	# The first wait is before the 10 rounds. Only that for a stream is for one, and only the program's own calls wait.
	run jq -rs 'map(select(.event == "sync") | "\(.kind) \(.stream != null) \(.result_name)") |
		group_by(.) | map("\(.[0]) \(length)")[]' out.json
	assert_output - <<-'EOF'
		context false ok 10
		event false ok 10
		stream true ok 11
		stream_wait_event true ok 10
	EOF
	# Each wait is for a kernel of 30 ms; all of them but the first are what the program measured from outside.
	jq -s 'map(select(.event == "sync" and .kind != "stream_wait_event").launch_ns)[1:]' out.json >waits.json
	json waits.json 'all(. > 3000000)'
	json waits.json "add <= $(expect_key out waited_ns) and add > $(expect_key out waited_ns) / 2"
}

# everything VERSION EVENTS PROGRAM...: what trace says of these programs with that CUPTI, without what differs from run to
# run: a line an event, sorted; of times whether they are in order, of addresses whether there are any. How much CUPTI says
# of its own overhead is its own affair.
everything() {
	# shellcheck disable=SC2016 # expanded by the shell that is started
	SIMCUDA_DEVICES=3 SIMCUDA_CUPTI_VERSION=$1 ct trace -e "$2" --json -o out.json -- "$SIM" \
		bash -c 'for program; do "$WORKLOADS"/$program || exit; done' - "${@:3}" >out || return 1
	assert_equal "$1 $(tail -n 1 out.json | jq .lost.total)" "$1 0" || return 1
	jq -c 'select(.event != "lost") | .times = (.gpu_start_ns == null or .gpu_end_ns > .gpu_start_ns and
			.gpu_start_ns > (.launch_start_ns // 0)) | .address = (.address and .address != "0x0") |
		del(.timestamp, .pid, .tid, .launch_start_ns, .launch_ns, .queue_ns, .gpu_start_ns, .gpu_end_ns, .gpu_ns,
			.bytes_per_second, .correlation, .cgroup, .container)' out.json | sort >all
	grep -v '"event":"overhead"' all
	grep '"event":"overhead"' all | sort -u
}

@test "trace (CUPTI 11.8 to 13.4) shows the same of every kind of event" {
	local version programs=("copies 1" "memory 1" "syncs 1" "unified 2" "streams 4" "peers 1" "resets 1" failures saxpy)
	local events=kernels,copies,memory,sync,errors,unified,overhead,objects
	everything 13.0 "$events" "${programs[@]}" >13.0
	everything 13.0 kernels,copies "graphs 2" >nodes-13.0
	everything 13.0 kernels,copies,graphs "graphs 2" >graphs-13.0
	assert_equal "$(jq -r .event 13.0 graphs-13.0 | sort -u | paste -sd' ')" \
		"alloc context device error free graph graph_instantiate graph_launch jit kernel launch memcpy memset overhead pool static stream sync unified"
	run ! grep -h '"times":false' 13.0 nodes-13.0 graphs-13.0
	for version in 11.8 12.0 12.4 12.6 12.8 12.9 13.1 13.2 13.3 13.4; do
		everything $version "$events" "${programs[@]}" >$version
		diff 13.0 $version >difference || fail "$version: $(head -n 10 difference)"
		# No GPU times of programs that launch graphs are taken with that one.
		[ $version = 12.9 ] && continue
		everything $version kernels,copies "graphs 2" >nodes-$version
		diff nodes-13.0 nodes-$version >difference || fail "$version: $(head -n 10 difference)"
		everything $version kernels,copies,graphs "graphs 2" >graphs-$version
		diff graphs-13.0 graphs-$version >difference || fail "$version: $(head -n 10 difference)"
	done
}

# arguments_of FILE: the arguments of the call in each line of JSON
arguments_of() {
	jq -cS '{call, bytes, address, direction, value, device, grid, block, dynamic_shared, kernel} |
		with_entries(select(.value != null))' "$1" | sort
}

@test "trace --errors (calls refused for their arguments) shows these, and follows no pointer" {
	ct trace --errors --json -o out.json -- "$SIM" "$WORKLOADS/refused" >out
	grep '^{' out >refused.json
	jq -c 'select(.event == "error" and .domain == "runtime")' out.json >runtime.json
	run arguments_of runtime.json
	grep '"cuda' refused.json >runtime_refused.json
	assert_output "$(arguments_of runtime_refused.json)"
	# Those that the runtime makes are among them.
	jq -c 'select(.event == "error" and .domain == "driver")' out.json >driver.json
	arguments_of driver.json >driver
	grep -v '"cuda' refused.json >driver_refused.json
	arguments_of driver_refused.json >refused
	assert_equal "$(wc -l <refused) $(comm -13 driver refused)" "7 "
	ct trace --errors -o out.txt -- "$SIM" "$WORKLOADS/refused" >out
	for line in 'cudaMalloc: 70368744177664 bytes' 'cudaMemcpy: 62 bytes DtoH' 'cudaMemset: 60 bytes to 0x7' \
		'cudaFree: at 0x4000' 'cudaSetDevice: device 99' \
		'cudaLaunchKernel: empty, grid 3x2x1, block 4096x1x1, 1024 bytes of shared memory'; do
		grep -q "\[failed\] $line\$" out.txt || fail "no line of $line"
	done
}

@test "trace --errors shows every failed call with its name and result" {
	ct trace --errors --json -o out.json -- "$SIM" "$WORKLOADS/failures" >out
	assert_equal "$(count_of error)" "$(expect_key out api_errors)"
	run jq -r 'select(.event == "error" and .call == "cuDeviceGet") | .result_name' out.json
	assert_line CUDA_ERROR_INVALID_DEVICE
}

@test "trace --api shows the calls that match, and no others" {
	ct trace -e launches --api 'cuMemAlloc*' --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	run jq -r 'select(.event == "api") | .call' out.json
	assert_equal "$(sort -u <<<"$output")" cuMemAlloc_v2
	assert_equal "${#lines[@]}" "$(expect_key out allocs)"
}

@test "trace (graphs) shows each kernel of a graph with its node, or graphs as a whole" {
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/graphs" >out
	assert_equal "$(count_of kernel)" "$(expect_key out kernels)"
	assert_equal "$(count_of graph_launch)" "$(expect_key out graph_launches)"
	run jq -es 'map(select(.event == "kernel" and .graph != null)) | length > 0 and all(.graph_node > 0)' out.json
	assert_success
	ct trace -e kernels,graphs --json -o out.json -- "$SIM" "$WORKLOADS/graphs" >out
	assert_equal "$(count_of graph)" "$(expect_key out graph_launches)"
	assert_equal "$(jq -s 'map(select(.event == "kernel" and .graph != null)) | length' out.json)" 0
}

@test "trace --json --graph-nodes (graphs that are built) has each node as it was created, and its copies" {
	ct trace --graph-nodes --json -o out.json -- "$SIM" "$WORKLOADS/graphs" 2 >out
	local nodes
	nodes=$(expect_key out created_nodes)
	assert_equal "$(count_of graph_node)" $((3 * nodes))
	run -0 jq -es --argjson nodes "$nodes" 'map(select(.event == "graph_node")) |
		all(.tid == .pid and .graph > 0 and .launch_start_ns > 0) and
		(map(select(.original_graph_node)) | length == $nodes and all(.graph_node != .original_graph_node))' out.json
	ct trace --graph-nodes -o out.txt -- "$SIM" "$WORKLOADS/graphs" 2 >out
	assert_equal "$(grep -c 'graph.node' out.txt)" 0
	# Without --graph-nodes there is none.
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/graphs" 2 >out
	assert_equal "$(count_of graph_node)" 0
}

@test "trace -e graphs (instantiations) shows each with how long the host took, by the driver's call" {
	ct trace -e graphs --json -o out.json -- "$SIM" "$WORKLOADS/graphs" 2 5 runtime >out
	assert_equal "$(count_of graph_instantiate)" "$(expect_key out instantiations)"
	run jq -es 'map(select(.event == "graph_instantiate")) | all(.call == "cuGraphInstantiateWithFlags" and
		.launch_ns > 0 and .result == 0 and .domain == "driver" and .tid == .pid and .correlation > 0)' out.json
	assert_success
	ct trace -e graphs -o out.txt -- "$SIM" "$WORKLOADS/graphs" 2 >out
	assert_equal "$(grep -c '\[graph instantiation\] cuGraphInstantiateWithFlags$' out.txt)" "$(expect_key out instantiations)"
	# Without the option there are none.
	ct trace --json -o out.json -- "$SIM" "$WORKLOADS/graphs" 2 >out
	assert_equal "$(count_of graph_instantiate)" 0
}

@test "trace -e unified, objects show those" {
	ct trace -e unified --json -o out.json -- "$SIM" "$WORKLOADS/unified" >out
	[ "$(jq -s 'map(select(.event == "unified" and .kind == "htod_bytes").value) | add' out.json)" -gt 0 ]
	ct trace -e objects --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	# Reported again to each consumer that attaches.
	run bash -c "jq -r 'select(.event == \"device\") | .uuid' out.json | sort -u"
	assert_output --regexp '^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
	ct trace -e objects --json -o out.json -- "$SIM" "$WORKLOADS/streams" 20 >out
	run jq -rs 'map(select(.event == "stream" and .kind == "non-blocking")) | unique_by(.stream) |
		group_by(.priority) | map("\(.[0].priority) \(length)")[]' out.json
	assert_output - <<-EOF
		-5 $(($(expect_key out streams) / 2))
		0 $(($(expect_key out streams) / 2))
	EOF
	assert_equal "$(jq -sc '[map(select(.event == "context").context), map(select(.event == "stream").context)] |
		map(unique)' out.json)" '[[1],[1]]'
	ct trace -e objects --json -o out.json -- "$SIM" "$WORKLOADS/resets" 3 >out
	assert_equal "$(jq -s 'map(select(.event == "context" and .kind == "context" and .device == 0).context) | unique | length' out.json)" \
		"$(expect_key out contexts)"
}

@test "trace -e (an unknown word) names those that it knows" {
	run -2 ct trace -e kernels,tea -- true
	assert_output --partial "cuda-trace trace: --events: 'tea' is none of kernels, launches, copies"
}

@test "trace --api (any beginning of a name) asks for the family that the name is of" {
	cd "$TOP" || return 1
	grep -ohE '\b(cu|cuda)[A-Z][A-Za-z0-9_]+' tests/simcuda/driver_calls.h tests/simcuda/runtime_calls.h libcupti-usdt/cupti/cupti_calls.h |
		sort -u >"$BATS_TEST_TMPDIR/names"
	run -0 "$B/tests/capture/sample/families" <"$BATS_TEST_TMPDIR/names"
}

@test "trace --api (nested calls) shows driver calls under the runtime call that made them" {
	ct trace --api '*' -e launches --json -o out.json -- "$SIM" "$WORKLOADS/runtime" 20 >out
	# Each runtime call that reaches the driver has the driver's call, of its own correlation, inside its span.
	jq -s '[.[] | select(.event == "api")]' out.json >calls.json
	json calls.json '[.[] | select(.parent)] | length >= 40'
	json calls.json 'all(.[] | select(.parent); .domain == "driver")'
	json calls.json '(map(select(.domain == "runtime") | {key: "\(.correlation)", value: .}) | from_entries) as $outer |
		all(.[] | select(.parent); $outer["\(.correlation)"] as $o | $o.call == .parent and
			$o.launch_start_ns <= .launch_start_ns and $o.launch_start_ns + $o.launch_ns >= .launch_start_ns + .launch_ns)'
	json calls.json 'map(select(.call == "cudaMalloc")) | length == 2'
	assert_equal "$(jq -r '[.[] | select(.call == "cuMemAlloc_v2").parent] | unique | join(" ")' calls.json)" cudaMalloc
	# The outer line stands above the inner one.
	ct trace --api 'cu*M*lloc*' -e launches -o out.txt -- "$SIM" "$WORKLOADS/runtime" 1 >out
	assert_equal "$(grep -oE '(  )?\[call\] cu[A-Za-z]*Alloc.*|\[call\] cudaMalloc' out.txt | sed 's/ *$//' | sort -u)" \
		"$(printf '  [call] cuMemAlloc_v2\n[call] cudaMalloc')"
	assert_equal "$(grep -A1 '\[call\] cudaMalloc' out.txt | grep -c '  \[call\] cuMemAlloc_v2')" 2
}

# callbacks_with OPTIONS: for how many calls CUPTI's callbacks were enabled; no activity kind was.
callbacks_with() {
	rm -f cupti.log
	SIMCUDA_LOG=$PWD/cupti.log ct trace "$@" -e launches --json -o out.json -- "$SIM" "$WORKLOADS/runtime" 1 >out
	local kinds=' kinds=-'
	# Records of events, for cuda:event_record, with the calls on events alone.
	[[ $* != *'*'* && $* != *Event* || $* == *Malloc* ]] || kinds+=$'\n kinds=36'
	assert_equal "$(grep -o ' kinds=[^ ]*' cupti.log | sort -u)" "$kinds" >&2 || return 1
	sed -n 's/.* callbacks_max=\([0-9]*\) .*/\1/p' cupti.log | tail -n 1
}

@test "trace --api (a call of each family) switches no other family on" {
	local launches all call with sum=0
	launches=$(callbacks_with)
	all=$(callbacks_with --api '*')
	for call in cudaMalloc cudaMemcpy cudaStreamCreate cudaEventRecord cudaLaunchKernel cudaSetDevice cudaGraphCreate \
		cudaStreamSynchronize cuModuleLoadData cudaGetLastError; do
		with=$(callbacks_with --api "$call")
		[ "$with" -gt "$launches" ] || fail "$call: $with callbacks, $launches without"
		sum=$((sum + with - launches))
	done
	# Were one call of another family among them, it would be counted twice.
	assert_equal "$sum" $((all - launches))
	callbacks_with --api 'cudaMalloc*' >/dev/null
	assert_equal "$(jq -rs '[.[] | select(.event == "api").call] | unique | join(" ")' out.json)" cudaMalloc
}

@test "trace (text) shows a failed call's result in full, without the beginning that all have" {
	ct trace --errors -o out.txt -- "$SIM" "$WORKLOADS/failures" >out
	grep -q ' INVALID_DEVICE ' out.txt
	run ! grep -E ' (CUDA_E|cudaE)[A-Za-z_]*' out.txt
}

@test "trace (copies, waits and kernels of several threads) is in order of time" {
	ct trace --json -e kernels,copies,sync,memory -o out.json -- bash -c '"$SIM" "$WORKLOADS/copies"; "$SIM" "$WORKLOADS/threads"' >out
	jq -se 'map(select(.timestamp) | .timestamp) | length > 100 and . == sort' out.json
	ct trace -e kernels,copies,sync -o out.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	run head -n 1 out.txt
	assert_output --partial 'GPU-TIME RESULT'
	sed 1d out.txt | cut -c 1-15 | sort -c
}

@test "trace (a terminal of 80 columns) fits; other outputs have every column" {
	requires script
	script -qec "stty cols 80; '$CUDA_TRACE' trace -o /dev/tty -- '$SIM' '$WORKLOADS/saxpy'" typescript >/dev/null </dev/null
	tr -d '\r' <typescript | grep -E '^(TIME|[0-9:]{8}\.)' >lines
	assert [ "$(wc -l <lines)" -gt 5 ]
	LC_ALL=C.UTF-8 run ! grep -E '^.{81}' lines
	run head -n 1 lines
	assert_output --regexp '^TIME .*GPU-TIME .*KERNEL OR EVENT$'
	refute_output --partial 'SOURCE'
	# What is cut off nowhere is the kernel's name's beginning.
	grep -q saxpy lines
	ct trace -- "$SIM" "$WORKLOADS/saxpy" 2>err >out
	head -n 1 err | grep -q 'PROCESS .* BLOCK .* SOURCE'
}
