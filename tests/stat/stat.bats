#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace stat: its sums against what each program says of itself.

load ../lib/helpers
load ../lib/cost

EMIT=$B/tests/agent/emitter/emit

# The tool, watching the emitter's library from the start.
ct_emit() {
	CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so ct "$@"
}

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Like these, measured. The time is the tool's own, after its program's end.
emit_without() {
	CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so without "$CUDA_TRACE" "${@:1:$#-1}" sh -c "{ ${*: -1}; } && touch over" "$EMIT"
}
emit_attacked() {
	CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so attacked "$CUDA_TRACE" "${@:1:$#-1}" sh -c "{ ${*: -1}; } && touch over" "$EMIT"
}

# sums_equal OUT JSON KEY...: the totals equal the program's own count, and nothing was lost.
sums_equal() {
	local out=$1 json=$2 key; shift 2
	totals_of "$json"
	for key; do
		assert_equal "$key=${TOTALS[$key]}" "$key=$(expect_key "$out" "$key")"
	done
	assert_equal "$(jq .lost.total "$json")" 0
}

@test "stat, record (times that cannot be) leave these records out, and count them as malformed" {
	requires root bpf
	emit_without stat --json -o out.json -- '"$0" pairs 3'
	emit_attacked stat --json -o out.json -- '"$0" impossible 3'
	json out.json '.totals | .launches == 3 and .kernels == 3 and .gpu_ns < 1e6'
	json out.json '.lost.malformed == 24 and .lost.total == 24'
	emit_without record -f -o r.db -- '"$0" pairs 3'
	emit_attacked record -f -o r.db -- '"$0" impossible 3'
	run -0 ct report --json --kernels r.db
	assert_equal "$(jq -s 'map(.kernels) | add' <<<"$output")" 3
	run -0 ct report --json --losses r.db
	assert_output --partial malformed
}

@test "stat (saxpy) sums up what the program counted" {
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	sums_equal out out.json launches kernels launch_errors graph_launches
	json out.json '.kernels | length == 1'
	json out.json '.kernels[0] | .name == "saxpy" and .share == 1 and .count == 10'
	json out.json '.kernels[0] | .total_ns >= .count * .min_ns and .max_ns >= .mean_ns'
	json out.json '.kernels[0] | .block == [256,1,1] and (.grid | length == 3)'
	json out.json '.source == "cupti" and (.processes | length == 1)'
	json out.json '.processes[0] | .process == "saxpy" and .state == "ended" and .exit_status == 0'
}

@test "stat (launch-storm in 4 threads) sums up every launch" {
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 50000 -t 4 >out
	sums_equal out out.json launches kernels launch_errors
}

@test "stat (every workload) equals what the program counted, in every key" {
	local workload key keys
	for workload in graphs copies memory syncs unified nvtx streams failures runtime threads peers; do
		ct stat --errors --json -o out.json -- "$SIM" "$WORKLOADS/$workload" >out
		keys=$(grep '^expect ' out | tail -n 1 | tr ' ' '\n' | sed -n 's/=.*//p')
		totals_of out.json
		for key in $keys; do
			# What a program says beside it; any other key that the tool lacks is a failure.
			case $key in managed_bytes | nvtx_ranges | nvtx_marks | streams | waited_ns | peer_copies | devices | h2d | d2h | d2d | set_bytes | instantiations | created_nodes) continue ;; esac
			assert_equal "$workload $key=${TOTALS[$key]}" "$workload $key=$(expect_key out "$key")"
		done
		assert_equal "$workload $(jq .lost.total out.json)" "$workload 0"
	done
}

@test "stat --runtime (graphs launched by the runtime) counts each launch once" {
	ct stat --runtime --json -o out.json -- "$SIM" "$WORKLOADS/graphs" 20 5 runtime >out
	sums_equal out out.json launches graph_launches kernels launch_errors
}

@test "stat (graph launches that fail, seen and recorded) has them among those that failed" {
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/refused" >out
	sums_equal out out.json launches graph_launches launch_errors
	json out.json '.totals | .graph_launch_errors == 2 and .launch_errors == 3 and .unfinished == 0'
	json out.json '.processes | length == 1 and .[0].graph_launch_errors == 2'
	ct stat -o out.txt -- "$SIM" "$WORKLOADS/refused" >out
	grep -q '^1 launches (1 failed), 2 graph launches (2 failed), 0 kernels;' out.txt
	grep -qE '^ +[0-9]+ refused +1 +3 +2 +0 ' out.txt
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/refused" >out
	ct report --json r.db >report.json
	json report.json '.totals | .graph_launch_errors == 2 and .launch_errors == 3'
}

@test "stat -e graphs (instantiations) has their count and the host's time, and those that failed" {
	local events
	for events in graphs kernels,graphs,errors graphs,api; do
		ct stat -e "$events" --json -o out.json -- "$SIM" "$WORKLOADS/graphs" >out
		json out.json ".graph_instantiations | .count == $(expect_key out instantiations) and .total_ns >= .count * .min_ns and .min_ns > 0"
		json out.json '.lost.total == 0'
	done
	ct stat -e graphs -o out.txt -- "$SIM" "$WORKLOADS/graphs" >out
	grep -A 2 '^Graphs made ready by the host$' out.txt | grep -qE '^ instantiation +2 '
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/graphs" >out
	json out.json '.graph_instantiations.count == 0'
	ct stat -e graphs --json -o out.json -- "$SIM" "$WORKLOADS/refused" >out
	json out.json '.graph_instantiations.count == 1 and (.errors | map([.call, .result, .count]) == [["cuGraphInstantiateWithFlags",1,1]])'
	# A recording has it among the calls, once.
	for events in graphs graphs,api; do
		ct record -q -e "$events" -o "$events.db" -- "$SIM" "$WORKLOADS/graphs" >out
		assert_equal "$(sqlite3 "$events.db" "SELECT count(*), min(end > start) FROM CUPTI_ACTIVITY_KIND_RUNTIME
			JOIN StringIds ON id = nameId WHERE value LIKE 'cuGraphInstantiate%'")" "2|1"
	done
}

# errors_of ARGS... -- PROGRAM...: "CALL RESULT COUNT" of each line of stat ARGS
errors_of() {
	ct stat --json -o out.json "$@" >out
	jq -r '.errors[] | "\(.call) \(.result_name) \(.count)"' out.json
}

@test "stat (failed launches, without --errors) names call and code, however many records tell of each" {
	local launches=$'cuLaunchKernel CUDA_ERROR_INVALID_VALUE 30\ncuLaunchKernelEx CUDA_ERROR_INVALID_VALUE 10
cuLaunchKernel CUDA_ERROR_INVALID_HANDLE 10'
	local other=$'cuMemAlloc_v2 CUDA_ERROR_OUT_OF_MEMORY 10\ncuMemAlloc_v2 CUDA_ERROR_INVALID_VALUE 10
cuModuleGetFunction CUDA_ERROR_NOT_FOUND 10\ncuDeviceGet CUDA_ERROR_INVALID_DEVICE 10'
	run errors_of -- "$SIM" "$WORKLOADS/failures"
	assert_output "$launches"
	json out.json ".totals | .api_errors == 50 and .launch_errors == $(expect_key out launch_errors)"
	run errors_of --api 'cuMem*' -- "$SIM" "$WORKLOADS/failures"
	assert_output "$launches"$'\n'"$(head -n 2 <<<"$other")"
	# Twice each: as launches, and by their family or as failures.
	for option in --errors --api=*; do
		run errors_of "$option" -- "$SIM" "$WORKLOADS/failures"
		assert_output "$launches"$'\n'"$other"
		sums_equal out out.json launches launch_errors api_errors
	done
	ct stat -o out.txt -- "$SIM" "$WORKLOADS/failures" >out
	grep -qE '^ +30 cuLaunchKernel +1 CUDA_ERROR_INVALID_VALUE$' out.txt
	# And of a recording that has no failures by themselves, and of one that has.
	for events in kernels kernels,errors; do
		ct record -q -e "$events" -o "$events.db" -- "$SIM" "$WORKLOADS/failures" >out
		ct report --json "$events.db" >report.json
		json report.json ".totals.api_errors == ([.errors[].count] | add) and
			(.errors[:3] | map(\"\(.call) \(.result_name) \(.count)\") | join(\"\n\")) == \"${launches//$'\n'/\\n}\""
	done
	json report.json ".totals.api_errors == $(expect_key out api_errors)"
}

# The last of each call and result, and the driver's inside it are the runtime's.
@test "stat (failed calls) shows the arguments of the last of each, a recording of it the same" {
	local last='.errors[] | [.call, .count, .last]'
	ct stat --errors --json -o out.json -- "$SIM" "$WORKLOADS/refused" >out
	grep '^{' out | jq -cs 'group_by(.call) | map({call: .[0].call, count: length, last: (.[-1] | del(.call) | if . == {} then null else . end)}) | .[]' | jq -cS . | sort >refused
	assert_equal "$(jq -cS '.errors[] | {call, count, last}' out.json | sort)" "$(<refused)"
	local events
	for events in kernels,errors errors; do
		rm -f r.db
		ct record -q -e "$events" -o r.db -- "$SIM" "$WORKLOADS/refused" >out
		ct report --json r.db >report.json
		assert_equal "$(jq -cS "$last" report.json)" "$(jq -cS "$last" out.json)"
	done
	ct stat --errors -o out.txt -- "$SIM" "$WORKLOADS/refused" >out
	grep -A 1 -E '^ +1 cudaMalloc +2 ' out.txt | grep -qE '^ +last: 70368744177664 bytes$'
	grep -A 1 -E '^ +2 cudaMemcpy ' out.txt | grep -qE '^ +last: 62 bytes DtoH$'
	# Launches that fail are reported without --errors, too.
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/refused" >out
	json out.json '.errors | map(.last) == [{"kernel": "empty", "grid": [3,2,1], "block": [4096,1,1], "dynamic_shared": 1024}, null]'
	# A recording of before has no columns for it.
	sqlite3 r.db "$(for column in bytes address copyKind value deviceId kernelName gridX gridY gridZ blockX blockY blockZ \
		dynamicSharedMemory; do echo "ALTER TABLE CUDA_TRACE_ERRORS DROP COLUMN $column;"; done)"
	ct report --json r.db >report.json
	json report.json '.totals.api_errors == 17 and ([.errors[].last | values] | length <= 1)'
}

@test "stat (runtime calls that failed, by each source of records) counts them once, not their driver calls" {
	local options runtime=$'cudaLaunchKernel cudaErrorInvalidConfiguration 1\ncudaLaunchKernelExC cudaErrorInvalidConfiguration 1'
	for options in --runtime --errors '--errors --runtime' '--api=*' '--runtime --api=cu*Launch*'; do
		# shellcheck disable=SC2086 # several options
		run errors_of $options -- "$SIM" "$WORKLOADS/runtime"
		assert_equal "$options: $output" "$options: $runtime"
		sums_equal out out.json launches launch_errors api_errors
	done
	run errors_of -- "$SIM" "$WORKLOADS/runtime"
	assert_output $'cuLaunchKernel CUDA_ERROR_INVALID_VALUE 1\ncuLaunchKernelEx CUDA_ERROR_INVALID_VALUE 1'
}

@test "stat (a wait that failed) says so once, by the call's name where calls are reported" {
	local options call
	for options in '' --errors '--api=cu*Sync*'; do
		call=cuEventSynchronize
		[ -n "$options" ] || call='[wait for an event]'
		# shellcheck disable=SC2086 # none, or one
		SIMCUDA_FAIL_WAIT=3 run -1 ct stat $options --json -o out.json -- "$SIM" "$WORKLOADS/syncs"
		assert_equal "$(jq -c '[.totals.api_errors, (.errors[] | .call, .result, .count)]' out.json)" "[1,\"$call\",719,1]"
	done
	# Before 12.8 CUPTI does not say how a wait ended.
	SIMCUDA_CUPTI_VERSION=12.4 SIMCUDA_FAIL_WAIT=3 run -1 ct stat --json -o out.json -- "$SIM" "$WORKLOADS/syncs"
	json out.json '.totals.api_errors == 0 and .errors == []'
}

@test "stat (more failures of different kinds than lines) has the rest in a line of their own" {
	ct_emit stat --json -o out.json -- "$EMIT" failures 100 >out
	json out.json '.totals | .api_errors == 100 and .launch_errors == 100'
	json out.json '.errors | length == 65 and ([.[].count] | add) == 100'
	json out.json '.errors[64] == {"call":"[other calls]","result":null,"result_name":"several","count":36}'
	ct_emit stat -o out.txt -- "$EMIT" failures 100 >out
	grep -qE '^ +36 \[other calls\] +- several$' out.txt
}

@test "stat (modules that come and go, names where others were) distinguishes their kernels" {
	# The last: kernels are over, and reported, while the calls that launched them have not returned.
	for turn in "0 0" "1 0" "1 1000000 4 501"; do
		read -r reused returns size <<<"$turn"
		# shellcheck disable=SC2086
		SIMCUDA_NAMES_REUSED=$reused SIMCUDA_RETURN_NS=$returns ct stat --json -o out.json -- \
			"$SIM" "$WORKLOADS/modules" $size >out
		sums_equal out out.json launches kernels launch_errors
		json out.json "[.kernels[] | {(.name): [.launches, .count]}] | add == {
			even: [$(expect_key out even), $(expect_key out even)],
			odd: [$(expect_key out odd), $(expect_key out odd)]}"
	done
}

# has_waited FILE COUNT: the program has said so often that it waits
has_waited() {
	[ "$(grep -cx ready "$1")" = "$2" ]
}

# kernels_are on|off: by the last change of activity kinds in cupti.log.
kernels_are() {
	local state=off
	! tail -n 1 cupti.log | grep -q 'kinds=\([0-9]*,\)*10[, ]' || state=on
	[ $state = "$1" ]
}

@test "stat (comes back after modules have come and gone unseen) knows their kernels' names" {
	mkfifo lines
	start mods bash -c "SIMCUDA_LOG=$PWD/cupti.log SIMCUDA_NAMES_REUSED=1 CUDA_INJECTION64_PATH='$AGENT' exec '$SIM' '$WORKLOADS/modules' 2 3003 wait <lines"
	exec 9>lines
	wait_for 20 has_waited mods.out 1
	# Somebody is there all the time, of whom CUPTI keeps its subscriber, but not for launches.
	start other "$CUDA_TRACE" stat -v -e copies -p "$mods_PID"
	wait_for 20 grep -q watching other.err
	local kernel round=0
	for kernel in even odd; do
		start it "$CUDA_TRACE" stat -v -e kernels --json -o "$kernel.json" -p "$mods_PID"
		wait_for 20 grep -q watching it.err
		wait_for 20 kernels_are on
		echo >&9
		wait_for 20 has_waited mods.out $((round * 2 + 2))
		kill -INT "$it_PID"
		finished "$it_PID"
		json "$kernel.json" "[.kernels[] | [.name, .launches, .count]] == [[\"$kernel\", 3003, 3003]]"
		# The module goes, and the next one comes.
		wait_for 20 kernels_are off
		echo >&9
		round=$((round + 1))
		[ $round = 2 ] || wait_for 20 has_waited mods.out 3
	done
	exec 9>&-
	finished "$mods_PID"
}

@test "stat (copies) sums up by direction, and says where the time went" {
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/copies" >out
	json out.json "[.copies[] | select(.direction != \"memset\").bytes] | add == $(expect_key out memcpy_bytes)"
	json out.json '.time | .gpu_busy_ns > 0 and .gpu_busy_ns <= .window_ns and
		.gpu_busy_ns + .overlap_ns == .kernel_ns + .copy_ns and .idle_ns == .window_ns - .gpu_busy_ns'
}

# What the sums say in a unit test, of records that no simulated program has.
unit() {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/stat/unit_stat.c" \
		$(tool_sources call_arguments event_keys stat_events stat_heap stat_errors stat_objects stat_ranges stat_range_tree stat_time stat_lines stat_shares gpu_turns array_grow gpu_set interval_set record_times clock api_names result_names)
	run -0 ./unit
}

@test "stat (work whose places are known) divides the time as it was spent" {
	unit
	# Launch 0-100, kernels 40-300 and 650-800, copy 200-500, wait 450-700.
	assert_line 'times window 800 of 800 kernel 410 copy 300 busy 610 launch-bound 40 idle-wait 150'
	assert_line 'no gpu window 400 of 400 kernel 0 copy 0 busy 0 launch-bound 100 idle-wait 300'
}

@test "stat (processes that launch nothing) take no other one's place among those whose launches are kept" {
	unit
	assert_line 'many left out 1 launch-bound 3200'
}

@test "stat (several processes, several GPUs) counts what overlaps on a GPU once, in one window" {
	unit
	# Kernels 100-400, 300-600, 350-500 of three processes; one waits from 300 to 1000.
	assert_line 'several window 1000 of 1000 kernel 500 copy 0 busy 500 launch-bound 100 idle-wait 400'
	# Devices differ by what they are, not by their numbers: 0-400 and 200-1000 on one, 0-300 on the other.
	assert_line 'by gpu window 1000 of 2000 kernel 1300 copy 0 busy 1300 launch-bound 0 idle-wait 0'
	assert_line 'by gpu gpu 0 uuid 7 busy 1000'
	assert_line 'by gpu gpu 0 uuid 8 busy 300'
}

@test "stat (two processes that share a GPU) gives a moment to whose work is young there, or whose turn it is" {
	unit
	# The arithmetic is in unit_stat.c: of a 13089.5, of b 7645.5, and ten changes in proportion.
	assert_line "turns mps 0 busy 22100 nobody's 0: a 13951 alone 10400 b 8149 alone 2000"
	# Half of each moment: 4450 + 50 + 2500 + 3750 + 4500.
	assert_line "at once mps 1 busy 22100 nobody's 0: a 15250 alone 10400 b 6850 alone 2000"
}

# advice FILE BEGINNING: the line of advice that begins so
advice() {
	jq -er --arg with "$2" '.advice[] | select(startswith($with))' "$1"
}

@test "stat (more processes at a time than it keeps launches and waits of) says how many are left out" {
	mkfifo first last
	cat >crowd <<-'EOF'
		for i in {1..35}; do "$SIM" "$WORKLOADS/launch-storm" -n 10 & done
		wait
	EOF
	start tool env PROGRAM_GATE=first PROGRAM_LAST_GATE=last "$CUDA_TRACE" stat --json -o out.json -- bash crowd
	# All launch at the same moment: where launches lie far apart, it keeps more of the past, of fewer processes.
	waiting() {
		local pid waiting=0
		for pid in $(pgrep -x launch-storm); do
			[ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || ! grep -q wait_for_partner "/proc/$pid/wchan" || ((++waiting))
		done
		[ $waiting = 35 ]
	}
	wait_for 60 waiting
	sleep 0.5 >first
	# All are there until the last one has launched.
	wait_for 60 eval '[ "$(grep -c ^expect tool.out)" = 35 ]'
	# One that has said so may not wait yet.
	sleep 2 >last
	finished "$tool_PID"
	json out.json '(.processes | length) == 35 and .totals.kernels == 350 and .time.left_out_processes == 3'
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 10 >out
	json out.json '.time.left_out_processes == 0'
}

@test "stat (launches of 20 us, kernels of 2 us) finds it launch-bound, for as long as it is" {
	SIMCUDA_LAUNCH_NS=20000 SIMCUDA_KERNEL_NS=2000 ct stat --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 2000 >out
	# In each launch the GPU is idle but for the kernel before it: for 18 of at least 20 us.
	json out.json '.totals.launches == 2000 and .time.kernel_ns <= 2000 * 2512 and .time.kernel_ns >= 2000 * 1900'
	json out.json '.time | .launch_bound_ns >= 2000 * 17000 and .launch_bound_ns <= .idle_ns and .overlap_ns == 0 and .copy_ns == 0'
	advice out.json 'Launch-bound: the GPU was idle for '
	# And not where kernels take longer than their launches: so long that a host which does not get to run for some
	# milliseconds does not matter.
	SIMCUDA_LAUNCH_NS=20000 SIMCUDA_KERNEL_NS=800000 ct stat --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 200 >out
	json out.json '.time.gpu_busy_ns >= 200 * 790000 and .time.launch_bound_ns * 10 < .time.window_ns'
	run ! advice out.json 'Launch-bound'
}

@test "stat (kernels that begin 5 ms after their launch) finds the waits for nothing" {
	local waits
	SIMCUDA_LATENCY_NS=5000000 ct stat --json -o out.json -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/syncs" 5 1000 >out
	waits=$(json out.json .totals.syncs)
	# Each wait is for 5 ms of an idle GPU, less what had gone by of them, and a kernel of 1 ms:
	# what the host waited and no kernel ran, to one in a hundred.
	json out.json "$waits >= 15 and .time.idle_wait_ns >= $waits * 4000000 and
		((.totals.sync_ns - .totals.gpu_ns) as \$truth | .time.idle_wait_ns - \$truth | fabs < \$truth / 100)"
	advice out.json 'Waiting for nothing: the GPU was idle for '
	# Kernels long enough that a host which wakes up late does not matter.
	ct stat --json -o out.json -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/syncs" 5 20000 >out
	json out.json '.time.idle_wait_ns * 10 < .time.window_ns'
	run ! advice out.json 'Waiting for nothing'
}

@test "stat (kernels that come seconds after their launch) finds the waits for nothing, all of them" {
	local latency us waits
	# The next kernel is always queued: CUPTI keeps its buffer to the end. Of 1 s, of 4 s.
	for latency in 50 200; do
		us=$((latency * 1000 / 5))
		SIMCUDA_LATENCY_NS=${latency}000000 ct stat --json -o out.json -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/syncs" 5 $us >out
		# The first wait is not in waited_ns.
		waits=$(($(expect_key out waited_ns) - 15 * us * 1000 + latency * 1000000))
		json out.json ".time.idle_wait_ns - $waits | fabs < $waits / 50"
		json out.json ".time | .kernel_ns <= 16 * ${us}000 and .kernel_ns > 15.9 * ${us}000"
		json out.json '.time | .late_events == 0 and .late_gpu_ns == 0 and .late_host_ns == 0'
		advice out.json 'Waiting for nothing: the GPU was idle for '
	done
}

@test "stat (records that come after more time than is kept) counts them, and advises nothing from the rest" {
	SIMCUDA_LATENCY_NS=600000000 ct stat -o out -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/syncs" 5 1000 >/dev/null
	run -0 grep -c '^ [1-9][0-9]* events arrived too late to be placed: [0-9].* of kernels and copies, [0-9].* of launches and waits$' out
	run -0 grep -c '^No advice on launches, overlap and waits: records of more than 1% of the time arrived too late' out
	run ! grep 'Waiting for nothing' out
}

@test "stat (late records) keeps more of the past while kernels are to come, within bounds, and counts all else" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o late "$TOP/tests/stat/unit_stat_late.c" \
		$(tool_sources stat_time stat_lines stat_shares gpu_turns array_grow stat_advice gpu_set interval_set record_times clock text)
	run -0 ./late
	assert_line 'on time: kernels 200 idle-wait 300 ms, late 0: 0 + 0 ms, doubtful 0, beyond 2688 KiB'
	assert_line 'seconds: kernels 1600 idle-wait 2400 ms, late 0: 0 + 0 ms, doubtful 0, beyond 13440 KiB'
	# 4800 ms of kernels in 12 s, of which 8.6 s are kept.
	assert_line 'too late: kernels 3480 idle-wait 5209 ms, late 67: 1320 + 3310 ms, doubtful 2, beyond 27776 KiB'
	# Of launches without GPU times nothing is to come: the first late one makes it more.
	assert_line --partial 'without times: kernels 480 '
	assert_line 'out of order: kernels 3574 idle-wait 4426 ms, late 6: 326 + 0 ms, doubtful 1, beyond 6272 KiB'
	# Lines of 32 processes and a GPU, and of the shares of some: as many slices as fit into 64 MiB.
	assert_line --partial 'together: 63 MiB, 8 left out, '
	assert_line --partial 'doubtful 0: Waiting for nothing: '
	assert_line --partial 'doubtful 1: No advice on launches, overlap and waits: records of more than 1% of the time '
	refute_line --partial 'doubtful 1: Waiting'
}

@test "stat (slow pageable copies beside long kernels, many allocations) advises, with its numbers" {
	SIMCUDA_COPY_MBPS=100 SIMCUDA_KERNEL_NS=3000000 ct stat --json -o out.json -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.time.overlap_ns == 0'
	run -0 advice out.json 'Pageable copies: '
	assert_output --partial ' at 0.10 GB/s.'
	run -0 advice out.json 'No overlap: copies took '
	assert_output --partial ' of which only 0 ns while kernels ran.'
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/memory" 20 >out
	run -0 advice out.json 'Many allocations: '
	assert_output --partial "$(expect_key out allocs), with $(json out.json .totals.kernels) kernels"
	run ! advice out.json 'Pageable copies'
}

@test "stat (memory not freed) names it, with the peak" {
	ct stat --errors --json -o out.json -- "$SIM" "$WORKLOADS/memory" >out
	json out.json "[.memory[].live_bytes] | add == $(expect_key out live_bytes)"
	json out.json '.memory | all(.peak_bytes >= .live_bytes and .allocs >= .frees)'
	json out.json '.advice | any(startswith("Still held at the end: 2.0 MiB in 2 allocations"))'
	json out.json '.errors | map(del(.last)) == [{"call":"cuMemAlloc_v2","result":2,"result_name":"CUDA_ERROR_OUT_OF_MEMORY","count":10}]'
}

@test "stat --api (nested calls) shares the host's time among them without counting it twice" {
	# Far more calls than are held at a time.
	ct stat --api '*' --json -o out.json -- "$SIM" "$WORKLOADS/runtime" 20000 >out
	json out.json '.lost.total == 0'
	# What runtime calls made is theirs: only calls that nobody else in the table made add up.
	json out.json '.api.host_ns == ([.api.calls[] | select(.parent == null).total_ns] | add)'
	json out.json '.api.host_ns == ([.api.calls[].own_ns] | add)'
	json out.json '[.api.calls[] | select(.parent == null).share] | add | . > 0.9999 and . < 1.0001'
	json out.json '[.api.calls[] | select(.domain == "driver" and .parent)] | length > 5'
	# The program's own, before it has a context; and no call lost the one that made it.
	json out.json '[.api.calls[] | select(.domain == "driver" and .parent == null).call] | all(test("^cu(Init|Device|Ctx)"))'
	json out.json '[.api.calls[].parent | select(.)] | all(test("^cuda"))'
	json out.json '.api.calls as $all | all($all[] | select(.parent); . as $c
		| $all | any(.call == $c.parent and .domain == "runtime" and .total_ns >= $c.total_ns))'
	json out.json "[.api.calls[] | select(.call | test(\"^cuLaunchKernel\")).count] | add == $(expect_key out launches)"
	json out.json "[.api.calls[] | select(.call | test(\"^cudaLaunchKernel\")) | .failed] | add == $(expect_key out launch_errors)"
	json out.json "[.api.calls[] | select(.call == \"cudaMalloc\").count] == [$(expect_key out allocs)]"
	# A driver call stands below the runtime call that made it.
	json out.json '[.api.calls[].call] | index("cuMemAlloc_v2") == index("cudaMalloc") + 1'
	ct stat --api '*' -o out.txt -- "$SIM" "$WORKLOADS/runtime" 20 >out
	grep -qE '^Calls of the CUDA API \([0-9.]+ [mu]s of the host.s time, all threads\)$' out.txt
	grep -A1 -E ' +2 .* 0 cudaMalloc$' out.txt | grep -qE ' +2 .* 0   cuMemAlloc_v2$'
}

@test "stat --api GLOB (and no other option) has those calls alone, or none" {
	ct stat --api 'cuMem*lloc*' --json -o out.json -- "$SIM" "$WORKLOADS/runtime" 20 >out
	# Nobody in the table made them.
	assert_equal "$(jq -c '[.api.calls[] | [.call, .parent, .count]]' out.json)" '[["cuMemAlloc_v2",null,2]]'
	json out.json '.api.host_ns == .api.calls[0].total_ns and .api.calls[0].share == 1'
	ct stat --api 'cuLaunchKernel*' --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 20000 -t 4 >out
	json out.json ".api.calls | map(.count) == [$(expect_key out launches)]"
	ct stat -e kernels,api --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.api.calls | any(.call == "cuLaunchKernel" and .count == 10)'
	ct stat --errors --json -o out.json -- "$SIM" "$WORKLOADS/failures" >out
	assert_equal "$(jq -c '[has("api"), .api]' out.json)" '[true,null]'
}

@test "stat, trace, record, metrics -e overhead (each kind) name the same kinds" {
	# The simulation loads a kernel when it is first launched; all threads share a buffer.
	ct stat --json -e kernels,overhead -o out.json -- "$SIM" "$WORKLOADS/threads" >out
	assert_equal "$(jq -c '.overhead | keys' out.json)" '["buffer_request","lazy_load"]'
	json out.json '.overhead | .lazy_load.count == 1 and .buffer_request.count >= 1'
	ct trace --json -e kernels,overhead -o trace.json -- "$SIM" "$WORKLOADS/threads" >out
	assert_equal "$(jq -r 'select(.event == "overhead").kind' trace.json | sort -u | tr '\n' ' ')" 'buffer_request lazy_load '
	ct record -q -e kernels,overhead -o r.db -- "$SIM" "$WORKLOADS/threads" >out
	assert_equal "$(ct report --csv --sql 'SELECT DISTINCT label FROM CUPTI_ACTIVITY_KIND_OVERHEAD
		JOIN ENUM_CUPTI_OVERHEAD_TYPE ON id = overheadType ORDER BY id' r.db | tail -n +2 | tr -d '\r"' | tr '\n' ,)" \
		'Lazy function loading,Activity buffer request,'
	ct report --timeline t.json r.db
	assert_equal "$(jq -c '[.traceEvents[] | select(.cat == "overhead").name] | unique' t.json)" \
		'["Activity Buffer Request","Lazy Function Loading"]'
	start exporter "$CUDA_TRACE" metrics -v --events kernels,overhead --textfile -
	wait_for 20 grep -q watching exporter.err
	cp "$WORKLOADS/threads" overhead-kinds
	CUDA_INJECTION64_PATH=$AGENT sim ./overhead-kinds >out
	kill -INT "$exporter_PID"
	finished "$exporter_PID"
	assert_equal "$(sed -n 's/^cuda_.*overhead.*comm="overhead-kinds".*kind="\([a-z_]*\)".*/\1/p' exporter.out | sort -u | tr '\n' ' ')" \
		'buffer_request lazy_load '
}

@test "stat, trace -e overhead (modules that are compiled) have each compilation, with its thread" {
	ct stat -e overhead --json -o out.json -- "$SIM" "$WORKLOADS/memory" >out
	# Its kernels, and the module with its variables.
	json out.json '.jit | keys == ["compile"] and .compile.count == 2 and .compile.total_ns >= .compile.max_ns and .compile.min_ns > 0'
	ct stat -e overhead -o out.txt -- "$SIM" "$WORKLOADS/memory" >out
	grep -A2 -x 'Compilation at run time (JIT)' out.txt | grep -qE '^ compile +2 '
	ct trace -e overhead --json -o trace.json -- "$SIM" "$WORKLOADS/memory" >out
	run jq -es 'map(select(.event == "jit")) | length == 2 and all(.kind == "compile" and .tid == .pid)' trace.json
	assert_success
}

@test "stat -e objects (and pools, by default) counts streams by priority, and knows what they belong to" {
	ct stat -e kernels,objects --json -o out.json -- "$SIM" "$WORKLOADS/streams" >out
	json out.json "[.streams[] | .count] | add == $(expect_key out streams)"
	json out.json '[.streams[] | [.kind, .priority, .count]] | sort == [["non-blocking", -5, 1000], ["non-blocking", 0, 1000]]'
	json out.json '[.contexts[] | [.context, .device, .kind, .parent_context]] == [[1, 0, "context", null]] and
		.contexts[0].pid == .processes[0].pid and .streams[0].context == 1 and
		.objects_left_out == {devices: 0, contexts: 0, streams: 0, pools: 0} and .left_out == []'
	SIMCUDA_DEVICES=3 ct stat -e kernels,objects --json -o out.json -- sh -c '"$0" "$1" 2; "$0" "$1" 2' "$SIM" "$WORKLOADS/peers" >out
	json out.json '[.devices[] | [.device, .name, .compute_capability, .processes]] | sort ==
		[range(3) | [., "Simulated GPU", "9.0", 2]]'
	json out.json '[.devices[].uuid] | unique | length == 3 and all(test("^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))'
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/memory" >out
	# Two are used: the program's own, which it trims in each of 10 rounds and destroys, and the device's.
	json out.json '[.pools[] | [.kind, .trims, .destroyed, .peak_used_bytes <= .peak_size_bytes, .peak_used_bytes > 0]] | sort ==
		[["local", 0, false, true, true], ["local", 10, true, true, true]]'
	json out.json '.devices == [] and .contexts == [] and .streams == []'
	ct stat -e kernels,memory,objects -o out.txt -- "$SIM" "$WORKLOADS/memory" >out
	grep -A2 -x Devices out.txt | grep -qE '^ +0 +9\.0 +80\.00 GiB .* 0000:01:00\.0 +GPU-51515151-.*Simulated GPU$'
	grep -A2 -x Contexts out.txt | grep -qE '^ +[0-9]+ +1 +0 context +- +-$'
	grep -A2 -x Streams out.txt | grep -qE '^ +[0-9]+ +1 non-blocking +0 +1$'
	grep -A3 -x 'Memory pools' out.txt | grep -qE ' local +32\.00 MiB .* 10 destroyed$'
}

@test "stat (text) names the kernel, the process and the totals" {
	ct stat -o out.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	run cat out.txt
	assert_line --regexp '^ +SHARE +TOTAL +COUNT +MEAN +MIN +MAX +GRID +BLOCK +KERNEL$'
	assert_line --regexp '^ 100\.0% .* 10 .*256x1x1 +saxpy$'
	assert_line --regexp '^ +[0-9]+ saxpy +10 +0 +0 +10 '
	assert_line --regexp "^$(expect_key out launches) launches \\(0 failed\\), 0 graph launches, 10 kernels; "
	assert_line 'nothing was lost'
}

@test "stat (PROGRAM writes) leaves its stdout alone and reports on stderr" {
	"$SIM" "$WORKLOADS/saxpy" >plain
	ct stat -- "$SIM" "$WORKLOADS/saxpy" >out 2>err
	run diff plain out
	assert_success
	grep -q 'nothing was lost' err
}

@test "stat (PROGRAM reads) hands it stdin" {
	run --separate-stderr ct stat -- cat <<<"hello"
	assert_success
	assert_output hello
}

@test "stat -p (SIGINT while it attaches, in the background of a script) ends, with a summary" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	local round
	for round in 1 2 3 4 5; do
		start it "$CUDA_TRACE" stat -v --json -o s.json -p "$storm_PID"
		wait_for 20 test -s it.err
		kill -INT "$it_PID"
		finished "$it_PID" 10
		assert_equal "$round $status" "$round 0"
		json s.json '.totals.launches >= 0'
	done
}

@test "stat (SIGTERM, SIGINT while it attaches) does not start PROGRAM" {
	local signal round
	for signal in TERM INT; do
		# On a busy machine, the signal may come too late for that.
		for round in {1..20}; do
			rm -f ran
			start it "$CUDA_TRACE" stat -v -o s.txt -- sh -c 'touch ran'
			until [ -s it.err ] || ! kill -0 "$it_PID" 2>/dev/null; do :; done
			kill "-$signal" "$it_PID" 2>/dev/null || true
			finished "$it_PID" 10
			[ -e ran ] || break
		done
		[ ! -e ran ]
		assert_equal "$signal $status" "$signal 1"
		grep -qx 'cuda-trace stat: interrupted before sh was started' it.err
	done
}

@test "stat (PROGRAM exits 7) exits 7" {
	run ct stat -o out.txt -- sh -c 'exit 7'
	assert_failure 7
}

@test "stat (PROGRAM ended by a signal) ends by the same signal" {
	run bash -c '"$0" stat -o out.txt -- sh -c "kill -TERM \$\$"; echo $?' "$CUDA_TRACE"
	assert_line 143
}

@test "stat (two CUDA programs below one shell) sums up both" {
	ct stat --json -o out.json -- sh -c '"$0" "$1" & "$0" "$1"; wait' "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.processes | length == 2'
	json out.json '.totals.launches == 20 and .totals.kernels == 20 and .lost.total == 0'
}

@test "stat -e objects (more contexts than it keeps) counts those that it leaves out" {
	# It makes two contexts in each turn.
	ct stat -e objects --json -o out.json -- "$SIM" "$WORKLOADS/resets" 65 >/dev/null
	json out.json '(.contexts | length) == 128 and .objects_left_out == {devices: 0, contexts: 2, streams: 0, pools: 0}'
}

@test "stat (more of a kind than there are lines) has the rest in a line of their own" {
	unit
	assert_line 'copies 49 lines 60 last others 12'
	assert_line 'ranges 65 lines 200 last [other ranges] 72'
	assert_line 'memory 33 lines last others device -1 allocs 8 bytes 128'
	assert_line 'processes 4096 lines last [others] pid 0 allocs 3077'
	assert_line 'untracked 100 of 262244 live 4194304'
	assert_line 'contexts 128 left out 5 first 2 parent 1'
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.totals.untracked_allocs == 0 and .processes[0].untracked_allocs == 0'
}

@test "stat (memory records without a time) counts them as invalid" {
	SIMCUDA_BAD_TIMES=3 ct stat -e memory --json -o out.json -- "$SIM" "$WORKLOADS/memory" >out
	# Every ninth begins at 0; of the 162 some are of pools.
	json out.json ".lost.invalid > 10 and .lost.total == .lost.invalid and
		.totals.allocs + .totals.frees < $(expect_key out allocs) + $(expect_key out frees) and
		.totals.allocs + .totals.frees + .lost.invalid >= $(expect_key out allocs) + $(expect_key out frees)"
}

@test "stat -p (a program that runs) attaches late and ends by --duration" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 500
	ready storm
	ct stat -p "$storm_PID" -d 1 --json -o out.json
	json out.json '.totals.kernels > 100 and .totals.launches > 100 and .lost.total == 0'
	json out.json ".processes | length == 1 and .[0].pid == $storm_PID"
	json out.json '[.kernels[].name] == ["empty"]'
}

@test "stat -p (SIGINT) ends with the sums and exit status 0" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 500
	ready storm
	start tool "$CUDA_TRACE" stat -v -p "$storm_PID"
	wait_for 20 grep -q "watching .* in process" tool.err
	sleep 0.5
	kill -INT "$tool_PID"
	finished "$tool_PID"
	assert_equal "$status" 0
	grep -q ' launches (0 failed)' "$BATS_TEST_TMPDIR/tool.out"
}

@test "stat -p (the process ends meanwhile) ends, too" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 2 -p 500
	ready storm
	LIMIT=20 ct stat -p "$storm_PID" --json -o out.json
	json out.json '.totals.launches > 0 and .lost.total == 0'
}

@test "stat (two tools at once) both see everything" {
	local name=two-$$
	cp "$WORKLOADS/launch-storm" "$name"
	start one "$CUDA_TRACE" stat -v -c "$name" --json -d 6
	start two "$CUDA_TRACE" stat -v -c "$name" --json -d 6
	wait_for 20 grep -q watching one.err
	wait_for 20 grep -q watching two.err
	"$SIM" env CUDA_INJECTION64_PATH="$AGENT" "./$name" -n 20000 >out
	finished "$one_PID"
	finished "$two_PID"
	sums_equal out one.out launches kernels
	sums_equal out two.out launches kernels
}

# one_leaves: `stat` into stays.json, and one that leaves before. Their process ids differ by a multiple of eight.
one_leaves() {
	start storm "${PROMPT[@]}" "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 200
	ready storm
	start stays "$CUDA_TRACE" stat -v -p "$storm_PID" --json -o stays.json -d 6
	wait_for 20 grep -q "watching .* in process" stays.err
	# shellcheck disable=SC2016 # the inner shell's
	run -0 sh -c 'echo $(($1 + 799)) >/proc/sys/kernel/ns_last_pid; shift; "$@" & echo $!; wait $!' sh "$stays_PID" \
		"$CUDA_TRACE" stat -p "$storm_PID" --json -o leaves.json -d 1
	[ $((lines[0] % 8)) = $((stays_PID % 8)) ] || skip "another program has taken the process id"
	finished "$stays_PID"
	json leaves.json '.totals | .launches > 1000 and (.kernels - .launches | fabs) <= 2 and .untimed == 0'
	assert_equal "$(json leaves.json .lost.total)" 0
}

# Agents count tools by their hello probes. Once, the number came from the process id, and who left first
# took a tenth of a second of kernels from the other one.
@test "stat -p (two tools whose process ids differ by a multiple of eight) lose nothing when one of them leaves" {
	requires root
	one_leaves
	json stays.json '.totals | .launches > 1000 and (.kernels - .launches | fabs) <= 2 and .untimed == 0'
	assert_equal "$(json stays.json .lost.total)" 0
}

@test "stat -p (all hello probes are taken, so that two tools look like one) counts what it misses" {
	requires root python3
	start taken "${PYTHON:-python3}" -c '
import socket, time
held = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for i in range(8)]
for i, one in enumerate(held):
    one.bind("\0cuda-trace-hello-%d" % i)
print("ready", flush=True)
time.sleep(60)'
	ready taken
	one_leaves
	json stays.json '.totals.untimed as $untimed | $untimed > 0 and .lost.other_left >= $untimed and .lost.other_left < $untimed * 2 + 50'
}

@test "stat (a tool that comes while another listens) gets names and states at once" {
	local i
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 30 -p 1000
	ready storm
	start first "$CUDA_TRACE" stat -v -p "$storm_PID" -d 25
	wait_for 20 grep -q "watching .* in process" first.err
	for i in 1 2 3; do
		ct stat -p "$storm_PID" -d 1 --json -o out.json
		json out.json '[.kernels[].name] == ["empty"] and .processes[0].state == "active"'
	done
}

@test "stat -k (a name that matches, one that does not) keeps only the first" {
	ct stat -k '^sax' --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.totals.kernels == 10 and .totals.launches == 10'
	ct stat -k nothing --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.totals.kernels == 0 and .totals.launches == 0 and .kernels == []'
}

@test "stat --min-duration (longer than any kernel) counts no kernel" {
	ct stat --min-duration 10s --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json out.json '.totals.kernels == 0 and .totals.launches == 10'
}

@test "stat (a program that never calls CUDA) says so" {
	run ct stat -- true
	assert_success
	assert_line 'No CUDA activity was seen: neither PROGRAM nor any process that it started made a CUDA call.'
}

@test "stat (failed launches) counts them" {
	ct_emit stat --json -o out.json -- "$EMIT" failures >out
	sums_equal out out.json launches kernels launch_errors
}

@test "stat (launches whose kernels do not come) says how many" {
	ct_emit stat --json -o out.json -- "$EMIT" unfinished 7 >out
	json out.json '.totals.launches == 7 and .totals.kernels == 0 and .totals.unfinished == 7'
	ct_emit stat -o out.txt -- "$EMIT" unfinished 7 >out
	grep -q '^7 launches had no finished kernel by the end$' out.txt
	# Without records of kernels, the tool waits for none.
	"$SIM" "$CUDA_TRACE" stat -e launches --json -o out.json -- "$WORKLOADS/saxpy" >out
	json out.json '.totals.launches == 10 and .totals.unfinished == 0'
}

@test "stat (numbers missing, losses reported) counts both by reason" {
	ct_emit stat --json -o out.json -- "$EMIT" gap >out
	json out.json '.lost.missed == 5 and .lost.pool_empty == 3 and .lost.total == 8'
	json out.json '.totals.kernels == 11'
	ct_emit stat -o out.txt -- "$EMIT" gap >out
	grep -q '^cuda-trace: lost 5 (missed): ' out.txt
	run ! grep -q 'nothing was lost' out.txt
}

@test "stat (killed with -9) shows what had come, and that more is unknown" {
	run env CUDA_TRACE_AGENT="$B/tests/agent/emitter/libcupti-usdt.so" bash -c \
		'"$0" stat --json -o out.json -- "$1" killed 3; echo $?' "$CUDA_TRACE" "$EMIT"
	assert_line 137
	json out.json '.totals.kernels == 3 and .lost.killed == 1 and .lost.total == 0'
	json out.json '.processes[0].state == "active"'
}

@test "stat (a ring buffer of 1 MiB and a storm) counts every record as seen or lost" {
	emit_without stat --buffer 1 --json -o out.json -- '"$0" pairs 10'
	emit_attacked stat --buffer 1 --json -o out.json -- '"$0" storm 3000000'
	json out.json ".totals.kernels + .totals.launches + .lost.ring_full == 2 * $(expect_key out kernels)"
	json out.json '.lost.missed == 0'
}

@test "stat (stopped under load, a ring buffer of 1 MiB) counts every record once" {
	# The library repeats its state and names each second: they are lost, too. The time is the tool's own, after
	# its program's end.
	# shellcheck disable=SC2016 # for the inner shell
	local storm='"$0" "$1" -s 4 -t 4 >tool.out && touch over' stop='(until grep -qs ^ready tool.out; do sleep 0.05; done
		for _ in 1 2; do kill -STOP $PPID; sleep 1.5; kill -CONT $PPID; sleep 0.02; done) & '
	without "$CUDA_TRACE" stat --buffer 1 --json -o out.json -- sh -c "$storm" "$SIM" "$WORKLOADS/launch-storm"
	attacked "$CUDA_TRACE" stat --buffer 1 --json -o out.json -- sh -c "rm -f tool.out; $stop$storm" "$SIM" "$WORKLOADS/launch-storm"
	json out.json '.lost.ring_full > 1000 and .lost.ring_full_names > 0'
	json out.json ".totals.launches + .totals.kernels + .totals.syncs + .lost.total == \
		$(expect_key tool.out launches) + $(expect_key tool.out kernels) + $(expect_key tool.out syncs)"
}

@test "stat (a process that sends names without end) has those of the others, and counts what it has not" {
	mkfifo gate
	# shellcheck disable=SC2016 # for the inner shell
	emit_without stat --json -o out.json -- '"$0" pairs 10'
	emit_attacked stat --json -o out.json -- '"$0" flood 7000 <gate >flood.out & exec 9>gate
		until grep -q sent flood.out; do sleep 0.05; done
		"$0" pairs 10 >pairs.out; exec 9>&-; wait'
	json out.json '[.kernels[].name] | any(startswith("saxpy")) and any(startswith("flood1_")) and any(. == "[name 7000]")'
	json out.json '.lost.names > 1000 and .lost.names < 7000 and .lost.total == 0'
}

@test "stat -d (a process that changes its instance at each record) ends in time" {
	export CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so
	# shellcheck disable=SC2016 # for the inner shell
	local watch='"$0" $2 300000 >program.out & "$1" stat --json -o out.json -p $! -d 3; s=$?
		touch -r program.out over; exit $s'
	# Its last line is the program's end.
	without sh -c "$watch" "$EMIT" "$CUDA_TRACE" storm
	attacked sh -c "$watch" "$EMIT" "$CUDA_TRACE" instances
	json out.json '.processes | length < 100'
	json out.json '.totals.kernels > 0 and .lost.malformed > 0'
}

@test "stat (too few files may be open) says so, and blames no kernel" {
	local files
	without "$CUDA_TRACE" stat -e kernels -a -d 0.2 --json -o /dev/null
	for files in 16 20 32 40 44 46 48 50 52 56 60; do
		run bash -c 'ulimit -n "$1" && timeout 20 "$0" stat -e kernels -a -d 0.2 --json -o /dev/null' "$CUDA_TRACE" "$files"
		refute_output --partial 'Linux'
		refute_output --partial 'malloc'
		[ "$status" -le 1 ] || fail "$files: $status, $output"
	done
	# shellcheck disable=SC2016 # for the inner shell
	attacked bash -c 'ulimit -n 16; "$0" stat -a -d 0.2; [ $? = 1 ]' "$CUDA_TRACE"
	run -1 bash -c 'ulimit -n 16 && exec "$0" stat -a -d 0.2' "$CUDA_TRACE"
	assert_output 'cuda-trace: the eBPF program cannot be loaded: this process may open 16 files at most; raise the limit (ulimit -n 1024)'
}

@test "stat (hostile names) shows them escaped and shortened, in valid JSON" {
	ct_emit stat -o out.txt -- "$EMIT" names >out
	run grep -nP '[\x00-\x08\x0b-\x1f\x7f]' out.txt
	assert_failure
	run iconv -f UTF-8 -t UTF-8 out.txt
	assert_success
	assert_line --partial 'red\x1b[31m\x0akernel\x09tab'
	assert_line --partial 'bad\xff\xfeutf8\xc3'
	assert_line --partial '[name 7]'
	assert_line --partial 'lost 1 (names)'
	run awk 'length > 340' out.txt
	assert_output ''
	ct_emit stat --json -o out.json -- "$EMIT" names >out
	json out.json '.kernels | length == 7'
	json out.json '[.kernels[].name | length] | max == 4095'
	json out.json '[.kernels[].name] | index("red\u001b[31m\nkernel\ttab") != null'
}

@test "stat (batches of nonsense) survives and counts them" {
	ct_emit stat --json -o out.json -- "$EMIT" nonsense >out
	json out.json '.lost.unreadable > 0 and .lost.malformed > 0'
}

@test "stat (a copy of the library in another mount namespace) sees it" {
	requires unshare
	unshare -m sh -c 'mkdir -p "$0/own" && mount -t tmpfs none "$0/own" && cp "$1" "$0/own/" &&
		exec "$2" env CUDA_INJECTION64_PATH="$0/own/libcupti-usdt.so" "$3" -s 10 -p 500' \
		"$BATS_TEST_TMPDIR" "$AGENT" "$SIM" "$WORKLOADS/launch-storm" 3>&- >storm.out &
	ready storm
	ct stat -p $! -d 3 --json -o "$BATS_TEST_TMPDIR/out.json"
	json "$BATS_TEST_TMPDIR/out.json" '.totals.kernels > 100 and .lost.total == 0'
	wait
}

@test "stat -e nvtx (PROGRAM says nothing of NVTX) counts every range in the libcupti that the agent uses" {
	requires bpf sim
	run --separate-stderr ct stat -e kernels,nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx" 20
	assert_success
	assert_equal "$stderr" ""
	echo "$output" >out
	assert_equal "$(json out.json '[.ranges[].count] | add')" "$(expect_key out nvtx_ranges)"
	# Another value of the variable is the user's business.
	NVTX_INJECTION64_PATH=/nowhere run --separate-stderr ct stat -e kernels,nvtx --json -o out.json -- \
		"$SIM" "$WORKLOADS/nvtx" 20
	assert_success
	assert_equal "$(json out.json '.ranges // [] | length')" 0
}

@test "stat (ranges whose ends are late or lost, or of too many names) counts each kernel once, and none in the wrong one" {
	unit
	assert_line 'batches, name 3 2/4, [no range] 1/1, name 1 1/1, name 2 1/1'
	assert_line 'lost, [range not known] 3/3, name 2 1/1, [no range] 0/0, [other ranges] 0/0'
	assert_line 'many, [other ranges] 6840/6840, name 10 91/91, name 100 91/91, name 1000 91/91'
	assert_line 'ranges of 1024 processes at a time, one more when one ended, [range not known] 8/8, left 0'
}

@test "stat -e unified (CUPTI not ready before there is a context) sees every migration, and no trouble" {
	requires bpf sim
	local i
	for i in 1 2 3 4 5; do
		run --separate-stderr ct stat -e unified --json -o out.json -- "$SIM" "$WORKLOADS/unified" 4
		assert_success
		assert_equal "$stderr" ""
		echo "$output" >out
		assert_equal "$(json out.json .unified.htod_bytes)" "$((4 * $(expect_key out managed_bytes)))"
		assert_equal "$(json out.json .unified.dtoh_bytes)" "$((4 * $(expect_key out managed_bytes)))"
		assert_equal "$(json out.json .unified.cpu_faults)" 4
	done
}

@test "stat -e unified (migrations, faults) counts them in the table for people, too" {
	local bytes
	ct stat -e unified --json -o out.json -- "$SIM" "$WORKLOADS/unified" 4 65536 >out
	bytes=$(expect_key out managed_bytes)
	json out.json "[.unified.migrations[] | [.direction, .count, .bytes]] == [
		[\"HtoD\", 4, 4 * $bytes], [\"DtoH\", 4, 4 * $bytes]]"
	json out.json '.unified | .migrations[].bytes == .htod_bytes and .cpu_faults == 4 and .gpu_faults == 4 and
		.gpu_fault_records == 4 and .thrashing_count == 0 and .remote_map_count == 0'
	ct stat -e unified -o out.txt -- "$SIM" "$WORKLOADS/unified" 4 65536 >out
	run grep -A5 -x 'Unified memory' out.txt
	assert_line --regexp '^ migrations HtoD +4 +1\.00 MiB '
	assert_line --regexp '^ migrations DtoH +4 +1\.00 MiB '
	assert_line --regexp '^ page faults, CPU +4 +- +- +- +-$'
	assert_line --regexp '^ page faults, GPU +4 +- '
}

@test "stat -e unified (CUPTI refuses, or never becomes ready) says so by name" {
	requires bpf sim
	local error
	for error in 28:CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED 13:CUPTI_ERROR_NOT_READY; do
		run --separate-stderr ct stat -e kernels,unified --json -o out.json -- \
			"$SIM" env SIMCUDA_UNIFIED="${error%:*}" "$WORKLOADS/unified" 4
		assert_success
		[[ $stderr == *"UNIFIED_MEMORY_COUNTER: ${error#*:} (${error%:*})"* ]]
		assert_equal "$(json out.json .totals.kernels)" 8
	done
}

@test "stat (a kernel with several grids) explains its + below the table" {
	requires bpf sim
	ct stat -o s.txt -- "$SIM" "$WORKLOADS/launch-storm" -n 100 -v 8 >/dev/null
	grep -q ' +  *empty$' s.txt
	grep -qx ' + launched with other grids or blocks, too' s.txt
	ct stat -o s.txt -- "$SIM" "$WORKLOADS/launch-storm" -n 100 >/dev/null
	run grep -c 'other grids' s.txt
	assert_output 0
}
