#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Loading the agent into programs that run and were not prepared for it: docs/internals/attach.md.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	unset CUDA_INJECTION64_PATH CUPTI_USDT_START
}

# plain NAME PROGRAM...: in the background, on the simulated driver, with nothing in its environment
plain() {
	start "$1" "$SIM" "${@:2}"
}

# storm NAME OPTION...: a launch-storm that is ready
storm() {
	plain "$1" "$WORKLOADS/launch-storm" "${@:2}"
	ready "$1"
}

attach() {
	timeout 30 "$CUDA_TRACE" attach "$@"
}

# The tool's answers are in $output and $stderr.
ct_says() {
	run -0 --separate-stderr timeout 60 "$SIM" "$CUDA_TRACE" "$@"
}

# A launch-storm need not go on once all has been seen; others end when they have done what they do.
ends_well() { # NAME
	local pid=$1_PID
	[ "$(cat "/proc/${!pid}/comm" 2>/dev/null)" != launch-storm ] || kill -USR1 "${!pid}"
	finished "${!pid}" 60
	assert_equal "$1 $status" "$1 0"
	grep -q '^expect ' "$1.out"
}

@test "attach (1 thread, 8 with graphs, 24) loads the library, and the program ends as it does alone" {
	local threads
	for threads in "1" "8 -g 8" "24"; do
		# shellcheck disable=SC2086
		storm busy -s 4 -p 100 -t $threads
		run -0 --separate-stderr attach -v -p "$busy_PID"
		assert_output "$busy_PID: attached"
		# shellcheck disable=SC2154
		assert_regex "$stderr" 'stopped for up to [0-9.]+ ms'
		run -0 attach -p "$busy_PID"
		assert_output "$busy_PID: already has the injection library"
		ends_well busy
	done
}

@test "stat -p (a program that was not prepared) has every GPU time, again and again" {
	storm busy -s 12 -p 200 -t 4
	local i
	for i in 1 2 3; do
		ct_says stat --json -o out.json -p "$busy_PID" -d 1
		json out.json '.totals.kernels > 100 and .totals.launches > 100 and .lost.total == 0 and .first_record_ms < 1000'
	done
	ends_well busy
}

@test "trace, record, top -p (programs that were not prepared) have GPU times" {
	storm one -s 30 -p 1000
	storm two -s 30 -p 1000
	storm three -s 30 -p 1000
	timeout 30 "$CUDA_TRACE" trace --json -d 2 -o trace.jsonl -p "$one_PID"
	[ "$(jq -s 'map(select(.event == "kernel" and .gpu_start_ns)) | length' trace.jsonl)" -gt 10 ]
	timeout 30 "$CUDA_TRACE" record -o out.db -d 2 -p "$two_PID"
	[ "$(sqlite3 out.db 'SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" -gt 10 ]
	timeout 30 "$CUDA_TRACE" top --json -n 3 -p "$three_PID" >top.jsonl
	jq -se '[.[] | .processes[] | select(.gpu_ns > 0 or .totals.gpu_ns > 0)] | length > 0' top.jsonl
}

@test "stat -p --no-attach (a program that was not prepared) leaves it alone" {
	storm busy -s 10 -p 500
	ct_says stat --no-attach --json -o out.json -p "$busy_PID" -d 1
	json out.json '.source == "driver" and .totals.kernels == 0 and .totals.launches > 100'
	run ! grep -q libcupti-usdt "/proc/$busy_PID/maps"
	assert_regex "$stderr" 'leave out --no-attach to load it now'
}

@test "stat -c (a program that was not prepared) loads the library with --attach alone" {
	cp "$WORKLOADS/launch-storm" storm-of-mine
	plain busy ./storm-of-mine -s 20 -p 500
	ready busy
	ct stat --json -o out.json -c storm-of-mine -d 1
	run ! grep -q libcupti-usdt "/proc/$busy_PID/maps"
	ct stat --attach --json -o out.json -c storm-of-mine -d 1.5
	grep -q libcupti-usdt "/proc/$busy_PID/maps"
	json out.json '.totals.kernels > 100'
}

# One of them loads the library. The others see that it traces the program, and wait for it.
@test "stat -p, trace -p, attach (four at the same moment) all work, with one copy of the library" {
	local name pid turn
	for turn in 1 2 3; do
		# It launches rarely, so that the others begin while the first waits for a launch.
		storm busy -s 20 -p 400000
		start one "$SIM" "$CUDA_TRACE" stat --json -o one.json -p "$busy_PID" -d 4
		start two "$SIM" "$CUDA_TRACE" stat --json -o two.json -p "$busy_PID" -d 4
		start three timeout 30 "$CUDA_TRACE" attach -p "$busy_PID"
		ct_says trace --json -e objects,kernels -o four.json -p "$busy_PID" -d 4
		# shellcheck disable=SC2154
		refute_regex "$stderr" "does not get"
		for name in one two three; do
			pid=${name}_PID
			finished "${!pid}"
			assert_equal "$turn $name $status" "$turn $name 0"
			# They may say that they came later, which is true.
			refute_regex "$(cat "$name.err")" "does not get"
		done
		assert_regex "$(cat three.out)" "^$busy_PID: (attached|already has the injection library)$"
		json one.json '.totals.kernels > 2 and .lost.total == 0'
		json two.json '.totals.kernels > 2 and .lost.total == 0'
		jq -es 'map(select(.event == "kernel" and .gpu_ns > 0)) | length > 2' four.json
		jq -es 'map(select(.event == "device")) | length == 1' four.json
		assert_equal "$(grep -c 'r-xp.*libcupti-usdt' "/proc/$busy_PID/maps")" 1
		kill "$busy_PID"
	done
}

@test "attach (a program that sleeps in read, epoll_wait, futex) brings it back as it was" {
	cc -O2 -o still "$TOP/tests/inject/still.c" -ldl
	local call
	for call in read epoll futex; do
		rm -f gate
		mkfifo gate
		# shellcheck disable=SC2016
		start asleep "$SIM" sh -c 'exec ./still "$1" <gate' sh $call
		exec 8>gate
		ready asleep
		run -0 attach -p "$asleep_PID"
		assert_output "$asleep_PID: attached"
		echo >&8
		exec 8>&-
		finished "$asleep_PID"
		assert_equal "$call $(tail -n 1 asleep.out) $status" "$call same 0"
	done
}

@test "attach (a word of the loader is left on the stack, or a thread is in it) is refused where a call may have led out" {
	[ "$(uname -m)" = x86_64 ] || skip "the program looks for x86-64's call instructions"
	local kind answer
	cc -O2 -o leftover "$TOP/tests/inject/leftover.c" -ldl
	mkfifo gate
	for kind in direct plt pointer opening; do
		[ $kind != plt ] || readelf -SW /lib64/ld-linux-x86-64.so.2 | grep -q ' \.plt ' || continue
		plain busy ./leftover $kind
		ready busy
		answer=$(attach -p "$busy_PID" 2>&1) || true
		kill "$busy_PID"
		case $kind in
		direct) assert_equal "$answer" "$busy_PID: attached" ;;
		opening) assert_equal "$answer" "cuda-trace attach: process $busy_PID: no thread enters libcuda, and none sleeps where it can be used" ;;
		*) assert_equal "$kind: $answer" "$kind: cuda-trace attach: process $busy_PID: its threads are inside the dynamic loader" ;;
		esac
	done
}

@test "stat -p (the end comes before the library is at work) says so, and counts the process as unobserved" {
	[ "$(uname -m)" = x86_64 ] || skip "the program looks for x86-64's call instructions"
	cc -O2 -o leftover "$TOP/tests/inject/leftover.c" -ldl
	plain busy ./leftover pointer
	ready busy
	ct stat -p "$busy_PID" -d 0.5 --json -o s.json 2>err
	assert_equal "$(jq -c '[(.missed | map(.reason)), .lost.unobserved]' s.json)" '[["not_yet"],1]'
	grep -q "^cuda-trace: process $busy_PID (leftover): the end came before its injection library was at work" err
	ct stat -p "$busy_PID" -d 0.5 >out 2>&1
	run ! grep 'nothing was lost' out
}

@test "attach (the tool and its helper are killed at any moment) harms no program" {
	local i attached=0
	for i in $(seq 20); do
		storm busy -s 3 -p 50 -t 4 -g 8
		setsid "$CUDA_TRACE" attach -p "$busy_PID" >/dev/null 2>&1 3>&- &
		sleep "0.$(printf %03d $((RANDOM % 200)))"
		pkill -KILL -f "attach -p $busy_PID" || true
		sleep 0.1
		run attach -p "$busy_PID"
		[ "$status" != 0 ] || attached=$((attached + 1))
		ends_well busy
	done
	[ "$attached" -ge 18 ] || fail "only $attached of 20 could be attached to afterwards"
}

@test "attach (the tool is stopped in the middle) is finished by its helper" {
	storm busy -s 6 -p 100 -t 4
	start tool "$CUDA_TRACE" attach -p "$busy_PID"
	# Its helper, which leads a session of its own, has begun; it lives for some 50 ms.
	local helper='' session=none
	until [ "$session" = "$helper" ]; do
		kill -0 "$tool_PID"
		read -r helper _ <"/proc/$tool_PID/task/$tool_PID/children" || true
		read -r _ _ _ _ _ session _ 2>/dev/null <"/proc/$helper/stat" || session=none
	done
	kill -STOP "$tool_PID"
	wait_for 10 grep -q libcupti-usdt "/proc/$busy_PID/maps"
	kill -CONT "$tool_PID"
	ends_well busy
}

@test "attach (threads come and go) takes them as they come, at the first attempt" {
	local i
	for i in 1 2 3; do
		plain busy "$WORKLOADS/threads" 20000 20 50
		wait_for 10 grep -qs libcuda "/proc/$busy_PID/maps"
		run -0 attach -p "$busy_PID"
		ends_well busy
	done
}

@test "attach (a signal each millisecond) delivers them all" {
	plain busy "$WORKLOADS/bonds" signals 4000
	wait_for 10 grep -qs libcuda "/proc/$busy_PID/maps"
	sleep 0.5
	run -0 attach -p "$busy_PID"
	ends_well busy
}

@test "attach (CUPTI hangs in its first call) does not hold the program" {
	SIMCUDA_SUBSCRIBE=hang storm busy -s 5 -p 100 -t 4
	run attach -p "$busy_PID"
	ends_well busy
}

@test "attach (a debugger is there, no CUDA, stopped, gone, seccomp) says why not, and changes nothing" {
	requires strace
	storm busy -s 30 -p 1000
	start tracer strace -o /dev/null -p "$busy_PID"
	wait_for 10 grep -q 'TracerPid:[[:space:]]*[1-9]' "/proc/$busy_PID/status"
	run -1 attach -p "$busy_PID"
	assert_output --regexp "process $busy_PID: process [0-9]+ \(strace\) traces it, and a process has one tracer"
	kill "$tracer_PID"
	wait_for 10 grep -q 'TracerPid:[[:space:]]*0' "/proc/$busy_PID/status"
	kill -STOP "$busy_PID"
	wait_for 10 grep -q 'State:[[:space:]]*T' "/proc/$busy_PID/status"
	run -1 attach -p "$busy_PID"
	assert_output --partial "it is stopped"
	kill -CONT "$busy_PID"
	run ! grep -q libcupti-usdt "/proc/$busy_PID/maps"
	start other sleep 30
	run -1 attach -p "$other_PID"
	assert_output --partial "it has not loaded libcuda.so yet"
	run -1 attach -p 4194303
	assert_output --partial "there is no process 4194303"
	plain bonds "$WORKLOADS/bonds" seccomp 6000
	wait_for 10 grep -q 'Seccomp:[[:space:]]*2' "/proc/$bonds_PID/status"
	run -1 attach -p "$bonds_PID"
	assert_output --partial "its seccomp filter forbids openat()"
	ends_well bonds
	# What may fail must not kill, either.
	plain bonds "$WORKLOADS/bonds" sockdie 3000
	wait_for 10 grep -q 'Seccomp:[[:space:]]*2' "/proc/$bonds_PID/status"
	run -1 attach -p "$bonds_PID"
	assert_output --partial "its seccomp filter forbids socketpair()"
	ends_well bonds
	plain bonds "$WORKLOADS/bonds" nosocket 3000
	wait_for 10 grep -q 'Seccomp:[[:space:]]*2' "/proc/$bonds_PID/status"
	run -0 attach -p "$bonds_PID"
	ends_well bonds
}

@test "attach (another mount namespace, without the library) loads a copy from memory" {
	# shellcheck disable=SC2016
	start busy unshare --mount sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh \
		"$(dirname "$AGENT")" "$SIM" "$WORKLOADS/launch-storm" -s 8 -p 200
	ready busy
	run ! ls "/proc/$busy_PID/root$AGENT"
	run -0 --separate-stderr attach -v -p "$busy_PID"
	assert_regex "$stderr" 'from a copy in memory'
	grep -q memfd:libcupti-usdt "/proc/$busy_PID/maps"
	run ! sh -c "readlink /proc/$busy_PID/fd/* | grep memfd"
	ct stat --json -o out.json -p "$busy_PID" -d 1.5
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	ends_well busy
}

# without_cupti NAME PROGRAM...: what it sees of the file system has no libcupti, as images with CUDA's runtime.
without_cupti() {
	mkdir -p runtime host
	cp -a "$B"/simcuda/libcuda.so* "$B"/simcuda/libcudart* runtime/
	cp -a "$B"/simcuda/libcupti.so* host/
	# shellcheck disable=SC2016
	start "$1" unshare --mount sh -c 'mount -t tmpfs none /usr/local && mount -t tmpfs none "$1" && mount -t tmpfs none "$2" && LD_LIBRARY_PATH=$3 && export LD_LIBRARY_PATH &&
		shift 3 && exec "$@"' sh "$B/simcuda" "$PWD/host" "$PWD/runtime" "${@:2}"
	ready "$1"
}

# host_says ARGUMENTS...: the tool, where host/ alone has a libcupti. Its answers are in $output and $stderr.
host_says() {
	# shellcheck disable=SC2016
	run -0 --separate-stderr timeout 60 unshare --mount sh -c 'mount -t tmpfs none /usr/local && exec "$@"' sh \
		env -u CUDA_HOME -u CUDA_PATH LD_LIBRARY_PATH="$PWD/host" "$CUDA_TRACE" "$@"
}

@test "stat -p (a file system without libcupti) passes this machine's as an open file" {
	without_cupti busy "$WORKLOADS/launch-storm" -s 14 -p 200 -t 3
	host_says stat -v --json -o out.json -p "$busy_PID" -d 1.5
	json out.json '.source == "cupti" and .totals.kernels > 100 and .lost.total == 0'
	assert_regex "$stderr" "process $busy_PID finds no libcupti: it gets $PWD/host/libcupti\.so"
	grep -q "/libcupti\.so" "/proc/$busy_PID/maps"
	run ! sh -c "readlink /proc/$busy_PID/fd/* | grep -e cupti -e socket"
	# It stays, and the gate for other clients is at it.
	host_says stat -v --json -o out.json -p "$busy_PID" -d 1.5
	json out.json '.source == "cupti" and .totals.kernels > 100 and .lost.total == 0'
	refute_regex "$stderr" 'cannot be admitted'
	ends_well busy
}

@test "stat -p (neither the file system nor this machine has a libcupti) observes the driver's entry points, and says why" {
	without_cupti busy "$WORKLOADS/launch-storm" -s 8 -p 200
	rm host/*
	host_says stat -v --json -o out.json -p "$busy_PID" -d 1.5
	json out.json '.source == "driver" and .totals.launches > 100'
	assert_regex "$stderr" "process $busy_PID finds no libcupti, and this machine has none for its driver"
	ends_well busy
}

@test "stat -- PROGRAM (it starts another one with an empty environment) loads the library there" {
	# shellcheck disable=SC2016
	ct_says stat --json -o out.json -- "$SIM" sh -c \
		'env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$1" -s 4 -p 200; true' sh "$WORKLOADS/launch-storm"
	json out.json '.totals.kernels > 1000'
}

@test "stat -- PROGRAM (an empty environment) counts each launch once, with its GPU time" {
	local launches
	for launches in 10 1500; do
		ct stat --json -o out.json -- env -i LD_LIBRARY_PATH="$B/simcuda" "$WORKLOADS/launch-storm" -n "$launches"
		json out.json ".source == \"cupti\" and .totals.launches == $launches and .totals.kernels == $launches and
			.lost.total == 0"
	done
}

@test "a prepared program that sleeps (stat -p, stat -c) is woken, and its other threads never noticed" {
	CUDA_INJECTION64_PATH=$AGENT storm busy -s 12 -p 200 -t 4
	run ! sh -c "cat /proc/$busy_PID/task/*/comm | grep cupti"
	ct stat --json -o out.json -p "$busy_PID" -d 1.5
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	cat "/proc/$busy_PID"/task/*/comm | grep -qx cupti-usdt
	ct stat --json -o out.json -c launch-storm -d 1.5
	json out.json '.totals.kernels > 100'
	ends_well busy
}

# The thread that is stopped to load it, and makes the library's thread, needs its CPU for itself.
@test "attach (threads that launch are bound to a CPU) leaves them theirs: the library's thread may use the others" {
	requires taskset
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	local tid
	storm busy -s 12 -p 200 -t 2
	for tid in "/proc/$busy_PID/task"/*; do
		[ "${tid##*/}" = "$busy_PID" ] || taskset -pc "$(($(nproc --all) - 1))" "${tid##*/}"
	done
	ct_says stat --json -o out.json -p "$busy_PID" -d 1
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	tid=$(grep -lx cupti-usdt "/proc/$busy_PID"/task/*/comm)
	assert_equal "$(grep Cpus_allowed_list "${tid%comm}status")" "$(grep Cpus_allowed_list "/proc/$busy_PID/status")"
	ends_well busy
}

@test "stat -p (a library of another name, six sessions) has space for its call in each" {
	cp "$AGENT" other.so
	storm busy -s 25 -p 200 -t 4
	local i
	for i in 1 2 3 4 5 6; do
		CUDA_TRACE_AGENT=$PWD/other.so ct_says stat -v --json -o out.json -p "$busy_PID" -d 0.5
		json out.json '.totals.kernels > 100 and .lost.total == 0'
		assert_regex "$stderr" 'stopped for up to [0-9.]+ ms'
	done
	ends_well busy
}

# Else it stands still, stopped, until the tool has seen that the library starts. A scan of all processes may be faster.
@test "stat -p (eight programs that were not prepared) listens to each before it is stopped" {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		storm busy$i -s 40 -p 200
	done
	for i in 1 2 3 4 5 6 7 8; do
		local pid=busy${i}_PID
		ct_says stat -v -e kernels --json -o out.json -p "${!pid}" -d 0.2
		json out.json '.totals.kernels > 0'
		echo "$stderr" >>said
	done
	assert_equal "$(grep -c 'loaded the injection library' said)" 8
	run ! grep 'ms after its start' said
}

@test "attach (CUPTI's flush races with buffers that threads have of their own) shares one" {
	SIMCUDA_FLUSH=race SIMCUDA_LOG=$PWD/log plain busy "$WORKLOADS/launch-storm" -s 6 -p 200 -t 24
	ready busy
	ct_says stat --json -o out.json -p "$busy_PID" -d 1
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	ends_well busy
	# The program's own profiler finds the attribute as it was.
	assert_equal "$(grep -o 'attribute 9=.' log | xargs)" "attribute 9=0 attribute 9=1"
}

@test "detach, and the end of a window (CUPTI's switching off races with launches) holds launches back" {
	local events
	SIMCUDA_DISABLE=race SIMCUDA_LAUNCH_NS=100000 SIMCUDA_LOG=$PWD/log plain busy "$WORKLOADS/launch-storm" -s 20 -p 0 -t 3
	ready busy
	for events in launches,kernels kernels; do
		ct_says stat --json -o out.json -p "$busy_PID" -e $events -d 1
		json out.json '.totals.kernels > 100 and .lost.total == 0'
	done
	ct_says stat --json -o out.json -p "$busy_PID" --sample 50ms/200ms -d 2
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	ends_well busy
	run ! grep disable_races log
}

@test "the end of a window (a thread without a CPU in the middle of a launch) is put off" {
	requires chrt
	local thread
	# In the program's session, as others compete with it as a whole.
	cat >busy.sh <<-'EOF'
		for _ in 1 2; do
			(while [ ! -e go ]; do sleep 0.05; done; exec timeout --foreground 2 sh -c 'while :; do :; done') &
		done
		exec "$@"
	EOF
	SIMCUDA_DISABLE=race SIMCUDA_LAUNCH_NS=100000 SIMCUDA_LOG=$PWD/log \
		plain busy sh busy.sh "$WORKLOADS/launch-storm" -s 6 -p 0 -t 3
	ready busy
	start tool "$CUDA_TRACE" stat --json -o out.json -p "$busy_PID" --sample 50ms/200ms -d 2.5
	wait_for 10 sh -c "grep -qx cupti-flush /proc/$busy_PID/task/*/comm"
	# The program's threads get what others leave, the library's do not.
	for thread in "/proc/$busy_PID/task/"*; do
		[ "$(cat "$thread/comm")" != launch-storm ] || chrt --idle -p 0 "${thread##*/}"
	done
	touch go
	finished "$tool_PID"
	json out.json '.totals.kernels > 100 and .lost.total == 0'
	ends_well busy
	run ! grep disable_races log
}

@test "stat -p (a forked child that uses no CUDA) leaves the child alone" {
	cat >forks.py <<-'EOF'
		import ctypes, os, time
		cuda = ctypes.CDLL("libcuda.so.1")
		assert cuda.cuInit(0) == 0
		child = os.fork()
		print("ready", flush=True)
		time.sleep(6 if child else 5)
		if child:
		    print("expect", os.waitpid(child, 0)[1])
	EOF
	start parent "$SIM" python3 forks.py
	ready parent
	local child
	child=$(pgrep -P "$parent_PID")
	ct_says stat -p "$parent_PID" -d 3
	run ! grep -q libcupti-usdt "/proc/$child/maps"
	finished "$parent_PID"
	assert_equal "$(tail -n 1 parent.out)" "expect 0"
}

# The kernel waits for other tools' programs as it removes probes: on a busy machine for a second, here for two.
@test "attach (the kernel takes long to remove the probes) traces no thread meanwhile" {
	storm busy -s 20 -p 200 -t 4
	mkfifo gate
	start holder "$CUDA_TRACE" stat --source driver -o out.txt -- \
		"$SIM" sh -c "read line <gate; exec $WORKLOADS/saxpy >program.out"
	wait_for 20 pgrep -P "$holder_PID" sh
	# Its program waits for it, in an eBPF program.
	kill -STOP "$holder_PID"
	echo go >gate
	wait_for 20 pgrep -P "$holder_PID" saxpy
	sleep 0.2
	start attaches timeout 30 "$CUDA_TRACE" attach -p "$busy_PID"
	wait_for 10 grep -q ': attached' attaches.out
	sleep 0.1
	run grep -h TracerPid "/proc/$busy_PID/task/"*/status
	refute_output --regexp '[1-9]'
	# Still so: else this has shown nothing.
	[ ! -s program.out ]
	kill -CONT "$holder_PID"
	finished "$holder_PID"
	ends_well busy
}
