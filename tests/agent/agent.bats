#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The agent library by itself: what it is as a file, what it does in a process when nobody listens,
# when somebody does, and when things go wrong. The listener (tests/agent/listen.c) shares nothing
# with the tool but the probe contract.

load ../lib/helpers

CORE="name status lost error launch_batch kernel_batch"

# A copy under a name of its own: whoever watches the whole system (cuda-trace -a, another test run)
# looks for libcupti-usdt.so, and would be a listener that these tests do not know of.
setup() {
	LISTEN=$B/tests/agent/listen
	cp "$AGENT" "$BATS_TEST_TMPDIR/agent-under-test.so"
	AGENT=$BATS_TEST_TMPDIR/agent-under-test.so
	export CUDA_INJECTION64_PATH=$AGENT
	OUT=$BATS_TEST_TMPDIR/out
}

# hear [listen OPTIONS] PROBES -- CMD...: CMD on the simulated driver, what was heard in $OUT.
hear() {
	local options=()
	while [[ $1 == -* ]]; do
		options+=("$1")
		[[ $1 == -v ]] || { options+=("$2"); shift; }
		shift
	done
	local probes=() status=0
	while [ "$1" != -- ]; do probes+=("$1"); shift; done
	shift
	timeout -k 5 60 "$LISTEN" "${options[@]}" "$AGENT" "${probes[@]}" -- "$SIM" "$@" >"$OUT" 2>&1 ||
		status=$?
	# What the listener itself missed proves nothing about the agent.
	grep -q '^missed=[1-9]' "$OUT" && { echo "the listener missed some" >&2; return 98; }
	return "$status"
}

# heard PROBE KEY: a number from the probe's line in $OUT.
heard() {
	grep "^probe=$1 " "$OUT" | tr ' ' '\n' | sed -n "s/^$2=//p"
}

# state KEY: of the last status in $OUT.
state() {
	grep '^status ' "$OUT" | tail -n 1 | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# lost_total REASON: 0 if nothing was lost for that reason.
lost_total() {
	local total
	total=$(sed -n "s/^lost reason=$1 .*total=//p" "$OUT" | tail -n 1)
	echo "${total:-0}"
}

# Everything that the program says it did arrived, in order, named, with sane times, nothing lost.
all_arrived() {
	assert_equal "$(heard launch_batch records)" "$(expect_key "$OUT" launches)"
	assert_equal "$(heard kernel_batch records)" "$(expect_key "$OUT" kernels)"
	local probe key
	for probe in launch_batch kernel_batch; do
		for key in unnamed backwards outside; do
			assert_equal "$probe $key $(heard $probe $key)" "$probe $key 0"
		done
		assert_equal "$(heard $probe next)" "$(heard $probe records)"
	done
	assert_equal "$(heard lost hits)" 0
	assert_equal "$(heard error hits)" 0
	run ! grep '^torn' "$OUT"
	grep -q '^missed=0$' "$OUT"
}

# agent_thread PID: the id of the agent's thread in a process.
agent_thread() {
	local task
	for task in /proc/"$1"/task/*; do
		[ "$(cat "$task/comm" 2>/dev/null)" = cupti-usdt ] && basename "$task" && return 0
	done
	return 1
}

# process NAME: the workload's own process, below what `start` started.
process() {
	local name=$1 found
	wait_for 10 pgrep -g "$2" -x "$name" >/dev/null || return 1
	found=$(pgrep -g "$2" -x "$name" | head -n 1)
	echo "$found"
}

# ---- the file

@test "library exports InitializeInjection and nothing else" {
	run -0 nm -D --defined-only "$AGENT"
	assert_equal "$(awk '{print $NF}' <<<"$output")" InitializeInjection
}

@test "library needs libc only, has no text relocations, stays once loaded" {
	run -0 readelf -d "$AGENT"
	assert_equal "$(grep -c NEEDED <<<"$output")" "$(grep -cE 'NEEDED.*\[(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux-[a-z0-9-]*\.so\.[0-9])\]' <<<"$output")"
	refute_output --partial TEXTREL
	refute_output --partial RUNPATH
	assert_output --partial NODELETE
}

@test "library imports nothing that ends a process or allocates" {
	run -0 nm -D --undefined-only "$AGENT"
	refute_output --regexp ' (exit|_exit|abort|__assert_fail|raise|kill|malloc|calloc|realloc|printf|fprintf|puts)(@|$)'
}

@test "probes have one site each, a plain nop, and operands that libbpf 1.1 reads" {
	run -0 readelf -nW "$AGENT"
	local notes=$output
	run sort <(sed -n 's/^ *Name: //p' <<<"$notes")
	assert_equal "$(uniq -d <<<"$output")" ""
	# Every group of the contract has its batch probe.
	local probe
	for probe in $(sed -n 's/^\tX([A-Z_]*, \([a-z_]*_batch\),.*/\1/p' "$TOP/libcupti-usdt/probes.h"); do
		grep -q "Name: $probe\$" <<<"$notes" || fail "no probe $probe"
	done
	# 8@%rdi, 8@16(%rdi), 8@$5, 8@x0, 8@[x0, 16]; never a variable, never "(%rdi)" without an offset.
	run grep -oE -- '-?[0-9]+@[^ ]+( ?[0-9]+\])?' <(sed -n 's/^ *Arguments: //p' <<<"$notes")
	refute_line --regexp '@\(|@[A-Za-z_]|rip'
	local site
	for site in $(sed -n 's/^ *Location: 0x\([0-9a-f]*\),.*/\1/p' <<<"$notes"); do
		[ "$(uname -m)" = x86_64 ] || continue
		# The text section lies in the file as in memory.
		assert_equal "$(xxd -s $((16#$site)) -l 1 -p "$AGENT")" 90
	done
}

@test "probes (names, states, batches) have their arguments in the registers of a call" {
	[ "$(uname -m)" = x86_64 ] || skip "knows the registers of x86-64 only"
	run -0 readelf -nW "$AGENT"
	local probe arguments seen=0 registers='[0-9]@%[re]di( -?[0-9]@%[re]si( [0-9]@%[re]dx( [0-9]@%[re]cx( [0-9]@%r8d?)?)?)?)?'
	while read -r probe arguments; do
		seen=$((seen + 1))
		[[ $arguments =~ ^-?$registers$ ]] || fail "$probe has its arguments at $arguments"
	done < <(awk '$1 == "Name:" {probe = $2} $1 == "Arguments:" {$1 = ""; print probe $0}' <<<"$output" |
		grep -E '^(name|status|lost|error|hello_[0-7]|[a-z_]*_batch) ')
	[ "$seen" -gt 20 ]
}

@test "declarations of CUPTI (toolkit installed) agree with its headers" {
	run -0 make -s -C "$TOP" B="$B" check-layout
	[[ $output != *skipped* ]] || skip "$output"
	assert_output --partial "agree with"
}

@test "names, rings, clock (many threads) hold in unit tests" {
	run -0 timeout 60 "$B/tests/agent/unit"
}

@test "sets of metrics by turns (rhythms, random launches, limits, ever new kernels) hold in unit tests" {
	run -0 timeout 60 "$B/tests/agent/turns"
	assert_output ""
}

@test "thread progress (a CPU taken away and returned) holds in unit tests" {
	run -0 timeout 60 "$B/tests/agent/progress"
	assert_output ""
}

@test "nodes of graphs in graphs (their numbers, and what makes them unknown) hold in unit tests" {
	run -0 timeout 60 "$B/tests/agent/inner_graphs"
	assert_output ""
}

@test "switch barrier (a thread without a CPU, another client) holds in unit tests" {
	run -0 timeout 60 "$B/tests/agent/barrier"
	assert_output ""
}

@test "the gate for other clients is waited for before a subscription, after it in a stopped program" {
	run -0 timeout 60 "$B/tests/agent/claims"
	assert_output ""
}

@test "launch gate (many threads, and one without a pause) holds in unit tests" {
	run -0 timeout 60 "$B/tests/agent/gate"
}

# ---- nobody listens

@test "dormant library (nobody listens) has no thread, opens nothing, calls no CUPTI function and owns at most 64 KiB" {
	requires sim
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	start plain "$SIM" env -u CUDA_INJECTION64_PATH "$WORKLOADS/launch-storm" -s 20 -p 1000
	local pid plain kib
	ready storm
	ready plain
	pid=$(process launch-storm "$storm_PID")
	plain=$(process launch-storm "$plain_PID")
	grep -q agent-under-test "/proc/$pid/maps"
	run ! grep -q agent-under-test "/proc/$plain/maps"
	assert_equal "$(ls "/proc/$pid/task" | wc -l)" "$(ls "/proc/$plain/task" | wc -l)"
	assert_equal "$(ls "/proc/$pid/fd" | wc -l)" "$(ls "/proc/$plain/fd" | wc -l)"
	run ! grep -q libcupti.so "/proc/$pid/maps"
	run ! grep -E 'subscribe|callback|kind' "$SIMCUDA_LOG"
	kib=$(awk '/^[0-9a-f]+-/{own = index($0, "agent-under-test") > 0}
		own && /^Anonymous/{sum += $2} END{print sum + 0}' "/proc/$pid/smaps")
	[ "$kib" -le 64 ] || fail "$kib KiB of its own"
}

@test "prepared library (CUPTI_USDT_START=1) initialises CUPTI and lets it go" {
	requires sim
	CUPTI_USDT_START=1 SIMCUDA_LOG=$BATS_TEST_TMPDIR/log sim "$WORKLOADS/launch-storm" -n 1000 >"$OUT"
	assert_equal "$(cut -d' ' -f3 "$BATS_TEST_TMPDIR/log" | grep subscribe | paste -sd' ')" "subscribe unsubscribe"
}

@test "prepared library (nobody listens) wakes at most 4 times a second and owns at most 256 KiB" {
	requires sim
	CUPTI_USDT_START=1 start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	local pid tid before after began ms
	pid=$(process launch-storm "$storm_PID")
	wait_for 10 agent_thread "$pid" >/dev/null
	tid=$(agent_thread "$pid")
	began=$(date +%s%3N)
	before=$(awk '/^voluntary/{print $2}' "/proc/$pid/task/$tid/status")
	sleep 2
	after=$(awk '/^voluntary/{print $2}' "/proc/$pid/task/$tid/status")
	ms=$(($(date +%s%3N) - began))
	[ $((after - before)) -ge 1 ] && [ $((after - before)) -le $((ms * 4 / 1000 + 1)) ] ||
		fail "$((after - before)) wake-ups in $ms ms"
	# Blocked signals: all but the two that cannot be.
	run grep SigBlk "/proc/$pid/task/$tid/status"
	assert_output --partial fffffffe7ffbfeff
	local kib
	kib=$(awk '/^[0-9a-f]+-/{own = index($0, "agent-under-test") > 0}
		own && /^Private_Dirty/{sum += $2} END{print sum + 0}' "/proc/$pid/smaps")
	[ "$kib" -le 256 ] || fail "$kib KiB of its own"
}

# least_of_turns: do both ways need as many instructions in each library, and does each need any? Reading kvm-clock takes
# some more or less each time. Only the simulated driver reads it: if the agent did, the agent would be among them.
least_of_turns() {
	jq -sc --arg clock "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" '
		def least($i): map(.instructions[$i].instructions) as $turns | ($turns | map(keys) | add | unique) |
		map(. as $library | {($library): ([$turns[][$library]] | min)}) | add;
		def compared: if $clock == "kvm-clock" then del(.all, .["[vdso]"]) else . end;
		[(least(0) | compared) == (least(1) | compared), least(0).all > 100]' "$BATS_TEST_TMPDIR/turns"
}

@test "dormant library costs a launch not one instruction" {
	requires sim python3
	local turn
	# The simulated driver looks at the clock, and takes a longer path where it was held up, as on a busy machine:
	# the shortest of up to five turns is compared, library by library.
	for turn in 1 2 3 4 5; do
		run --separate-stderr python3 "$TOP/tests/bench/turns.py" --steps "$B/bench/steps" --sim "$SIM" \
			--agent "$AGENT" --launch-rate "$B/bench/launch-rate"
		assert_success
		echo "$output" | tee -a "$BATS_TEST_TMPDIR/turns"
		run -0 least_of_turns
		[ "$output" != '[true,true]' ] || break
	done
	assert_output '[true,true]'
}

@test "CUDA_TRACE=off leaves no thread and no trace" {
	requires sim
	export CUDA_TRACE=off
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	local pid
	pid=$(process launch-storm "$storm_PID")
	sleep 0.5
	run ! agent_thread "$pid"
}

# ---- somebody listens

@test "listening (before the program starts) hears every launch and kernel" {
	requires root bpf sim
	hear $CORE -- "$WORKLOADS/launch-storm" -n 5000 -t 4
	all_arrived
	assert_equal "$(state state)" 4
}

@test "listening (saxpy, graphs) hears every launch and kernel" {
	requires root bpf sim
	hear $CORE -- "$WORKLOADS/saxpy"
	all_arrived
	hear $CORE -- "$WORKLOADS/graphs"
	assert_equal "$(heard kernel_batch records)" "$(expect_key "$OUT" kernels)"
}

@test "listening (late, threads launching) hears a kernel for every launch within 300 ms" {
	requires root bpf sim
	CUPTI_USDT_START=1 hear -w 600 $CORE -- "$WORKLOADS/launch-storm" -s 2 -t 4 -p 50
	[ "$(heard launch_batch records)" -gt 1000 ]
	local difference=$(($(heard kernel_batch records) - $(heard launch_batch records)))
	# Kernels of launches that were under way while we came.
	[ "${difference#-}" -le 8 ] || fail "$difference"
	assert_equal "$(heard launch_batch unnamed)" 0
	assert_equal "$(heard lost hits)" 0
}

@test "listening (libcupti 11.8, 12.8, 13.0) hears every launch and kernel" {
	requires root bpf sim
	local version
	for version in 11.8 12.8 13.0; do
		SIMCUDA_CUPTI_VERSION=$version hear $CORE -- "$WORKLOADS/launch-storm" -n 2000 -t 2
		all_arrived
	done
}

@test "listening (readable probes only) hears each event once, with its name" {
	requires root bpf sim
	hear -v kernel_launch kernel_exec -- "$WORKLOADS/launch-storm" -n 100
	assert_equal "$(heard kernel_launch hits)" "$(expect_key "$OUT" launches)"
	assert_equal "$(heard kernel_exec hits)" "$(expect_key "$OUT" kernels)"
	assert_equal "$(grep -c 'readable probe=kernel_exec text=[a-z_]' "$OUT")" "$(expect_key "$OUT" kernels)"
}

# fires PROBE HITS SANE PROGRAM ARGS...: the readable probe PROBE fires HITS times (a number, a key of what the program
# says, or a sum of those; N-: at least N times) while PROGRAM runs, each time with arguments a[1] ... and, if a[4] is a
# name, text, of which SANE is true.
fires() {
	local key want=0
	hear -v name lost "$1" -- "$WORKLOADS/$4" "${@:5}"
	for key in ${2//+/ }; do
		[[ $key == [0-9]* ]] || key=$(expect_key "$OUT" "$key")
		[[ $key != *- ]] || key=$(($(heard "$1" hits) > ${key%-} ? $(heard "$1" hits) : ${key%-}))
		want=$((want + key))
	done
	assert_equal "$1 $(heard "$1" hits)" "$1 $want"
	assert_equal "$(heard lost hits)" 0
	grep -a "^readable probe=$1 " "$OUT" >readable
	assert_equal "$1 $(wc -l <readable)" "$1 $want"
	run -0 awk -F ' args=' "{split(\$NF, a, \",\"); text = \$1; sub(/.* text=/, \"\", text)} !($3)" readable
	assert_output ""
}

# With a time that CUPTI gave, or two of them: since this machine began, and not before each other.
@test "listening (each readable probe that nobody else asks for) hears it fire with arguments that make sense" {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	local span='a[1] > 1e9 && a[2] >= a[1] && a[2] - a[1] < 1e10' call
	call="$span && a[3] > 0 && a[7] > 0 && a[5] == 0"

	fires runtime_launch launches "$span && a[3] > 0 && text == \"saxpy\" && (a[5] == 9 ||
		a[5] == 0 && a[6] > 0 && a[7] == 256 && a[8] == 1 && a[9] == 1 && a[10] == 256 && a[11] == 1 && a[12] == 1)" runtime 20
	# A pool is made, trimmed twice and destroyed, all without size, on the first device.
	fires memory_pool 4 "a[1] > 1e9 && a[2] >= 1 && a[2] <= 3 && a[3] > 0 && a[6] == 0 && a[7] == 1 && a[9] > 0" memory 2
	fires graph_exec graph_launches "a[1] > 1e9 && a[2] > a[1] && a[3] > 0 && a[4] == 0 && a[5] > 7 && a[6] > 0 && a[7] == 1" graphs 5
	fires graph_instantiate instantiations "$span && a[3] > 0 && text ~ /^cuGraphInstantiate/ && a[5] == 0 && a[6] == 1" graphs 5
	# Each is created, and copied when its graph is instantiated, which creates the copy first.
	fires graph_node created_nodes+created_nodes+created_nodes "a[1] > 1e9 && a[2] >= 2^32 && (a[3] == 0 || a[3] < a[2]) && a[4] > 0 && a[5] > 1" graphs 5
	assert_equal "$(awk -F ' args=' '{split($NF, a, ",")} a[3] > 0' readable | wc -l)" "$(expect_key "$OUT" created_nodes)"
	# One for the function that is loaded, and one for each of CUPTI's buffers: more of these where a flush comes in between.
	fires overhead 2- "$span && (a[4] == 5 * 65536 || a[4] == 7 * 65536) && a[5] == 2 && a[6] > 0 && a[7] > 0" saxpy
	assert_equal "$(awk -F ' args=' '{split($NF, a, ",")} a[4] == 5 * 65536' readable | wc -l)" 1
	# PTX is compiled, for the first device.
	fires jit 1 "$span && a[3] > 0 && a[4] == 1 && a[5] == 3 && a[6] == 0" saxpy
	# In each of 4 rounds all of the data goes there and comes back, and each side faults.
	fires uvm 16 "$span && a[7] > 0 && (a[3] <= 2 && a[4] == 4194304 || (a[3] == 3 || a[3] == 4) && a[4] > 0)" unified 4
	# Sent as CUPTI is switched on, and as the agent begins.
	fires device 2 "a[1] == 0 && a[2] > 0 && a[3] == 9 && a[4] == 0 && a[5] == 80 * 2^30 && a[6] > 0 && a[7] > 0" saxpy
	fires context contexts "a[1] >= 1 && a[1] <= 6 && a[2] == 0 && a[3] >= 7 && a[4] == 0 && a[5] == 0" resets 3
	# Non-blocking; a priority is signed, the listener's numbers are not.
	fires stream streams "a[1] > 7 && a[2] == 1 && (a[3] == 0 || a[3] > 2^64 - 4096) && a[4] == 2" streams 20

	# What was requested: 64 TiB, none, a device, a launch of so many threads or of a config; a name says nothing.
	fires api_error api_errors "$span && a[5] > 0 && (a[9] == 2 && (a[10] == 2^46 || a[10] == 0) || a[9] == 32 && a[11] == 1000 ||
		a[9] == 64 && (a[11] == 2000 || a[11] == 32 || a[11] == 0) || a[9] == 0 && a[5] == 500)" failures 2
	fires api_launch launches+launches "$span && a[3] > 0 && text ~ /Launch/ && (a[6] == 1 || a[6] == 2) && a[7] > 0 && a[8] == 1" runtime 5
	fires api_memory allocs+frees+api_errors+4 "$span && a[3] > 0 && a[7] > 0 && text ~ /^cuMem/ && (a[5] == 0 || a[5] == 2) && a[6] == 1 && a[8] == 1" memory 2
	assert_equal "$(awk -F ' args=' '{split($NF, a, ",")} a[5] == 2' readable | wc -l)" "$(expect_key "$OUT" api_errors)"
	fires api_copy memcpys+memsets "$call && text ~ /^cuMem(cpy|set)/ && a[6] == 1 && a[8] == 1" copies 1
	fires api_sync syncs+2 "$call && text ~ /Synchronize|WaitEvent/ && a[6] == 1 && a[8] == 1" syncs 2 10000
	fires api_stream streams+streams "$call && text ~ /^cuStream(Create|Destroy)/ && a[6] == 1 && a[8] == 1" streams 10
	fires api_event 6 "$call && text ~ /^cuEvent(Create|Record|Destroy)/ && a[6] == 1 && a[8] == 1" syncs 2 10000
	fires api_module 2 "$call && text ~ /^cuModule(LoadData|GetFunction)/ && a[6] == 1 && a[8] == 1" saxpy
	fires api_graph 14 "$call && text ~ /Graph|Capture/ && a[6] == 1 && a[8] == 1" graphs 2
	fires api_context 13 "$call && text ~ /Ctx|Device/ && a[6] == 1" resets 2
	fires api_other 3 "$span && a[3] > 0 && a[7] > 0 && (text == \"cuInit\" && a[6] == 1 || text == \"cudaGetLastError\" && a[6] == 2)" runtime 2
}

@test "listening (PC samples, batched and readable) hears each once, and switches nothing else on" {
	requires root bpf sim
	SIMCUDA_LOG=$BATS_TEST_TMPDIR/log hear -v name lost error sample_on_10 sample_every_100 pc_samples pc_samples_batch -- \
		"$WORKLOADS/launch-storm" -s 1 -p 1000
	# Of each window four samples, and its account in the batch alone.
	[ "$(heard pc_samples hits)" -ge 4 ]
	assert_equal "$(($(heard pc_samples hits) % 4))" 0
	[ "$(heard pc_samples_batch records)" -ge "$(($(heard pc_samples hits) / 4 * 5))" ]
	assert_equal "$(heard pc_samples_batch next)" "$(heard pc_samples_batch records)"
	assert_equal "$(heard error hits)" 0
	run ! grep -v ' kinds=- ' <(grep kinds= "$BATS_TEST_TMPDIR/log")
}

@test "listening (cubins, beside PC samples) hears of each module once" {
	requires root bpf sim
	hear pc_samples_batch cubin -- "$WORKLOADS/launch-storm" -n 100
	assert_equal "$(heard cubin hits)" 1
	hear cubin -- "$WORKLOADS/launch-storm" -n 100
	assert_equal "$(heard cubin hits)" 0
}

@test "listening (kernels only) still ties kernels to launches" {
	requires root bpf sim
	hear -v kernel_batch -- "$WORKLOADS/launch-storm" -n 200
	assert_equal "$(heard kernel_batch records)" 200
	assert_equal "$(grep '^record probe=kernel_batch' "$OUT" | grep -o 'correlation=[1-9][0-9]*' | sort -u | wc -l)" 200
}

# GPU records are on, or off, by the simulation's log.
kernels_are() {
	[ "$(grep -o 'kinds=[0-9,]*' "$SIMCUDA_LOG" | tail -n 1 | grep -Ec '[=,]10(,|$)')" = "$1" ]
}

@test "the last flush (the listener stays, or asks for too long) switches GPU records off, and on again" {
	requires root bpf sim
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/cupti.log
	CUPTI_USDT_START=1 start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	local pid
	pid=$(process launch-storm "$storm_PID")
	start stays "$LISTEN" -p "$pid" -t 30000 "$AGENT" launch_batch kernel_batch status hello_0
	wait_for 10 kernels_are 1
	start asks "$LISTEN" -p "$pid" -t 800 "$AGENT" flush
	wait_for 10 kernels_are 0
	finished "$asks_PID"
	wait_for 2 kernels_are 1
	start asks "$LISTEN" -p "$pid" -t 20000 "$AGENT" flush
	wait_for 10 kernels_are 0
	wait_for 5 kernels_are 1
	run ! grep '^lost ' "$BATS_TEST_TMPDIR/stays.out"
}

@test "two listeners (the second comes later) both know every name" {
	requires root bpf sim
	CUPTI_USDT_START=1 start storm "$SIM" "$WORKLOADS/launch-storm" -s 30 -p 200
	local pid
	pid=$(process launch-storm "$storm_PID")
	start first "$LISTEN" -p "$pid" -t 8000 "$AGENT" $CORE
	sleep 1
	# Names are sent each second, by a thread that a busy machine may hold up.
	timeout 20 "$LISTEN" -p "$pid" -t 4000 "$AGENT" $CORE >"$OUT"
	[ "$(heard launch_batch records)" -gt 100 ]
	[ "$(heard name hits)" -ge 1 ]
	grep -q '^status .*state=1 ' "$OUT"
	# One that asks need not wait for the next second.
	timeout 20 "$LISTEN" -p "$pid" -t 900 "$AGENT" $CORE hello_3 >"$OUT"
	[ "$(heard hello_3 hits)" -ge 1 ]
	[ "$(heard name hits)" -ge 1 ]
	finished "$first_PID"
	cp "$BATS_TEST_TMPDIR/first.out" "$OUT"
	[ "$(heard launch_batch records)" -gt 300 ]
	assert_equal "$(heard launch_batch unnamed)" 0
}

# unsubscribed TIMES: the agent has released CUPTI so often, once of that after priming.
unsubscribed() {
	[ "$(grep -c ' unsubscribe subscribed=0 ' "$BATS_TEST_TMPDIR/cupti.log")" = "$1" ]
}

@test "attach and detach (8 times, 4 threads launching) changes nothing for the program" {
	requires root bpf sim
	CUPTI_USDT_START=1 SIMCUDA_LOG=$BATS_TEST_TMPDIR/cupti.log start storm "$SIM" "$WORKLOADS/launch-storm" -s 30 -t 4 -p 100
	local pid i
	pid=$(process launch-storm "$storm_PID")
	for i in $(seq 8); do
		timeout 20 "$LISTEN" -p "$pid" -t 1000 "$AGENT" $CORE >"$OUT"
		[ "$(heard kernel_batch records)" -gt 0 ] || fail "cycle $i heard nothing: $(cat "$OUT")"
		assert_equal "$(heard error hits)" 0
		# The agent has seen that nobody listens any more.
		wait_for 20 unsubscribed $((i + 1))
	done
	timeout 20 "$LISTEN" -p "$pid" -t 3000 "$AGENT" status >"$OUT"
	assert_equal "$(state state)" 0
	assert_equal "$(state activations)" 8
	kill -USR1 "$pid"
	finished "$storm_PID" 40
	assert_equal "$status" 0
	grep -q '^expect launches=' "$BATS_TEST_TMPDIR/storm.out"
}

@test "active library owns at most 16 MiB" {
	requires root bpf sim
	# Eight threads flat out on a busy machine are more than this listener can take; that is not tested here.
	hear $CORE -- "$WORKLOADS/launch-storm" -s 2 -t 8 || [ $? = 98 ]
	[ "$(state resident_kib)" -gt 0 ]
	[ "$(state resident_kib)" -le 16384 ] || fail "$(state resident_kib) KiB"
}

# module_images FIRST LAST BYTES COMMAND...: images that differ, of so many bytes and a little; what COMMAND makes of one
# stays. Their names, with a colon behind each.
module_images() {
	local i
	printf '\t.section .data.x@@@,"aw",@progbits\n\t.zero %d\n' "$3" | cat "$TOP/tests/profile/inlined.s" - >one.s
	${CC:-cc} -c -o one.o one.s
	"${@:4}" one.o
	for i in $(seq -f %03g "$1" "$2"); do
		LC_ALL=C sed "s/@@@/$i/g" one.o >"i$i.o"
		printf '%s:' "i$i.o"
	done
}

gives_images_back() {
	for _ in 1 2 3 4 5; do
		timeout 20 "$LISTEN" -p "$1" -t 1500 "$AGENT" status >"$OUT"
		[ "$(state resident_kib)" -gt 4096 ] || return 0
	done
	fail "$(state resident_kib) KiB are left"
}

@test "active library (instructions are sampled, more images of modules than fit) owns at most 28 MiB, and frees them" {
	requires root bpf sim objcopy
	cd "$BATS_TEST_TMPDIR" || return 1
	local with without i
	with=$(module_images 101 122 400000 true)
	without=$(module_images 201 224 200000 objcopy --rename-section .debug_line=.other_line)
	# Modules come again and again, also after somebody came.
	CUPTI_USDT_START=1 SIMCUDA_PC_CUBIN=$with${without%:} start modules "$SIM" "$WORKLOADS/modules" 1000000
	wait_for 10 grep -qs agent-under-test "/proc/$modules_PID/maps"
	for i in 2000 4000 8000; do
		timeout 20 "$LISTEN" -p "$modules_PID" -t $i "$AGENT" status pc_samples_batch >"$OUT"
		[ "$(state resident_kib)" -le 11500 ] || break
	done
	# Both rooms were as good as full: 20 and 20 images fit.
	[ "$(state resident_kib)" -gt 11500 ] || fail "$(state resident_kib) KiB"
	[ "$(state resident_kib)" -le $((16384 + 12288)) ] || fail "$(state resident_kib) KiB"
	gives_images_back "$modules_PID"
	# Listeners that the agent sees, and that are gone before there is a window.
	for i in 400 400 400; do
		timeout 20 "$LISTEN" -p "$modules_PID" -t $i "$AGENT" status pc_samples_batch >"$OUT"
	done
	gives_images_back "$modules_PID"
	kill "$modules_PID"
}

@test "other groups (copies, memsets, memory, syncs, failed calls; libcupti 11.8 to 13.4) arrive exactly" {
	requires root bpf sim
	local pair version probe
	for version in 11.8 12.0 12.4 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4; do
		SIMCUDA_CUPTI_VERSION=$version hear name lost error memcpy_batch memset_batch memory_batch sync_batch \
			api_error_batch object_batch memcpy memory sync memset api_error -- "$B/tests/agent/calls" 50
		for pair in memcpy:memcpys memset:memsets sync:syncs api_error:api_errors; do
			assert_equal "$version ${pair%:*} $(heard "${pair%:*}_batch" records)" \
				"$version ${pair%:*} $(expect_key "$OUT" "${pair#*:}")"
			assert_equal "$version ${pair%:*} $(heard "${pair%:*}" hits)" \
				"$version ${pair%:*} $(expect_key "$OUT" "${pair#*:}")"
		done
		assert_equal "$version $(heard memory_batch records)" \
			"$version $(($(expect_key "$OUT" allocs) + $(expect_key "$OUT" frees)))"
		assert_equal "$version $(heard api_error_batch failed)" "$version $(expect_key "$OUT" api_errors)"
		[ "$(heard object_batch records)" -ge 3 ]
		assert_equal "$version $(heard lost hits)" "$version 0"
		for probe in memcpy_batch memset_batch memory_batch sync_batch api_error_batch; do
			assert_equal "$version $probe $(heard $probe backwards)$(heard $probe outside)" "$version $probe 00"
		done
	done
}

@test "API families (memory) carries its calls and no others" {
	requires root bpf sim
	hear name api_memory_batch -- "$B/tests/agent/calls" 50
	assert_equal "$(heard api_memory_batch records)" \
		"$(($(expect_key "$OUT" allocs) + $(expect_key "$OUT" frees) + $(expect_key "$OUT" api_errors)))"
	run ! grep -E '^name .*text=cu(Memcpy|Stream|Launch)' "$OUT"
}

@test "memory_error_batch carries the calls of both families that failed, and looks at no others" {
	requires root bpf sim
	hear name lost memory_error_batch -- "$B/tests/agent/calls" 50
	assert_equal "$(heard memory_error_batch records)" "$(expect_key "$OUT" api_errors)"
	assert_equal "$(heard memory_error_batch failed)" "$(expect_key "$OUT" api_errors)"
	# Copies, too, and with those of api_error_batch they come twice.
	hear name lost memory_error_batch api_error_batch -- "$WORKLOADS/badcopies"
	assert_equal "$(heard memory_error_batch records)" "$(heard api_error_batch records)"
	[ "$(heard memory_error_batch records)" -gt 60 ]
	# Launches that fail are none of them.
	hear name lost memory_error_batch -- "$WORKLOADS/failures"
	assert_equal "$(heard memory_error_batch records)" 20
	run ! grep -E '^name .*text=cu(Launch|Module|Stream)' "$OUT"
}

@test "NVTX (NVIDIA's own client, used before and after cuInit) carries its ranges" {
	requires root bpf sim
	[ -e /usr/local/cuda/include/nvtx3/nvToolsExt.h ] || skip "needs a toolkit's nvtx3 headers"
	local when
	cc -I/usr/local/cuda/include -L"$B/simcuda" -o "$BATS_TEST_TMPDIR/ranges" "$TOP/tests/gpu/ranges.c" \
		-l:libcuda.so.1 -ldl
	export NVTX_INJECTION64_PATH=$B/simcuda/libcupti.so.13
	for when in late early; do
		hear name lost nvtx_batch -- "$BATS_TEST_TMPDIR/ranges" $when
		assert_equal "$when $(heard nvtx_batch records)" \
			"$when $(($(expect_key "$OUT" nvtx_ranges) + $(expect_key "$OUT" nvtx_marks)))"
	done
}

@test "NVTX (requested at the start) carries every range and mark, with text and domain" {
	requires root bpf sim
	export NVTX_INJECTION64_PATH=$B/simcuda/libcupti.so.13
	hear name lost nvtx_batch nvtx -- "$WORKLOADS/nvtx" 20
	assert_equal "$(heard nvtx_batch records)" \
		"$(($(expect_key "$OUT" nvtx_ranges) + $(expect_key "$OUT" nvtx_marks)))"
	assert_equal "$(heard nvtx hits)" "$(heard nvtx_batch records)"
	assert_equal "$(heard nvtx_batch backwards)$(heard nvtx_batch outside)" 00
	assert_equal "$(heard lost hits)" 0
}

# ---- the end of a process

@test "exit (right after the last launch) loses nothing" {
	requires root bpf sim
	hear $CORE -- "$B/tests/agent/ends" return 500
	assert_equal "$(heard launch_batch records)" 500
	assert_equal "$(($(heard kernel_batch records) + $(lost_total 3)))" 500
	assert_equal "$(state state)" 4
}

@test "exit (by _exit, its table writable or not) loses nothing, and keeps its status" {
	requires root bpf sim
	local program
	for program in ends ends-relro; do
		run -7 hear $CORE -- "$B/tests/agent/$program" _exit 500
		assert_equal "$program $(heard launch_batch records)" "$program 500"
		assert_equal "$program $(($(heard kernel_batch records) + $(lost_total 3)))" "$program 500"
		assert_equal "$program $(state state)" "$program 4"
	done
}

@test "exit (a child of vfork ends by _exit) is the child's alone" {
	requires root bpf sim
	hear $CORE -- "$B/tests/agent/ends-relro" vfork 100
	grep -qx 'child 9' "$OUT"
	assert_equal "$(heard launch_batch records)" 200
	assert_equal "$(state state)" 4
}

@test "exit (signal, exec) is the program's own, and ends without a last word" {
	requires root bpf sim
	local how
	for how in kill:137 exec:0; do
		hear $CORE -- "$B/tests/agent/ends" "${how%:*}" 500 || status=$?
		assert_equal "${how%:*} ${status:-0}" "${how%:*} ${how#*:}"
		status=0
		assert_equal "$(state state)" 1
	done
}

# hear_exit LIMIT PROBES: a program whose CUPTI hangs; $took = ms from the end of main() to the end of all. Less than
# LIMIT: a machine that has much else to do makes some of five runs longer, what the agent waits for all of them.
hear_exit() {
	for _ in 1 2 3 4 5; do
		SIMCUDA_FLUSH=hang hear "${@:2}" -- bash -c '"$@"; echo "gone=$(date +%s%3N)"' - "$B/tests/agent/ends" return 500
		took=$(($(sed -n 's/^gone=//p' "$OUT") - $(sed -n 's/^left=//p' "$OUT")))
		[ "$took" -ge "$1" ] || return 0
	done
	fail "$took ms"
}

@test "exit (CUPTI hangs while flushing) takes at most 0.5 s longer, and keeps the launches" {
	requires root bpf sim
	# Not less, or it did not hang; not more, but for a loaded machine's own slowness.
	hear_exit 1500 $CORE
	[ "$took" -ge 450 ] || fail "$took ms"
	assert_equal "$(heard launch_batch records)" 500
	assert_equal "$(state state)" 4
}

@test "exit (CUPTI_USDT_EXIT_MS=0, CUPTI hangs) does not wait at all" {
	requires root bpf sim
	CUPTI_USDT_EXIT_MS=0 hear_exit 400 $CORE
}

# Who is notified that it begins can make launches pause for it.
@test "start (CUPTI hangs, somebody listens) holds cuInit for 1 s at most" {
	requires root bpf sim
	SIMCUDA_SUBSCRIBE=hang CUPTI_USDT_START_MS=300 CUPTI_USDT_EXIT_MS=100 \
		hear $CORE -- "$B/tests/agent/ends" return 100
	local init
	init=$(sed -n 's/^init=//p' "$OUT")
	[ "$init" -ge 250 ] && [ "$init" -lt 1300 ] || fail "$init ms"
	SIMCUDA_SUBSCRIBE=hang sim "$WORKLOADS/launch-storm" -n 100
}

@test "fork (the child launches, exits, is killed) leaves parent and child as they were" {
	requires root bpf sim
	hear $CORE -- "$B/tests/agent/ends" fork 500
	assert_equal "$(heard launch_batch records)" 500
	assert_equal "$(heard kernel_batch records)" 500
	assert_equal "$(grep -c '^status .*state=4' "$OUT")" 1
	grep -q '^child 0$' "$OUT"
}

@test "errno, signal mask, folder, open files, locale are as without the agent" {
	requires root bpf sim
	CUDA_INJECTION64_PATH='' "$SIM" "$B/tests/agent/manners" >"$BATS_TEST_TMPDIR/without"
	"$SIM" "$B/tests/agent/manners" >"$BATS_TEST_TMPDIR/dormant"
	hear $CORE runtime_batch kernel_launch api_memory_batch -- "$B/tests/agent/manners"
	diff "$BATS_TEST_TMPDIR/without" "$BATS_TEST_TMPDIR/dormant"
	diff "$BATS_TEST_TMPDIR/without" <(grep -E '^(errno|mask|cwd|fds|locale|children) ' "$OUT")
	[ "$(heard launch_batch records)" -gt 0 ]
}

@test "threads (300 come and go, 64 KiB stacks) lose nothing" {
	requires root bpf sim
	hear $CORE -- "$B/tests/agent/ends" threads 300
	assert_equal "$(heard launch_batch records)" "$(expect_key "$OUT" launches)"
	assert_equal "$(heard kernel_batch records)" "$(expect_key "$OUT" launches)"
	assert_equal "$(heard lost hits)" 0
}

# ---- trouble

@test "another CUPTI client (named) is yielded to" {
	requires root bpf sim
	SIMCUDA_OTHER_SUBSCRIBER=Nsight hear $CORE -- "$WORKLOADS/launch-storm" -n 1000
	assert_equal "$(heard launch_batch records)" 0
	grep -q '^status .*state=2 .*holder=Nsight ' "$OUT"
	grep -q '^error code=39 ' "$OUT"
	grep -q '^expect launches=1000' "$OUT"
}

@test "no libcupti makes it inert, with an account of the search" {
	requires root bpf sim
	CUDA_TRACE_LIBCUPTI=/nonexistent/libcupti.so.13 hear -v $CORE -- "$WORKLOADS/launch-storm" -n 1000
	grep -q '^status .*state=3 reason=1 ' "$OUT"
	grep -q '^search /nonexistent/libcupti.so.13: not there' "$OUT"
	grep -q '^expect launches=1000' "$OUT"
}

@test "libcupti of CUDA 13.0 GA is refused unless forced" {
	requires root bpf sim
	export CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 SIMCUDA_CUPTI_VERSION=130000
	hear -v $CORE -- "$WORKLOADS/launch-storm" -n 1000
	grep -q '^status .*state=3 reason=6 ' "$OUT"
	grep -q 'refused: CUDA 13.0 GA' "$OUT"
	assert_equal "$(heard launch_batch records)" 0
	CUPTI_USDT_FORCE=1 hear $CORE -- "$WORKLOADS/launch-storm" -n 1000
	assert_equal "$(heard launch_batch records)" 1000
}

@test "libcupti newer than the driver is not used" {
	requires root bpf sim
	export CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 SIMCUDA_DRIVER_VERSION=12080
	hear -v $CORE -- "$WORKLOADS/launch-storm" -n 1000
	grep -q 'refused: newer than the driver' "$OUT"
	assert_equal "$(heard launch_batch records)" 0
}

@test "libcupti that lacks a function is not used" {
	requires root bpf sim
	export CUDA_TRACE_LIBCUPTI=$B/simcuda/libcupti.so.13 SIMCUDA_MISSING_SYMBOL=cuptiActivityFlushAll
	hear -v $CORE -- "$WORKLOADS/launch-storm" -n 1000
	grep -q '^expect launches=1000' "$OUT"
	grep -q '^status .*state=3 reason=6 ' "$OUT"
	grep -q '^error code=10002 .*refused: lacks cuptiActivityFlushAll' "$OUT"
	assert_equal "$(heard launch_batch records)" 0
}

@test "fatal state of CUPTI makes it inert for good, launches so far kept" {
	requires root bpf sim
	SIMCUDA_STATE_FATAL=500 hear $CORE -- "$WORKLOADS/launch-storm" -n 2000 -p 100
	grep -q '^status .*state=3 reason=5 ' "$OUT"
	# The simulated driver counts calls, and each first launch is followed by a look for a capture.
	[ "$(heard launch_batch records)" -ge 240 ]
	grep -q '^expect launches=2000' "$OUT"
}

@test "records that CUPTI drops, and those without times, are counted exactly" {
	requires root bpf sim
	SIMCUDA_DROP=100 hear $CORE -- "$WORKLOADS/launch-storm" -n 5000
	assert_equal "$(($(heard kernel_batch records) + $(lost_total 0)))" 5000
	[ "$(lost_total 0)" -gt 0 ]
	SIMCUDA_BAD_TIMES=100 hear $CORE -- "$WORKLOADS/launch-storm" -n 5000
	assert_equal "$(($(heard kernel_batch records) + $(lost_total 2) + $(lost_total 3)))" 5000
	[ "$(lost_total 2)" -gt 0 ]
	assert_equal "$(heard kernel_batch backwards)" 0
}

@test "no GPU records for 5 s (GPU newer than libcupti) is said once" {
	requires root bpf sim
	SIMCUDA_NO_RECORDS=1 hear $CORE -- "$WORKLOADS/launch-storm" -s 8 -p 1000
	assert_equal "$(grep -c '^error code=10000 ' "$OUT")" 1
}

@test "kernel names (100 kB, escapes, not UTF-8) travel cut, whole in length" {
	requires root bpf sim
	hear $CORE -- "$B/tests/agent/ends" names 3
	assert_equal "$(heard launch_batch unnamed)" 0
	grep -Eq '^name id=[0-9]+ length=100000 stored=4095 ' "$OUT"
}
