#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters of what runs already: what is to be counted is written into the process. The
# wrong process, the wrong place, two at once, nonsense, and what is left behind.
# shellcheck disable=SC2154 # storm_PID and the like are made by start

load ../lib/helpers

setup() {
	requires bpf sim jq python3
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$PWD/log
	: >log
}

# start_storm ARGS...: launches from several threads before anybody comes.
start_storm() {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" "$@"
	ready storm
}

# counted ARGS...: JSON in out.json, messages in err.
counted() {
	sim "$CUDA_TRACE" profile --json -o out.json --counters "$@" 2>err
}

lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" "${3:-out.json}"
}

# The program ends as ever, and did nothing that crashes a real CUPTI.
unharmed() {
	finished "$storm_PID"
	assert_equal "$status" 0
	grep -q '^expect launches=' storm.out
	[ ! -s storm.err ] || fail "$(cat storm.err)"
	! grep '^[0-9]* [0-9]* fault' log || fail "a fault"
}

# What CUPTI has on, as the simulation logged it last.
all_off() {
	[ "$(tail -n 1 log | grep -oE '(subscribed|callbacks|kinds)=[^ ]*' | xargs)" = "subscribed=0 callbacks=0 kinds=-" ]
}

@test "profile --counters -p (8 threads launch, with graphs) counts what is requested, and ends" {
	start_storm -s 8 -t 8 -g 5 -p 100
	counted quick --kernels 20 --skip 5 -p "$storm_PID"
	grep -q '2 passes per kernel on GH100' err
	assert_equal "$(lines counters 'map(.number) == [range(1; 21)]')" true
	assert_equal "$(lines counters 'map(.kernel) | unique')" '["empty"]'
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted, .missed]')" '["done",20,0]'
	assert_equal "$(lines counters_state '.[0] | .graphs > 0 and .matched >= 25')" true
	assert_equal "$(lines lost '.[0].lost.total')" 0
	wait_for 20 all_off
	unharmed
}

@test "profile --counters -p (--skip, one thread) begins behind so many" {
	start_storm -s 6 -p 1000
	counted gpu__time_duration.sum --kernels 3 --skip 40 -p "$storm_PID"
	assert_equal "$(lines counters_state '.[0] | [.outcome, .matched, .counted]')" '["done",43,3]'
	unharmed
}

@test "profile --counters -p (again, with others) forgets the previous request" {
	start_storm -s 10 -t 2 -p 500
	counted dram__bytes.sum --kernels 3 -k '^empty$' -p "$storm_PID"
	assert_equal "$(lines counters 'map(.metrics | keys) | unique')" '[["dram__bytes.sum"]]'
	run -1 counted quick -k nothing_like_it -d 1 -p "$storm_PID"
	assert_equal "$(lines counters_state '.[0] | [.outcome, .matched, .counted]')" '["waiting",0,0]'
	counted gpu__time_duration.sum,sm__cycles_active.avg --kernels 4 -p "$storm_PID"
	assert_equal "$(lines counters 'map(.metrics | keys | length) | unique')" '[2]'
	assert_equal "$(lines counters 'map(.number)')" '[1,2,3,4]'
	wait_for 20 all_off
	# As much is mapped after the third time as after the first.
	assert_equal "$(grep -c profiler_enable log)" "$(grep -c profiler_disable log)"
	unharmed
}

@test "profile --counters -p (the program ends, or is gone) ends as well" {
	start_storm -s 3 -p 2000
	counted gpu__time_duration.sum -p "$storm_PID"
	unharmed
	assert_equal "$(lines counters 'length > 10')" true
	run -1 counted quick -p "$storm_PID"
	grep -q "no process $storm_PID" err
}

@test "profile --counters -p (another user's, in other mount and PID namespaces) reaches it" {
	requires unshare setpriv
	unset SIMCUDA_LOG # in a folder that only we may enter
	start storm unshare --mount --pid --fork --kill-child setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 6 -p 1000
	wait_for 20 pgrep -P "$storm_PID"
	local pid
	pid=$(pgrep -P "$storm_PID")
	wait_for 20 grep -q libcupti-usdt "/proc/$pid/maps"
	counted quick --kernels 3 -p "$pid"
	assert_equal "$(lines counters length)" 3
	unharmed
}

@test "profile --counters -p (two tools) refuses the second one, and one that was killed is forgotten" {
	start_storm -s 14 -p 1000
	start first "$CUDA_TRACE" profile --counters gpu__time_duration.sum --json -o first.json -p "$storm_PID"
	wait_for 20 grep -qs '"event":"counters"' first.json
	run -1 counted quick -p "$storm_PID"
	grep -q 'counts nothing: another cuda-trace already counts it' err
	kill -KILL "$first_PID"
	wait_for 20 counted dram__bytes.sum --kernels 2 -p "$storm_PID"
	assert_equal "$(lines counters 'map(.metrics | keys) | unique')" '[["dram__bytes.sum"]]'
	unharmed
}

# While anybody listens, the agent does not forget by itself its request.
@test "profile --counters -p (one that was killed, another listens on) can be requested again after 3 s" {
	start_storm -s 60 -p 1000
	start listen "$B/tests/agent/listen" -p "$storm_PID" -t 60000 "$AGENT" counters_batch
	start first "$CUDA_TRACE" profile --counters gpu__time_duration.sum --json -o first.json -p "$storm_PID"
	wait_for 20 grep -qs '"event":"counters"' first.json
	kill -KILL "$first_PID"
	run -1 counted quick -p "$storm_PID"
	grep -q 'counts nothing: another cuda-trace already counts it' err
	# What was counted for the first one may come before.
	wait_for 10 counted dram__bytes.sum --kernels 500 -d 3 -p "$storm_PID"
	assert_equal "$(lines counters 'map(.metrics | keys) | unique | index([["dram__bytes.sum"]]) != null')" true
	run ! grep '^[0-9]* [0-9]* fault' log
}

# Each is looked at and refused; a good one afterwards counts.
@test "profile --counters -p (requests that make no sense) are reported, and harm nobody" {
	local kind
	# One that sleeps is not woken by this listener.
	CUPTI_USDT_START=1 start_storm -s 90 -t 2 -p 1000
	start listen "$B/tests/agent/listen" -v -p "$storm_PID" -t 90000 "$AGENT" status counters_batch error
	# The agent has heard that somebody listens.
	wait_for 20 grep -q '^status ' listen.out
	for kind in noise "no end" "one text" "three texts" "no metric" control space "not ASCII" long "too long" \
		short nothing cut sum flags "flags without sum"; do
		run -0 python3 "$TOP/tests/agent/ask.py" "$storm_PID" "$kind"
		# It was seen.
		assert_equal "$kind ${output%% *}" "$kind ${output##* }"
	done
	if grep -q profiler_enable log; then fail "something was counted"; fi
	run -0 python3 "$TOP/tests/agent/ask.py" "$storm_PID" good
	wait_for 20 grep -q profiler_enable log
	kill -INT "$listen_PID" 2>/dev/null || true
	wait "$listen_PID" || true
	assert_equal "$(sed -n 's/^probe=error hits=\([0-9]*\).*/\1/p' listen.out)" 16
	kill -TERM "$storm_PID"
	run -1 grep "^[0-9]* [0-9]* fault" log
}

@test "profile --counters -p (a process that names other memory) is not written to" {
	export CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so
	# A name of its own, as the tool sees the whole machine.
	local name=$B/tests/agent/emitter/lie-$$
	cp "$B/tests/agent/emitter/emit" "$name"
	start liar "$name" requests
	run -1 counted quick -d 6 -c "$(basename "$name")"
	rm "$name"
	assert_equal "$(grep -c "counts nothing: the address that it reports is not in its injection library's memory" err)" 5
	grep -q '^number 0 0$' liar.out
}

@test "profile --counters -p (requested at its start, or without the agent) says why it counts nothing" {
	start requested "$SIM" env CUDA_INJECTION64_PATH="$AGENT" CUPTI_USDT_COUNTERS=dram__bytes.sum \
		"$WORKLOADS/launch-storm" -s 20 -p 1000
	start without "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready requested
	ready without
	run -1 counted quick -p "$requested_PID"
	grep -q 'its environment chose the metrics at its start' err
	run -1 counted quick --no-attach -d 1 -p "$without_PID"
	grep -q 'was started without the injection library' err
}

# By name: without that right not even the agent of another user's process is found by -p. A name of its
# own, as the tool sees the whole machine.
@test "profile --counters -c (no right to write into the process) says which" {
	requires setpriv
	unset SIMCUDA_LOG # in a folder that only we may enter
	local name=$B/ask-$$
	cp "$WORKLOADS/launch-storm" "$name"
	start storm setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$SIM" env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$name" -s 8 -p 1000
	wait_for 20 grep -q libcupti-usdt "/proc/$storm_PID/maps"
	run -1 setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace timeout 30 \
		"$SIM" "$CUDA_TRACE" profile --counters quick -d 2 -c "$(basename "$name")"
	rm "$name"
	assert_output --partial "counts nothing: its memory may not be written"
	assert_output --partial "CAP_SYS_PTRACE"
	unharmed
}
