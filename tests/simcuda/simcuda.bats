#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The simulated driver itself: that it does what tests/simcuda/README.md claims, and that the test
# programs tell the truth about what they do. Needs neither root nor a GPU.

load ../lib/helpers

SIMCUDA=$B/simcuda

setup() {
	requires sim
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log
	unset CUDA_HOME CUDA_PATH
}

# counted FILE KEY: the number that counter wrote for KEY.
counted() {
	sed -n 's/^counted //p' "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"
}

# same_counts PROGRAM ARGS...: the program under counter; both must say the same.
same_counts() {
	local out=$BATS_TEST_TMPDIR/out count=$BATS_TEST_TMPDIR/count key
	rm -f "$count"
	CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$count \
		sim "$WORKLOADS/$1" "${@:2}" >"$out" || fail "$1 failed: $(cat "$out")"
	for key in launches kernels launch_errors graph_launches memcpys memcpy_bytes memsets allocs \
		frees live_bytes syncs; do
		[ "$(expect_key "$out" $key)" = "$(counted "$count" $key)" ] ||
			fail "$1: $key: $(tail -n 1 "$out"); $(head -n 1 "$count")"
	done
	[ "$(counted "$count" dropped)" = 0 ]
}

# injection VALUE: a small program with that CUDA_INJECTION64_PATH; what the library wrote in $output.
injection() {
	local log=$BATS_TEST_TMPDIR/injected
	rm -f "$log"
	CUDA_INJECTION64_PATH=$1 INJECTED_LOG=$log sim "$WORKLOADS/saxpy" --size 1000 \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	output=$(tr '\n' ' ' <"$log" 2>/dev/null || true)
}

# last_state KEY: of the last line of the state log.
last_state() {
	tail -n 1 "$SIMCUDA_LOG" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

@test "selftest passes" {
	run sim "$SIMCUDA/selftest"
	assert_success
	assert_line passed
	[ "$(last_state faults)" = 0 ]
	[ "$(last_state buffers_out)" = 0 ]
}

@test "selftest (each version of CUPTI) passes" {
	for version in 11.8 12.0 12.4 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4; do
		SIMCUDA_CUPTI_VERSION=$version run sim "$SIMCUDA/selftest"
		assert_success
	done
	for library in 12/libcupti.so.12 11/libcupti.so.11.8; do
		run sim "$SIMCUDA/selftest" "$SIMCUDA/$library"
		assert_success
	done
	assert_line "version 18"
}

@test "test programs (counted by plain CUPTI) tell the truth" {
	same_counts saxpy
	same_counts launch-storm -n 5000 -t 4 -g 7
	same_counts graphs
	same_counts failures
	same_counts forks
	same_counts threads
	same_counts copies 3
	same_counts memory 3
	same_counts syncs 2
	same_counts unified 2
	same_counts nvtx
	same_counts streams 300
	same_counts resets 3
	same_counts modules 3 10
	same_counts early-exit return
	same_counts early-exit pthread_exit
	same_counts runtime
}

@test "runtime API (under CUPTI) gives a call and the driver call in it one correlation id" {
	same_counts runtime
	local count=$BATS_TEST_TMPDIR/count
	[ "$(counted "$count" runtime_launches)" = "$(counted "$count" launches)" ]
	[ "$(counted "$count" same_correlation)" = "$(counted "$count" launches)" ]
}

@test "graphs (traced as wholes) give one record a launch and none of their nodes" {
	COUNTER_GRAPHS=1 CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$BATS_TEST_TMPDIR/count \
		run sim "$WORKLOADS/graphs"
	assert_success
	echo "$output" >"$BATS_TEST_TMPDIR/out"
	run cat "$BATS_TEST_TMPDIR/count"
	assert_line "kind 51 subtype 0: $(expect_key "$BATS_TEST_TMPDIR/out" graph_launches)"
	[ "$(counted "$BATS_TEST_TMPDIR/count" kernels)" = 20 ]
}

@test "injection (absolute and ./relative path) loads the library and calls it once" {
	injection "$SIMCUDA/libinjected.so"
	[ "$output" = "loaded called atexit unloaded " ]
	cd "$SIMCUDA"
	injection ./libinjected.so
	[ "$output" = "loaded called atexit unloaded " ]
}

@test "injection (bare name) is found through the loader's path only" {
	cd "$BATS_TEST_TMPDIR"
	mkdir lib
	cp "$SIMCUDA/libinjected.so" lib/libbare.so
	injection libbare.so
	[ "$output" = "" ]
	LD_LIBRARY_PATH=$PWD/lib injection libbare.so
	[ "$output" = "loaded called atexit unloaded " ]
}

@test "injection (missing, folder, none, empty, list, without the symbol) is ignored in silence" {
	for value in /nowhere.so /tmp none "" "$SIMCUDA/libinjected.so:/x" "$SIMCUDA/libcudart.so.13"; do
		injection "$value"
		[ "$output" = "" ]
	done
}

@test "injection (that returns 0) is unloaded at once" {
	INJECTED_RETURN=0 injection "$SIMCUDA/libinjected.so"
	# at the end of the process the order would be the other one
	[ "$output" = "loaded called unloaded atexit " ]
	run grep -c 'called=1 kept=0' "$SIMCUDA_LOG"
	assert_output 1
}

@test "injection (in a forked child) leaves the child's exit handlers to run" {
	CUDA_INJECTION64_PATH=$SIMCUDA/libinjected.so INJECTED_LOG=$BATS_TEST_TMPDIR/injected \
		run sim "$WORKLOADS/forks"
	assert_success
	# the parent, the child and the grandchild that end by exit()
	[ "$(grep -c atexit "$BATS_TEST_TMPDIR/injected")" = 3 ]
	[ "$(grep -c called "$BATS_TEST_TMPDIR/injected")" = 1 ]
}

@test "cuInit (forking a helper) works" {
	SIMCUDA_FORK_IN_INIT=3 run sim "$WORKLOADS/saxpy"
	assert_success
}

@test "early-exit (each mode) ends with its own status" {
	local mode want
	while read -r mode want; do
		run sim "$WORKLOADS/early-exit" "$mode"
		[ "$status" = "$want" ] || fail "$mode: $status"
		assert_output --partial "launches=100"
	done <<-END
		return 0
		running 0
		unsynced 0
		exit 0
		_exit 0
		signal 143
		kill 137
		abort 134
		crash 139
		exec 0
		pthread_exit 0
		destroy 0
	END
}

@test "flush (a kernel still running) holds back its whole buffer, unless forced" {
	local count=$BATS_TEST_TMPDIR/count
	CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$count \
		run sim "$WORKLOADS/early-exit" running
	assert_success
	[ "$(counted "$count" launches)" = 1001 ]
	[ "$(counted "$count" kernels)" = 0 ]
	rm "$count"
	COUNTER_FORCE=1 CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$count \
		run sim "$WORKLOADS/early-exit" running
	assert_success
	[ "$(counted "$count" kernels)" = 1001 ]
	[ "$(counted "$count" unfinished)" = 1 ]
}

@test "buffers (200 threads at once) are one a thread from 13.0 on, one for all before" {
	local version
	for version in 12.9 13.0; do
		rm -f "$SIMCUDA_LOG"
		SIMCUDA_CUPTI_VERSION=$version CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so \
			COUNTER_OUT=$BATS_TEST_TMPDIR/$version run sim "$WORKLOADS/threads" 200 200
		assert_success
		[ "$(counted "$BATS_TEST_TMPDIR/$version" kernels)" = 1000 ]
	done
	[ "$(counted "$BATS_TEST_TMPDIR/12.9" buffers)" = 1 ]
	[ "$(counted "$BATS_TEST_TMPDIR/13.0" buffers)" -ge 200 ]
}

@test "records (dropped on request) are counted" {
	CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$BATS_TEST_TMPDIR/count SIMCUDA_DROP=17 \
		run sim "$WORKLOADS/launch-storm" -n 1000
	assert_success
	[ "$(counted "$BATS_TEST_TMPDIR/count" dropped)" = 17 ]
	[ "$(counted "$BATS_TEST_TMPDIR/count" launches)" = 1000 ]
}

@test "GPU newer than CUPTI gives launches, no records and no error" {
	CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so COUNTER_OUT=$BATS_TEST_TMPDIR/count \
		SIMCUDA_NO_RECORDS=1 run sim "$WORKLOADS/launch-storm" -n 1000
	assert_success
	[ "$(counted "$BATS_TEST_TMPDIR/count" launches)" = 1000 ]
	[ "$(counted "$BATS_TEST_TMPDIR/count" kernels)" = 0 ]
}

@test "subscribing (refused, held by another) fails with the requested error" {
	for fault in SIMCUDA_SUBSCRIBE=15 SIMCUDA_SUBSCRIBE=39 SIMCUDA_OTHER_SUBSCRIBER=nsys; do
		run sim env "$fault" "$SIMCUDA/selftest"
		assert_failure
		assert_output --partial "cuptiSubscribe: CUPTI error"
	done
	assert_output --partial "error 39"
}

@test "function (missing on request, or too new for the version) is not found" {
	SIMCUDA_MISSING_SYMBOL=cuptiActivityFlushAll run sim "$SIMCUDA/selftest"
	assert_failure
	assert_output --partial "has no cuptiActivityFlushAll"
	[ -z "${SANITIZE:-}" ] || return 0 # the small program below is built without it
	cat >"$BATS_TEST_TMPDIR/find.c" <<-END
		#include <dlfcn.h>
		int main(int argc, char **argv)
		{
			return !dlsym(dlopen("libcupti.so.13", RTLD_NOW), argv[1]);
		}
	END
	"${CC:-cc}" -o "$BATS_TEST_TMPDIR/find" "$BATS_TEST_TMPDIR/find.c" -ldl
	run sim "$BATS_TEST_TMPDIR/find" cuptiSubscribe_v2
	assert_success
	SIMCUDA_CUPTI_VERSION=12.9 run sim "$BATS_TEST_TMPDIR/find" cuptiSubscribe_v2
	assert_failure
}

@test "launches (made to fail) fail, and are reported as failed" {
	SIMCUDA_FAIL_LAUNCH=10 run sim "$WORKLOADS/saxpy"
	assert_failure
	assert_output --partial "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
}

@test "launch-storm (nobody attached) launches at least 500000 times a second" {
	local ns
	# The fastest of three: what else the machine does slows down some of them.
	for _ in 1 2 3; do
		SIMCUDA_KERNEL_NS=100 run sim "$WORKLOADS/launch-storm" -n 500000
		assert_success
		ns=$(sed -n 's/^ns_per_launch=\([0-9]*\).*/\1/p' <<<"$output")
		[ "$ns" -ge 2000 ] || return 0
	done
	fail "$ns ns a launch"
}

@test "subscribing (the first one, while threads launch) starves when SIMCUDA_STARVE_MS says so" {
	# The injected library subscribes in cuInit, when nobody launches yet: no waiting there.
	SIMCUDA_STARVE_MS=5000 CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so \
		COUNTER_OUT=$BATS_TEST_TMPDIR/count LIMIT=4 run sim "$WORKLOADS/launch-storm" -n 1000 -t 4
	assert_success
	SIMCUDA_STARVE_MS=1500 SIMCUDA_LAUNCH_NS=2000 COUNTER_LATE=1 CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so \
		COUNTER_OUT=$BATS_TEST_TMPDIR/late run sim "$WORKLOADS/launch-storm" -s 3 -t 8
	assert_success
	[ "$(counted "$BATS_TEST_TMPDIR/late" subscribe_ms)" -ge 1500 ]
	[ "$(counted "$BATS_TEST_TMPDIR/late" kernels)" -gt 0 ]
	# One moment without a launch is enough.
	SIMCUDA_STARVE_MS=1500 SIMCUDA_LAUNCH_NS=2000 COUNTER_LATE=1 CUDA_INJECTION64_PATH=$SIMCUDA/libcounter.so \
		COUNTER_OUT=$BATS_TEST_TMPDIR/seldom run sim "$WORKLOADS/launch-storm" -s 3 -t 8 -p 1000
	assert_success
	[ "$(counted "$BATS_TEST_TMPDIR/seldom" subscribe_ms)" -lt 1500 ]
}
