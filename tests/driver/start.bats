#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Processes that load libcuda are stopped until they are observed; of others the output says since when they are.

load ../lib/helpers

setup() {
	requires bpf sim
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "stat (libcuda mapped long before cuInit) sees all kernels, and claims no missing library" {
	run --separate-stderr ct stat --json -o out.json -- "$SIM" "$WORKLOADS/late-init" 2500 10
	assert_success
	json out.json '.source == "cupti" and .totals.launches == 10 and .totals.kernels == 10 and .lost.total == 0'
	json out.json '.processes[0].observed_since_ns == null and .missed == []'
	refute_regex "$stderr" 'injection library|agent'
	# The same where the loads are not seen: such a process is found by polling.
	CUDA_TRACE_LOADS=0 run --separate-stderr ct stat --json -o out.json -- "$SIM" "$WORKLOADS/late-init" 2500 10
	json out.json '.source == "cupti" and .totals.launches == 10 and .totals.kernels == 10 and .lost.total == 0'
	refute_regex "$stderr" 'injection library|agent'
}

# A search of /proc finds the library before the thread is stopped, and must leave it at that.
@test "stat (libcuda is mapped for 150 ms before its loader reports it) waits for that, and sees all" {
	local options
	for options in "" --no-attach "--source driver"; do
		# shellcheck disable=SC2086
		run --separate-stderr ct stat $options --json -o out.json -- env -i LD_LIBRARY_PATH="$B/simcuda" \
			LD_AUDIT="$WORKLOADS/libslow-loading.so" "$WORKLOADS/launch-storm" -n 10
		assert_success
		json out.json '.source == "driver" and .totals.launches == 10 and .lost.total == 0 and
			.processes[0].observed_since_ns == null'
		refute_regex "$stderr" 'late|could be observed'
		# Not even by default: the library would be loaded beside the auditor, with a libcuda of its own.
		[ -n "$options" ] || assert_regex "$stderr" 'it has several C libraries'
	done
}

# The thread that waits has to give its CPU away, but not together with a lock that the tool needs: half of
# these were observed late. One may be: others run beside this test, too.
@test "stat (six programs compute on each CPU) sees all of programs that wait for it" {
	local options number whole=0
	for number in $(seq $((6 * $(nproc)))); do
		start "busy$number" timeout 40 sh -c 'while :; do :; done'
	done
	for options in "" --no-attach "--source driver" "" --no-attach "--source driver"; do
		# shellcheck disable=SC2086
		run --separate-stderr ct stat -v $options --json -o out.json -- env -i LD_LIBRARY_PATH="$B/simcuda" \
			LD_AUDIT="$WORKLOADS/libslow-loading.so" "$WORKLOADS/launch-storm" -n 10
		assert_success
		if jq -e '.totals.launches == 10 and .lost.total == 0' out.json && ! [[ $stderr =~ 'did not wait' ]]; then
			((++whole))
		fi
	done
	[ "$whole" -ge 5 ] || fail "$whole of 6"
}

@test "stat (a short program loads libcuda as the tool begins, ten times) sees all" {
	for turn in {1..10}; do
		ct stat --json -o out.json -- env -i LD_LIBRARY_PATH="$B/simcuda" "$WORKLOADS/launch-storm" -n 10
		json out.json '.source == "cupti" and .totals.kernels == 10 and .lost.total == 0'
	done
}

# As workers of PyTorch's data loaders. Polling finds the child a second later.
@test "stat (a child inherits libcuda, and does not use it) claims no loss; if it uses it, sees all" {
	local child
	for child in 'time.sleep(2.5)' 'time.sleep(2.5); check(cuda.cuInit(0)); os.execv("/proc/self/exe", ["python3", "-c", "pass"])'; do
		run --separate-stderr ct stat --json -o out.json -- "$SIM" "${PYTHON:-python3}" -c "
import ctypes, os, time
def check(result):
    assert not result
cuda = ctypes.CDLL('libcuda.so.1')
if not os.fork():
    $child
    os._exit(0)
device = ctypes.c_int()
check(cuda.cuInit(0))
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
os.wait()"
		assert_success
		refute_regex "$stderr" 'late'
		json out.json '.lost.total == 0 and .missed == [] and (.processes | all(.observed_since_ns == null))'
	done
}

@test "stat (ten prepared programs) lets their libraries begin by themselves, and stops no thread for that" {
	local program
	export CUDA_INJECTION64_PATH=$CUDA_TRACE_AGENT
	for program in {1..10}; do
		run --separate-stderr ct stat -v -o out.txt -- "$SIM" "$WORKLOADS/launch-storm" -n 300 -p 1000
		assert_success
		refute_regex "$stderr" 'injection library'
	done
}

@test "stat --source driver (a libcuda that the tool does not know) sees each launch of short programs" {
	local launches
	for launches in 10 2000 100000; do
		ct stat --source driver --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n "$launches" >out
		assert_equal "$(expect_key out launches)" "$launches"
		json out.json ".source == \"driver\" and .totals.launches == $launches and .lost.total == 0 and
			.processes[0].observed_since_ns == null"
	done
}

@test "stat --source driver (libcuda comes by dlopen in a grandchild) sees the first call" {
	cat >opens.c <<-'EOF'
		#include <dlfcn.h>
		int main(void)
		{
			void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
			int (*wait)(void) = dlsym(cuda, "cuCtxSynchronize");

			for (int i = 0; i < 5; i++)
				wait();
		}
	EOF
	cc -o opens opens.c
	ct stat --source driver --json -o out.json -- "$SIM" sh -c '(sh -c "./opens; :"); :'
	json out.json '.totals.syncs == 5 and .processes[0].observed_since_ns == null'
}

@test "stat --source driver (a process has ended when the tool gets to it) says that it was not observed" {
	cat >opens.c <<-'EOF'
		#include <dlfcn.h>
		int main(void)
		{
			return !((int (*)(void))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize"));
		}
	EOF
	cc -o opens opens.c
	mkfifo gate
	start tool "$SIM" "$CUDA_TRACE" stat --source driver --json -o out.json -- sh -c 'echo ready; read -r go <gate; ./opens'
	wait_for 10 grep -q ready tool.out
	kill -STOP "$tool_PID"
	echo go >gate
	sleep 3
	kill -CONT "$tool_PID"
	finished "$tool_PID" 20
	json out.json '[.missed[].reason] == ["ended_first"]'
}

@test "stat --source driver (loads are not seen) says since when a process was observed, and claims nothing before" {
	CUDA_TRACE_LOADS=0 ct stat --source driver -o out.txt -- \
		"$SIM" "$WORKLOADS/launch-storm" -n 3000 -p 1000 >out
	run cat out.txt
	assert_line --regexp '^process [0-9]+ \(launch-storm\): observed since [0-9:.]{12}; earlier calls are not counted$'
	assert_line 'nothing was lost of what was observed'
	refute_line 'nothing was lost'
}

@test "stat -p (a program that runs) says since when it was observed" {
	local now
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	now=$(date +%s%N)
	ct stat -p "$storm_PID" -d 1 --json -o out.json
	json out.json ".totals.launches > 100 and (.processes[0].observed_since_ns | . > $now and . < $now + 20000000000)"
	ct stat -p "$storm_PID" -d 1 -o out.txt
	grep -q "^process $storm_PID (launch-storm): observed since " out.txt
	run ! grep -qx 'nothing was lost' out.txt
}

@test "stat --no-attach (an environment that was cleared, another injection library) counts all, and says why" {
	: >other.so
	ct stat --no-attach --json -o out.json -- env -i B="$B" "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.source == "driver" and .totals.launches == 10 and .lost.total == 0 and (.processes[0] |
		.observed_since_ns == null and (.trouble | startswith("its environment has no CUDA_INJECTION64_PATH")))'
	ct stat --no-attach --json -o out.json -- "$SIM" env CUDA_INJECTION64_PATH="$PWD/other.so" "$WORKLOADS/saxpy" >out
	json out.json '.source == "driver" and .totals.launches == 10 and (.processes[0] |
		(.trouble | startswith("its CUDA_INJECTION64_PATH names another injection library")))'
}

@test "stat (PROGRAM leaves a process behind) names it as missed" {
	ct stat -o out.txt -- "$SIM" sh -c "$WORKLOADS/launch-storm -n 3000 -p 1000 >/dev/null & sleep 1; :" 2>err
	grep -qE 'still run and are no longer watched: launch-storm \([0-9]+\)' err
	grep -qx 'nothing was lost of what was observed' out.txt
	ct stat --json -o out.json -- "$SIM" sh -c "$WORKLOADS/launch-storm -n 3000 -p 1000 >/dev/null & sleep 1; :"
	json out.json '[.missed[] | [.process, .reason]] == [["launch-storm", "still_runs"]]'
}

@test "stat (a daemon starts the worker) says that it was not observed" {
	mkfifo ask
	start daemon sh -c "read line <ask; $SIM $WORKLOADS/late-init 0 50"
	LD_LIBRARY_PATH=$B/simcuda ct stat --json -o out.json -- sh -c 'echo go >ask; sleep 2'
	finished "$daemon_PID"
	json out.json '.totals.launches == 0 and ([.missed[] | .reason] | index("not_started_by_program"))'
}

# program_at_gate: stat of a program that loads libcuda once somebody writes to `gate`; $tool_PID.
program_at_gate() {
	mkfifo gate
	start tool "$CUDA_TRACE" stat --source driver -o out.txt -- \
		"$SIM" sh -c "read line <gate; $WORKLOADS/saxpy >program.out; date +%s%N >ended"
	wait_for 20 pgrep -P "$tool_PID" sh
}

@test "stat --source driver (a program waits for a tool that is stopped) leaves its CPU to others" {
	requires taskset python3
	local began
	program_at_gate
	taskset -pc 0 "$(pgrep -P "$tool_PID" sh)"
	kill -STOP "$tool_PID"
	# The longest time in which this one, on the same CPU, did not run.
	start other "${PROMPT[@]}" taskset -c 0 python3 -c '
import time
last, longest = time.monotonic(), 0
end = last + 5
while last < end:
    time.sleep(0.005)
    now = time.monotonic()
    longest, last = max(longest, now - last), now
print(round(longest * 1000))'
	sleep 0.5
	began=$(date +%s%N)
	echo go >gate
	wait_for 20 test -s ended
	# It has waited for as long as it may.
	[ $(($(cat ended) - began)) -gt 1900000000 ]
	finished "$other_PID"
	kill -CONT "$tool_PID"
	finished "$tool_PID" || true
	echo "longest: $(cat other.out) ms"
	[ "$(cat other.out)" -lt 300 ]
}

@test "stat --source driver (the tool is stopped, killed) lets the program go on within two seconds" {
	local signal began
	for signal in STOP KILL; do
		rm -f gate ended program.out
		program_at_gate
		kill -"$signal" "$tool_PID"
		began=$(date +%s%N)
		echo go >gate
		wait_for 20 test -s ended
		grep -q '^expect launches=10 ' program.out
		# It may wait at its load and once more in cuInit(), on a busy machine.
		[ $(($(cat ended) - began)) -lt 8000000000 ]
		kill -CONT "$tool_PID" || true
		finished "$tool_PID" || true
	done
}

@test "stat --source driver (the tool is killed while a program waits for it) lets the program go on at once" {
	local began
	program_at_gate
	kill -STOP "$tool_PID"
	echo go >gate
	# It waits, by computing, where it has loaded libcuda.
	sleep 0.7
	[ ! -e ended ]
	kill -KILL "$tool_PID"
	began=$(date +%s%N)
	wait_for 20 test -s ended
	grep -q '^expect launches=10 ' program.out
	# It would have waited for another 1.3 s, and as long in cuInit().
	[ $(($(cat ended) - began)) -lt 1000000000 ]
	finished "$tool_PID" || true
}

# Between the moment when a tool probes the loader and the moment when it knows which processes have loaded
# libcuda long ago, nobody may wait for it: it waits itself for links to be closed, which takes as long.
@test "stat -p (a program that loads libraries all the time, while tools attach) is not held up" {
	requires python3
	cat >loads.py <<'END'
import ctypes, _ctypes, os, time
ctypes.CDLL("libcuda.so.1").cuInit(0)
print("ready", flush=True)
longest = 0
while not os.path.exists("stop"):
    begin = time.monotonic()
    _ctypes.dlclose(_ctypes.dlopen("libthread_db.so.1", 1))
    longest = max(longest, time.monotonic() - begin)
print("longest", int(longest * 1000), flush=True)
END
	start loads "$SIM" "${PYTHON:-python3}" loads.py
	ready loads
	for turn in 1 2 3; do
		ct stat --no-attach --json -o out.json -p "$loads_PID" -d 0.3
	done
	touch stop
	finished "$loads_PID"
	longest=$(sed -n 's/^longest //p' loads.out)
	[ "$longest" -lt 900 ] || fail "a dlopen() took $longest ms"
}
