#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# record -g and report: kernels of CUDA graphs belong to the code that put them into the graph.

load ../lib/helpers
load stacks/recorded

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	exec 9>&-
	stop_started
}

# folded: "FUNCTION;...;FUNCTION NS" from main on, without GPU, stream and kernel
folded() {
	ct report --folded - r.db | sed -n 's/.*;main;/main;/; s/;GPU 0;stream [0-9]*;spin / /p'
}

@test "report --folded (a graph captured in two functions) has each replayed kernel below the function that captured it" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4
	run -0 folded
	assert_line "main;run;make_captured;embed;captured;cuLaunchKernel 240000"
	assert_line "main;run;make_captured;head;captured;cuLaunchKernel 40000"
	refute_output --partial cuGraphLaunch
	run -0 ct report --by operator --json r.db
	refute_output --partial "creation not recorded"
	ct report --pprof p.pb.gz r.db
	zcat p.pb.gz | protoc --decode_raw >p.txt
	grep -q '"make_captured"' p.txt
	ct report --html h.html r.db
	grep -q '"make_captured"' h.html
}

@test "record -g=100 (a graph captured in two functions, kernels beside it) has the stack of each captured launch" {
	requires bpf sim sqlite3
	RECORD_OPTIONS=-g=100 record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 50 --eager 400
	run -0 --separate-stderr folded
	assert_line "main;run;make_captured;embed;captured;cuLaunchKernel 3000000"
	assert_line "main;run;make_captured;head;captured;cuLaunchKernel 500000"
	# What is beside the graphs is an estimate; what they ran is no part of it.
	assert_line "main;run;plain;counted__launch;cuLaunchKernel 800000"
}

@test "report (a graph that was created before the recording) names its kernels, their number and share" {
	requires bpf sim sqlite3
	mkfifo go
	exec 9<>go
	setsid "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/graph-origins" -n 5 --early --linger <go >p.out 2>p.err 9>&- 3>&- &
	program_PID=$!
	echo $program_PID >>started
	wait_for 30 grep -qx ready p.out
	start rec "$CUDA_TRACE" record -v -g -o r.db -p "$program_PID"
	wait_for 30 grep -q 'from now on, the stack of one launch in 1 is recorded' rec.err
	wait_for 30 grep -qa graph-origins r.db.part
	sleep 1
	echo >&9
	wait_for 30 grep -q '^expect ' p.out
	kill -INT "$rec_PID"
	finished "$rec_PID" 40
	run -0 --separate-stderr ct report --folded - r.db
	assert_line --regexp ";main;run;replay;counted__graph_launch;cuGraphLaunch;\\[graph's creation not recorded\\];GPU 0;stream [0-9]+;spin 35000\$"
	assert_line --regexp ';main;run;make_captured;embed;captured;cuLaunchKernel;GPU 0;stream [0-9]+;spin 300000$'
	[[ $stderr == *"5 of 30 kernels (8.0 % of the time) are of 1 graphs whose creation was not recorded"* ]] || fail "not said: $stderr"
	run -0 ct report --by line --json r.db
	assert_line --partial "[graph's creation not recorded]"
}

@test "record -g (a graph built node by node) has each kernel below the function that added its node" {
	requires bpf sim sqlite3
	local events calls
	for events in kernels kernels,api; do
		RECORD_OPTIONS="-g -e $events" record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 3 --nodes 7
		run -0 --separate-stderr folded
		assert_line "main;run;make_built;build;cuGraphAddKernelNode_v2 105000"
		refute_output --partial cuGraphLaunch
		# Three more were captured. Calls that nobody wanted are not among those of the program.
		assert_equal "$(sql r.db "SELECT count(*), count(callchainId), count(DISTINCT correlationId) FROM CUDA_TRACE_GRAPH_CALLS")" "10|10|10"
		[ "$events" != kernels ] || calls=0
		[ "$events" = kernels ] || calls=7
		assert_equal "$(sql r.db "SELECT count(*), count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS s
			ON s.id = nameId WHERE value LIKE 'cuGraphAdd%'")" "$calls|$calls"
	done
}

@test "record -g (a libcupti that has no ids of nodes) counts each node as lost" {
	requires bpf sim sqlite3
	SIMCUDA_MISSING_SYMBOL=cuptiGetGraphNodeId ct record -g -o r.db -- "$SIM" "$WORKLOADS/graph-origins" -n 2 --nodes 4 >out 2>err ||
		{ cat err; false; }
	# Seven nodes were created, and copied by instantiating: each copy was created and cloned.
	grep -q '21 .*nameless_nodes' err || fail "$(cat err)"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_GRAPH_NODE_EVENTS')" 0
	assert_equal "$(sql r.db "SELECT sum(count) FROM CUDA_TRACE_LOST WHERE reason = 'nameless_nodes'")" 21
}

@test "record -g (a graph in a graph, copied twice) has its kernels below the function that captured the first one" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --copies
	run -0 --separate-stderr folded
	assert_line "main;run;run_copies;copied;captured;cuLaunchKernel 12000"
	assert_equal "$stderr" ""
}

@test "record -g (a graph that was updated) has the functions that captured it before and after" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --update
	run -0 --separate-stderr folded
	assert_line "main;run;run_update;before;captured;cuLaunchKernel 32000"
	assert_line "main;run;run_update;after;captured;cuLaunchKernel 36000"
	assert_equal "$stderr" ""
}

@test "record -g (graphs that are changed) has what put each kernel there, depending on when its graph was launched" {
	requires bpf sim sqlite3
	local events
	# With -e api, calls on graphs are recorded anyway, and none may be added.
	for events in kernels kernels,api; do
		RECORD_OPTIONS="-g -e $events" record_lingering /workloads/graph-changes "$WORKLOADS/graph-changes" -n 3 --call-graph fp
		run -0 --separate-stderr folded
		assert_equal "$stderr" ""
		assert_line "main;run;run_updates;capture;first;captured;cuLaunchKernel 30000"
		assert_line "main;run;run_updates;capture;second;captured;cuLaunchKernel 33000"
		assert_line "main;run;run_updates;capture;third;captured;cuLaunchKernel 36000"
		# Another kernel, the first one again, and the first one for another time.
		assert_line "main;run;run_parameters;capture;kept;captured;cuLaunchKernel 120000"
		assert_line "main;run;run_rewritten;capture;replaced;captured;cuLaunchKernel 39000"
		ct report --folded - r.db | sed -n 's/.*;main;/main;/; s/;GPU 0;stream [0-9]*;increment / /p' >other
		assert_equal "$(sort other)" "main;run;run_parameters;replace;cuGraphExecKernelNodeSetParams_v2 600
main;run;run_rewritten;rewrite;cuGraphKernelNodeSetParams_v2 1200"
		assert_equal "$(sql r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS s ON s.id = nameId
			WHERE value LIKE 'cuGraphKernelNodeGetParams%'")" 0
	done
	ct report --timeline t.json r.db
	ct report --html h.html r.db
	ct report --pprof p.pb.gz r.db
	zcat p.pb.gz | protoc --decode_raw >p.txt
	grep -q '"second"' p.txt
	run -0 ct report --by operator --json r.db
	refute_output --partial "creation not recorded"
}

@test "record -g (conditional nodes in a graph) has each kernel of a body below the function that captured it" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-changes "$WORKLOADS/graph-changes" -n 3 --call-graph fp
	run -0 --separate-stderr folded
	assert_equal "$stderr" ""
	assert_line "main;run;run_conditional;capture_to;then_branch;captured;cuLaunchKernel 90000"
	assert_line "main;run;run_conditional;capture_to;else_branch;captured;cuLaunchKernel 48000"
	assert_line "main;run;run_conditional;capture_to;loop_body;captured;cuLaunchKernel 204000"
	assert_line "main;run;run_conditional;capture_to;nested;captured;cuLaunchKernel 216000"
	assert_line "main;run;run_conditional;capture_to;last;captured;cuLaunchKernel 57000"
}

# Such graphs are captured when a program warms up, and replayed in the steps that are recorded.
@test "record -g --range (graphs that were captured outside) has each kernel below the function that captured it" {
	requires bpf sim sqlite3
	local how
	for how in fp dwarf; do
		RECORD_OPTIONS="-g --range replaying" record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --nodes 3 --eager 5 --call-graph $how
		run -0 --separate-stderr folded
		assert_equal "$stderr" ""
		assert_equal "$(sort <<<"$output")" "main;run;make_built;build;cuGraphAddKernelNode_v2 60000
main;run;make_captured;embed;captured;cuLaunchKernel 240000
main;run;make_captured;head;captured;cuLaunchKernel 40000"
		# The calls outside are no launches of the window.
		assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME')" 8
		assert_equal "$(sql r.db 'SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST')" 0
	done
}

@test "record -g --last (graphs that were captured before) has each kernel below the function that captured it" {
	requires bpf sim sqlite3
	RECORD_OPTIONS="-g --last 1s" record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --nodes 3 --hold 3000
	# Of what came before the hold, nothing else is left.
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME')" 8
	run -0 --separate-stderr folded
	assert_equal "$stderr" ""
	assert_line "main;run;make_captured;embed;captured;cuLaunchKernel 240000"
	assert_line "main;run;make_built;build;cuGraphAddKernelNode_v2 60000"
}

@test "report (a recording without stacks of the calls that created nodes) says that kernels have none" {
	requires bpf sim sqlite3
	RECORD_OPTIONS="-g --range replaying" record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --call-graph fp
	sqlite3 r.db 'DROP TABLE CUDA_TRACE_GRAPH_CALLS'
	run -0 --separate-stderr ct report --folded - r.db
	[[ $output == *"[no stack]"* ]] || fail "$output"
	[[ $stderr == *"of 20 of 20 kernels (100.0 % of the time), the call that put them into their graph has no stack"* ]] || fail "not said: $stderr"
}

# Recordings of earlier versions have their stacks in the rows of the calls, as Nsight's have.
@test "report (a recording in which the launches have the stacks of captured nodes) has each kernel below them" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4
	sqlite3 r.db 'DROP TABLE CUDA_TRACE_GRAPH_CALLS'
	run -0 folded
	assert_line "main;run;make_captured;embed;captured;cuLaunchKernel 240000"
}

# They have no correlation id, and were taken for kernels that an earlier session had left.
@test "stat, trace and record (kernels that conditional nodes launch) count each" {
	requires bpf sim sqlite3
	local kernels
	ct stat --json -o s.json -- "$SIM" "$WORKLOADS/graph-changes" </dev/null >out
	kernels=$(sed -n 's/.* kernels=\([0-9]*\).*/\1/p' out)
	assert_equal "$(jq -c '[.totals.kernels, .lost.total]' s.json)" "[$kernels,0]"
	ct trace --json -o t.json -- "$SIM" "$WORKLOADS/graph-changes" </dev/null >out
	assert_equal "$(jq -s 'map(select(.event == "kernel" and .gpu_start_ns)) | length' t.json)" "$kernels"
	ct record -o r.db -- "$SIM" "$WORKLOADS/graph-changes" </dev/null >out
	assert_equal "$(sql r.db 'SELECT count(*), count(*) FILTER (WHERE correlationId = 0) FROM CUPTI_ACTIVITY_KIND_KERNEL')" "$kernels|33"
}

# The graph has as many nodes as the child, and is none that the child's could be paired with.
@test "report (a graph with a child that was updated) gives the child's kernels no origin" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 4 --nodes 1 --copies
	sqlite3 r.db "INSERT INTO CUDA_TRACE_GRAPH_CHANGES (start, end, globalTid, correlationId, graphExecId, graphId)
		SELECT 0, (SELECT max(start) FROM CUDA_GRAPH_NODE_EVENTS), globalTid, 1, (SELECT graphNodeId >> 32 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE end - start = 3000 LIMIT 1),
			(SELECT original.graphNodeId >> 32 FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUDA_GRAPH_NODE_EVENTS AS copy
				USING (graphNodeId) JOIN CUDA_GRAPH_NODE_EVENTS AS original ON original.graphNodeId = copy.originalGraphNodeId
				WHERE k.end - k.start = 5000 LIMIT 1)
		FROM CUDA_GRAPH_NODE_EVENTS LIMIT 1"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_TRACE_GRAPH_CHANGES WHERE graphExecId > 0 AND graphId > 0')" 1
	run -0 --separate-stderr folded
	assert_line "main;run;make_built;build;cuGraphAddKernelNode_v2 20000"
	assert_line "main;run;run_copies;replay;counted__graph_launch;cuGraphLaunch;[graph's creation not recorded] 12000"
	[[ $stderr == *"4 of 20 kernels"*"creation was not recorded"* ]] || fail "not said: $stderr"
}

@test "report (a recording in which nodes and changes go round in circles) ends, and gives no origin" {
	requires bpf sim sqlite3
	record_lingering /workloads/graph-changes "$WORKLOADS/graph-changes" -n 3 --call-graph fp
	sqlite3 r.db "UPDATE CUDA_GRAPH_NODE_EVENTS SET originalGraphNodeId = graphNodeId;
		UPDATE CUDA_TRACE_GRAPH_CHANGES SET graphId = ifnull(graphExecId, 1), end = 0;
		INSERT INTO CUDA_TRACE_GRAPH_CHANGES (start, end, globalTid, correlationId, graphExecId, graphId)
			SELECT start, end + 1, globalTid, correlationId, graphId, graphId FROM CUDA_TRACE_GRAPH_CHANGES"
	run -0 --separate-stderr timeout 60 "$CUDA_TRACE" report --folded - r.db
	assert_output --partial "[graph's creation not recorded]"
	refute_output --partial ";first;"
}

@test "record -g (a graph of 100,000 nodes) has an origin for each of its kernels" {
	requires bpf sim sqlite3
	LIMIT=120 RECORD_OPTIONS="-g --buffer 64" record_lingering /workloads/graph-origins "$WORKLOADS/graph-origins" -n 1 --nodes 100000 --call-graph fp
	assert_equal "$(sql r.db 'SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST')" 0
	run -0 --separate-stderr folded
	assert_line "main;run;make_built;build;cuGraphAddKernelNode_v2 500000000"
	assert_equal "$stderr" ""
}

@test "report --by range (a graph captured in a range, replayed in another) has the range of the capture where there is one" {
	requires bpf sim sqlite3
	ct record -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/graph-origins" -n 4 >out 2>err </dev/null || { cat err; false; }
	assert_equal "$(ct report --by range --json r.db | jq -r '"\(.total_ns) \(.kernels) \(.range)"')" "240000 8 embedding
80000 12 replaying"
}
