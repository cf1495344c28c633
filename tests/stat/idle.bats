#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace stat --idle: programs with one planted cause each (tests/workloads/idle), against what they say
# of themselves: the cause, and for how long the GPU was idle.

load ../lib/helpers

IDLE=$WORKLOADS/idle

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# NAME, or NAME.py
watch_idle() {
	local program=("$IDLE/$1")
	[[ $1 != *.py ]] || program=("${PYTHON:-python3}" "$TOP/tests/workloads/idle/$1")
	prompt_idle "$1"
	ct stat --idle --json -o out.json -- "${PROMPTLY[@]}" "$SIM" "${program[@]}" >out
	json out.json '.idle | .reduced == null and .lost == 0 and .left_out == 0 and .late == 0'
}

# planted NAME CAUSE: it comes first, takes as long as the program says (5 %), and 95 % of all have a cause.
# Again, up to six times, where other programs of this machine had the CPU: that is a cause, too.
planted() {
	local try
	for try in 1 2 3 4 5 6; do
		watch_idle "$1"
		[ "$2" != preempted ] || break
		! jq -e '.idle | .idle_ns as $all | .causes[] | select(.cause == "preempted" and .ns > $all * 0.03)' out.json >/dev/null ||
			continue
		break
	done
	echo "tries: $try"
	assert_equal "$(sed -n 's/^cause //p' out)" "$2"
	assert_equal "$1 $(json out.json .idle.causes[0].cause)" "$1 $2"
	json out.json ".idle.causes[0].ns / $(expect_key out idle_ns) | . > 0.95 and . < 1.05"
	json out.json '([.idle.causes[] | select(.cause == "unexplained") | .ns] | add // 0) <= .idle.idle_ns * 0.05'
	json out.json '([.idle.causes[].ns] | add) == .idle.idle_ns and ([.idle.causes[].gaps] | add) == .idle.gaps'
}

place() {
	json out.json ".idle.causes[0].places | any(.place | test(\"$1\"))"
}

advice() {
	json out.json ".idle.causes[0].advice | test(\"$1\")"
}

@test "stat --idle (a slow loader behind a pipe) blames the other process, and says what it did" {
	planted loader process
	place '^read[(][)] of a pipe.*woken by loader, which (was on the CPU in|had to wait for a CPU)'
	advice 'more workers'
}

@test "stat --idle (a file that is not in memory) blames I/O, and names the file" {
	[ "$(stat -f -c %T .)" != tmpfs ] || skip "needs a file system on a disk"
	planted disk io
	place '^pread[(][)] of cold.data'
	advice 'read ahead'
}

@test "stat --idle (a hog on the same CPU) blames the hog" {
	planted hog preempted
	place '^hog$'
	advice 'CPUs of its own'
}

@test "stat --idle (a mutex that a sleeper holds) blames the lock, and says what its holder did" {
	planted mutex lock
	place '^futex[(][)], woken by holder, which slept in clock_nanosleep'
	advice 'lock for a shorter time'
}

@test "stat --idle (a thread of Python that holds the GIL) blames the GIL, and says who held it at which line" {
	local holds waits
	planted gil.py gil
	holds=$(sed -n 's/^line holds //p' out) waits=$(sed -n 's/^line waits //p' out)
	# The holder may have waited for a CPU itself.
	place "^train .gil.py:$waits., held by python.* .thread [0-9]+., which was on the CPU in hold_the_gil .gil.py:$holds.\$"
	json out.json '.idle.causes[0] as $gil | [$gil.places[] | select(.place | test("held by python.* .thread [0-9]+.")).ns] | add > $gil.ns * 0.5'
	advice 'another process, or to code that releases the GIL'
}

# eBPF knows where the interpreter is; the tool learned it only with the first launches once, or with the agent's status.
@test "stat --idle (the GIL is held from the first gap on, and the tool reads nothing meanwhile) blames no lock" {
	ct stat --idle --json -o out.json -- "$SIM" "${PYTHON:-python3}" "$TOP/tests/workloads/while-stopped.py" \
		"$TOP/tests/workloads/idle/gil.py" 20 >out
	json out.json '.idle.causes | map({cause, gaps}) | any(.cause == "gil" and .gaps >= 15) and all(.cause != "lock")'
}

@test "stat --idle (Python on the CPU) names its function and line" {
	cat >spin.py <<-'END'
		import time
		import gil
		def prepare_batch():
		    end = time.monotonic() + 0.01
		    while time.monotonic() < end:
		        pass
		kernel = gil.start()
		for _ in range(40):
		    prepare_batch()
		    gil.launch(kernel)
	END
	PYTHONPATH=$TOP/tests/workloads/idle ct stat --idle --json -o out.json -- "$SIM" python3 spin.py >out
	json out.json '.idle.causes[] | select(.cause == "cpu") | any(.places[].place; test("^prepare_batch .spin.py:[56].$"))'
}

@test "stat --idle (a wait after each kernel) blames that call" {
	# Longer than what a busy kernel takes to wake it up.
	SIMCUDA_WAKE_NS=1000000 planted each-sync cuda_call
	place '^cuStreamSynchronize$'
	advice 'less often'
}

@test "stat --idle (a wait after each kernel, and a launch that takes longer than its end) blames the wait" {
	SIMCUDA_WAKE_NS=5000 SIMCUDA_LAUNCH_NS=30000 watch_idle each-sync
	json out.json '[.idle.causes[] | select(.cause == "cuda_call" or .cause == "launch")] |
		.[0].cause == "cuda_call" and .[0].places[0].place == "cuStreamSynchronize" and .[0].gaps > 20 * (.[1].gaps // 0)'
}

@test "stat --idle (copies of pageable memory) blames these copies" {
	planted pageable cuda_call
	place '^cuMemcpyHtoD_v2 of pageable memory$'
	advice 'pinned memory'
}

@test "stat --idle (thousands of tiny kernels) is launch-bound" {
	# The library's own work between launches is a cause, too: on a busy machine, 7 % of the time for launches of 5 us.
	SIMCUDA_LAUNCH_NS=20000 planted tiny launch
	advice 'CUDA graphs'
}

@test "stat --idle (frees that wait for the GPU) blames the free" {
	planted allocs cuda_call
	place '^cuMemFree_v2$'
	advice 'pool'
}

@test "stat --idle (a server without requests) says that there was no work" {
	planted server no_work
	place '^epoll_wait[(][)]'
}

@test "stat --idle (work on the CPU) names its function" {
	planted prepare cpu
	place '^prepare_batch$'
}

@test "stat --idle (sleeps) says so" {
	planted sleeps sleep
	place 'nanosleep'
}

@test "stat --idle (programs that keep their GPU busy) has no advice" {
	local program
	for program in healthy-queue healthy-buffers healthy-threads; do
		watch_idle $program
		json out.json '.idle | .idle_ns < .whole_ns * 0.05'
		json out.json 'all(.idle.causes[]; .advice == null)'
		run -0 ct stat --idle -- "${PROMPT[@]}" "$SIM" "$IDLE/$program"
		refute_output --partial 'of the idle time:'
	done
}

@test "stat --idle (idle time) is the time of 'Where the time went'" {
	watch_idle sleeps
	json out.json '.idle.idle_ns / .time.idle_ns | . > 0.999 and . < 1.001'
	json out.json '.idle.window_ns / .time.window_ns | . > 0.999 and . < 1.001'
}

@test "stat --idle -p (a server that runs) explains what came after the first gap" {
	start server "${PROMPT[@]}" "$SIM" "$IDLE/server" 2000
	wait_for 30 sh -c "grep -q epoll_ /proc/$server_PID/wchan || grep -q ep_poll /proc/$server_PID/wchan"
	run -0 ct stat --idle --json -o out.json -p "$server_PID" -d 2
	json out.json '.idle.causes | any(.cause == "no_work")'
	# Others may have had its CPU meanwhile.
	json out.json '.idle | ([.causes[] | select(.cause == "no_work" or .cause == "preempted") | .ns] | add) >= .idle_ns * 0.9'
}

@test "stat --idle (text) has the section, its causes and an advice" {
	run -0 ct stat --idle -- "${PROMPT[@]}" "$SIM" "$IDLE/sleeps"
	assert_output --regexp 'Why the GPU was idle [(][0-9.]+ ms, [0-9.]+% of the time[)]'
	assert_output --regexp ' asleep on purpose +[0-9.]+ ms +(9[0-9]|100)\.[0-9]% +[0-9]+'
	assert_output --regexp 'For (9[0-9]|100)% of the idle time: asleep on purpose [(]clock_nanosleep.*[)]; wait for'
	refute_output --partial reduced
}

@test "stat (without --idle) has neither the section nor its calls" {
	run -0 ct stat -- "${PROMPT[@]}" "$SIM" "$IDLE/sleeps" 5
	refute_output --partial 'Why the GPU was idle'
	ct stat --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/sleeps" 5 >out
	json out.json 'has("idle") and .idle == null'
}

@test "stat --idle (failed calls, all workloads' sums) changes nothing else" {
	local workload
	for workload in failures runtime memory graphs; do
		ct stat --json -o without.json -- "$SIM" "$WORKLOADS/$workload" >/dev/null
		ct stat --idle --json -o with.json -- "$SIM" "$WORKLOADS/$workload" >/dev/null
		for key in .totals.launches .totals.kernels .totals.api_errors .totals.syncs .totals.allocs .api \
			'[.errors[] | [.call, .result, .count]]'; do
			assert_equal "$workload $(jq -c "$key" with.json)" "$workload $(jq -c "$key" without.json)"
		done
		json with.json '.lost.total == 0'
	done
}

@test "stat --idle (no scheduler events) knows CUDA calls only, and says that it is reduced" {
	export CUDA_TRACE_SCHEDULER=off
	ct stat --idle --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/each-sync" >out
	json out.json '.idle | .causes[0].cause == "cuda_call" and (.reduced | test("no scheduler events"))'
	ct stat --idle --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/sleeps" >out
	json out.json '.idle | .causes[-1].cause == "unexplained" and .causes[-1].ns > .idle_ns * 0.9'
	run -0 ct stat --idle -- "${PROMPT[@]}" "$SIM" "$IDLE/sleeps"
	assert_output --partial 'reduced: no scheduler events'
}

@test "stat --idle (timelines made by hand) gives each moment its cause, and claims nothing that is not known" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/stat/unit_idle.c" \
		$(tool_sources idle_timeline idle_path open_launches wait_causes intern array_grow) -lz
	run -0 ./unit
	assert_line 'calls and waits: lock(futex())=8 cpu()=3 cuda_call(cuCtxSynchronize)=13 launch()=1 -> cuda_call, dropped 0'
	assert_line 'preempted: lock(futex())=4 preempted(hog)=24 cuda_call(cuCtxSynchronize)=2 -> preempted, dropped 0'
	assert_line 'joined: lock(futex())=5 cpu()=15 -> cpu, dropped 0'
	assert_line --partial 'files: process(read() of a pipe)=10 process(read() of a socket)=10 io(read() of data'
	assert_line --partial ' no_work(read())=10 io(page fault)=10 unexplained(ioctl())=10 io(ioctl())=10 no_work(epoll_pwait())=10'
	assert_line 'no scheduler: unexplained()=15 cuda_call(cuCtxSynchronize)=5 -> unexplained, dropped 0'
	assert_line 'lost waits: lock(futex())=8 unexplained()=10 cpu()=2 -> unexplained, dropped 0'
	assert_line 'not seen before: unexplained()=20 -> unexplained, dropped 0'
	assert_line 'no place for the thread: unexplained()=20 -> unexplained, dropped 0'
	assert_line 'impossible: lock(futex())=10 cpu()=10 -> cpu, dropped 2'
}

# idle_share FILE: of the observed time.
idle_share() {
	json "$1" '.idle | .idle_ns / .observed_ns'
}

# own_share FILE OUT: what the program says, of the whole time.
own_share() {
	json "$1" "$(sed -n 's/^expect .* idle_ns=\([0-9]*\).*/\1/p' "$2") / .idle.whole_ns"
}

@test "stat --idle --sample (one planted cause each) has the idle share and the cause of the whole run, of the windows alone" {
	local name cause
	for name in sleeps each-sync loader; do
		prompt_idle "$name"
		ct stat --idle --json -o all.json -- "${PROMPTLY[@]}" "$SIM" "$IDLE/$name" >out
		# Other programs of this machine may have had the CPU, in both runs.
		cause=$(json all.json '[.idle.causes[] | select(.cause != "preempted")][0].cause')
		json all.json '.idle | .sampled == false and .observed_ns == .whole_ns and .overhead == null and .stopped_ns == null'
		[ "$name" != each-sync ] || set -- 8000
		[ "$name" = each-sync ] || set -- 300
		ct stat --idle --sample 20ms/100ms --json -o out.json -- "${PROMPTLY[@]}" "$SIM" "$IDLE/$name" "$@" >out
		json out.json ".idle | .idle_ns as \$all | .sampled and .gaps >= 10 and
			([.causes[] | select(.cause != \"preempted\")][0].cause == \"$cause\") and
			([.causes[] | select(.cause == \"$cause\" or .cause == \"preempted\").ns] | add) > 0.9 * \$all"
		# A fifth of the time is in windows. A gap is observed to its end, also where its window has ended.
		json out.json '(.idle.observed_ns / .idle.whole_ns) / (.sample.open_ns / .sample.watched_ns) | . > 0.6 and . < 1.5'
		# The program knows its own share: another run, on a machine with other load, has another.
		jq -n "$(idle_share out.json) - $(own_share out.json out) | if . < 0 then -. else . end | . < 0.04" | grep -qx true ||
			fail "$name: $(idle_share out.json), not $(own_share out.json out)"
	done
}

@test "stat --idle --max-overhead (within it) measures what its evidence costs, and says which part was observed" {
	ct stat --idle --max-overhead 90% --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/each-sync" 9000 >out
	json out.json '.sample.max_overhead == 0.9 and .idle.sampled and .idle.overhead > 0 and .idle.overhead < 0.9 and .idle.stopped_ns == null
		and .idle.causes[0].cause == "cuda_call" and .idle.observed_ns > 0 and .idle.observed_ns < .idle.whole_ns'
	json out.json '(.sample.overhead == null) or .sample.overhead >= .idle.overhead'
	ct stat --idle --max-overhead 90% -o out -- "${PROMPT[@]}" "$SIM" "$IDLE/each-sync" 9000 >program.out
	grep -qE '^Why the GPU was idle \([0-9.]+ [mun]?s, [0-9.]+% of the observed time\)$' out
	grep -qE '^ a sample: .* were observed \([0-9.]+%\), and nothing is said of the rest$' out
	grep -qE '^ scheduler events cost [0-9.e-]+% of the time$' out
}

@test "stat --idle --max-overhead (its evidence costs more) ends it, says so, and explains nothing after that" {
	ct stat --idle --max-overhead 0.01% --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/each-sync" 12000 >out 2>err
	grep -qE 'stat: --idle: scheduler events cost [0-9.e-]+% of the time, more than --max-overhead 0.01%: idle time from now on is not explained' err
	json out.json '.idle_unknown != null or (.idle | .stopped_ns > 1e9 and .overhead > 0.0001 and .left_out == 0 and
		.observed_ns < .whole_ns * 0.6)'
}

@test "stat --idle --sample (no kernel in a window) says that nothing is known" {
	ct stat --idle --sample 1ms/20s --json -o out.json -- "${PROMPT[@]}" "$SIM" "$IDLE/healthy-queue" 20 >out
	json out.json '.idle == null and .idle_unknown == "no kernel of a window was seen" and .advice == []'
}

@test "stat --idle --sample (launches made by hand) observes no moment in which unknown work may run" {
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all \
		-I"$TOP" -I"$B" -o unit "$TOP/tests/stat/unit_idle_observed.c" $(tool_sources idle_observed array_grow clock)
	run -0 ./unit
	assert_output "$(cat <<-'END'
		one stream: 25-60
		a kernel longer than the window: 25-90
		a queue longer than the window: 70-90
		another stream may still run:
		another stream begins: 35-60
		a wait for the other stream: 25-60
		a wait that began too early:
		a wait alone begins nothing: 25-60
		a record that is missing: 11-20 31-60
		two processes: 11-20 35-50 62-80
		in two parts, one launch late: 11-50 | 61-80
		in two parts, observed in between: 11-50 | 50-80
		more streams than are kept: 2-200
	END
	)"
}

# Three GPUs, of which two wait in each step for the third one's rank.
@test "stat --idle, report (a rank comes late) count as idle how long the other GPUs waited in collectives" {
	local file
	SIMCUDA_DEVICES=3 ct stat --idle --json -o out.json -- "${PROMPTLY[@]}" "$SIM" "$WORKLOADS/ranks" -n 3 -s 100 -l 1 -u 5000 --gpus >out
	SIMCUDA_DEVICES=3 ct record --idle -o out.db -- "${PROMPTLY[@]}" "$SIM" "$WORKLOADS/ranks" -n 3 -s 100 -l 1 -u 5000 --gpus --replayed >out
	ct report --json out.db | head -n 1 >report.json
	for file in out.json report.json; do
		json $file '.idle.causes[0] | .cause == "collective" and (.advice | contains("all_reduce: rank 1 came last"))'
		# 200 waits of 5 ms; a few may be shorter on a machine that makes other ranks late, too.
		json $file '([.idle.causes[] | select(.cause == "collective").ns] | add) as $idle | ([.communicators[].ranks[].wait_ns] | add)
			| . > 9e8 and $idle > 0.97 * . and $idle <= .'
		json $file '([.idle.causes[].ns] | add) == .idle.idle_ns and .idle.late == 0'
	done
}

@test "stat --idle (without what it needs) is refused" {
	run -2 ct stat --idle --source driver -- true
	assert_output --partial 'not with --source driver'
	run -2 ct stat --idle -e memory -- true
	assert_output --partial 'needs kernels'
}
