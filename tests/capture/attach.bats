#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Attaching in ways that go wrong elsewhere: to many, to a user's program, by a tool that is killed, to
# programs that end in every way; and what is left behind.
# shellcheck disable=SC2154 # storm_PID and the like are made by start

load ../lib/helpers
load ../lib/cost

setup() {
	requires bpf sim jq
	OUT=$BATS_TEST_TMPDIR/out
	JSON=$BATS_TEST_TMPDIR/stat.json
}

# program NAME PID: the process named NAME that PID is, or has started
program() {
	local pid
	for pid in $2 $(pgrep -P "$2"); do
		[ "$(cat "/proc/$pid/comm")" = "$1" ] && echo "$pid" && return
	done
	return 1
}

# last_state LOG: what CUPTI's state was after the last change
last_state() {
	tail -n 1 "$1" | tr ' ' '\n' | grep -E '^(subscribed|callbacks|kinds)=' | xargs
}

# ct that may say something on stderr
ct_says() {
	run -0 --separate-stderr "$SIM" "$CUDA_TRACE" "$@"
}

all_off() {
	[ "$(last_state "$1")" = "subscribed=0 callbacks=0 kinds=-" ]
}

@test "attach (tool killed with -9) leaves nothing on in program and kernel, and another tool works" {
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/cupti.log
	CUDA_INJECTION64_PATH=$AGENT start storm "$SIM" "$WORKLOADS/launch-storm" -s 9 -t 2 -p 100
	wait_for 30 program launch-storm "$storm_PID"
	local pid
	pid=$(program launch-storm "$storm_PID")
	start tool "$CUDA_TRACE" stat --json -o "$BATS_TEST_TMPDIR/killed.json" -p "$pid"
	wait_for 30 grep -q 'kinds=[0-9,]*10' "$SIMCUDA_LOG"
	kill -KILL -- "-$tool_PID"
	wait_for 30 all_off "$SIMCUDA_LOG"
	ct stat --json -o "$JSON" -p "$pid" --duration 1
	json "$JSON" '.totals.launches > 100 and .totals.kernels > 100 and .lost.total == 0'
	finished "$storm_PID"
	assert_equal "$status" 0
	[ ! -s "$BATS_TEST_TMPDIR/storm.err" ] || fail "$(cat "$BATS_TEST_TMPDIR/storm.err")"
}

@test "attach (50 processes at once) counts each of them" {
	cat >"$BATS_TEST_TMPDIR/many" <<-'EOF'
		for _ in $(seq 50); do "$WORKLOADS/saxpy" --size 1000 & done
		wait
	EOF
	ct stat --json -o "$JSON" -- "$SIM" bash "$BATS_TEST_TMPDIR/many" >"$OUT"
	assert_equal "$(grep -c '^expect ' "$OUT")" 50
	assert_equal "$(json "$JSON" '[.processes[] | select(.kernels > 0)] | length')" 50
	assert_equal "$(json "$JSON" .totals.kernels)" \
		"$(grep -o ' kernels=[0-9]*' "$OUT" | awk -F= '{s += $2} END {print s}')"
	json "$JSON" '.lost.total == 0'
}

# nice_of PID: of its first thread. has_nice PID NICE
nice_of() {
	sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17
}
has_nice() {
	[ "$(nice_of "$1")" = "$2" ]
}

@test "stat (programs wait for it) goes before programs of the usual priority, unless it was started with nice(1)" {
	start tool "$CUDA_TRACE" stat -- "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	wait_for 20 pgrep -P "$tool_PID" launch-storm
	wait_for 20 has_nice "$tool_PID" -10
	assert_equal "$(nice_of "$(pgrep -P "$tool_PID" launch-storm)")" 0
	start other nice -n 3 "$CUDA_TRACE" stat -- "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	wait_for 20 pgrep -P "$other_PID" launch-storm
	wait_for 20 grep -q ready "$BATS_TEST_TMPDIR/other.out"
	assert_equal "$(nice_of "$other_PID")" 3
}

@test "attach (8 threads as fast as they can) sees every launch or says what was lost" {
	ct stat -e kernels --json -o "$JSON" -- "$SIM" "$WORKLOADS/launch-storm" -n 30000 -t 8 >"$OUT"
	local missing
	missing=$(($(expect_key "$OUT" launches) + $(expect_key "$OUT" kernels) -
		$(json "$JSON" '.totals.launches + .totals.kernels')))
	# What was lost unread may have been a record of a stream or a context, too.
	local lost
	lost=$(json "$JSON" '.lost.total | tostring')
	[ "$lost" -ge "$missing" ] && [ "$lost" -le $((missing + 50)) ] ||
		fail "$missing missing, $lost said to be lost"
}

@test "attach (a program of another user, started by the tool) sees it" {
	chmod 755 "$BATS_TEST_TMPDIR"
	ct stat --json -o "$JSON" -- setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$SIM" "$WORKLOADS/saxpy" >"$OUT"
	assert_equal "$(json "$JSON" .totals.kernels)" "$(expect_key "$OUT" kernels)"
}

@test "attach (a program that forks after cuInit) counts the parent, and the children are well" {
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/forks" >"$OUT"
	assert_equal "$(json "$JSON" .totals.launches)" "$(expect_key "$OUT" launches)"
	assert_equal "$(json "$JSON" .totals.kernels)" "$(expect_key "$OUT" kernels)"
}

@test "attach (every way to end) leaves output and status as they are without the agent" {
	local mode plain traced
	for mode in return exit _exit signal kill abort crash exec pthread_exit destroy running unsynced endless; do
		plain=0 traced=0
		sim "$WORKLOADS/early-exit" "$mode" >"$BATS_TEST_TMPDIR/plain" 2>/dev/null || plain=$?
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/early-exit" "$mode" \
			>"$BATS_TEST_TMPDIR/traced" 2>"$BATS_TEST_TMPDIR/err" || traced=$?
		assert_equal "$mode $traced" "$mode $plain"
		diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/traced"
	done
}

@test "attach (ended by exit, _exit, return or another thread) has every kernel" {
	local mode
	for mode in return exit _exit pthread_exit destroy; do
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/early-exit" "$mode" >"$OUT"
		assert_equal "$mode $(json "$JSON" .totals.kernels)" "$mode $(expect_key "$OUT" kernels)"
		json "$JSON" '.lost.total == 0 and .lost.killed == 0'
	done
}

# ends_while MODE WHEN: that program ends with a tool attached, from its start or later; whether CUPTI was misused.
ends_while() {
	local faults
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/cupti.log
	rm -f "$SIMCUDA_LOG" gate
	status=0
	if [ "$2" = start ]; then
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/early-exit" "$1" >"$OUT" 2>err || status=$?
	else
		mkfifo gate
		PROGRAM_GATE=gate CUDA_INJECTION64_PATH=$AGENT start early "$SIM" "$WORKLOADS/early-exit" "$1"
		wait_for 20 grep -qs ' exit \|injection .*kept=1' "$SIMCUDA_LOG"
		start tool "$CUDA_TRACE" stat --json -o "$JSON" -p "$early_PID"
		wait_for 20 grep -q 'kinds=[0-9,]*10' "$SIMCUDA_LOG"
		: >gate
		finished "$tool_PID"
		assert_equal "$1 $status" "$1 0"
		finished "$early_PID"
		cp early.out "$OUT"
		cp early.err err
	fi
	faults=$(grep -o 'buffers_out=[0-9]* faults=[0-9]*' "$SIMCUDA_LOG" | tail -n 1)
	assert_equal "$1 $2 ${faults##* }" "$1 $2 faults=0"
}

@test "attach (ends while a kernel runs, without having waited, by a crash) has everything, or says what it has not" {
	cd "$BATS_TEST_TMPDIR"
	local mode when
	for when in start later; do
		for mode in running unsynced endless; do
			ends_while $mode $when
			assert_equal "$mode $when $status $(cat err)" "$mode $when 0 "
			assert_equal "$mode $when $(json "$JSON" .totals.launches)" "$mode $when $(expect_key "$OUT" launches)"
			# The kernel that runs has no end; one that waits in the stream may have none.
			assert_equal "$mode $when $(json "$JSON" '.totals.kernels + .lost.unfinished')" \
				"$mode $when $(expect_key "$OUT" kernels)"
			json "$JSON" '.lost.total == .lost.unfinished and .lost.killed == 0'
			[ $mode = unsynced ] || json "$JSON" '.lost.unfinished == 1 and .totals.unfinished == 1'
			grep -q ' exit .*buffers_out=0 ' "$SIMCUDA_LOG"
		done
		ends_while crash $when
		assert_equal "$when $status" "$when 139"
		assert_equal "$(expect_key "$OUT" launches)" 1000
		# Without a last word: its last 100 ms may be unknown, and that is said.
		json "$JSON" '.totals.launches <= 1000 and .lost.killed == 1'
		kernel_is 6.16 || continue
		# What had not been sent is counted. Kernels may have come whose launches had not.
		json "$JSON" '.totals.launches + .lost.unsent >= 1000 and .totals.kernels <= .totals.launches + .lost.unsent'
	done
}

@test "attach (threads that are cancelled at any instruction) has what they launched, or counts it as lost" {
	cd "$BATS_TEST_TMPDIR"
	# The time is the tool's own, after its program's end.
	# shellcheck disable=SC2016 # for the inner shell
	local counted program='"$0" "$@" && touch over'
	without "$CUDA_TRACE" stat -e launches --json -o "$JSON" -- sh -c "$program" "$SIM" "$WORKLOADS/launch-storm" -n 100000 -t 4
	attacked "$CUDA_TRACE" stat -e launches --json -o "$JSON" -- sh -c "$program" "$SIM" "$WORKLOADS/cancels"
	counted=$(json "$JSON" '.totals.launches + .lost.total')
	# One that was cancelled in the middle of a launch may have made it.
	[ "$counted" -ge "$(expect_key "$OUT" launches)" ] && [ "$counted" -le "$(expect_key "$OUT" launches_begun)" ] ||
		fail "$counted: $(grep -o 'launches[_a-z]*=[0-9]*' "$OUT" | xargs), $(jq -c .lost "$JSON")"
}

@test "attach (the program ends before the tool is through with attaching) ends, too" {
	cd "$BATS_TEST_TMPDIR"
	mkfifo gate says
	PROGRAM_GATE=gate CUDA_INJECTION64_PATH=$AGENT start early "$SIM" "$WORKLOADS/early-exit" return
	wait_for 20 grep -qs libcupti-usdt "/proc/$early_PID/maps"
	# Its first message blocks, as the pipe is full: there it waits, with its probes attached.
	exec 8<>says
	head -c 65536 /dev/zero >&8
	start tool sh -c 'exec "$@" 2>says 8>&-' sh "$CUDA_TRACE" stat -v -p "$early_PID" --json -o "$JSON"
	wait_for 20 grep -q pipe_write "/proc/$tool_PID/wchan"
	: >gate
	finished "$early_PID"
	start reader cat says
	finished "$tool_PID"
	exec 8>&-
	assert_equal "$status" 0
	json "$JSON" '.totals.launches <= 1000 and .totals.kernels <= .totals.launches'
}

@test "attach (a libcuda that is loaded late by dlopen, and closed) sees every launch; without the agent, all that come after it was found" {
	sim "$WORKLOADS/dlopened" >"$BATS_TEST_TMPDIR/plain"
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/dlopened" >"$OUT"
	diff "$BATS_TEST_TMPDIR/plain" "$OUT"
	assert_equal "$(json "$JSON" .totals.launches)" "$(expect_key "$OUT" launches)"
	json "$JSON" '.lost.total == 0 and .totals.syncs == 1 and .totals.kernels == .totals.launches'
	ct_says stat --source driver --json -o "$JSON" -- "$SIM" "$WORKLOADS/dlopened" 4000 500
	json "$JSON" '.lost.total == 0 and .totals.syncs == 1 and .totals.launches > 500 and .totals.launches <= 4000'
	assert_regex "$output" '^expect launches=4000 '
	CUDA_INJECTION64_PATH=$AGENT start late "$SIM" "$WORKLOADS/dlopened" 4000 500
	wait_for 20 grep -qs libcuda.so "/proc/$late_PID/maps"
	ct stat -p "$late_PID" -d 0.6 --json -o "$JSON"
	json "$JSON" '.totals.launches > 10 and .totals.kernels > 10 and .lost.total == 0'
	finished "$late_PID"
	assert_equal "$status" 0
	assert_equal "$(expect_key "$BATS_TEST_TMPDIR/late.out" launches)" 4000
}

# possessions PID: its open files, its threads by name, but for the agent's own and CUPTI's.
possessions() {
	local fd
	for fd in /proc/"$1"/fd/*; do
		echo "${fd##*/} $(readlink "$fd")"
	done
	cat /proc/"$1"/task/*/comm | grep -vx 'cupti-.*\|simcupti' | sort
	grep -E 'SigBlk|SigIgn|SigCgt' "/proc/$1/status"
}

@test "attach (stat, trace and record, come and gone) leaves the program's files, threads and signals as they were" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log
	CUDA_INJECTION64_PATH=$AGENT start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -t 3 -p 500
	ready storm
	# Its threads are there.
	wait_for 30 eval '[ "$(grep -xc launch-storm /proc/$storm_PID/task/*/comm | grep -c :1)" = 4 ]'
	possessions "$storm_PID" >before
	[ "$(grep -xc launch-storm before)" = 4 ]
	for command in stat "trace --errors -o trace.out" "record -o storm.db" "stat -o stat.out"; do
		# shellcheck disable=SC2086
		ct $command -p "$storm_PID" -d 0.6 >/dev/null
		wait_for 30 all_off "$SIMCUDA_LOG"
		possessions "$storm_PID" >after
		diff before after
		# Those of the agent, and CUPTI's, do not grow in number either.
		cat /proc/"$storm_PID"/task/*/comm | sort >"threads-${command%% *}"
	done
	diff threads-trace threads-stat
	kill -TERM -- "-$storm_PID"
}

@test "attach (no GPU record for 5 s of launches) is reported on stderr, by stat and trace, once" {
	local command
	for command in stat trace; do
		SIMCUDA_NO_RECORDS=1 run -0 --separate-stderr ct $command -o "$OUT" -- "$SIM" "$WORKLOADS/launch-storm" -s 7 -p 1000
		assert_regex "$stderr" '^cuda-trace: injection library in [0-9]+ \(launch-storm\): cupti: [0-9]+ launches, but no GPU record for 5 s: GPU newer than libcupti [0-9]+, or another client took the buffers \(10000\)$'
		assert_regex "$output" 'expect launches=[1-9]'
	done
	# Records come: not a word.
	run -0 --separate-stderr ct stat -o "$OUT" -- "$SIM" "$WORKLOADS/launch-storm" -s 7 -p 1000
	assert_equal "$stderr" ""
}

# has_agent_thread PID: the agent has started there, and is not only mapped.
has_agent_thread() {
	cat "/proc/$1/task"/*/comm 2>/dev/null | grep -qx cupti-usdt
}

# The line of truth differs from run to run: these launch for a time.
@test "attach (seccomp, another root, vfork, signals, a malloc of its own) hurts nobody and sees everything" {
	local mode key
	for mode in seccomp chroot vfork signals malloc; do
		sim "$WORKLOADS/bonds" "$mode" 100 >"$BATS_TEST_TMPDIR/plain"
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/bonds" "$mode" >"$OUT" 2>"$BATS_TEST_TMPDIR/err" ||
			fail "$mode ended with $?: $(cat "$BATS_TEST_TMPDIR/err")"
		for key in launches kernels syncs api_errors; do
			assert_equal "$mode $key $(json "$JSON" ".totals.$key")" "$mode $key $(expect_key "$OUT" "$key")"
		done
		json "$JSON" '.lost.total == 0'
		assert_equal "$(wc -l <"$OUT")" "$(wc -l <"$BATS_TEST_TMPDIR/plain")"
	done
}

@test "attach (late, under seccomp, in another root, among signals) sees them and leaves them alone" {
	local mode
	for mode in seccomp chroot signals; do
		start bonds "$SIM" env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/bonds" "$mode" 8000
		wait_for 20 has_agent_thread "$bonds_PID"
		sleep 0.5
		ct stat -p "$bonds_PID" -d 2 --json -o "$JSON"
		# Who forbids itself system calls is watched at the driver's entry points.
		json "$JSON" ".totals | .launches > 100 and if \"$mode\" == \"seccomp\" then .kernels == 0 else .kernels > 100 end"
		json "$JSON" '.lost.total == 0'
		finished "$bonds_PID"
		assert_equal "$mode $status" "$mode 0"
		grep -q '^expect launches=' "$BATS_TEST_TMPDIR/bonds.out"
		assert_equal "$(cat "$BATS_TEST_TMPDIR/bonds.err")" ""
	done
}

@test "attach (20,000 streams, contexts made and destroyed, the device reset) counts all of it" {
	local program key
	for program in "streams 20000 500" "resets 100"; do
		# shellcheck disable=SC2086
		ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS"/$program >"$OUT"
		for key in launches kernels syncs; do
			assert_equal "$program $key $(json "$JSON" ".totals.$key")" "$program $key $(expect_key "$OUT" "$key")"
		done
		json "$JSON" '.lost.total == 0'
	done
}

# Kernels before 6.6 know no link for many probes.
@test "attach (a link for each probe) sees the same" {
	export CUDA_TRACE_LINKS=single
	ct stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/saxpy" >"$OUT"
	assert_equal "$(json "$JSON" .totals.kernels)" "$(expect_key "$OUT" kernels)"
	json "$JSON" '.lost.total == 0'
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 30 -p 500
	start tool "$CUDA_TRACE" top --once --json -p "$storm_PID"
	finished "$tool_PID"
	assert_equal "$status" 0
	json "$BATS_TEST_TMPDIR/tool.out" '[.processes[] | select(.totals.launches > 0)] | length == 1'
}

@test "attach (a library whose arguments lie elsewhere) is refused, with the remedy" {
	cat >"$BATS_TEST_TMPDIR/odd.c" <<-'EOF'
		#include <sys/sdt.h>
		#define ODD(probe) void probe(long a, long b) { STAP_PROBE2(cuda, probe, b, a); }
		ODD(name) ODD(status) ODD(lost) ODD(error) ODD(hello_0)
	EOF
	"${CC:-cc}" -O2 -shared -fPIC -o "$BATS_TEST_TMPDIR/libcupti-usdt.so" "$BATS_TEST_TMPDIR/odd.c"
	CUDA_TRACE_AGENT=$BATS_TEST_TMPDIR/libcupti-usdt.so run --separate-stderr ct stat -a -d 1
	# shellcheck disable=SC2154
	[[ $stderr == *"their arguments are not where this cuda-trace expects them"* ]]
}

@test "attach (the tool in a PID namespace of its own) sees the programs there" {
	requires unshare
	inside() { LIMIT=60 timeout 60 unshare --pid --fork --kill-child --mount-proc "$@"; }
	inside "$CUDA_TRACE" stat --json -o "$JSON" -- "$SIM" "$WORKLOADS/saxpy" >"$OUT"
	assert_equal "$(json "$JSON" .totals.kernels)" "$(expect_key "$OUT" kernels)"
	# Numbers are those that the tool would find in its /proc: small ones.
	json "$JSON" '.lost.total == 0 and .processes[0].pid < 100'

	# shellcheck disable=SC2016
	inside sh -c 'CUDA_INJECTION64_PATH=$AGENT "$1" "$2" -s 30 -p 500 >/dev/null &
		"$3" stat -p $! -d 1 --json -o "$4" && "$3" top -p $! --once --json >"$4.top"' \
		sh "$SIM" "$WORKLOADS/launch-storm" "$CUDA_TRACE" "$JSON"
	json "$JSON" '.totals.launches > 100 and (.processes | length) == 1'
	json "$JSON.top" '[.processes[] | select(.totals.launches > 0)] | length == 1'

	# Without the agent.
	# shellcheck disable=SC2016
	inside sh -c '"$1" "$2" -s 30 -p 500 >/dev/null & "$3" stat -p $! -d 2 --json -o "$4"
			"$3" stat -p $! --source driver -d 2 --json -o "$5"' \
		sh "$SIM" "$WORKLOADS/launch-storm" "$CUDA_TRACE" "$JSON" "$JSON.driver"
	json "$JSON" '.totals.launches > 100 and .totals.kernels > 100 and .source == "cupti"'
	json "$JSON.driver" '.totals.launches > 100 and .source == "driver"'
}

# busy_with_graphs VERSION OPTION...: launch-rate, a program that attaching to CUPTI 12.8 or 12.9 lets lock up, if launches of graphs go on meanwhile
busy_with_graphs() {
	# One launch after the other, but not more of them than a busy machine can take down.
	SIMCUDA_LAUNCH_NS=20000 SIMCUDA_CUPTI_VERSION=$1 SIMCUDA_INVERSION_MS=20 start busy "$SIM" env CUDA_INJECTION64_PATH="$AGENT" \
		"$B/bench/launch-rate" "${@:2}" -i 50 -d 60
	wait_for 30 grep -q . busy.out
}

# A launch of a graph takes longer than most sessions, and goes on most of the time.
slow_graphs() {
	SIMCUDA_GRAPH_MS=700 SIMCUDA_CUPTI_VERSION=12.8 SIMCUDA_INVERSION_MS=20 start busy "$SIM" \
		env CUDA_INJECTION64_PATH="$AGENT" "$B/bench/launch-rate" -t 1 -g -d 60
	wait_for 30 program launch-rate "$busy_PID"
}

ends_well() {
	kill -USR1 "$busy_PID"
	finished "$busy_PID"
	assert_equal "$status" 0
	grep -q '^expect ' busy.out
}

@test "attach (CUPTI 12.8, launches of graphs flat out) locks nobody up, again and again" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log
	busy_with_graphs 12.8 -t 4 -g
	for events in kernels default copies; do
		ct stat --source cupti -p "$busy_PID" -d 1 --json -o out.json $([ $events = default ] || echo "-e $events")
		json out.json '.lost.total == 0'
		[ $events = copies ] || json out.json '.totals.kernels > 0'
		wait_for 30 all_off "$SIMCUDA_LOG"
	done
	ct stat --source cupti -p "$busy_PID" -d 1.5 --sample 50ms/500ms -e kernels --json -o out.json
	json out.json '.totals.launches > 0'
	ends_well
}

@test "attach (CUPTI 12.8, a graph whose launch takes long) switches between its launches, when it can" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log
	slow_graphs
	for _ in 1 2; do
		ct stat --source cupti -p "$busy_PID" -d 3 --json -o out.json
		json out.json '.totals.graph_launches > 1 and .totals.launches > 1'
		wait_for 30 all_off "$SIMCUDA_LOG"
	done
	grep -q 'kinds=[0-9,]*10' "$SIMCUDA_LOG"
	kill -TERM -- "-$busy_PID"
}

@test "attach (CUPTI 12.8, for less than a graph's launch takes) locks nobody up" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log
	slow_graphs
	for _ in 1 2 3 4 5; do
		ct stat --source cupti -p "$busy_PID" -d 0.3 -e kernels -o /dev/null
		wait_for 40 all_off "$SIMCUDA_LOG"
	done
	ct stat --source cupti -p "$busy_PID" -d 2 -e kernels --json -o out.json
	json out.json '.totals.graph_launches > 0 and .totals.launches > 0'
	kill -TERM -- "-$busy_PID"
}

@test "attach (-e graphs to a program that has made graphs) has their kernels, and the program goes on" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log
	SIMCUDA_LAUNCH_NS=50000 start busy "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$B/bench/launch-rate" -t 2 -g -i 50 -d 60
	wait_for 30 grep -q . busy.out
	for _ in 1 2; do
		ct_says stat --source cupti -p "$busy_PID" -d 1 -e kernels,graphs --json -o out.json
		assert_regex "$stderr" 'GRAPH_TRACE: only from a program.s start, .*their kernels can be had'
		json out.json '.lost.total == 0 and .totals.kernels > .totals.launches and .totals.graph_launches > 0'
		json out.json '[.kernels[] | select(.count > 0)] | length > 0'
		# A tool that attaches before the agent has switched everything off gets no new names.
		wait_for 30 all_off "$SIMCUDA_LOG"
	done
	ct_says trace --source cupti -p "$busy_PID" -d 0.5 -e kernels,graphs --json -o out.jsonl
	jq -es 'map(select(.event == "kernel" and .graph != null)) | length > 0' out.jsonl
	jq -es 'map(select(.event == "graph")) | length == 0' out.jsonl
	ends_well
}

@test "attach (-e graphs, a tool was there when the program began) has whole graphs" {
	cd "$BATS_TEST_TMPDIR"
	SIMCUDA_LAUNCH_NS=50000 start busy "$SIM" "$CUDA_TRACE" stat -e kernels,graphs --json -o first.json -- "$B/bench/launch-rate" -t 2 -g -i 50 -d 60
	wait_for 30 grep -q . busy.out
	ct_says stat --source cupti -p "$(pgrep -P "$busy_PID" launch-rate)" -d 1.5 -e kernels,graphs --json -o out.json
	assert_equal "$stderr" ""
	json out.json '.lost.total == 0 and .graphs.count > 0'
	pkill -USR1 -P "$busy_PID" launch-rate
	finished "$busy_PID"
	assert_equal "$status" 0
	json first.json '.lost.total == 0 and .graphs.count == .totals.graph_launches'
}

@test "attach (-e graphs after another tool had them from the program's start, and left) leaves the program alone" {
	cd "$BATS_TEST_TMPDIR"
	start tool "$CUDA_TRACE" stat -v -a -e graphs --json -o first.json
	wait_for 30 grep -q watching tool.err
	SIMCUDA_LOG=$PWD/cupti.log SIMCUDA_LAUNCH_NS=50000 start busy "$SIM" env CUDA_INJECTION64_PATH="$AGENT" \
		"$B/bench/launch-rate" -t 2 -g -i 50 -d 60
	wait_for 30 grep -q 'kinds=[0-9,]*51' cupti.log
	wait_for 30 grep -q . busy.out
	sleep 1
	kill -INT "$tool_PID"
	finished "$tool_PID"
	json first.json '.lost.total == 0 and .graphs.count > 0'
	ct_says stat --source cupti -p "$busy_PID" -d 1.5 -e kernels,graphs --json -o out.json
	assert_regex "$stderr" 'GRAPH_TRACE: only from a program.s start, .*their kernels can be had'
	json out.json '.lost.total == 0 and .graphs.count == 0 and .totals.kernels > .totals.launches'
	ends_well
}

@test "attach (CUPTI 12.9, graphs) takes no GPU times, says so, and the program does not fail" {
	cd "$BATS_TEST_TMPDIR"
	export SIMCUDA_LOG=$PWD/cupti.log SIMCUDA_GRAPH_FAULT=20
	busy_with_graphs 12.9 -t 4 -g
	for events in kernels default; do
		ct_says stat --source cupti -p "$busy_PID" -d 1 --json -o out.json $([ $events = default ] || echo "-e $events")
		assert_regex "$stderr" 'no GPU times of programs that launch graphs'
		json out.json '.totals.launches > 0 and .totals.graph_launches > 0 and .lost.total == 0'
		[ $events = default ] || json out.json '.totals.unfinished == 0'
		wait_for 30 all_off "$SIMCUDA_LOG"
	done
	ends_well
	SIMCUDA_CUPTI_VERSION=12.9 run -0 "$SIM" "$CUDA_TRACE" stat --json -o out.json -- "$B/bench/launch-rate" -t 4 -g -i 50 -d 1
	json out.json '.totals.launches > 0 and .totals.graph_launches > 0'
}

@test "attach (CUPTI 12.9, no graphs) takes GPU times" {
	cd "$BATS_TEST_TMPDIR"
	busy_with_graphs 12.9 -t 2
	ct stat --source cupti -p "$busy_PID" -d 3 --json -o out.json
	json out.json '.totals.kernels > 0 and .lost.total == 0'
	ends_well
}

# After a forced flush, the real CUPTI costs the process more in all later sessions.
@test "attach (a GPU that is always busy, five times) forces no flush, and has all kernels" {
	requires bpf sim
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/cupti.log
	SIMCUDA_KERNEL_NS=2000000 start program "${PROMPT[@]}" "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 60 -p 1950
	sleep 1
	# 400 kernels are 800 ms; on a busy machine, it takes 200 ms and more until the first one is seen.
	for _ in 1 2 3 4 5; do
		ct stat -e launches,kernels --json -o "$BATS_TEST_TMPDIR/out.json" -p "$program_PID" -d 2
		json "$BATS_TEST_TMPDIR/out.json" '.lost.total == 0 and .totals.kernels > 400 and .totals.launches - .totals.kernels <= 1'
	done
	run ! grep 'flush forced' "$SIMCUDA_LOG"
	kill -INT "$program_PID"
}
