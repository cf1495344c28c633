#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The second source: processes without a working injection library, seen at libcuda's entry points.

load ../lib/helpers

setup() {
	requires bpf sim
	# One link for all entry points: uprobe_multi.
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# on_driver CMD...: with the simulated libcuda, known to the tool before CMD starts.
on_driver() {
	LD_LIBRARY_PATH=$B/simcuda ct stat --source driver --json -o out.json -- "$@" >out
}

@test "stat --source driver (launches, copies, memory, waits, errors) counts what the programs count" {
	local workload key
	for workload in saxpy copies memory syncs failures streams peers refused; do
		on_driver "$WORKLOADS/$workload"
		for key in launches launch_errors graph_launches memcpys memcpy_bytes allocs frees live_bytes syncs; do
			assert_equal "$workload $key=$(json out.json ".totals.$key")" \
				"$workload $key=$(expect_key out "$key")"
		done
		json out.json '.source == "driver" and .lost.total == 0'
	done
}

# By the same keys as libcupti-usdt.so's; fills and devices are not watched there.
@test "stat --source driver (failed calls) shows the arguments of the last of each" {
	on_driver "$WORKLOADS/refused"
	run jq -cS '.errors[] | {call, last}' out.json
	assert_line '{"call":"cuMemAlloc_v2","last":{"bytes":140737488355328}}'
	assert_line '{"call":"cuMemFree_v2","last":{"address":"0x4001"}}'
	assert_line '{"call":"cuMemcpyHtoD_v2","last":{"bytes":4,"direction":"HtoD"}}'
	assert_line '{"call":"cuMemcpyDtoH_v2","last":{"bytes":62,"direction":"DtoH"}}'
	assert_line '{"call":"cuLaunchKernel","last":{"block":[4096,1,1],"dynamic_shared":1024,"grid":[3,2,1],"kernel":"empty"}}'
	assert_line '{"call":"cuGraphLaunch","last":null}'
	on_driver "$WORKLOADS/failures"
	json out.json '.errors[] | select(.call == "cuLaunchKernelEx").last | .block == [2000,1,1] and .kernel == "empty"'
}

@test "driver source (a handle with more names than are kept) has no other kernel's name" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/capture/unit_driver_names.c" \
		$(tool_sources driver_names names process payload_parts payload_json number_text text agent_state demangle) -lstdc++
	run -0 ./unit
	assert_output 'the second: kernel_2
the first again: kernel_1
one too many: [handle 0x7000]
the last one that fits: kernel_32768
one too many again: [handle 0x7000]'
}

@test "stat --source driver (no time of the GPU) invents none, and knows the kernels' names" {
	on_driver "$WORKLOADS/saxpy"
	json out.json '.totals | .gpu_ns == 0 and .kernels == 0 and .unfinished == 0'
	json out.json '[.kernels[] | [.name, .launches]] == [["saxpy", 10]]'
	json out.json '.copies | all(.total_ns == 0 and .bytes_per_second == null)'
	json out.json '.errors == []'
}

@test "stat --source driver (runtime API) knows the kernels' names, too" {
	on_driver "$WORKLOADS/runtime"
	assert_equal "$(json out.json .totals.launches)" "$(expect_key out launches)"
	json out.json '[.kernels[].name] == ["saxpy"]'
}

@test "stat --source driver (graphs) counts their launches, and launches between them" {
	on_driver "$WORKLOADS/graphs"
	[ "$(expect_key out graph_launches)" -gt 0 ]
	assert_equal "$(json out.json .totals.graph_launches)" "$(expect_key out graph_launches)"
	assert_equal "$(json out.json .totals.launches)" "$(expect_key out launches)"
	json out.json '.lost | .total == 0 and .driver_unknown == 0'
}

@test "stat --source driver (against source cupti) has the same kernels, shapes, directions and bytes" {
	local workload
	# "unknown" is what cuMemcpy and cuMemcpyAsync do not say.
	of() {
		jq -c '[([.kernels[] | [.name, .launches, .grid, .block, .varies]] | sort),
			(.copies | map(select(.direction != "memset")) | group_by(.direction) |
			map([.[0].direction, (map(.count) | add), (map(.bytes) | add)]))]' "$1"
	}
	for workload in saxpy streams memory peers; do
		on_driver "$WORKLOADS/$workload"
		ct stat --source cupti --json -o cupti.json -- "$SIM" "$WORKLOADS/$workload" >out
		json out.json '.source == "driver" and (.kernels | all(.grid[0] > 0 and .block[0] > 0))'
		assert_equal "$workload $(of out.json)" "$workload $(of cupti.json)"
	done
	on_driver "$WORKLOADS/copies"
	ct stat --source cupti --json -o cupti.json -- "$SIM" "$WORKLOADS/copies" >out
	assert_equal "$(json out.json '.copies | map(.bytes) | add')" \
		"$(json cupti.json '.copies | map(select(.direction != "memset").bytes) | add')"
	json out.json '.copies | map(.direction) | sort == ["DtoD", "DtoH", "HtoD", "unknown"]'
}

@test "stat -p (a program without the agent) sees its launches, and says why there is no more" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	run --separate-stderr ct stat --no-attach -p "$storm_PID" -d 1 --json
	assert_success
	echo "$output" >out.json
	json out.json '.source == "driver" and .totals.launches > 100'
	[[ $stderr == *'1 process has no working injection library: launches, sizes and results are seen, GPU times are not (source driver)'* ]]
}

@test "stat --source driver (a kernel without its links) is refused before the program runs" {
	CUDA_TRACE_LINKS=single run -1 --separate-stderr ct stat --source driver -- touch ran
	assert_equal "$stderr" "cuda-trace: --source driver needs Linux 6.6 or newer"
	[ ! -e ran ]
}

@test "stat -p (a program without the agent, a kernel without links) says once that it cannot be seen" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	CUDA_TRACE_LINKS=single run -0 --separate-stderr ct stat --no-attach -p "$storm_PID" -d 2 --json
	assert_equal "$(jq .totals.launches <<<"$output")" 0
	assert_equal "$(grep -c 'processes without the injection library cannot be seen: .* (Linux 6.6 or newer is needed)$' <<<"$stderr")" 1
}

@test "stat --source cupti -p (a program without the agent) sees nothing" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	ct stat --no-attach --source cupti -p "$storm_PID" -d 1 --json -o out.json
	json out.json '.source == "none" and .totals.launches == 0'
}

@test "trace (a program without the agent) marks every line with its source, GPU columns empty" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	ct trace --no-attach -e kernels -p "$storm_PID" -n 20 --json -o out.json
	run jq -es 'map(select(.event != "lost")) | length == 20 and all(.source == "driver" and .gpu_ns == null and
		.event == "launch" and .launch_ns > 0 and .result == 0 and .grid == [1,1,1])' out.json
	assert_success
}

@test "stat (one program with the agent, one without) distinguishes the two" {
	start with "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	start without "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready with
	ready without
	ct stat -c launch-storm -d 2 --json -o out.json
	json out.json ".processes[] | select(.pid == $with_PID) | .source == \"cupti\" and .kernels > 100"
	json out.json ".processes[] | select(.pid == $without_PID) | .source == \"driver\" and .launches > 100"
	json out.json '.source == "mixed"'
}

# early NAME ARGS...: a workload with the agent that waits on the FIFO `gate` before it calls anything, when libcuda
# is mapped and the agent is not; $early_PID.
early() {
	mkfifo gate
	echo '#include <fcntl.h>
		__attribute__((constructor)) static void wait_here(void) { open("gate", O_RDONLY); }' |
		cc -shared -fPIC -o early.so -x c -
	start early "$SIM" env LD_PRELOAD=./early.so CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/$1" "${@:2}"
}

# taken_over FILE: has the tool (with -v) put its probes into libcuda? What the process is, is not known yet.
taken_over() { grep -q ' entry points, ' "$1" && ! grep -q 'no working injection library' "$1"; }

@test "stat, record (looked at before its agent was loaded) count a program once, by its agent" {
	local command
	for command in "stat -v --json" "record -v"; do
		rm -f gate seen
		early launch-storm -n 2000 -p 500
		wait_for 10 grep -q libcuda "/proc/$early_PID/maps"
		# shellcheck disable=SC2086 # words
		start tool "$CUDA_TRACE" $command -o seen -p "$early_PID"
		wait_for 20 taken_over tool.err
		: >gate
		finished "$tool_PID"
		if [ "$command" = "record -v" ]; then ct report --json seen >out.json; else mv seen out.json; fi
		json out.json '.totals.launches == 2000 and .totals.kernels == 2000 and .source == "cupti"'
	done
}

@test "stat --source (something else) is refused" {
	run -2 ct stat --source magic -- true
	assert_output --partial "cuda-trace stat: --source: 'magic' is none of auto, cupti, driver"
}

@test "stat (a program whose agent finds no libcupti) goes over to the driver source at once, and says why" {
	run --separate-stderr ct stat --json -o out.json -- \
		"$SIM" env CUDA_TRACE_LIBCUPTI=/nonexistent.so "$WORKLOADS/launch-storm" -s 2 -p 1000
	assert_success
	echo "$output" >out
	json out.json '.source == "driver" and (.processes[0] | .source == "driver" and .state == "ended" and
		(.trouble | startswith("no usable libcupti was found")))'
	# What it launched before the probes were there is missing: some 20 ms of 2 s.
	[ "$(json out.json .totals.launches)" -gt "$(($(expect_key out launches) * 3 / 4))" ]
	[[ $stderr == *'1 process has no working injection library'* ]]
}

@test "stat --source cupti (a program whose agent finds no libcupti) claims no source, and says why" {
	ct stat --source cupti --json -o out.json -- \
		"$SIM" env CUDA_TRACE_LIBCUPTI=/nonexistent.so "$WORKLOADS/saxpy" >out
	json out.json '.source == "none" and .totals.launches == 0 and (.processes[0] |
		.source == "none" and (.trouble | startswith("no usable libcupti was found")))'
}

@test "stat --source driver (failures inside of functions, and at returns) counts the same with either" {
	[ "$(uname -m)" = x86_64 ] || skip "the functions are read on x86-64 only"
	on_driver "$WORKLOADS/failures"
	json out.json '.driver_launches == "mixed"' # cooperative launches are from another template
	cp out.json inside.json
	CUDA_TRACE_LAUNCHES=return on_driver "$WORKLOADS/failures"
	json out.json '.driver_launches == "return"'
	assert_equal "$(json inside.json '[(.totals | del(.sync_ns)), .kernels, .errors] | tojson')" \
		"$(json out.json '[(.totals | del(.sync_ns)), .kernels, .errors] | tojson')"
	json inside.json '[.errors[] | select(.call == "cuLaunchKernel") | [.result, .count]] == [[1, 30], [400, 10]]'
}

@test "stat --source driver (every tenth launch of four threads fails) counts them all" {
	local key
	SIMCUDA_FAIL_LAUNCH=10 on_driver "$WORKLOADS/launch-storm" -n 5000 -t 4 --keep-going
	assert_equal "$(expect_key out launch_errors)" 2000
	json out.json '.lost.total == 0'
	for key in launches launch_errors; do
		assert_equal "$key=$(json out.json ".totals.$key")" "$key=$(expect_key out "$key")"
	done
	json out.json '[.errors[] | [.call, .result, .count]] == [["cuLaunchKernel", 701, 2000]]'
}

@test "stat --source driver (launches after the driver has ended) sees that they fail" {
	[ "$(uname -m)" = x86_64 ] || skip "made by hand for x86-64"
	SIMCUDA_GONE_AFTER=3 LD_LIBRARY_PATH=$B/simcuda run -1 ct stat --source driver --json -o out.json -- \
		"$WORKLOADS/saxpy"
	json out.json '.driver_launches == "mixed" and (.totals | .launches == 4 and .launch_errors == 1)'
	json out.json '.errors | map(del(.last)) == [{call: "cuLaunchKernel", result: 4, result_name: "CUDA_ERROR_DEINITIALIZED", count: 1}]'
	json out.json '.errors[0].last | .kernel == "saxpy" and .grid == [4096, 1, 1] and .block == [256, 1, 1]'
}

@test "stat -v --source driver (functions without a size, or from another template) says how many are reported when they return" {
	[ "$(uname -m)" = x86_64 ] || skip "made by hand for x86-64"
	mkdir lib
	{
		function_of_the_make cuLaunchKernel
		echo '	.size cuLaunchKernel, . - cuLaunchKernel'
		function_of_the_make cuGraphLaunch
		function_of_the_make cuLaunchKernelEx
		echo '	.size cuLaunchKernelEx, . - cuLaunchKernelEx - 3'
		printf '%s\n' '	.globl cuLaunchKernel_ptsz' '	.type cuLaunchKernel_ptsz, @function' cuLaunchKernel_ptsz: \
			'	jmp cuLaunchKernel' '	.size cuLaunchKernel_ptsz, . - cuLaunchKernel_ptsz'
		function_of_the_make cuCtxSynchronize_v2
	} >cuda.s
	cc -shared -nostdlib -Wl,-soname,libcuda.so.1 -o lib/libcuda.so.1 cuda.s
	LD_LIBRARY_PATH=$PWD/lib run --separate-stderr ct stat -v --source driver -o out -- true
	[[ $stderr == *"$PWD/lib/libcuda.so.1: 5 entry points, 4 of them launch; of these, 1 are reported at their entry and if they fail inside, 3 when they return"* ]]
}

# CUDA 13's runtime waits by it, which the simulation does not.
@test "stat --source driver (waits by cuCtxSynchronize_v2) counts them, and those that fail" {
	mkdir lib
	echo 'int cuCtxSynchronize_v2(void *context) { return context ? 0 : 201; }' >cuda.c
	cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o lib/libcuda.so.1 cuda.c
	cat >waits.c <<-'EOF'
		int cuCtxSynchronize_v2(void *context);
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 7; i++)
				cuCtxSynchronize_v2(i % 3 ? argv : 0);
		}
	EOF
	cc -o waits waits.c lib/libcuda.so.1
	LD_LIBRARY_PATH=$PWD/lib ct stat --source driver --json -o out.json -- ./waits
	json out.json '.totals.syncs == 7 and .lost.total == 0'
	json out.json '[.errors[] | [.call, .result, .count]] == [["cuCtxSynchronize_v2", 201, 3]]'
}

# A libcuda of functions that only say yes, in lib/, and ./calls, which calls them: C on stdin, up to
# a line "calls" of the one, from there on of the other. Pointers and sizes are `long` there.
library_of_calls() {
	mkdir lib
	awk '/^calls$/ {calls = 1; next} {print > (calls ? "calls.c" : "cuda.c")}'
	cc -w -shared -fPIC -Wl,-soname,libcuda.so.1 -o lib/libcuda.so.1 cuda.c
	cc -w -o calls calls.c lib/libcuda.so.1
}

@test "trace --source driver (launches of every kind) shows their shapes, streams and names, or handles" {
	library_of_calls <<-'EOF'
		typedef unsigned int u;
		int cuModuleGetFunction(long *f, long m, char *name)
		{
			*f = 0x7fab00001230;
			return *name != 'f'; /* so it can be read */
		}
		int cuKernelGetName(char **name, long f) { *name = "second"; return **name != 's'; }
		int cuLaunchKernel(long f, u a, u b, u c, u d, u e, u g, u shared, long s, long p, long x)
		{
			return 0;
		}
		int cuLaunchCooperativeKernel_ptsz(long f, u a, u b, u c, u d, u e, u g, u shared, long s, long p)
		{
			return 0;
		}
		int cuLaunchKernelEx(u *config, long f, long p, long x) { return 0; }
		int cuGraphLaunch_ptsz(long g, long s) { return 0; }
		calls
		int main(void)
		{
			unsigned int config[14] = {11, 12, 13, 14, 15, 16, 17, 0, 0x7000, 0x7fcd};
			long f;
			char *name;

			cuModuleGetFunction(&f, 0L, "first");
			cuKernelGetName(&name, 0x7fab000011f0);
			cuLaunchKernel(f, 1, 2, 3, 4, 5, 6, 7, 0x7fcd00005000, 0L, 0L);
			cuLaunchCooperativeKernel_ptsz(0x7fabcdef1238, 7, 6, 5, 4, 3, 2, 1, 2L, 0L);
			cuLaunchKernelEx(config, 0x7fab000011f0, 0L, 0L);
			cuGraphLaunch_ptsz(0x7fab00000010, 0x7fcd00006000);
		}
	EOF
	LD_LIBRARY_PATH=$PWD/lib ct trace --source driver --json -o out.json -- ./calls
	assert_equal "$(jq -c 'select(.event != "lost") | [.kernel, .stream, .grid, .block, .dynamic_shared]' out.json)" \
		"$(printf '%s\n' '["first","0x7fcd00005000",[1,2,3],[4,5,6],7]' \
			'["[handle 0x7fabcdef1238]","0x2",[7,6,5],[4,3,2],1]' \
			'["second","0x7fcd00007000",[11,12,13],[14,15,16],17]' \
			'[null,"0x7fcd00006000",null,null,0]')"
}

@test "stat --source driver (a handle that becomes another kernel's) counts each kernel under its name" {
	on_driver "$WORKLOADS/modules" 20 100
	assert_equal "$(json out.json '[.kernels[] | [.name, .launches]] | sort | tojson')" \
		"[[\"even\",$(expect_key out even)],[\"odd\",$(expect_key out odd)]]"
	library_of_calls <<-'EOF'
		int cuModuleGetFunction(long *f, long m, char *name) { *f = 0x1230; return !*name; }
		int cuKernelGetFunction(long *f, long kernel) { *f = 0x4560; return 0; }
		int cuLaunchKernelEx(int *config, long f) { return 0; }
		calls
		int main(void)
		{
			char *names[] = {"one", "two", "one", "three", "two"};
			int config[14] = {1, 1, 1, 1, 1, 1};
			long f;

			cuLaunchKernelEx(config, 0x1230L);
			for (int i = 0; i < 5; i++) {
				cuModuleGetFunction(&f, 0L, names[i]);
				cuKernelGetFunction(&f, 0x1230L);
				cuLaunchKernelEx(config, i < 3 ? 0x1230L : 0x4560L);
			}
		}
	EOF
	LD_LIBRARY_PATH=$PWD/lib ct stat --source driver --json -o out.json -- ./calls
	json out.json '[.kernels[] | [.name, .launches]] | sort == [["one", 3], ["three", 1], ["two", 2]]'
}

@test "stat --source driver (a kernel's name that cannot be read) counts it as lost, and shows the handle" {
	library_of_calls <<-'EOF'
		int cuModuleGetFunction(long *f, long m, char *name) { *f = 0x7fab00001230; return 0; }
		int cuLaunchKernelEx(int *config, long f) { return 0; }
		calls
		int main(void)
		{
			int config[14] = {1, 1, 1, 1, 1, 1};
			long f;

			cuModuleGetFunction(&f, 0L, 8L);
			cuLaunchKernelEx(config, f);
		}
	EOF
	LD_LIBRARY_PATH=$PWD/lib ct stat --source driver --json -o out.json -- ./calls
	json out.json '.lost.ring_full_names == 1 and [.kernels[] | [.name, .launches]] == [["[handle 0x7fab00001230]", 1]]'
}

@test "stat --source driver (copies and allocations of every layout) has their bytes and directions" {
	library_of_calls <<-'EOF'
		int cuMemcpyPeer_ptds(long to, void *a, long from, void *b, long n) { return 0; }
		int cuMemcpyPeerAsync(long to, void *a, long from, void *b, long n, void *s) { return 0; }
		int cuMemcpyHtoA_v2(void *to, long at, void *from, long n) { return 0; }
		int cuMemcpyAtoA_v2_ptds(void *to, long at, void *from, long in, long n) { return 0; }
		int cuMemcpy2D_v2(long *copy) { return 0; }
		int cuMemcpy2DAsync_v2_ptsz(long *copy, void *s) { return 0; }
		int cuMemcpy3D_v2(long *copy) { return 0; }
		int cuMemcpy3DPeerAsync(long *copy, void *s) { return 0; }
		int cuMemcpyBatchAsync_v2(long *to, long *from, long *sizes, long n, long *as, long *is,
					  long m, void *s) { return 0; }
		int cuMemAllocPitch_v2(long *at, long *pitch, long width, long height, int element)
		{
			*at = 0x7000;
			*pitch = 512;
			return 0;
		}
		int cuMemFree_v2(long at) { return 0; }
		calls
		int main(void)
		{
			/* CUDA_MEMCPY2D, CUDA_MEMCPY3D: kinds of memory at 2 and 9, at 4 and 15. */
			long flat[16] = {[2] = 1, [9] = 2, [14] = 100, [15] = 7};
			long deep[25] = {[4] = 2, [15] = 3, [22] = 10, [23] = 20, [24] = 30};
			long sizes[200] = {1000, 200, 30}, at, pitch;

			cuMemcpyPeer_ptds(1L, 2L, 3L, 4L, 5L << 32);
			cuMemcpyPeerAsync(1L, 2L, 3L, 2L, 16L, 0L);
			cuMemcpyHtoA_v2(1L, 2L, 3L, 40L);
			cuMemcpyAtoA_v2_ptds(1L, 2L, 3L, 2L, 50L);
			cuMemcpy2D_v2(flat);
			flat[2] = 4;
			cuMemcpy2DAsync_v2_ptsz(flat, 0L);
			cuMemcpy3D_v2(deep);
			deep[15] = 2;
			cuMemcpy3DPeerAsync(deep, 0L);
			cuMemcpyBatchAsync_v2(sizes, sizes, sizes, 3L, 0L, 0L, 0L, 0L);
			cuMemAllocPitch_v2(&at, &pitch, 500L, 3L, 4);
			cuMemFree_v2(at);
		}
	EOF
	LD_LIBRARY_PATH=$PWD/lib ct stat --source driver --json -o out.json -- ./calls
	assert_equal "$(json out.json '[.copies[] | [.direction, .count, .bytes]] | sort | tojson')" \
		"$(jq -nc '[["PtoP", 1, 21474836480], ["DtoD", 2, 6016], ["HtoA", 1, 40], ["AtoA", 1, 50],
			["HtoD", 1, 700], ["unknown", 4, 1930], ["DtoA", 1, 6000]] | sort')"
	json out.json '.memory | map([.kind, .allocs, .frees, .bytes, .live_bytes]) == [["device", 1, 1, 1536, 0]]'
	json out.json '.lost | .total == 0 and .driver_unknown == 0'
}

@test "stat --source driver (the program ends as soon as it goes on, and the tool is slow) claims no loss" {
	requires strace
	library_of_calls <<-'EOF'
		int cuMemFree_v2(long at) { return 0; }
		calls
		int main(void) { return cuMemFree_v2(7); }
	EOF
	LD_LIBRARY_PATH=$PWD/lib timeout 60 strace -qq -o /dev/null -e trace=bpf -e inject=bpf:delay_enter=3000 \
		"$CUDA_TRACE" stat --source driver --json -o out.json -- ./calls
	json out.json '.lost.total == 0 and (.memory | map(.frees) == [1])'
}

@test "stat --source driver (versions and functions that nobody knows) counts their calls, and reads nothing of them" {
	library_of_calls <<-'EOF'
		int cuLaunchKernel_v2(long *a) { return 0; }
		int cuLaunchTensor_ptsz(long *a) { return 719; }
		int cuLaunchHostFunc_v2(long *a) { return 0; }
		int cuGraphLaunchEx(long *a) { return 0; }
		int cuMemAlloc_v3(long *a, long b) { return 0; }
		int cuMemAlloc(int *a, int b) { return 0; }
		int cuMemAllocationThing(long *a, long b) { return 0; }
		int cuMemFreeLater(long a) { return 0; }
		int cuMemcpyHtoD_v12(long a, long b, long c) { return 0; }
		int cuMemcpy4DAsync_v2_ptsz(long a, long b, long c) { return 1; }
		int cuMemcpyBatchAsync(long *to, long *from, long *sizes, long n) { return 0; }
		int cuStreamSynchronize_v7_ptsz(void) { return 0; }
		int cuThingSynchronize(void) { return 0; }
		int cuModuleGetFunction_v2(long *a, long b) { return 0; }
		calls
		int main(void)
		{
			long sizes[200] = {1000};

			cuLaunchKernel_v2(sizes);
			cuLaunchKernel_v2(sizes);
			cuLaunchTensor_ptsz(sizes);
			cuLaunchHostFunc_v2(sizes);
			cuGraphLaunchEx(sizes);
			cuMemAlloc_v3(sizes, 1000L);
			cuMemAlloc(sizes, 1000L);
			cuMemAllocationThing(sizes, 1000L);
			cuMemFreeLater(1L);
			cuMemcpyHtoD_v12(1L, 2L, 3L);
			cuMemcpy4DAsync_v2_ptsz(1L, 2L, 3L);
			cuMemcpyBatchAsync(sizes, sizes, sizes, 200L);
			cuStreamSynchronize_v7_ptsz();
			cuThingSynchronize();
			cuModuleGetFunction_v2(sizes, 1L);
		}
	EOF
	LD_LIBRARY_PATH=$PWD/lib run --separate-stderr ct stat -v --source driver --json -o out.json -- ./calls
	json out.json '.totals | .launches == 3 and .launch_errors == 1 and .graph_launches == 1 and .allocs == 2 and
		.frees == 1 and .live_bytes == 0 and .memcpys == 201 and .memcpy_bytes == 0 and .syncs == 2'
	json out.json '[.copies[] | [.direction, .count]] | sort == [["HtoD", 1], ["unknown", 200]]'
	json out.json '.kernels | map([.name, .launches, .launch_errors]) | sort ==
		[["[cuLaunchKernel_v2]", 2, 0], ["[cuLaunchTensor]", 1, 1]]'
	json out.json '[.errors[] | [.call, .result]] | sort == [["cuLaunchTensor", 719], ["cuMemcpy4DAsync_v2", 1]]'
	json out.json '.lost | .total == 0 and .driver_unknown == 10'
	for name in cuLaunchKernel_v2 cuLaunchTensor cuGraphLaunchEx cuMemAlloc_v3 cuMemAlloc cuMemFreeLater \
		cuMemcpyHtoD_v12 cuMemcpy4DAsync_v2; do
		grep -qE "calls that are counted, but whose arguments are unknown:.* $name(,|\$)" <<<"$stderr" || fail "$name: $stderr"
	done
	[[ $stderr != *cuLaunchHostFunc* && $stderr != *Synchronize* && $stderr != *cuMemAllocationThing* ]]
	[[ $stderr == *'lib/libcuda.so.1: 1 more entry points are not watched'* ]]
	# The text output says so, too.
	LD_LIBRARY_PATH=$PWD/lib ct stat --source driver -o text -- ./calls
	grep -q '^cuda-trace: lost 10 (driver_unknown): ' text
	# And recordings have it, without a shape.
	LD_LIBRARY_PATH=$PWD/lib ct record -q -o r.db --source driver -- ./calls
	ct report --launches --json r.db >launches.json
	assert_equal "$(jq -sc 'map([.kernel, .launches, .failed, .grid, .block]) | sort' launches.json)" \
		'[["[cuLaunchKernel_v2]",2,0,null,null],["[cuLaunchTensor]",1,1,null,null]]'
	assert_equal "$(ct report --losses --json r.db | jq -c '[.reason, .lost]')" '["driver_unknown",10]'
}

@test "stat --source driver (ring full: kernels become functions) counts names that did not fit" {
	mkdir lib
	cat >cuda.c <<-'EOF'
		int cuLaunchKernel(void) { return 0; }
		int cuKernelGetFunction(void **function, void *kernel) { *function = kernel; return 0; }
	EOF
	cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o lib/libcuda.so.1 cuda.c
	cat >fills.c <<-'EOF'
		#include <stdio.h>
		int cuLaunchKernel(void);
		int cuKernelGetFunction(void **function, void *kernel);
		int main(int argc, char **argv)
		{
			void *function;

			fclose(fopen(argv[1], "r"));
			for (int i = 0; i < 20000; i++)
				cuLaunchKernel();
			for (int i = 0; i < 1000; i++)
				cuKernelGetFunction(&function, argv);
			fclose(fopen(argv[2], "w"));
		}
	EOF
	cc -o fills fills.c lib/libcuda.so.1
	mkfifo gate
	LD_LIBRARY_PATH=$PWD/lib start tool "$CUDA_TRACE" stat -v --source driver --buffer 1 --json -o out.json -- \
		./fills gate filled
	wait_for 20 grep -q ' entry points' tool.err
	kill -STOP "$tool_PID"
	wait_for 20 grep -q '^State:.T' "/proc/$tool_PID/status"
	: >gate
	wait_for 20 test -e filled
	kill -CONT "$tool_PID"
	finished "$tool_PID"
	json out.json '.lost | .ring_full > 10000 and .ring_full_names >= 1000'
}

@test "doctor (a libcuda of both makes) says how its launches are seen" {
	local at_entry=6
	[ "$(uname -m)" = x86_64 ] || at_entry=0
	LD_LIBRARY_PATH=$B/simcuda ct doctor --json >out.json || true
	jq -s '.[] | select(.key == "driver_launches")' out.json >found.json
	json found.json ".severity == \"ok\" and .facts == {functions: 8, at_entry: $at_entry} and
		(.text | contains(\"when they return, which costs more, for $((8 - at_entry)) of 8 functions\"))"
}

# A launch function as those of the real library are; with SED-SCRIPT changed.
function_of_the_make() { # NAME [SED-SCRIPT]
	sed -e "${2-}" <<-EOF
		.text
		.globl $1
		.type $1, @function
		$1:
		push %rbp
		mov %rsp, %rbp
		push %r12
		sub \$8, %rsp
		cmpl \$0x321cba00, 0x1000(%rip)
		je 4f
		mov 24(%rbp), %eax
		push %rax
		push 48(%rbp)
		call *0x1000(%rip)
		mov %eax, %r12d
		add \$16, %rsp
		test %eax, %eax
		je 1f
		cmp \$600, %eax
		je 1f
		lea -3(%rax), %eax
		cmp \$1, %eax
		ja 2f
		1: mov %r12d, %eax
		mov -8(%rbp), %r12
		leave
		ret
		nopl 0(%rax, %rax)
		2: mov \$100, %ecx
		xor %esi, %esi
		3: lea (%rsi, %rcx), %eax
		shr \$1, %eax
		cmp %esi, %ecx
		jae 3b
		mov %r12d, %ecx
		xor %eax, %eax
		call 5f
		5: mov %r12d, %eax
		mov -8(%rbp), %r12
		leave
		ret
		4: mov \$4, %r12d
		mov %r12d, %eax
		mov -8(%rbp), %r12
		leave
		ret
	EOF
}

# Where it fails: lines "OFFSET RESULT".
failures_of() { # [SED-SCRIPT]
	function_of_the_make f "${1-}" >f.s
	cc -c -o f.o f.s
	objcopy -O binary -j .text f.o f.bin
	./failures <f.bin
}

build_unit() {
	requires objdump objcopy
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o failures "$TOP/tests/driver/unit_failures.c" \
		$(tool_sources driver_failures x86_length)
}

@test "failures inside (a function of the known make) are found at its comparison and at its constant" {
	[ "$(uname -m)" = x86_64 ] || skip "assembles for x86-64"
	build_unit
	failures_of >places
	# Lines "address:<tab>bytes<tab>instruction".
	at() { printf '%d %d\n' "0x$(objdump -d f.o | sed -n "s/^ *\([0-9a-f]*\):.*$1.*/\1/p")" "$2"; }
	assert_equal "$(sort places)" "$({ at 'cmp *.0x258,%eax' 0; at 'mov *.0x4,%r12d' 4; } | sort)"
}

# refused WHAT SED-SCRIPT
refused() {
	local found
	found=$(failures_of "$2")
	[ -z "$found" ] || fail "$1: $found"
	! cmp -s f.bin good.bin || fail "$1: nothing was changed"
}

@test "failures inside (functions changed in one line) are looked for in none of them" {
	[ "$(uname -m)" = x86_64 ] || skip "assembles for x86-64"
	build_unit
	[ -n "$(failures_of)" ]
	cp f.bin good.bin
	refused "a jump into the comparison" 's/^ja 2f/ja 7b+1/; s/^cmp .600/7: &/'
	refused "a jump into a later instruction" 's/^jae 3b/jae 3b+1/'
	refused "a jump into the comparison from where no path leads" 's/^nopl.*/jmp 7b+1/; s/^cmp .600/7: &/'
	refused "a jump out of the function" 's/^ja 2f/ja f+4096/'
	refused "a tail call" 's/^ja 2f/jmp f+4096/'
	refused "a jump through a table" 's/^ja 2f/jmp *%rax/'
	refused "two comparisons in one path" 's/^lea -3(%rax), %eax/cmp $600, %eax/'
	refused "a comparison with another result" 's/^cmp .600/cmp $601/'
	refused "a comparison before the test" 's/^test %eax, %eax/cmp $600, %eax\ntest %eax, %eax/'
	refused "no test" 's/^test %eax, %eax/nop/'
	refused "a test of something else" 's/^test %eax, %eax/test %ecx, %ecx/'
	refused "something between test and branch" 's/^test %eax, %eax/test %eax, %eax\nadd $1, %ecx/'
	refused "a way out for what was not tested" 's/^test %eax, %eax/js 1f\ntest %eax, %eax/'
	refused "a branch that is not on zero" '/^cmp .600/!s/^je 1f/js 1f/'
	refused "another result is returned" 's/^5: mov %r12d, %eax/5: mov %r13d, %eax/'
	refused "a result that is changed" 's/^5: mov %r12d, %eax/5: mov %r12d, %eax\nadd $1, %eax/'
	refused "a kept result that is changed" 's/^5: mov %r12d, %eax/5: add $1, %r12d\nmov %r12d, %eax/'
	refused "a result whose lowest byte is changed" 's/^5: mov %r12d, %eax/5: mov %r12d, %eax\nsete %al/'
	refused "a result whose second byte is changed" 's/^5: mov %r12d, %eax/5: mov %r12d, %eax\nmov $1, %ah/'
	refused "the last call's result is returned" 's/^5: mov %r12d, %eax/5: nop/'
	refused "a result that a call overwrites" 's/^mov %eax, %r12d/&\nmov %eax, %edx/; s/^5: mov %r12d, %eax/5: mov %edx, %eax/'
	refused "a constant that is not returned" 's/^4: mov .4, %r12d/4: mov $4, %r12d\nmov %r13d, %r12d/'
	refused "a call after the constant" 's/^4: mov .4, %r12d/4: mov $4, %r12d\ncall f/'
	refused "a constant from memory" 's/^4: mov .4, %r12d/4: mov (%rbp), %r12d/'
	refused "a far return" 's/^4: /4: lret\n/'
	refused "an instruction of AVX" 's/^mov -8(%rbp), %r12/vzeroupper\nmov -8(%rbp), %r12/'
	refused "a trap" 's/^ja 2f/ja 2f\nud2/'
}

@test "failures inside (a function that is cut short, empty or very long) are looked for in none of them" {
	[ "$(uname -m)" = x86_64 ] || skip "assembles for x86-64"
	build_unit
	[ -n "$(failures_of)" ]
	size=$(stat -c %s f.bin)
	for ((n = 0; n < size; n++)); do
		[ -z "$(head -c "$n" f.bin | ./failures)" ] || fail "of $n bytes"
	done
	[ -z "$( { cat f.bin; head -c 2000 /dev/zero; } | ./failures)" ]
}

@test "lengths of instructions (all of the C library) are those that objdump finds" {
	[ "$(uname -m)" = x86_64 ] || skip "reads x86-64"
	build_unit
	library=$(ldd "$CUDA_TRACE" | awk '$1 == "libc.so.6" {print $3}')
	objdump -d -w --section=.text "$library" | awk -F'\t' 'NF >= 3 && $3 !~ /^\(bad\)/ {print $2}' >instructions
	./failures -l <instructions >found
	assert_equal "$(sed -n 's/^wrong //p' found)" 0
	[ "$(sed -n 's/^known //p' found)" -gt $(($(wc -l <instructions) * 9 / 10)) ]
}

@test "probes on entries of functions (with endbr64, without; what follows is a push, and another instruction) lie on the push" {
	[ "$(uname -m)" = x86_64 ] || skip "reads x86-64"
	cat >functions.s <<-'END'
		.text
		.macro function name instructions
		.globl \name
		.type \name, @function
		\name: \instructions
		ret
		.size \name, .-\name
		.endm
		function low "endbr64; push %rbp; pop %rbp"
		function high "endbr64; push %r15; pop %r15"
		function other "endbr64; sub $8, %rsp; add $8, %rsp"
		function wide "endbr64; mov %r15, %rax"
		function plain "push %rbx; pop %rbx"
		function later "nop; nop; nop; nop; push %rbx; pop %rbx"
		function near_end "endbr64"
	END
	cc -shared -nostdlib -o libfunctions.so functions.s
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/driver/unit_elf_symbols.c" \
		$(tool_sources elf_symbols text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance \
			process_stat foreign_sandbox rooted_path clock array_grow)
	run -0 ./unit libfunctions.so low high other wide plain later near_end missing
	assert_output - <<-'END'
	low: 4
	high: 4
	other: 0
	wide: 0
	plain: 0
	later: 0
	near_end: 0
	missing: not there
	END
}

@test "offset of the rank in NCCL's communicators (code made by hand) is found if it is the only one that fits" {
	[ "$(uname -m)" = x86_64 ] || skip "reads x86-64"
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/driver/unit_nccl_layout.c" \
		$(tool_sources nccl_layout text foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat \
			foreign_sandbox rooted_path clock array_grow)
	run -0 ./unit
	assert_output - <<-'END'
	none: 0x0
	others: 0x0
	one: 0x34250
	behind the end: 0x0
	empty: 0x0
	larger than the file: 0x0
	the same again: 0x34250
	two: 0x0
	small: 0x0
	odd: 0x0
	END
}
