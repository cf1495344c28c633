#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters --graphs: launches of graphs are counted, each as a whole, and no kernels. No graph is
# launched twice, and each has its effect. The values of a graph are the sums of its kernels'.
# shellcheck disable=SC2154 # storm_PID and the like are made by start

load ../lib/helpers

STORM=$WORKLOADS/launch-storm
EXECUTED=smsp__inst_executed.sum

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_COUNTERS=$BATS_TEST_TMPDIR/counters
	printf '%s\n' "increment $EXECUTED 89" "empty $EXECUTED 7" >counters
	: >log
}

# counted ARGS...: JSON in out.json, PROGRAM's output in program, messages in err.
counted() {
	: >log
	sim "$CUDA_TRACE" profile --json -o out.json --graphs --counters "$@" >program 2>err
}

# unharmed: PROGRAM's results are right, nothing happened that a real CUPTI does not survive, and whatever
# was started was stopped.
unharmed() {
	grep -q '^expect ' "${1:-program}" || fail "PROGRAM did not end: $(cat program err)"
	! grep -m 3 '^[0-9]* [0-9]* fault' log || fail "a fault"
	assert_equal "stops $(grep -c profiler_stop log)" "stops $(starts)"
}

starts() {
	grep -c profiler_start log
}

lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" out.json
}

# launches: how often which graph was counted, with which value
launches() {
	lines counters "map({graph, value: .metrics[\"$EXECUTED\"].value}) | group_by([.graph, .value]) |
		map([.[0].value, length]) | sort"
}

# The program checks what its graphs did: five and three kernels, a fill and a copy.
@test "profile --counters --graphs (two graphs, kernels between them) counts each graph as a whole" {
	counted $EXECUTED -- "$WORKLOADS/graphs" 20
	unharmed
	assert_equal "$(launches)" '[[267,20],[445,20]]'
	assert_equal "$(lines counters 'map(.number) == [range(1; 41)]')" true
	assert_equal "$(lines counters 'map([.kernel == "graph \(.graph)", .grid, .block, .registers, .static_shared, .passes, .verdict]) | unique')" \
		'[[true,[0,0,0],[0,0,0],null,null,1,null]]'
	# Which, as other records have it; where, and in which call.
	assert_equal "$(lines counters 'map(.graph) | unique | length')" 2
	assert_equal "$(lines counters 'all(.[]; .stream > 0 and .correlation > 0 and .call_ns > 0)')" true
	assert_equal "$(lines counters_state '.[0] | [.outcome, .graphs, .launches, .matched, .counted, .missed]')" \
		"[\"on\",40,$(expect_key program launches),40,40,0]"
	assert_equal "$(lines lost '.[0].lost.total')" 0
	grep -q '1 metrics in 1 pass on GH100: each counted graph runs alone, once' err
}

@test "profile --counters --graphs (text) shows graphs without a shape, and what else was launched" {
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --graphs --counters $EXECUTED,gpu__time_duration.sum -- "$WORKLOADS/graphs" 20 >program
	run -0 cat out
	assert_line --partial ": 40 of 40 graph launches counted (40 matched, 0 missed), $(expect_key program launches) kernel launches not; 2 metrics in 1 pass on GH100"
	assert_equal "$(grep -cE '^graph [0-9]+$' out)" 2
	assert_equal "$(grep -c '^  counted 20$' out)" 2
	assert_equal "$(grep -c '^  no verdict for a graph: its times contain the launch and the wait for its end$' out)" 2
	assert_line --regexp '^ +445 +445 +445 instruction +smsp__inst_executed\.sum$'
	run ! grep -E 'grid|registers|verdict:|roofline|waves|nan' out
	# Who counts kernels learns how graphs are counted; --sass never counts any.
	timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --counters $EXECUTED -- "$WORKLOADS/graphs" 20
	grep -q ': 20 of 23 launches counted (20 matched, 0 missed), 40 graph launches not (--graphs counts them); ' out
	printf 'increment 0 smsp__sass_inst_executed 1\n' >script
	SIMCUDA_SASS_SCRIPT=$PWD/script SIMCUDA_SASS_KERNELS=1000 timeout 60 "$SIM" "$CUDA_TRACE" profile -o out --sass -- "$WORKLOADS/graphs" 20
	grep -q ', 40 graph launches not; ' out
	run -1 sim "$CUDA_TRACE" profile --counters $EXECUTED -- "$STORM" -n 20 -g 1
	assert_output --partial 'no kernel was counted: all were launched by graphs, whose kernels cannot be counted one by one; --graphs counts whole graphs'
}

@test "profile --counters --graphs (launches of graphs follow each other) starts CUPTI once for 64 of them" {
	counted $EXECUTED -- "$STORM" -n 100 -g 1
	unharmed
	assert_equal "$(launches)" '[[28,100]]'
	assert_equal "$(starts)" 2
	# Their end is waited for, also where only the time is wanted.
	counted gpu__time_duration.sum -- "$STORM" -n 100 -g 1
	unharmed
	assert_equal "$(lines counters_state '.[0].counted') $(starts)" "100 2"
	# 12.8 and 12.9 leave automatic ranges empty, but not these; they were not seen to take many.
	SIMCUDA_CUPTI_VERSION=12.9 counted $EXECUTED -- "$STORM" -n 20 -g 1
	unharmed
	assert_equal "$(launches) $(starts)" '[[28,20]] 20'
}

# Popped before its end, a range has none of the kernel.
@test "profile --counters --graphs (graphs that take long) waits for their end" {
	SIMCUDA_KERNEL_NS=2000000 counted $EXECUTED -- "$WORKLOADS/graphs" 5
	unharmed
	assert_equal "$(launches)" '[[267,5],[445,5]]'
	# By the runtime's call, too.
	SIMCUDA_KERNEL_NS=2000000 counted $EXECUTED -- "$WORKLOADS/graphs" 5 5 runtime
	unharmed
	assert_equal "$(launches)" '[[267,5],[445,5]]'
}

@test "profile --counters --graphs (8 threads, kernels beside) mixes none up" {
	counted $EXECUTED -- "$STORM" -n 60 -t 8 -g 3
	unharmed
	assert_equal "$(launches)" '[[28,160]]'
	assert_equal "$(expect_key program graph_launches)" 160
	assert_equal "$(lines counters 'map(.number) | sort == [range(1; 161)]')" true
	assert_equal "$(lines counters_state '.[0] | [.graphs, .launches, .missed]')" '[160,320,0]'
}

@test "profile --counters --graphs (captures all the time, kernels of another thread) breaks no capture" {
	counted $EXECUTED -- "$WORKLOADS/captures" 3 60 beside
	unharmed
	assert_equal "$(lines counters "map(.metrics[\"$EXECUTED\"].value) | unique")" '[14]'
	# Each is a graph of its own, launched once.
	assert_equal "$(lines counters '(map(.graph) | unique | length) == length')" true
	assert_equal "$(lines counters_state '.[0] | [.graphs, .counted + .missed]')" \
		"[$(expect_key program graphs),$(expect_key program graphs)]"
	assert_equal "$(lines counters 'length > 5')" true
}

@test "profile --counters --graphs --skip --kernels counts those launches, and lets the GPU go" {
	counted $EXECUTED --skip 3 --kernels 4 -- "$STORM" -n 400 -g 2 -p 5000
	unharmed
	assert_equal "$(launches)" '[[28,4]]'
	assert_equal "$(lines counters_state '.[0] | [.outcome, .matched, .counted]')" '["done",7,4]'
	[ "$(sed -n '/profiler_disable/,$p' log | wc -l)" -gt 1 ]
}

@test "profile --counters --graphs --replay launches counts each launch with one set of metrics, and none twice" {
	# Sixteen metrics are two sets; CUPTI is enabled three times at most beside graphs.
	local metrics
	metrics=$(printf 'sm__cycles_active.%s,' sum avg max min)$(printf 'dram__bytes.%s,' sum avg max min)
	metrics+=$(printf 'lts__t_sectors.%s,' sum avg max min)$EXECUTED
	counted "$metrics" --replay launches --kernels 10 -- "$WORKLOADS/graphs" 100
	unharmed
	grep -q '2 sets of metrics on GH100, one per launch' err
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed]')" '["done",20,0]'
	assert_equal "$(lines counters 'map([.passes, .verdict]) | unique')" '[[1,null]]'
	assert_equal "$(lines counters_sum "map([.metrics[\"$EXECUTED\"].value, (.metrics | length)]) | sort")" '[[267,13],[445,13]]'
	assert_equal "$(lines counters_sum 'map(.metrics | map(.launches)) | flatten | unique')" '[5]'
	[ "$(grep -c profiler_enable log)" -le 3 ]
}

@test "profile --counters --graphs --replay application puts the runs together" {
	local metrics
	metrics=$(printf 'sm__cycles_active.%s,' sum avg max min)$(printf 'dram__bytes.%s,' sum avg max min)$EXECUTED
	counted "$metrics" --replay application -- "$WORKLOADS/graphs" 10
	! grep -m 3 '^[0-9]* [0-9]* fault' log || fail "a fault"
	assert_equal "$(launches)" '[[267,10],[445,10]]'
	assert_equal "$(lines counters 'map(.metrics | length) | unique')" '[9]'
	assert_equal "$(lines replay '.[0] | [.runs, .left_out]')" '[2,0]'
}

@test "profile --counters --graphs (metrics of several passes) launches no graph again, and says what does" {
	run -2 counted quick -- touch started
	grep -q 'profile: the metrics need 2 passes, and no graph is launched again for a further one: try --replay launches.*--replay application.*metrics of one pass' err
	[ ! -e started ]
	# Also where only the program's libcupti knows that.
	CUDA_TRACE_LIBCUPTI=/nowhere run -1 env CUDA_INJECTION64_PATH="$AGENT" "$CUDA_TRACE" profile --json -o out.json --graphs \
		--counters quick -- env -u CUDA_TRACE_LIBCUPTI "$SIM" "$WORKLOADS/graphs" 5
	assert_line --partial '(graphs): the metrics need 2 passes, and no graph is launched again'
	assert_line --partial 'expect '
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .result, .passes]')" '["failed",0,1004,2]'
	run ! grep profiler_enable log
}

@test "profile --counters --graphs (-k, --replay kernel, --sass, --pc) says in one line that they do not go together" {
	local how
	for how in '--counters quick -k empty' '--counters quick --replay kernel' --sass --pc; do
		# shellcheck disable=SC2086
		run -2 ct profile --graphs $how -- touch started
		assert_line --partial -- '--graphs'
		assert_equal "$how $(grep -c . <<<"${lines[0]}")" "$how 1"
		[ ! -e started ]
	done
}

@test "profile --counters --graphs (a libcupti without ranges of the caller's) says so, and counts kernels" {
	local missing
	for missing in cuptiRangeProfilerPushRange cuptiRangeProfilerPopRange; do
		SIMCUDA_MISSING_SYMBOL=$missing run -1 counted $EXECUTED -- "$WORKLOADS/graphs" 5
		grep -q 'no counters: the one in use is a libcupti without cuptiRangeProfilerPushRange (`cuda-trace doctor` says' err
		unharmed
		assert_equal "$(lines counters_state '.[0] | [.outcome, .result]')" '["failed",27]'
	done
	SIMCUDA_MISSING_SYMBOL=cuptiRangeProfilerPushRange sim "$CUDA_TRACE" profile --json -o out.json --counters $EXECUTED -- \
		"$WORKLOADS/graphs" 5 >program
	assert_equal "$(lines counters_state '.[0].counted')" 5
}

@test "profile --counters --graphs (each call of CUPTI fails) leaves the program as it is" {
	local call
	for call in Enable SetConfig Start PushRange PopRange Stop DecodeData; do
		SIMCUDA_PROFILER=cuptiRangeProfiler$call:999 run -1 counted $EXECUTED -- "$WORKLOADS/graphs" 5
		grep -q '^expect ' program || fail "$call: $(cat program err)"
		! grep '^[0-9]* [0-9]* fault' log || fail "$call: a fault"
		assert_equal "$call $(lines counters_state '.[0] | [.outcome, .result]')" "$call [\"failed\",999]"
	done
}

@test "profile --counters --graphs (launches into captures) are no launches" {
	counted $EXECUTED -- "$WORKLOADS/captures" 2 60 nested
	unharmed
	# Two kernels, and the two of the graph whose launch was captured.
	assert_equal "$(lines counters "map(.metrics[\"$EXECUTED\"].value) | unique")" '[28]'
	assert_equal "$(lines counters_state '.[0] | [.matched, .missed]')" "[$(expect_key program graphs),0]"
	assert_equal "$(lines counters_state '.[0].graphs')" "$((2 * $(expect_key program graphs)))"
}

@test "profile --counters --graphs (launches that fail) counts the others, with their own values" {
	SIMCUDA_FAIL_LAUNCH=10 counted $EXECUTED -- "$STORM" -n 100 -g 1 --keep-going
	unharmed
	assert_equal "$(launches)" '[[28,90]]'
	assert_equal "$(lines counters_state '.[0] | [.outcome, .matched, .counted, .missed]')" '["on",100,90,10]'
	# What is no graph at all.
	run -1 counted $EXECUTED -- "$WORKLOADS/refused"
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.matched, .counted] | .[0] > 0 and .[1] == 0')" true
}

@test "profile --counters --graphs (no graph is launched) says so" {
	run -1 counted $EXECUTED -- "$STORM" -n 20
	grep -q 'no graph was counted: none was launched' err
	unharmed
}

@test "profile --counters --graphs -p (8 threads launch, with graphs) counts what is requested, and ends" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 12 -t 8 -g 5 -p 100
	ready storm
	counted $EXECUTED --kernels 20 --skip 5 -p "$storm_PID"
	assert_equal "$(launches)" '[[28,20]]'
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed]')" '["done",20,0]'
	# The next one, which wants kernels, gets those.
	sim "$CUDA_TRACE" profile --json -o out.json --counters $EXECUTED --kernels 20 -p "$storm_PID" 2>err
	assert_equal "$(lines counters 'map([.kernel, .graph]) | unique')" '[["empty",null]]'
	finished "$storm_PID"
	assert_equal "$status" 0
	unharmed storm.out
}
