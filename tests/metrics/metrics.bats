#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics: what it shows against what each program says of itself, its formats, its
# bounds and its manners towards clients.

load ../lib/helpers
load ../lib/cost

CROWD=$B/tests/capture/crowd/crowd
ID=$(printf '%03d' $((RANDOM % 1000)))

setup() {
	requires bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
}

# exporter ARGS...: runs it in the background; its address is in $URL.
exporter() {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# traced NAME ARGS...: a workload with the agent, on the simulated driver, under a name that no
# other process of this machine has: the exporter sees them all. Its output is NAME.out.
traced() {
	cp "$WORKLOADS/$1" "./$ID$1"
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "./$ID$1" "${@:2}" >"$1.out"
}

# scrape [CURL-ARGS...]: into the file `scrape`.
scrape() {
	curl -sS -f --max-time 10 -o scrape "$@" "$URL/metrics"
}

# value COMM NAME [LABEL...]: sum of the samples NAME with comm="COMM" and all LABELs. What modules
# bring with them (kind="device_static") is no allocation that a program counts.
value() {
	local comm=$1 name=$2 label
	[ "$comm" = crowd ] || comm=$ID$comm
	grep "^$name{" scrape | grep "comm=\"$comm\"" | grep -v '_static"' >samples || true
	for label in "${@:3}"; do
		grep -F "$label" samples >fewer || true
		mv fewer samples
	done
	awk '{ sum += $NF } END { printf "%.9g\n", sum }' samples
}

@test "metrics (workloads) counts what each program counted" {
	exporter
	for w in saxpy copies memory syncs graphs failures; do traced $w; done
	sleep 0.3
	scrape
	for w in saxpy copies memory syncs graphs failures; do
		assert_equal "$w launches $(value $w cuda_kernel_launches_total)" \
			"$w launches $(($(expect_key $w.out launches) - $(expect_key $w.out launch_errors)))"
		assert_equal "$w errors $(value $w cuda_kernel_launch_errors_total)" \
			"$w errors $(expect_key $w.out launch_errors)"
		assert_equal "$w kernels $(value $w cuda_kernel_duration_seconds_count)" \
			"$w kernels $(expect_key $w.out kernels)"
		assert_equal "$w graphs $(value $w cuda_graph_launches_total)" \
			"$w graphs $(expect_key $w.out graph_launches)"
		assert_equal "$w memcpys $(value $w cuda_memcpy_copies_total)" \
			"$w memcpys $(expect_key $w.out memcpys)"
		assert_equal "$w bytes $(value $w cuda_memcpy_bytes_total)" \
			"$w bytes $(expect_key $w.out memcpy_bytes)"
		assert_equal "$w memsets $(value $w cuda_memset_operations_total)" \
			"$w memsets $(expect_key $w.out memsets)"
		assert_equal "$w allocs $(value $w cuda_memory_allocations_total)" \
			"$w allocs $(expect_key $w.out allocs)"
		assert_equal "$w frees $(value $w cuda_memory_frees_total)" \
			"$w frees $(expect_key $w.out frees)"
		assert_equal "$w syncs $(value $w cuda_sync_wait_seconds_count)" \
			"$w syncs $(expect_key $w.out syncs)"
	done
	assert_equal "$(grep '^cuda_trace_lost_records_total' scrape | awk '{ s += $NF } END { print s }')" 0
}

@test "clients of metrics (steps while others are swept) are not cut off" {
	cc -std=gnu11 -D_GNU_SOURCE -pthread -I"$TOP" -o unit "$TOP/tests/metrics/unit_clients.c" \
		"$TOP/cuda-trace/metrics/metrics_clients.c" "$TOP/cuda-trace/base/clock.c"
	run -0 ./unit
	assert_output "cut off: 0"
}

# CUPTI reports a context in a buffer, some ms after the first launches. A series of their own would begin
# with them, and no rate() would have them.
@test "metrics (launches before their context's device is reported) has them in the device's series, and in no other" {
	exporter
	while :; do curl -s "$URL/metrics" | grep "^cuda_kernel_launches_total{comm=\"${ID}launch-storm" || true; sleep 0.05; done >lines &
	local scraper=$! i
	for i in {1..25}; do traced launch-storm -n 1500 -p 100; done
	kill "$scraper"
	# Who asks without a pause may get an answer of the last second.
	sleep 1.2
	scrape
	assert_equal "$(value launch-storm cuda_kernel_launches_total device=)" 37500
	[ "$(wc -l <lines)" -gt 25 ]
	# A process may be seen at libcuda's entry points before its agent is there: of those no device is ever known.
	if grep -v 'device="\|source="driver"' lines >others; then fail "$(sort others | uniq -c)"; fi
}

# gated NAME ARGS...: a workload without the agent under a name of its own, started up and waiting
# at a gate; $NAME_PID. `opened NAME` lets it go on and waits for its end.
gated() {
	cp "$WORKLOADS/$1" "./$ID$1"
	mkfifo "gate.$1"
	start "$1" env PROGRAM_GATE="gate.$1" "$SIM" "./$ID$1" "${@:2}"
}

opened() {
	local pid=${1}_PID
	: >"gate.$1"
	finished "${!pid}"
	assert_equal "$1 $status" "$1 0"
}

# objects map|prog|link: the numbers of what the exporter holds in the kernel.
objects() {
	sed -n "s/^$1_id:[[:space:]]*//p" /proc/"$exporter_PID"/fdinfo/* | sort -u
}

# taken_over PID: the exporter's driver source watches it.
taken_over() {
	[ -n "${pids_map:=$(bpftool -j map show | jq -r '.[] | select(.name == "driver_pids") | .id' |
		grep -xF -e "$(objects map)")}" ] || return 1
	# Each of its eBPF objects has a map of that name; one is used.
	local id
	for id in $pids_map; do
		bpftool -j map dump id "$id" | grep -q "\"key\":$1," && return
	done
	return 1
}

# One link for all entry points of libcuda.
requires_uprobe_multi() {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
}

@test "metrics (programs without the agent) counts what they counted, and no time of the GPU" {
	requires_uprobe_multi
	local w pid
	exporter
	for w in saxpy copies memory syncs graphs failures; do gated $w; done
	for w in saxpy copies memory syncs graphs failures; do
		pid=${w}_PID
		wait_for 20 taken_over "${!pid}"
		opened $w
	done
	scrape
	for w in saxpy copies memory syncs graphs failures; do
		assert_equal "$w launches $(($(value $w cuda_kernel_launches_total) + $(value $w cuda_kernel_launch_errors_total) + $(value $w cuda_graph_launches_total) + $(value $w cuda_graph_launch_errors_total)))" \
			"$w launches $(($(expect_key $w.out launches) + $(expect_key $w.out graph_launches)))"
		assert_equal "$w allocs $(value $w cuda_memory_allocations_total)" "$w allocs $(expect_key $w.out allocs)"
		assert_equal "$w frees $(value $w cuda_memory_frees_total)" "$w frees $(expect_key $w.out frees)"
		assert_equal "$w live $(($(value $w cuda_memory_allocated_bytes_total) - $(value $w cuda_memory_freed_bytes_total)))" \
			"$w live $(expect_key $w.out live_bytes)"
		assert_equal "$w syncs $(value $w cuda_sync_wait_seconds_count)" "$w syncs $(expect_key $w.out syncs)"
	done
	assert_equal "$(value copies cuda_memcpy_copies_total)" "$(expect_key copies.out memcpys)"
	assert_equal "$(value copies cuda_memcpy_bytes_total)" "$(expect_key copies.out memcpy_bytes)"
	assert_equal "$(value failures cuda_kernel_launch_errors_total)" "$(expect_key failures.out launch_errors)"
	run grep -E "^cuda_(kernel_duration|gpu_busy|kernel_queue|memcpy_duration|memcpy_busy|memset).*comm=\"$ID" scrape
	assert_output ""
	run grep "comm=\"$ID" scrape
	refute_line --regexp 'device='
	assert_equal "$(grep -vc 'source="driver"' <<<"$output" || true)" 0
}

@test "metrics (as another user, without CAP_SYS_PTRACE) says how many processes it may not look into" {
	requires setpriv
	requires_uprobe_multi
	local caps=-all,+bpf,+perfmon,+sys_admin refused here
	# As root first: it may look nearly everywhere, as this shell may.
	exporter
	scrape
	here=$(cat /proc/[0-9]*/maps 2>&1 >/dev/null | grep -c 'Permission denied\|not permitted' || true)
	assert_equal "$(grep '^cuda_trace_unreadable_processes' scrape)" "cuda_trace_unreadable_processes $here"
	kill -TERM "$exporter_PID"
	finished "$exporter_PID"
	storm without
	start exporter setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set $caps \
		--inh-caps $caps --ambient-caps $caps "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
	scrape
	# With its rights: newer kernels let CAP_PERFMON read maps, older ones no other user's.
	refused=$(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set $caps \
		--inh-caps $caps --ambient-caps $caps cat /proc/[0-9]*/maps 2>&1 >/dev/null |
		grep -c 'Permission denied\|not permitted' || true)
	assert_equal "$(grep '^cuda_trace_unreadable_processes' scrape)" "cuda_trace_unreadable_processes $refused"
	# Never is nothing said of the storm, to which no probe can be put.
	run -0 grep '^cuda_processes{source="none"}' scrape
	[ "${output##* }" -ge 1 ] || [ "$refused" -gt "$here" ]
}

@test "metrics --sample (a program without the agent) scales nothing of it" {
	requires_uprobe_multi
	exporter --sample 10ms/1s
	gated copies
	wait_for 20 taken_over "$copies_PID"
	opened copies
	scrape
	assert_equal "$(value copies cuda_memcpy_copies_total)" "$(expect_key copies.out memcpys)"
	assert_equal "$(value copies cuda_memcpy_bytes_total)" "$(expect_key copies.out memcpy_bytes)"
	run ! grep "comm=\"${ID}copies\".*estimated=" scrape
}

@test "metrics (a program that holds memory) shows what it holds and the most it did" {
	exporter
	cp "$WORKLOADS/memory" "./${ID}memory"
	mkfifo gate
	start memory env PROGRAM_LAST_GATE=gate CUDA_INJECTION64_PATH="$AGENT" "$SIM" "./${ID}memory" 10 1048576
	wait_for 20 grep -q ^expect memory.out
	# Beside what its module's variables take.
	holds() {
		local static
		scrape
		static=$(sed -n "s/^cuda_memory_allocated_bytes_total{comm=\"${ID}memory\".*_static\"} //p" scrape)
		[ "$(($(value memory cuda_memory_live_bytes) - ${static:-0}))" = "$1" ]
	}
	# One MiB of device memory; the pinned one is the host's.
	wait_for 20 holds 1048576
	assert [ "$(value memory cuda_memory_peak_bytes)" -ge $((7 * 1048576)) ]
	: >gate
	finished "$memory_PID"
	gone() { scrape; ! grep -q "^cuda_memory_live_bytes{comm=\"${ID}memory\"" scrape; }
	wait_for 20 gone
}

@test "metrics (eight threads that allocate and free without the agent) knows to the byte what they hold" {
	requires_uprobe_multi
	exporter
	cp "$WORKLOADS/allocators" "./${ID}allocators"
	mkfifo gate last
	start allocators env PROGRAM_GATE=gate PROGRAM_LAST_GATE=last "$SIM" "./${ID}allocators" 8 20000
	wait_for 20 taken_over "$allocators_PID"
	: >gate
	wait_for 60 grep -q ^expect allocators.out
	scrape
	assert_equal "$(awk '/^cuda_trace_lost_records_total/ { n += $NF } END { print n }' scrape)" 0
	assert_equal "$(value allocators cuda_memory_allocations_total)" "$(expect_key allocators.out allocs)"
	assert_equal "$(value allocators cuda_memory_live_bytes)" "$(expect_key allocators.out live_bytes)"
	: >last
	finished "$allocators_PID"
}

@test "metrics (--events unified) counts what migrates" {
	exporter --events kernels,unified
	traced unified 4
	migrated() { scrape; [ "$(value unified cuda_unified_memory_migrated_bytes_total 'direction="h2d"')" = "$1" ]; }
	wait_for 20 migrated "$((4 * $(expect_key unified.out managed_bytes)))"
	assert_equal "$(value unified cuda_unified_memory_migrated_bytes_total 'direction="d2h"')" \
		"$((4 * $(expect_key unified.out managed_bytes)))"
	for p in cpu gpu; do
		assert [ "$(value unified cuda_unified_memory_page_faults_total "processor=\"$p\"")" -gt 0 ]
	done
}

@test "metrics (--events overhead) counts how often, and how long" {
	exporter --events kernels,overhead
	traced threads
	# The first launch loads the kernel, which takes the simulated driver 1 us.
	loaded() { scrape; [ "$(value threads cuda_overheads_total 'kind="lazy_load"')" = 1 ]; }
	wait_for 20 loaded
	assert_equal "$(value threads cuda_overhead_seconds_total 'kind="lazy_load"')" 1e-06
}

@test "metrics (graph launches that fail) counts them apart from those of kernels" {
	exporter
	traced refused
	sleep 0.3
	scrape
	assert_equal "$(value refused cuda_kernel_launch_errors_total) $(value refused cuda_graph_launch_errors_total)" "1 2"
	assert_equal "$(value refused cuda_graph_launches_total)" 0
}

@test "metrics (--events errors) counts each failed call once, by its code" {
	exporter --events kernels,memory,errors
	traced failures
	sleep 0.3
	scrape
	assert_equal "$(value failures cuda_api_errors_total)" "$(expect_key failures.out api_errors)"
	run grep "comm=\"${ID}failures\"" scrape
	assert_line --regexp '^cuda_api_errors_total.*code="2",error="CUDA_ERROR_OUT_OF_MEMORY"} 10$'
}

@test "metrics (copies, fills, prefetches that fail) counts each by what its name says" {
	exporter
	local key
	traced badcopies
	sleep 0.3
	scrape
	for key in h2d d2h d2d; do
		assert_equal "$key $(value badcopies cuda_memcpy_errors_total "direction=\"$key\"")" \
			"$key $(expect_key badcopies.out $key)"
	done
	assert_equal "$(value badcopies cuda_memcpy_errors_total)" 60
	assert_equal "$(value badcopies cuda_memset_errors_total)" "$(expect_key badcopies.out sets)"
	assert_equal "$(value badcopies cuda_memory_prefetch_errors_total)" "$(expect_key badcopies.out prefetches)"
	assert_equal "$(value badcopies cuda_memcpy_copies_total)" "$(expect_key badcopies.out memcpys)"
}

@test "metrics (looked at before its agent was loaded) counts a program once, by its agent" {
	requires_uprobe_multi
	exporter
	mkfifo gate
	echo '#include <fcntl.h>
		__attribute__((constructor)) static void wait_here(void) { open("gate", O_RDONLY); }' |
		cc -shared -fPIC -o early.so -x c -
	cp "$WORKLOADS/launch-storm" "./${ID}early"
	start early "$SIM" env LD_PRELOAD=./early.so CUDA_INJECTION64_PATH="$AGENT" "./${ID}early" -n 2000 -p 500
	wait_for 20 taken_over "$early_PID"
	: >gate
	finished "$early_PID"
	sleep 1.2
	scrape
	assert_equal "$(value early cuda_kernel_launches_total)" 2000
	assert_equal "$(value early cuda_kernel_launches_total 'source="driver"')" 0
}

# The look reads what is mapped, and puts the process among those watched at libcuda some milliseconds later: an agent
# that comes in between must not leave it there.
@test "metrics (an agent that is loaded while its process is looked at) counts a program once, whenever that is" {
	requires_uprobe_multi
	local delay programs=0
	exporter
	echo '#include <stdlib.h>
		#include <unistd.h>
		__attribute__((constructor)) static void wait_here(void) { usleep(atoi(getenv("DELAY"))); }' |
		cc -shared -fPIC -o late.so -x c -
	cp "$WORKLOADS/launch-storm" "./${ID}late"
	for ((delay = 0; delay < 160000; delay += 4000)); do
		DELAY=$delay CUDA_INJECTION64_PATH=$AGENT "$SIM" env LD_PRELOAD=./late.so "./${ID}late" -n 100 -p 1000 >/dev/null
		programs=$((programs + 1))
	done
	sleep 1.2
	scrape
	assert_equal "$(value late cuda_kernel_launches_total 'source="driver"') $(value late cuda_kernel_launches_total)" \
		"0 $((programs * 100))"
}

@test "metrics (copies that fail in a program without the agent) counts them by direction" {
	requires_uprobe_multi
	exporter
	local key
	gated badcopies
	wait_for 20 taken_over "$badcopies_PID"
	opened badcopies
	scrape
	for key in h2d d2h d2d; do
		assert_equal "$key $(value badcopies cuda_memcpy_errors_total "direction=\"$key\"" 'source="driver"')" \
			"$key $(expect_key badcopies.out $key)"
	done
	assert_equal "$(value badcopies cuda_memcpy_errors_total)" 60
}

@test "metrics (allocations that fail, copies by direction, bytes set, time waited) is what the program says" {
	exporter
	local key
	traced failures
	SIMCUDA_COPY_MBPS=1024 traced copies
	traced syncs
	sleep 0.3
	scrape
	# Two in a round: too much, and nothing.
	assert_equal "$(value failures cuda_memory_allocation_errors_total)" 20
	assert_equal "$(value copies cuda_memory_allocation_errors_total)" 0
	for key in h2d d2h d2d; do
		assert_equal "$key $(value copies cuda_memcpy_copies_total "direction=\"$key\"")" \
			"$key $(expect_key copies.out $key)"
		assert_equal "$key $(value copies cuda_memcpy_duration_seconds_count "direction=\"$key\"")" \
			"$key $(expect_key copies.out $key)"
		# The simulated GPU takes 1 us and 1 ms for each of 1 MiB.
		assert_equal "$key $(value copies cuda_memcpy_duration_seconds_sum "direction=\"$key\"")" \
			"$key $(awk "BEGIN { printf \"%.9g\", $(expect_key copies.out $key) * 1.025e-3 }")"
		assert_equal "$key $(value copies cuda_memcpy_errors_total "direction=\"$key\"")" "$key 0"
	done
	assert_equal "$(value copies cuda_memset_bytes_total)" "$(expect_key copies.out set_bytes)"
	# What the program took for it has the calls' way in and out, too; and one wait is before it counts.
	awk -v waited="$(value syncs cuda_sync_wait_seconds_sum)" -v said="$(expect_key syncs.out waited_ns)" \
		'BEGIN { exit !(waited > 0.9 * said / 1e9 && waited < 1.1 * said / 1e9 + 0.01) }' ||
		fail "waited $(value syncs cuda_sync_wait_seconds_sum) s; the program: $(expect_key syncs.out waited_ns) ns"
}

@test "metrics (times) shows each kernel's time in the right bucket" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter
	# Kernels of 1, 2 ... 16 us, as many of each.
	"$CROWD" --launches 16000 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	assert_equal "$(value crowd cuda_kernel_duration_seconds_sum)" \
		"$(awk "BEGIN { printf \"%.9g\", $(expect_key crowd.out gpu_ns) / 1e9 }")"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="1.024e-06"')" 1000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="4.096e-06"')" 4000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="1.6384e-05"')" 16000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="+Inf"')" 16000
	# Blocks of 32 to 512 threads, grids of 1 to 64 blocks, as many of each.
	assert_equal "$(value crowd cuda_kernel_threads_per_block_bucket 'le="64.0"')" 6400
	assert_equal "$(value crowd cuda_kernel_threads_per_block_sum)" \
		"$((16000 / 5 * (32 + 64 + 128 + 256 + 512)))"
	assert_equal "$(value crowd cuda_kernel_blocks_per_grid_bucket 'le="16.0"')" 4000
	assert_equal "$(value crowd cuda_kernel_blocks_per_grid_sum)" "$((16000 / 64 * 65 * 32))"
	assert_equal "$(value crowd cuda_kernel_threads_per_launch_count)" 16000
	assert_equal "$(value crowd cuda_kernel_threads_per_launch_bucket 'le="32.0"')" 50
	# One after the other without overlap: busy as long as they ran.
	assert_equal "$(value crowd cuda_gpu_busy_seconds_total)" \
		"$(value crowd cuda_kernel_duration_seconds_sum)"
	# A sample of one in 256, each 3 us after its launch.
	assert [ "$(value crowd cuda_kernel_queue_seconds_count)" -gt 30 ]
	assert_equal "$(value crowd cuda_kernel_queue_seconds_bucket 'le="1.024e-06"')" 0
	assert_equal "$(value crowd cuda_kernel_queue_seconds_bucket 'le="4.096e-06"')" \
		"$(value crowd cuda_kernel_queue_seconds_count)"
}

@test "metrics (kernels that overlap) is busy as long as at least one of them runs" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter
	# Each of 20, 40 ... 320 us, one begun each 20 us; and each of 2 to 32 us, with gaps.
	"$CROWD" --launches 16000 --times 20 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	seconds() { awk "BEGIN { printf \"%.9g\", $(expect_key crowd.out "$1") / 1e9 }"; }
	assert_equal "$(value crowd cuda_kernel_duration_seconds_sum)" "$(seconds gpu_ns)"
	assert_equal "$(value crowd cuda_gpu_busy_seconds_total)" "$(seconds busy_ns)"
	assert [ $(($(expect_key crowd.out gpu_ns) / $(expect_key crowd.out busy_ns))) -ge 8 ]
	local before
	before=$(value crowd cuda_gpu_busy_seconds_total)
	"$CROWD" --launches 16000 --times 2 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	assert_equal "$(awk "BEGIN { printf \"%.9g\", $(value crowd cuda_gpu_busy_seconds_total) - $before }")" "$(seconds busy_ns)"
	assert [ "$(expect_key crowd.out busy_ns)" -lt "$(expect_key crowd.out gpu_ns)" ]
}

@test "metrics (three processes on one GPU at the same times, numbered differently) counts what overlaps once" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter
	"$CROWD" --processes 3 --at-once --launches 16000 --times 2 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	local all
	all=$(expect_key crowd.out busy_ns)
	assert_equal "$(value crowd cuda_gpu_busy_seconds_total)" "$(awk "BEGIN { printf \"%.9g\", $all / 1e9 }")"
	# Points in time say which part of it that was: some 5,000 of 10,000.
	run -0 awk '/^cuda_device_busy_seconds_total{.*uuid="GPU-c0de0000-/ { sum += $NF; n++ } END { print n; print sum }' scrape
	assert_line --index 0 1
	assert awk "BEGIN { part = 3e9 * ${lines[1]} / $all; exit !(part > 0.95 && part < 1.05) }"
	grep -q '^cuda_device_copy_seconds_total{device="[01]",uuid="GPU-c0de0000-.*} 0$' scrape
}

# own NAME [LABEL]: what the exporter says of itself.
own() {
	awk -v name="$1${2:+{$2\}}" '$1 == name { sum += $NF } END { print sum + 0 }' scrape
}

@test "metrics (more contexts and devices than are distinguished) counts what has lost its label" {
	export CUDA_TRACE_AGENT=$CROWD
	local what
	exporter --events kernels
	"$CROWD" --launches 1600 --devices 16 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	for what in context device; do
		assert_equal "$what $(own cuda_trace_unlabelled_records_total "what=\"$what\"")" "$what 0"
	done
	# 100 devices with a context each: 1 to 100.
	"$CROWD" --launches 10000 --devices 100 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	# Launches have their context, kernels their device.
	assert_equal "$(own cuda_trace_unlabelled_records_total 'what="context"')" 3700
	assert_equal "$(own cuda_trace_unlabelled_records_total 'what="device"')" \
		"$((8400 + $(own_queue_beyond)))"
	assert_equal "$(value crowd cuda_kernel_launches_total)" 11600
	assert_equal "$(own cuda_trace_lost_records_total 'reason="maps_full"')" 0
}

# Of the queue sample, which has its records counted, too.
own_queue_beyond() {
	echo "$(($(value crowd cuda_kernel_queue_seconds_count) - $(grep '^cuda_kernel_queue_seconds_count' scrape | grep -F 'comm="crowd"' | grep -F device= | awk '{ s += $NF } END { print s + 0 }')))"
}

@test "metrics (more contexts than fit into the maps) counts the launches that are lost" {
	export CUDA_TRACE_AGENT=$CROWD
	local lost
	exporter --events kernels
	# So many devices that samples of the queue do not fit: their launches and kernels are counted all the same.
	"$CROWD" --launches 32600 --devices 16300 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	assert [ "$(own cuda_trace_unpaired_samples)" -gt 0 ]
	lost=$(own cuda_trace_lost_records_total 'reason="maps_full"')
	assert [ "$lost" -gt 0 ]
	assert_equal "$(($(value crowd cuda_kernel_launches_total) + $(value crowd cuda_kernel_duration_seconds_count) + lost))" 65200
}

@test "metrics (four threads and two devices at once) loses and doubles nothing" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter
	"$CROWD" --launches 400000 --threads 4 --devices 2 --failures 10 --wait-ms 5000 >crowd.out 3>&- &
	local crowd=$!
	# Each scrape flips the generations under the running batches.
	for _ in 1 2 3 4 5 6 7 8 9 10; do scrape; done
	wait $crowd
	sleep 0.2
	scrape
	assert_equal "$(value crowd cuda_kernel_launches_total)" "$(expect_key crowd.out launches)"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_count)" "$(expect_key crowd.out kernels)"
	assert_equal "$(value crowd cuda_kernel_launch_errors_total)" "$(expect_key crowd.out launch_errors)"
}

# consumer: promtool | itself | nothing to complain of, in both formats
@test "metrics (both formats) satisfies promtool and is negotiated" {
	requires promtool
	exporter --by-kernel 5
	traced saxpy
	traced failures
	sleep 0.3
	scrape -D headers
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	grep -qi '^content-type: text/plain; version=0.0.4' headers
	scrape -D headers -H 'Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.1'
	grep -qi '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8' headers
	assert_equal "$(tail -n 1 scrape)" "# EOF"
	grep -q '^cuda_kernel_launches_created{comm="'"$ID"'saxpy"' scrape
	grep -q '^# UNIT cuda_memcpy_bytes bytes$' scrape
	scrape -D headers -H 'Accept: application/openmetrics-text;q=0.1,text/plain'
	grep -qi '^content-type: text/plain' headers
	scrape -D headers --compressed
	grep -qi '^content-encoding: gzip' headers
	grep -q '^cuda_kernel_launches_total{comm="'"$ID"'saxpy"' scrape
}

@test "metrics (everything switched on, all workloads) satisfies promtool in both formats" {
	requires promtool
	local w
	exporter --events kernels,copies,memory,sync,errors,unified,overhead --sample 100ms/200ms --by-kernel 5 --by-pid
	for w in saxpy copies memory syncs graphs failures badcopies unified streams modules; do traced $w; done
	traced launch-storm -s 1 -p 1000 # long enough for windows
	gated copies
	wait_for 20 taken_over "$copies_PID"
	opened copies
	sleep 0.3
	scrape
	for w in cuda_memcpy_errors_total cuda_memset_errors_total cuda_memory_prefetch_errors_total cuda_api_errors_total \
		cuda_unified_memory_migrated_bytes_total cuda_unified_memory_page_faults_total cuda_graph_launches_total \
		cuda_sync_wait_seconds_bucket cuda_kernel_name_seconds_total cuda_trace_unlabelled_records_total; do
		grep -q "^$w{" scrape || fail "no $w"
	done
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	scrape -H 'Accept: application/openmetrics-text'
	assert_equal "$(tail -n 1 scrape)" "# EOF"
	# Each family once, each series once.
	assert_equal "$(grep '^# TYPE' scrape | sort | uniq -d)" ""
	assert_equal "$(grep -v '^#' scrape | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
}

@test "metrics (--no-created, --forget, SIGHUP) leaves out, drops and goes on" {
	exporter --no-created --forget 2s
	traced saxpy
	kill -HUP "$exporter_PID"
	sleep 0.3
	scrape -H 'Accept: application/openmetrics-text'
	assert_equal "$(value saxpy cuda_kernel_launches_total)" "$(expect_key saxpy.out launches)"
	run ! grep _created scrape
	kill -HUP "$exporter_PID"
	dropped() { scrape; ! grep -q "comm=\"${ID}saxpy\"" scrape; }
	wait_for 20 dropped
	# Counting begins anew.
	traced saxpy
	sleep 0.3
	scrape
	assert_equal "$(value saxpy cuda_kernel_launches_total)" "$(expect_key saxpy.out launches)"
}

@test "metrics (programs with and without the agent) counts processes by how they are seen" {
	requires_uprobe_multi
	exporter
	local cupti driver
	count_of() { sed -n "s/^cuda_processes{source=\"$1\"} //p" scrape; }
	scrape
	cupti=$(count_of cupti) driver=$(count_of driver)
	storm with CUDA_INJECTION64_PATH="$AGENT"
	storm without
	# Of others, too, should any run.
	seen() { scrape; [ "$(count_of cupti)" -gt "$cupti" ] && [ "$(count_of driver)" -gt "$driver" ]; }
	wait_for 30 seen
}

@test "metrics (other paths and methods) answers as an exporter should" {
	exporter
	assert_equal "$(curl -s "$URL/healthz")" ok
	curl -s "$URL/" | grep -q 'href="/metrics"'
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' "$URL/nothing")" 404
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' -d x=1 "$URL/metrics")" 405
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' -H "X: $(head -c 60000 /dev/zero | tr '\0' a)" "$URL/metrics")" 431
}

# clients COUNT TEXT [renew]: so many connections that send TEXT and neither finish it nor read; cut
# off, they come again at once with `renew`. $clients_PID; ready when it returns.
clients() {
	cat >clients.py <<-'EOF'
		import select, socket, sys
		host, port, count, text, renew = sys.argv[1].split(":")[0], int(sys.argv[1].split(":")[1]), *sys.argv[2:5]
		def connect():
		    client = socket.socket()
		    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		    client.connect((host, port))
		    client.sendall(text.encode().decode("unicode_escape").encode())
		    return client
		clients, watch = {}, select.poll()
		def add():
		    client = connect()
		    clients[client.fileno()] = client
		    watch.register(client, select.POLLRDHUP)
		for _ in range(int(count)):
		    add()
		print("ready", flush=True)
		while clients:
		    for fd, _ in watch.poll():
		        watch.unregister(fd)
		        clients.pop(fd).close()
		        if renew:
		            add()
	EOF
	start clients python3 clients.py "${URL#http://}" "$1" "$2" "${3:-}"
	wait_for 10 grep -q ready clients.out
}

# Twenty scrapes in a row: each with 200, soon, and of a document that is no older than this.
served() { # SECONDS
	local i age
	for i in $(seq 20); do
		run curl -s -o scrape -D headers -w '%{http_code} %{time_total}' --max-time 5 "$URL/metrics"
		assert_output --regexp '^200 [01]\.'
		age=$(sed -n 's/^[Aa]ge: \([0-9]*\).*/\1/p' headers)
		[ "${age:-0}" -le "$1" ]
		sleep 0.1
	done
}

@test "metrics (forty clients that never finish their request) still answers" {
	requires python3
	exporter
	local before after
	clients 40 'GET /metrics HTTP/1.1\r\nX: '
	assert_equal "$(ss -Htn state established "sport = :${URL##*:}" | wc -l)" 40
	before=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	run curl -s -o /dev/null -w '%{http_code} %{time_total}' --max-time 5 "$URL/metrics"
	assert_output --regexp '^200 0\.'
	# They are cut off after 10 s, whatever they send.
	wait_for 14 established 0
	after=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	assert [ $((after - before)) -lt 4096 ]
}

@test "metrics (more clients than it takes, that come again when they are cut off) lets each new one in" {
	requires python3
	exporter
	local before after
	before=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	clients 100 'GET /metrics HTTP/1.1\r\nX: ' renew
	served 0
	# More than it keeps, and what waits to be accepted.
	assert [ "$(ss -Htn state established "sport = :${URL##*:}" | wc -l)" -le 104 ]
	after=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	assert [ $((after - before)) -lt 8192 ]
}

# SLOW=1: as many as no node has.
@test "metrics (--by-pid --by-kernel, a crowd with names of its own) never shows more than was configured" {
	export CUDA_TRACE_AGENT=$CROWD
	local processes=1000 most=0 series launches
	[ -z "${SLOW:-}" ] || processes=10000
	exporter --by-pid --label-sets 20 --by-kernel 5 --events kernels
	start crowd "$CROWD" --processes $processes --names $((SLOW ? 10 : 20)) --own-names \
		--launches 128 --wait-ms 20000
	# Once more when it has ended: a busy machine scrapes rarely.
	local running=1
	while [ $running = 1 ]; do
		kill -0 "$crowd_PID" 2>/dev/null || running=0
		scrape
		series=$(grep -c '^cuda_kernel_launches_total' scrape || true)
		[ "$series" -le "$most" ] || most=$series
		assert [ "$(grep -v '_bucket' scrape | grep -c '^cuda_kernel_name_executions_total{.*kernel="kernel_' || true)" -le 5 ]
	done
	finished "$crowd_PID"
	assert_equal "$status" 0
	launches=$(expect_key crowd.out launches)
	scrape
	# 20 of them, and comm="other".
	assert [ "$most" -le 21 ]
	assert [ "$most" -ge 20 ]
	assert_equal "$(awk '/^cuda_trace_label_sets / { print $NF }' scrape)" 21
	# Whoever is not shown any more, or never was, is reported, whichever way it went.
	assert [ "$(awk '/^cuda_trace_label_sets_(evicted|folded)_total/ { n += $NF }
		/^cuda_trace_folded_records_total{what="process"/ { n += $NF / 256 }
		END { printf "%d\n", n }' scrape)" -ge $((processes - 20)) ]
	# Names that were too many for a moment are no records.
	grep -q '^cuda_trace_lost_names_total [0-9]' scrape
	# Of others, too, should any run.
	assert [ "$(awk '/^cuda_trace_records_total{probe="launch_batch"/ { print $NF }' scrape)" -ge "$launches" ]
	assert_equal "$(awk '/^cuda_trace_lost_records_total/ { n += $NF } END { print n }' scrape)" 0
	# A few hundred series: 21 label sets of 35 at most, 26 kernels twice, the exporter's own.
	assert [ "$(grep -vc '^#' scrape)" -le $((21 * 60 + 2 * 26 + 60)) ]
}

@test "metrics (300 processes come and go) counts them all under their name" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter --events kernels
	"$CROWD" --processes 300 --launches 640 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	assert_equal "$(value crowd cuda_kernel_launches_total)" "$(expect_key crowd.out launches)"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_count)" "$(expect_key crowd.out kernels)"
}

@test "metrics (processes that end while it cannot read) forgets them" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter --events kernels
	"$CROWD" --launches 64 --wait-ms 5000 >crowd.out
	# More than the ring buffer takes: most ends are lost.
	kill -STOP "$exporter_PID"
	"$CROWD" --processes 3000 --launches 64 --names 200 >crowd.out
	kill -CONT "$exporter_PID"
	known() { scrape && sed -n 's/^cuda_processes{source="cupti"} //p' scrape; }
	wait_for 10 bash -c "[ $(known) -gt 0 ]"
	forgotten() { [ "$(known)" = 0 ]; }
	wait_for 25 forgotten
}

@test "metrics (--by-kernel 5, 20000 names) shows five and the sum of the rest" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter --by-kernel 5 --events kernels
	"$CROWD" --names 20000 --launches 100000 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	assert_equal "$(grep -c '^cuda_kernel_name_executions_total{comm="crowd"' scrape)" 6
	grep -q '^cuda_kernel_name_executions_total{comm="crowd",device="0",kernel="other"}' scrape
	assert_equal "$(value crowd cuda_kernel_name_executions_total)" "$(expect_key crowd.out kernels)"
}

@test "metrics (web configuration) wants the password, speaks TLS, follows changes" {
	requires htpasswd openssl
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=localhost 2>/dev/null
	printf 'tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prom: %s\n' \
		"$(htpasswd -nbBC 5 prom secret | cut -d: -f2)" >web.yml
	exporter --web-config web.yml
	code() { curl -sk -o /dev/null -w '%{http_code}' "$@" "$URL/metrics"; }
	[[ $URL == https://* ]]
	assert_equal "$(code)" 401
	assert_equal "$(code -u prom:wrong)" 401
	assert_equal "$(code -u nobody:secret)" 401
	assert_equal "$(code -u prom:secret)" 200
	assert_equal "$(code -u prom:secret --tls-max 1.1 || true)" 000
	printf 'basic_auth_users:\n  prom: %s\n' "$(htpasswd -nbBC 5 prom other | cut -d: -f2)" >web.yml
	assert_equal "$(code -u prom:secret)" 401
	assert_equal "$(code -u prom:other)" 200
	echo 'nonsense: true' >web.yml
	assert_equal "$(code -u prom:other)" 500
}

@test "metrics (100 connections guess passwords) lets the right one in at its first try" {
	requires htpasswd python3
	printf 'basic_auth_users:\n  prom: %s\n' "$(htpasswd -nbBC 10 prom secret | cut -d: -f2)" >web.yml
	exporter --web-config web.yml
	# A first right password is hashed, as the one below is: the file has changed by then.
	without curl -sf -o /dev/null -u prom:secret "$URL/metrics"
	printf 'basic_auth_users:\n  prom: %s\n' "$(htpasswd -nbBC 10 prom secret | cut -d: -f2)" >web.yml
	local place=${URL#http://} mib
	# shellcheck disable=SC2154 # made by start
	mib=$(peak "$exporter_PID")
	start guessers python3 "$BATS_TEST_DIRNAME/guess.py" "${place%:*}" "${place##*:}" 100
	wait_for 20 grep -q guessing guessers.out
	# Some have an answer by now, and guess again.
	attacked curl -sf -o /dev/null -u prom:secret "$URL/metrics"
	# Known by now: no guess costs anything any more, and none gets in.
	run -0 curl -s -o /dev/null -w '%{http_code}\n' -u prom:secret "$URL/metrics"
	assert_output 200
	run -0 curl -s -o /dev/null -w '%{http_code}\n' -u prom:Secret "$URL/metrics"
	assert_output 401
	attacked_server "$exporter_PID" "$mib"
	# It ends with the connections that still wait.
	kill -TERM "$exporter_PID"
	finished "$exporter_PID"
}

@test "metrics (--textfile) replaces the file at once and in the old format" {
	requires promtool
	mkdir dir
	start exporter "$CUDA_TRACE" metrics --textfile dir/cuda.prom --interval 200ms
	wait_for 10 test -s dir/cuda.prom
	traced saxpy
	# Written anew five times a second, where the machine has nothing else to do.
	written() { cp dir/cuda.prom scrape && [ "$(value saxpy cuda_kernel_launches_total)" != 0 ]; }
	wait_for 20 written
	assert_equal "$(value saxpy cuda_kernel_launches_total)" "$(expect_key saxpy.out launches)"
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	# node_exporter has these itself.
	run ! grep -E '^(process_|go_)| [0-9.e+]+ [0-9]{10,}$' scrape
	kill -TERM "$exporter_PID"
	finished "$exporter_PID"
	assert_equal "$status" 0
	assert_equal "$(ls dir)" cuda.prom
}

@test "metrics (bad input) says one line and fails" {
	exporter
	run --separate-stderr ct metrics --listen "${URL#http://}"
	assert_failure 1
	[[ $stderr == *"in use"* ]]
	run --separate-stderr ct metrics --listen 12832
	assert_failure 2
	run --separate-stderr ct metrics --textfile /nonexistent/cuda.prom -d 5
	assert_failure 1
	[[ $stderr == *"/nonexistent/cuda.prom: No such file or directory"* ]]
	# Where even root may not write.
	run --separate-stderr ct metrics --textfile /proc/cuda.prom -d 5
	assert_failure 1
	[[ $stderr == *"/proc/cuda.prom"* ]]
	assert_equal "$(wc -l <<<"$stderr")" 1
	run --separate-stderr ct metrics --events kernels,nonsense
	assert_failure 2
	[[ $stderr == *"'nonsense' is none of"* ]]
	run --separate-stderr ct metrics --nonsense
	assert_failure 2
	[[ $stderr == *"nonsense"* ]]
	assert_equal "$(wc -l <<<"$stderr")" 1
}

@test "metrics (an IPv6 address, no address) serves there, and only there" {
	grep -q ' lo$' /proc/net/if_inet6 2>/dev/null || skip "no IPv6 here"
	local port
	start six "$CUDA_TRACE" metrics --listen '[::1]:0'
	wait_for 15 grep -q 'listening on http://\[::1\]:' six.err
	port=$(sed -n 's/.*listening on .*:\([0-9]*\)\/metrics$/\1/p' six.err)
	curl -sS -g -f "http://[::1]:$port/metrics" | grep -q '^cuda_trace_'
	run -7 curl -sS "http://127.0.0.1:$port/healthz"
	start every "$CUDA_TRACE" metrics --listen ':0'
	wait_for 15 grep -q 'listening on' every.err
	port=$(sed -n 's/.*listening on .*:\([0-9]*\)\/metrics$/\1/p' every.err)
	curl -sS -g -f "http://[::1]:$port/healthz"
	curl -sS -f "http://127.0.0.1:$port/healthz"
}

# refused TEXT MESSAGE: a web configuration that is refused with one line that says where and why.
refused() {
	printf '%b' "$1" >web.yml
	run --separate-stderr ct metrics --listen 127.0.0.1:0 --web-config web.yml -d 5
	assert_failure 1
	assert_equal "$stderr" "cuda-trace metrics: $2"
}

@test "metrics (wrong web configurations) says where and why, in one line" {
	requires htpasswd openssl
	local hash
	hash=$(htpasswd -nbBC 5 prom secret | cut -d: -f2)
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2>/dev/null
	openssl genrsa -out other.pem 2048 2>/dev/null
	for wrong in plain "${hash%?}" "\$2z${hash:3}" "${hash%?}!" "${hash:0:4}x5${hash:6}"; do
		refused "basic_auth_users:\n  prom: '$wrong'\n" \
			'web.yml:2: not a bcrypt hash (htpasswd -nBC 10 NAME makes one): prom'
	done
	refused 'basic_auth_users:\n - prom\n' 'web.yml:1: a list or a deeper level is not known here'
	refused 'tls_server_config:\n  cert_file: cert.pem\n' 'web.yml:1: cert_file and key_file belong together: tls_server_config'
	refused 'tls_server_config:\n  cert_file: cert.pem\n  key_file: nowhere.pem\n' 'web.yml:3: No such file or directory: nowhere.pem'
	refused 'tls_server_config:\n  cert_file: cert.pem\n  key_file: other.pem\n' \
		'the HTTP server did not start: are certificate and key a pair of PEM files?'
	refused 'tls_server_config:\n  min_version: TLS99\n' 'web.yml:2: no such TLS version: TLS99'
	refused 'tls_server_config:\n  client_ca_file: ca.pem\n' 'web.yml:2: not supported in tls_server_config: client_ca_file'
	refused 'http_server_config:\n  headers:\n    Location: x\n' 'web.yml:3: header not allowed: Location'
	refused 'nonsense: true\n' 'web.yml:1: not supported: nonsense'
	refused 'basic_auth_users: {prom\n' "web.yml:2: did not find expected ',' or '}'"
	run --separate-stderr ct metrics --listen 127.0.0.1:0 --web-config nowhere.yml
	assert_failure 1
	assert_equal "$stderr" "cuda-trace metrics: nowhere.yml: No such file or directory"
}

@test "metrics (clients that never read their answer) still answers, with what is a few seconds old" {
	requires python3
	export CUDA_TRACE_AGENT=$CROWD
	local before after requests
	# Documents of some 100 KiB, so that none of them fits into the sockets' buffers twenty times.
	exporter --by-pid --events kernels
	"$CROWD" --processes 60 --launches 128 --wait-ms 5000 >crowd.out
	scrape
	assert [ "$(wc -c <scrape)" -gt 100000 ]
	before=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	requests=$(for _ in $(seq 60); do printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; done)
	# Each of them keeps a document; twelve more than there may be.
	clients 20 "$requests" renew
	crowded() { curl -s -D headers -o scrape --max-time 5 "$URL/metrics"; grep -qi '^age:' headers; }
	wait_for 20 crowded
	# Who has kept one for 5 s is cut off.
	served 7
	sleep 6
	served 7
	run curl -s -o scrape -w '%{http_code}' --max-time 5 -H 'Accept: application/openmetrics-text' "$URL/metrics"
	assert_output 200
	after=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	assert [ $((after - before)) -lt 16384 ]
	kill -TERM -- "-$clients_PID"
	wait_for 10 established 0
	# And of now again.
	"$CROWD" --launches 64 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape -D headers
	run ! grep -i '^age:' headers
	assert_equal "$(grep -c '^cuda_kernel_launches_total{comm="crowd"' scrape)" 61
}

@test "metrics (a client asks 3000 times without a pause) answers from documents that are 1 s old at most, and burns no CPU" {
	requires python3
	unset CUDA_TRACE_PAGES
	exporter
	cat >hammer.py <<-'EOF'
		import http.client, os, re, sys, time

		def cpu():
		    fields = open(f"/proc/{sys.argv[2]}/stat").read().rsplit(")", 1)[1].split()
		    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

		connection = http.client.HTTPConnection(sys.argv[1])
		first, last, used, began = {}, {}, cpu(), time.monotonic()
		for i in range(3000):
		    requested = time.monotonic()
		    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"} if i % 2 else {})
		    body = connection.getresponse().read()
		    if i % 2:
		        continue
		    made = int(re.search(rb"^cuda_trace_scrapes_total (\d+)$", body, re.M).group(1))
		    first.setdefault(made, time.monotonic())
		    last[made] = requested
		seconds = time.monotonic() - began
		print(f"documents={len(first)} oldest={max(last[n] - first[n] for n in first):.3f}",
		      f"seconds={seconds:.3f} cpu={cpu() - used:.2f}")
		sys.exit(not (max(last[n] - first[n] for n in first) <= 1 and len(first) <= 2 + 10 * seconds and cpu() - used < 1))
	EOF
	run -0 python3 hammer.py "${URL#http://}" "$exporter_PID"
	# What happens is shown a moment later.
	traced saxpy
	sleep 1.2
	scrape
	assert_equal "$(value saxpy cuda_kernel_launches_total)" 10
}

@test "metrics (a request whose body comes byte by byte) cuts it off" {
	exporter
	local host=${URL#http://}
	(exec 9<>"/dev/tcp/${host%:*}/${host#*:}"
	trap '' PIPE
	printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n' >&9
	for _ in $(seq 60); do sleep 1; printf x >&9 || exit 0; done) 2>/dev/null 3>&- &
	wait_for 5 established 1
	for _ in {1..45}; do
		sleep 1
		! established 0 || break
	done
	established 0
	jobs -p | xargs -r kill 2>/dev/null || true
}

established() {
	[ "$(ss -Htn state established "sport = :${URL##*:}" | wc -l)" = "$1" ]
}

# code_at PID FILE ADDRESS: four bytes of a mapped library, as the process would run them.
code_at() {
	local base
	base=$(awk -v file="$2" '$NF == file { split($1, range, "-"); print range[1]; exit }' "/proc/$1/maps")
	[ -n "$base" ] || return 1
	dd if="/proc/$1/mem" bs=1 count=4 skip=$((0x$base + $3)) status=none | od -An -tx1
}

probe_of() { # WHAT of launch_batch: Location or Semaphore
	readelf -n "$AGENT" | grep -A 1 'Name: launch_batch' | sed -n "s/.*$1: \(0x[0-9a-f]*\).*/\1/p"
}

libcuda_of() {
	awk '/libcuda\.so/ { print $NF; exit }' "/proc/$1/maps"
}

launch_address() {
	nm -D "$(libcuda_of "$1")" | awk '$3 == "cuLaunchKernel" { print "0x" $1 }'
}

runs_as_before() { # PID FILE ADDRESS BYTES
	[ "$(code_at "$1" "$2" "$3")" = "$4" ]
}

# What is there while nobody else's tool has a breakpoint (int3) on it; empty: somebody's stays.
own_code_at() {
	for _ in $(seq 100); do
		if [ "$(uname -m)" != x86_64 ] || [[ $(code_at "$@") != " cc"* ]]; then
			code_at "$@"
			return
		fi
		sleep 0.1
	done
}

differs() {
	[ "$(code_at "$1" "$2" "$3")" != "$4" ]
}

# storm NAME ENV...: launches until it is signalled to end, and has mapped what it will.
storm() {
	start "$1" env "${@:2}" "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	local pid=${1}_PID
	wait_for 20 grep -q libcuda "/proc/${!pid}/maps"
	[ $# = 1 ] || wait_for 20 grep -q "$AGENT" "/proc/${!pid}/maps"
}

@test "metrics (killed with -9) leaves nothing in the kernel and no probe in a program" {
	requires readelf
	requires_uprobe_multi
	local agent_code driver_code libcuda address id kind
	storm with CUDA_INJECTION64_PATH="$AGENT"
	storm without
	libcuda=$(libcuda_of "$without_PID")
	address=$(launch_address "$without_PID")
	agent_code=$(own_code_at "$with_PID" "$AGENT" "$(probe_of Location)")
	driver_code=$(own_code_at "$without_PID" "$libcuda" "$address")
	[ -n "$agent_code" ] && [ -n "$driver_code" ] || skip "another tool watches these files, too"
	exporter
	wait_for 20 differs "$with_PID" "$AGENT" "$(probe_of Location)" "$agent_code"
	wait_for 20 differs "$without_PID" "$libcuda" "$address" "$driver_code"
	# Semaphores are 16 bits wide; the two bytes behind it are the next one's.
	[[ "$(code_at "$with_PID" "$AGENT" "$(probe_of Semaphore)")" != " 00 00"* ]]
	for kind in prog map link; do objects $kind >"$kind.ids"; test -s "$kind.ids"; done
	kill -KILL -- "-$exporter_PID"
	wait_for 20 runs_as_before "$with_PID" "$AGENT" "$(probe_of Location)" "$agent_code"
	wait_for 20 runs_as_before "$without_PID" "$libcuda" "$address" "$driver_code"
	dormant() { [[ "$(code_at "$with_PID" "$AGENT" "$(probe_of Semaphore)")" == " 00 00"* ]]; }
	wait_for 20 dormant
	for kind in prog map link; do
		while read -r id; do
			wait_for 20 eval "! bpftool $kind show id $id >/dev/null 2>&1"
		done <"$kind.ids"
	done
	kill -0 "$with_PID"
	kill -0 "$without_PID"
}

@test "metrics (a program without the agent beside one with it) costs only the former a trap" {
	requires_uprobe_multi
	local libcuda address code
	storm with CUDA_INJECTION64_PATH="$AGENT"
	storm without
	libcuda=$(libcuda_of "$with_PID")
	address=$(launch_address "$with_PID")
	code=$(own_code_at "$with_PID" "$libcuda" "$address")
	[ -n "$code" ] || skip "another tool watches this file, too"
	exporter
	wait_for 20 differs "$without_PID" "$libcuda" "$address" "$code"
	runs_as_before "$with_PID" "$libcuda" "$address" "$code"
}

@test "metrics (hostile process name) escapes it" {
	export CUDA_TRACE_AGENT=$CROWD
	exporter --events kernels
	# The same file under another name: probes belong to files.
	local name=$'a"b\\\nc'
	ln "$CROWD" "$name" || skip "needs hard links"
	"./$name" --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	run grep -cF 'cuda_kernel_launches_total{comm="a\"b\\\\x0ac",' scrape
	assert_output 1
}
