#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a session that ends before the program does counts: what lies in its time, with the GPU's side of it.
load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR"
}

# storm NAME ARGS...: launch-storm with the agent, launching
storm() {
	local name=$1
	shift
	start "$name" env CUDA_INJECTION64_PATH="$CUDA_TRACE_AGENT" "$SIM" "$WORKLOADS/launch-storm" -n 100000000 "$@"
	ready "$name"
}

@test "stat -p -d (kernels of 200 ns) has the kernel of each launch, and no other" {
	SIMCUDA_KERNEL_NS=200 storm app -p 300
	for _ in 1 2 3; do
		ct stat -p "$app_PID" -d 0.7 --json -o out.json
		# Callbacks are on before GPU times are: on a busy machine, launches may return in between.
		# A launch that is under way at the end has its kernel already, and is not reported.
		json out.json '.totals | .launches > 100 and .untimed < 5 and (.kernels + .untimed - .launches | . == 0 or . == 1)'
		json out.json '.totals.unfinished == 0 and .lost.total == 0'
	done
	ct stat -p "$app_PID" -d 0.5 -o out
	run ! grep 'had no finished kernel' out
	grep -qx 'nothing was lost of what was observed' out
}

@test "stat -p -d (the next kernel always queued) fetches those that are done, and counts the others as unfinished" {
	# Launched faster than they run, however busy the machine is.
	SIMCUDA_KERNEL_NS=2500000 storm app -p 1000
	ct stat -p "$app_PID" -d 1.5 --json -o out.json
	# CUPTI hands out none of them by itself before the last one is done.
	json out.json '.totals | .kernels > 200 and .unfinished == .launches - .kernels and .unfinished > 5'
	json out.json '.lost.total == 0'
}

@test "stat -p -d (beside another tool) takes nothing from that one" {
	SIMCUDA_KERNEL_NS=200000 storm app -p 300
	start other "$CUDA_TRACE" stat -p "$app_PID" --json -o other.json
	sleep 1
	ct stat -p "$app_PID" -d 0.5 --json -o out.json
	sleep 0.5
	kill -INT "$other_PID"
	wait "$other_PID" || true
	wait_for 10 test -s other.json
	json other.json '.totals | .kernels == .launches and .unfinished == 0'
	json other.json '.lost.total == 0'
}

@test "trace -p -d (kernels of 200 ns) ends with lines that have both sides" {
	SIMCUDA_KERNEL_NS=200 storm app -p 300
	ct trace -p "$app_PID" -d 0.7 --json -e kernels -o out
	jq -se 'map(select(.event == "kernel")) | length > 100 and all(.gpu_ns > 0 and .launch_ns > 0)' out
	jq -se 'all(.event != "launch")' out
}

@test "stat -p -d (launches into a stream capture) does not call them unfinished" {
	start app env CUDA_INJECTION64_PATH="$CUDA_TRACE_AGENT" "$SIM" "$WORKLOADS/captures" 8 5
	ready app
	ct stat -p "$app_PID" -d 1 --json -o out.json
	json out.json '.totals | .launches > 20 and .unfinished == 0 and .untimed > 20'
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/captures" 1 5
	json out.json '.totals | .launches > 20 and .unfinished == 0'
	# Those of other kernels, and their kernels in graphs, are not subtracted.
	ct stat -k empty --graph-nodes --json -o out.json -- "$SIM" sh -c '"$1/launch-storm" -n 1000; "$1/graphs"' sh "$WORKLOADS"
	json out.json '.totals | .launches == 1000 and .kernels == 1000 and .unfinished == 0 and .untimed == 0'
}

@test "launch window (kernels before the launches of another thread) delivers those that are launched, and no other" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -I"$B" -o unit "$TOP/tests/capture/unit_window.c" "$TOP/cuda-trace/capture/launch_window.c"
	run -0 ./unit
	assert_output "$(printf '%s\n' 'launch 100' 'kernel 100' 'launch 50' 'launch 60' 'kernel 60' \
		'launch 110' 'kernel 110')"
}
