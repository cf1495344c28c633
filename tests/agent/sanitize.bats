#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The agent, the simulated driver and the test programs under ASan, UBSan and TSan: `make
# check-sanitize` builds them so and runs this file once for each. Counts must be right as well.

load ../lib/helpers

setup() {
	[ -n "${SANITIZE-}" ] || skip "needs a build with a sanitizer: make check-sanitize"
	# What lives as long as the process is not freed at its end: no leak check.
	export ASAN_OPTIONS=detect_leaks=0:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	export TSAN_OPTIONS=exitcode=99
}

# silent PROGRAM ARGS...: no sanitizer has a word, idle or watched, and the tool counts what happened.
# setarch -R: ThreadSanitizer of gcc 12 stops where addresses are too random for its map.
silent() {
	local out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err json=$BATS_TEST_TMPDIR/json
	CUDA_INJECTION64_PATH=$AGENT sim setarch -R "$WORKLOADS/$1" "${@:2}" >"$out" 2>"$err" ||
		fail "idle: status $?: $(head -n 40 "$err")"
	run ! grep -E 'Sanitizer|runtime error' "$err"
	[ "$(id -u)" = 0 ] || return 0
	LIMIT=120 ct stat --json -o "$json" -- "$SIM" setarch -R "$WORKLOADS/$1" "${@:2}" >"$out" 2>"$err" ||
		fail "watched: status $?: $(head -n 40 "$err")"
	run ! grep -E 'Sanitizer|runtime error' "$err"
	assert_equal "$(json "$json" .totals.launches)" "$(expect_key "$out" launches)"
	assert_equal "$(json "$json" .totals.kernels)" "$(expect_key "$out" kernels)"
}

@test "sanitizer (in force) reports a planted error" {
	requires cc
	cat >"$BATS_TEST_TMPDIR/planted.c" <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		static int shared;
		static void *add(void *unused) { for (int i = 0; i < 100000; i++) shared++; return unused; }
		int main(void)
		{
			char *freed = malloc(1);
			pthread_t thread;
			pthread_create(&thread, NULL, add, NULL);
			add(NULL);
			pthread_join(thread, NULL);
			free(freed);
			return *(volatile char *)freed;
		}
	END
	cc -g -fsanitize="$SANITIZE" -o "$BATS_TEST_TMPDIR/planted" "$BATS_TEST_TMPDIR/planted.c" -lpthread
	run setarch -R "$BATS_TEST_TMPDIR/planted"
	assert_output --partial Sanitizer
	run -0 readelf -dW "$AGENT"
	assert_output --regexp 'lib(asan|tsan|ubsan)'
}

@test "saxpy is clean" { silent saxpy; }
@test "launch-storm (4 threads, graphs) is clean" { silent launch-storm -n 3000 -t 4 -g 10; }
@test "graphs is clean" { silent graphs; }
@test "threads is clean" { silent threads; }
@test "streams is clean" { silent streams; }
@test "copies is clean" { silent copies; }
@test "memory is clean" { silent memory; }
@test "syncs is clean" { silent syncs; }
@test "failures is clean" { silent failures; }
@test "forks is clean" { silent forks; }
@test "resets is clean" { silent resets; }
@test "runtime is clean" { silent runtime; }
@test "unified is clean" { silent unified; }
@test "peers (three GPUs, which reach each other or not) is clean" { SIMCUDA_DEVICES=3 silent peers; SIMCUDA_DEVICES=2 SIMCUDA_PEER_ACCESS=0 silent peers; }
@test "captures is clean" { silent captures; }
@test "nvtx is clean" { silent nvtx; }
@test "ranges is clean" { silent ranges; }
@test "no-cuda is clean" { silent no-cuda; }

# What switches on the most of the agent, and off again, beside threads that launch and capture.
@test "captures and launch-storm (PC samples, counters, attached to) are clean" {
	requires bpf
	local err=$BATS_TEST_TMPDIR/err pid n
	printf 'empty 70 wait 600\n' >"$BATS_TEST_TMPDIR/script"
	export SIMCUDA_PC_SCRIPT=$BATS_TEST_TMPDIR/script
	ct profile --pc --bursts 10ms/100ms -- "$SIM" setarch -R "$WORKLOADS/captures" 1 20 beside >/dev/null 2>"$err" ||
		fail "samples: status $?: $(grep -h -A 40 Sanitizer "$err")"
	ct profile --counters quick --kernels 5 -- "$SIM" setarch -R "$WORKLOADS/captures" 1 20 beside >/dev/null 2>>"$err" ||
		fail "counters: status $?: $(grep -h -A 40 Sanitizer "$err")"
	start storm env CUDA_INJECTION64_PATH="$AGENT" "$SIM" setarch -R "$WORKLOADS/launch-storm" -s 8 -t 4 -p 100
	wait_for 20 grep -qs libcupti-usdt "/proc/$storm_PID/maps"
	sleep 1
	for n in 1 2; do
		ct profile --counters quick --kernels 5 -p "$storm_PID" -d 1 >/dev/null 2>>"$err" || true
		ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 1 >/dev/null 2>>"$err" || true
	done
	finished "$storm_PID"
	run grep -h -A 40 -E 'Sanitizer|runtime error' "$err" "$BATS_TEST_TMPDIR/storm.err"
	[ "$status" = 1 ] || fail "$output"
}

# The thread that flushes reports it while the agent's own waits: both have to do with the agent's state.
@test "launch-storm (attached to, the first subscription takes its time) is clean" {
	requires bpf
	SIMCUDA_SUBSCRIBE=slow:1000 CUDA_INJECTION64_PATH=$AGENT start storm \
		"$SIM" setarch -R "$WORKLOADS/launch-storm" -s 8 -t 4 -p 100
	wait_for 20 grep -qs libcupti-usdt "/proc/$storm_PID/maps"
	wait_for 20 grep -qx ready "$BATS_TEST_TMPDIR/storm.out"
	ct stat -p "$storm_PID" -d 4 --json -o "$BATS_TEST_TMPDIR/out.json"
	json "$BATS_TEST_TMPDIR/out.json" '.totals.kernels > 100'
	finished "$storm_PID"
	assert_equal "$status" 0
	run grep -h -A 40 -E 'Sanitizer|runtime error' "$BATS_TEST_TMPDIR/storm.err"
	[ "$status" = 1 ] || fail "$output"
}
