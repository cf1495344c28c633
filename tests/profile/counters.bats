#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters: hardware counters kernel by kernel, and the verdict over them. The values are
# those that SIMCUDA_COUNTERS scripts.

load ../lib/helpers

STORM=$WORKLOADS/launch-storm

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_COUNTERS=$BATS_TEST_TMPDIR/counters
	: >counters
}

# counted ARGS...: profile --counters on the simulated driver: the tool as well, whose library of
# metrics is the simulated one then. JSON in out.json, PROGRAM's output in program, messages in err.
counted() {
	sim "$CUDA_TRACE" profile --json -o out.json --counters "$@" >program 2>err
}

# unharmed: PROGRAM said its last line, and the client did nothing that crashes a real CUPTI.
unharmed() {
	grep -q '^expect ' program || fail "PROGRAM did not end: $(cat program err)"
	! grep '^[0-9]* [0-9]* fault' log || fail "a fault"
}

# line EVENT FILTER: jq's answer over the lines of that event, as an array.
lines() {
	jq -scS "map(select(.event == \"$1\")) | $2" out.json
}

@test "verdict (scripted counters of each bottleneck, and their twins) finds each" {
	run -0 "$B/tests/profile/verdict/unit"
	assert_output ok
}

@test "profile --counters (ten kernels) counts each, with the values as they are" {
	requires bpf sim
	cat >counters <<-END
		saxpy gpu__time_duration.sum 125920
		saxpy dram__bytes_read.sum 268448999
		* dram__bytes.sum.pct_of_peak_sustained_elapsed 87.5
	END
	counted quick -- "$WORKLOADS/saxpy"
	unharmed
	assert_equal "$(lines counters length)" "$(expect_key program launches)"
	assert_equal "$(lines counters 'map(.number)')" "[1,2,3,4,5,6,7,8,9,10]"
	assert_equal "$(lines counters 'map(.metrics["dram__bytes_read.sum"]) | unique')" \
		'[{"unit":"byte","value":268448999}]'
	assert_equal "$(lines counters 'map(.metrics["gpu__time_duration.sum"].unit) | unique')" '["ns"]'
	assert_equal "$(lines counters '.[9] | [.kernel, .grid, .block, .registers, .passes]')" \
		'["saxpy",[4096,1,1],[256,1,1],16,2]'
	assert_equal "$(lines counters '.[9].verdict | [.is, .busiest]')" '["memory-bound","DRAM"]'
	assert_equal "$(lines counters '.[9].verdict.where | test("profile --pc -k NAME")')" true
	assert_equal "$(lines counters_state '.[0] | [.outcome, .launches, .matched, .counted, .missed]')" \
		'["on",10,10,10,0]'
	assert_equal "$(lines lost '.[0].lost.total')" 0
	# How long it will take is said before, not afterwards.
	grep -q '2 passes per kernel on GH100' err
}

@test "profile --counters (two kernels that differ) says of each what holds it back" {
	requires bpf sim
	cat >counters <<-END
		* gpu__time_duration.sum 100000
		* smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio 32
		* smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio 32
		* smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio 32
		increment lts__t_sectors.sum.pct_of_peak_sustained_elapsed 80
		increment smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio 4
	END
	counted overview --kernels 1 -- "$WORKLOADS/graphs"
	assert_equal "$(lines counters '.[0].verdict | [.is, .also]')" '["uncoalesced",["memory-bound"]]'
	sed -i '/increment smsp/d' counters
	counted overview --kernels 1 -- "$WORKLOADS/graphs"
	assert_equal "$(lines counters '.[0].verdict.is')" '"memory-bound"'
}

@test "profile --counters (text) shows means, the verdict and what to try" {
	requires bpf sim
	cat >counters <<-END
		* gpu__time_duration.sum 125000
		* dram__bytes.sum.pct_of_peak_sustained_elapsed 91
	END
	run -0 --separate-stderr timeout 60 "$SIM" "$CUDA_TRACE" profile --counters quick -o out -- \
		"$WORKLOADS/saxpy"
	run -0 cat out
	assert_line --partial "10 of 10 launches counted (10 matched, 0 missed)"
	assert_line --regexp '^  grid 4096x1x1  block 256x1x1  registers 16  shared memory 0  counted 10$'
	assert_line --regexp '^          125         125         125 us +gpu__time_duration\.sum$'
	# The verdict is read first.
	[ "$(grep -n '^  verdict:' out | cut -d: -f1)" -lt "$(grep -n 'METRIC$' out | cut -d: -f1)" ]
	assert_line "  verdict: memory-bound: DRAM at 91% of the peak"
	assert_line "  best time with DRAM at its peak: 113.8 us"
	assert_line "  where: cuda-trace profile --pc -k NAME names the lines that take the time"
	refute_line --partial "--sass"
	# What a line is to be blamed for says who knows it.
	printf '* %s 4\n* %s 70\n' smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio \
		dram__bytes.sum.pct_of_peak_sustained_elapsed >counters
	timeout 60 "$SIM" "$CUDA_TRACE" profile --counters overview -o out -- "$WORKLOADS/saxpy"
	run -0 cat out
	assert_line --partial "verdict: launch-bound"
	printf '* gpu__time_duration.sum 125000\n' >>counters
	timeout 60 "$SIM" "$CUDA_TRACE" profile --counters overview -o out -- "$WORKLOADS/saxpy"
	run -0 cat out
	assert_line --partial "verdict: uncoalesced"
	assert_line --partial "where: cuda-trace profile --sass -k NAME"
}

@test "profile --counters (bytes, bytes per second, clocks, counts) are in units that people read" {
	requires bpf sim
	printf '* %s\n' 'dram__bytes.sum 67368700' 'dram__bytes.sum.per_second 3350000000000' \
		'sm__cycles_elapsed.avg.per_second 1979590000' 'sm__cycles_elapsed.max 3647390' >counters
	timeout 60 "$SIM" "$CUDA_TRACE" profile --counters \
		dram__bytes.sum,dram__bytes.sum.per_second,sm__cycles_elapsed.avg.per_second,sm__cycles_elapsed.max \
		-o out -- "$WORKLOADS/saxpy"
	run -0 cat out
	assert_line --regexp ' 67\.37 +67\.37 +67\.37 MB +dram__bytes\.sum$'
	assert_line --regexp ' 3\.35 +3\.35 +3\.35 TB/s +dram__bytes\.sum\.per_second$'
	assert_line --regexp ' 1\.98 +1\.98 +1\.98 GHz +sm__cycles_elapsed\.avg\.per_second$'
	assert_line --regexp ' 3\.65 +3\.65 +3\.65 M [a-z_]+ +sm__cycles_elapsed\.max$'
}

@test "profile --counters roofline has that of each precision, the nearest first; overview says whose is missing" {
	requires bpf sim
	cat >counters <<-END
		* gpu__time_duration.sum 1000000
		* dram__bytes.sum 1000000000
		* dram__bytes.sum.peak_sustained 1000
		* dram__cycles_elapsed.avg.per_second 3000000000
		* sm__cycles_elapsed.avg.per_second 1500000000
		* sm__sass_thread_inst_executed_op_ffma_pred_on.sum 1000000000
		* sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained 16896
		* sm__sass_thread_inst_executed_op_dfma_pred_on.sum 1000
		* sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained 8448
		* sm__ops_path_tensor_src_bf16_dst_fp32.sum 405000000000
		* sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained 1081344
		* sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed 50
	END
	counted roofline --kernels 1 -- "$WORKLOADS/saxpy"
	assert_equal "$(lines counters '.[0].verdict.roofline | [.precision, .flop_per_byte, .flop_per_second,
		.roof_flop_per_second, .uncounted, (.others[0] | .precision, (.flop_per_byte | round))]')" \
		'["tensor_bf16",405,405000000000000,811008000000000,null,"fp32",2]'
	counted overview --kernels 1 -- "$WORKLOADS/saxpy"
	assert_equal "$(lines counters '.[0].verdict.roofline | [.precision, .uncounted]')" '["fp32","tensor cores"]'
	for preset in roofline overview; do
		timeout 60 "$SIM" "$CUDA_TRACE" profile --counters $preset --kernels 1 -o $preset -- "$WORKLOADS/saxpy"
	done
	run -0 grep roofline: roofline
	assert_line -n 0 "  roofline: 405.00 FLOP/byte (ridge 270.3), 405 of 811.01 TFLOP/s there (50%), tensor cores, BF16"
	assert_line -n 1 --partial "2.00 of 6.00 TFLOP/s there (33%), single precision"
	refute_line --partial "double precision"
	run -0 grep roofline: overview
	assert_line "  roofline: the tensor cores do most of the work, and their operations were not counted: use --counters roofline"
}

# The peaks that libcupti reports are those of sparse operands, as on an H200.
@test "profile --counters roofline (tensor cores) has the roof of dense operands, or of sparse ones where more is done" {
	requires bpf sim
	local operations roof
	while read -r operations roof; do
		cat >counters <<-END
			* gpu__time_duration.sum 1000000
			* dram__bytes.sum 1000000
			* dram__bytes.sum.peak_sustained 1000
			* dram__cycles_elapsed.avg.per_second 3000000000
			* sm__cycles_elapsed.avg.per_second 1000000000
			* sm__ops_path_tensor_src_fp16.sum $operations
			* sm__ops_path_tensor_src_fp16.sum.peak_sustained 1081344
			* sm__ops_path_tensor_src_fp64.sum 1000
			* sm__ops_path_tensor_src_fp64.sum.peak_sustained 33792
		END
		counted roofline --kernels 1 -- "$WORKLOADS/saxpy"
		assert_equal "$(lines counters '.[0].verdict.roofline | [.precision, .flop_per_second / 1e12, .roof_flop_per_second / 1e12]')" \
			"[\"tensor_fp16\",$roof]"
		# FP64 has no sparse operands.
		assert_equal "$(lines counters '.[0].verdict.roofline.others[] | select(.precision == "tensor_fp64") | .ridge_flop_per_byte')" 11.264
	done <<-END
		300000000000 300,540.672
		550000000000 550,540.672
		900000000000 900,1081.344
	END
}

@test "roofline (each chip's names of the tensor cores' counters) sums what belongs together" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/profile/unit_roofline.c" "$TOP/cuda-trace/profile/counters/roofline.c" -lm
	run -0 ./unit
	assert_output "Turing: tensor_fp16, 500 operations, 50 % of its peak, which is of dense operands
Ampere: tensor_fp16, 500 operations, 50 %
Hopper: tensor_fp8, 500 operations, 50 %
Blackwell: tensor_fp8, 1100 operations of four counters, 55 %
Blackwell: tensor_fp4, 500 operations, 50 %
FP64: tensor_fp64, 500 operations, 50 %
both: tensor_bf16, 400 operations, 40 %
nothing: fp32, 0 operations"
}

@test "profile --counters --skip --kernels counts those, and lets the GPU go" {
	requires bpf sim
	counted quick --skip 3 --kernels 4 -- "$STORM" -n 200 -p 10000
	unharmed
	assert_equal "$(lines counters length)" 4
	assert_equal "$(lines counters_state '.[0] | [.outcome, .counted]')" '["done",4]'
	grep -q profiler_disable log
	# It did so while the program went on.
	[ "$(sed -n '/profiler_disable/,$p' log | wc -l)" -gt 1 ]
}

@test "profile --counters -k compares names without arguments" {
	requires bpf sim
	counted quick -k '^emp.y$' -- "$STORM" -n 20
	unharmed
	assert_equal "$(lines counters 'map(.kernel) | unique')" '["empty"]'
	run -1 counted quick -k '^empt$' -- "$STORM" -n 20
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.launches, .matched]')" '[20,0]'
	grep -q 'no kernel was counted: -k is compared' err
}

@test "profile --counters (8 threads) counts every kernel and mixes none up" {
	requires bpf sim
	counted gpu__time_duration.sum -- "$WORKLOADS/threads" 40 8 5
	unharmed
	assert_equal "$(lines counters 'map(.number) | sort == [range(1; length + 1)]')" true
	assert_equal "$(lines counters_state '.[0] | .counted + .missed')" "$(expect_key program launches)"
	assert_equal "$(lines counters_state '.[0].missed')" 0
}

@test "profile --counters (graphs) keeps them apart from what is counted, and says so" {
	requires bpf sim
	counted gpu__time_duration.sum -- "$STORM" -n 300 -t 4 -g 5
	unharmed
	assert_equal "$(lines counters_state '.[0].graphs')" "$(expect_key program graph_launches)"
	counted gpu__time_duration.sum -- "$WORKLOADS/graphs"
	unharmed
	assert_equal "$(lines counters length)" 20
}

@test "profile --counters (graphs alone, no launch, no CUDA) says why nothing was counted" {
	requires bpf sim
	run -1 counted quick -- "$STORM" -n 20 -g 1
	unharmed
	grep -q 'no kernel was counted: all were launched by graphs, whose kernels cannot be counted' err
	run -1 counted quick -- "$STORM" -n 0
	unharmed
	grep -q 'no kernel was counted: none was launched' err
	run -1 counted quick -- true
	grep -q 'no kernel was counted: no process with the injection library, or none that uses CUDA' err
}

@test "profile --counters (cooperative kernels) counts them as others" {
	requires bpf sim
	counted quick -- "$WORKLOADS/saxpy" --cooperative --size 65536
	unharmed
	assert_equal "$(lines counters 'map([.kernel, .grid, .block]) | unique')" '[["saxpy",[256,1,1],[256,1,1]]]'
	assert_equal "$(lines counters_state '.[0] | [.outcome, .launches, .counted, .missed]')" '["on",10,10,0]'
}

@test "profile --counters (contexts come and go) goes on" {
	requires bpf sim
	counted gpu__time_duration.sum -- "$WORKLOADS/resets"
	unharmed
	assert_equal "$(lines counters_state '.[0] | [.counted, .missed]')" "[$(expect_key program launches),0]"
}

@test "profile --counters (a kernel that takes long) is reported" {
	requires bpf sim
	SIMCUDA_PASS_MS=6500 counted gpu__time_duration.sum --kernels 1 -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'has been in one counted kernel for [56] s' err
}

@test "profile --counters (the listener leaves in the middle of a kernel) counts no other" {
	requires bpf sim
	local before=$SECONDS
	SIMCUDA_PASS_MS=6000 run -1 counted gpu__time_duration.sum -d 1 -- \
		"$STORM" -n 200 -p 10000
	unharmed
	# One kernel took 6 s; each further one would have, too.
	[ $((SECONDS - before)) -lt 15 ]
	grep -q profiler_disable log
	[ "$(grep -c profiler_enable log)" = 1 ]
}

@test "profile --counters (another thread captures) breaks no capture, and counts between them" {
	requires bpf sim
	counted gpu__time_duration.sum -- "$WORKLOADS/captures" 3 60 beside
	unharmed
	assert_equal "$(lines counters_state '.[0] | .counted > 5 and .missed > 5')" true
}

@test "profile --counters (launches are traced as well) spoils neither" {
	requires bpf sim
	start other "$CUDA_TRACE" stat -v -a --json -o stat.json -e launches
	wait_for 20 grep -q watching other.err
	counted gpu__time_duration.sum -- "$STORM" -n 50
	unharmed
	assert_equal "$(lines counters length)" 50
	kill -INT "$other_PID"
	wait "$other_PID" || true
	json stat.json ".processes[] | select(.pid == $(lines counters '.[0].pid')).launches == 50"
}

@test "profile --counters (unknown preset, metric, rollup) names what is near, and starts nothing" {
	requires sim
	local bad
	for bad in "qick=quick" "achieved_occupency=achieved_occupancy" \
		"sm__cycles_activ.avg=sm__cycles_active" "sm__cycles_active=.avg"; do
		run -2 timeout 60 "$SIM" "$CUDA_TRACE" profile --counters "${bad%%=*}" -- touch started
		assert_output --partial "${bad#*=}"
		[ ! -e started ]
	done
}

@test "profile --counters (a metric that goes with no other) names it" {
	requires bpf sim
	run -1 counted quick,sim__alone.sum -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'sim__alone.sum cannot be collected together' err
	counted sim__alone.sum -- "$WORKLOADS/saxpy"
	assert_equal "$(lines counters length)" 10
}

@test "profile --counters (a GPU without some of a preset's metrics) collects the rest" {
	requires bpf sim
	SIMCUDA_LACKS=dram__bytes_read,dram__bytes_write counted quick -- "$WORKLOADS/saxpy"
	assert_equal "$(lines counters '.[0].metrics | has("dram__bytes_read.sum")')" false
	assert_equal "$(lines counters '.[0].metrics | length')" 10
	# One that may lack is no failure.
	SIMCUDA_LACKS=sm__inst_executed_pipe_fp16 counted overview --kernels 2 -- "$WORKLOADS/saxpy"
	assert_equal "$(lines counters_state '.[-1] | [.outcome, .counted, .result]')" '["done",2,0]'
	! grep 'measures only one kernel' err || fail "a message about nothing"
}

# ms TEXT: "1.23 s", "45.6 ms" or "789 us" in milliseconds.
ms() {
	awk -v text="$1" 'BEGIN { split(text, part, " "); print part[1] * (part[2] == "s" ? 1000 : part[2] == "ms" ? 1 : 0.001) }'
}

@test "profile --counters --kernels (what it takes) is estimated before, and corrected by what it took" {
	requires bpf sim
	local took first estimate range low high
	# Two passes, as long as an H200 takes for one of several.
	SIMCUDA_PASS_MS=13 counted quick --kernels 20 -- "$STORM" -n 100
	unharmed
	took=$(lines counters 'map(.call_ns) | add / 1e6')
	range=$(sed -n 's/.*2 passes per kernel on GH100.* first kernel, \([0-9]* to [0-9]* ms\) to each other one.*/\1/p' err)
	read -r low _ high _ <<<"$range"
	first=$(lines counters 'map(.call_ns / 1e6) | sort[10]')
	[ -n "$high" ] && awk "BEGIN { exit !($low <= $first && $first <= $high) }" || fail "$first ms, estimate: $range"
	grep -qE '; for 20 kernels of each process, about [0-9.]+ to [0-9.]+ s?(ms)?$' err
	estimate=$(sed -n 's/.*measured here: .*; for 20 kernels of each process, about \(.*\)$/\1/p' err)
	[ -n "$estimate" ] && awk "BEGIN { exit !($(ms "$estimate") >= $took / 2 && $(ms "$estimate") <= $took * 2) }" ||
		fail "estimate: $estimate, took $took ms"
	# Without a number what each takes is reported, and of few nothing is left to report.
	SIMCUDA_PASS_MS=40 counted gpu__time_duration.sum -- "$WORKLOADS/saxpy"
	grep -qE 'measured here: the first launch took .*, each later one [45][0-9.]* ms; --kernels' err
	counted quick --kernels 3 -- "$WORKLOADS/saxpy"
	run ! grep 'measured here' err
}

@test "profile --counters (old names) are mapped, with a note" {
	requires bpf sim
	printf '* sm__warps_active.avg.pct_of_peak_sustained_active 77.5\n' >counters
	counted achieved_occupancy,gld_efficiency,sm_efficiency -- "$WORKLOADS/saxpy"
	grep -q 'achieved_occupancy is now called sm__warps_active.avg.pct_of_peak_sustained_active (in percent' err
	assert_equal "$(lines counters '.[0].metrics | length')" 3
	assert_equal "$(lines counters '.[0].metrics["sm__warps_active.avg.pct_of_peak_sustained_active"].value')" 77.5
}

@test "nvprof names (all of them) are taken, for metrics that are spelt as today's, or said to have no counterpart" {
	run -0 "$B/tests/profile/nvprof_names/unit"
	assert_output ok
	local old
	for old in gld_throughput shared_efficiency flop_sp_efficiency flop_count_sp l2_utilization ldst_executed \
		stall_exec_dependency issued_ipc active_cycles active_warps divergent_branch shared_ld_bank_conflict \
		warps_launched elapsed_cycles_sm inst_executed_fma_pipe_s0; do
		"$B/tests/profile/nvprof_names/unit" list | grep -q "^$old " || fail "$old is not known"
	done
}

@test "old names (a libcupti of NVIDIA's) are mapped to metrics that it lists for an H100" {
	local library
	for library in /usr/local/cuda*/lib*/libcupti.so.1[2-9] /usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[2-9]; do
		[ ! -e "$library" ] || break
	done
	[ -e "$library" ] || skip "needs NVIDIA's libcupti"
	CUDA_TRACE_LIBCUPTI=$library ct profile --list-metrics --chip GH100 --json >metrics || skip "it lists none"
	jq -r '.metric as $metric | .rollups | split(" ")[] | $metric + .' metrics | sort -u >known
	"$B/tests/profile/nvprof_names/unit" list | awk '{ print $2 }' | sort -u >wanted
	[ "$(wc -l <wanted)" -gt 100 ]
	run -0 comm -23 wanted known
	assert_output ""
}

@test "profile --counters (an old name that nothing stands for) says so, and starts nothing" {
	requires sim
	run -2 timeout 60 "$SIM" "$CUDA_TRACE" profile --counters quick,ecc_throughput -- touch started
	assert_output --partial "ecc_throughput, a metric of CUPTI's former Event and Metric APIs, has no counterpart"
	[ ! -e started ]
}

@test "profile --counters (a GPU before Turing) says that only the old APIs count there" {
	requires bpf sim
	SIMCUDA_CHIP=GV100 run -1 counted quick -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'GV100 is too old for .*7.5, Turing.*Event and Metric APIs' err
	SIMCUDA_CHIP=GX900 run -1 counted quick -- "$WORKLOADS/saxpy"
	grep -q 'this libcupti does not know GX900; a newer one may' err
	run ! grep 'gave error' err
}

@test "profile --counters (no memory to save what a kernel writes) says what saves nothing" {
	requires bpf sim
	SIMCUDA_PROFILER=cuptiRangeProfilerStop:8 run -1 counted quick -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'no memory to save .* 2 passes .*cuptiRangeProfilerStop.*try --replay launches.*--replay application' err
	SIMCUDA_PROFILER=cuptiRangeProfilerStop:999 run -1 counted quick -- "$WORKLOADS/saxpy"
	grep -q 'cuptiRangeProfilerStop gave error 999; .*try --replay launches.*--replay application' err
	# Of one pass nothing is saved.
	SIMCUDA_PROFILER=cuptiRangeProfilerStop:8 run -1 counted gpu__time_duration.sum -- "$WORKLOADS/saxpy"
	run ! grep 'try --replay' err
}

@test "profile --counters (no permission, GPU busy) says how to fix it, the program unharmed" {
	requires bpf sim
	SIMCUDA_PROFILER=cuptiRangeProfilerStart:35 run -1 counted quick -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'NVreg_RestrictProfilingToAdminUsers=0' err
	assert_equal "$(lines counters_state '.[0] | [.outcome, .result, .failed_call]')" \
		'["failed",35,"cuptiRangeProfilerStart"]'
	SIMCUDA_PROFILER=cuptiRangeProfilerStart:26 run -1 counted quick -- "$WORKLOADS/saxpy"
	unharmed
	grep -q 'held by another profiler' err
}

@test "profile --counters (each call of CUPTI fails) leaves the program as it is" {
	requires bpf sim
	local call
	for call in ProfilerInitialize DeviceGetChipName ProfilerHostInitialize \
		ProfilerHostConfigAddMetrics ProfilerHostGetConfigImageSize ProfilerHostGetConfigImage \
		ProfilerHostGetNumOfPasses ProfilerHostEvaluateToGpuValues RangeProfilerEnable \
		RangeProfilerSetConfig RangeProfilerStart RangeProfilerStop RangeProfilerDecodeData \
		RangeProfilerGetCounterDataSize RangeProfilerCounterDataImageInitialize \
		RangeProfilerGetCounterDataInfo; do
		SIMCUDA_PROFILER=cupti$call:999 run -1 counted sm__cycles_active.avg -- "$WORKLOADS/saxpy"
		unharmed
		assert_equal "$call $(lines counters_state '.[0] | [.outcome, .result]')" \
			"$call [\"failed\",999]"
	done
}

@test "profile --counters (libcupti before 12.6, or a function is missing) says so" {
	requires bpf sim
	local trouble
	for trouble in SIMCUDA_CUPTI_VERSION=12.5 SIMCUDA_MISSING_SYMBOL=cuptiRangeProfilerStop; do
		run -1 env "$trouble" timeout 60 "$SIM" "$CUDA_TRACE" profile --counters quick --json \
			-o out.json -- "$WORKLOADS/saxpy"
		assert_output --partial "expect launches=10"
		assert_output --partial "no counters: the one in use is a libcupti before 12.6: no range profiler"
	done
	# All else works.
	SIMCUDA_CUPTI_VERSION=12.5 ct stat --json -o stat.json -- "$SIM" "$WORKLOADS/saxpy"
	json stat.json '.totals.kernels == 10'
}

@test "profile (each mode, with libcupti 12.6, 12.8 and 13.2) works" {
	requires bpf sim
	printf 'saxpy 70 wait 100\n' >script
	export SIMCUDA_PC_SCRIPT=$PWD/script SIMCUDA_SASS_KERNELS=1000 SIMCUDA_CUPTI_VERSION
	local versions
	for SIMCUDA_CUPTI_VERSION in 12.6 12.8 13.2; do
		# With driver 580 those of 12 have no values: see below.
		SIMCUDA_RANGES=1 counted quick -- "$WORKLOADS/saxpy"
		unharmed
		assert_equal "$SIMCUDA_CUPTI_VERSION $(lines counters length)" "$SIMCUDA_CUPTI_VERSION 10"
		sim "$CUDA_TRACE" profile --sass --json -o out.json -- "$WORKLOADS/saxpy" >program 2>err
		unharmed
		assert_equal "$SIMCUDA_CUPTI_VERSION $(lines sass '.[0].launches')" "$SIMCUDA_CUPTI_VERSION 10"
		sim "$CUDA_TRACE" profile --device --json -o out.json -d 0.3 2>err
		assert_equal "$SIMCUDA_CUPTI_VERSION $(lines device_summary '.[0].samples > 100')" "$SIMCUDA_CUPTI_VERSION true"
		sim "$CUDA_TRACE" profile --pc --bursts 10ms/100ms --json -o pc.json -- "$STORM" -p 1000 -s 1 >program 2>err
		unharmed
		json pc.json '.windows > 0 and .samples.placed == 100 * .windows and .functions[0].name == "saxpy"'
		# It was that version, and not the one that the simulation has by default.
		versions+="$(jq '.processes[0].cupti_version' pc.json) "
	done
	[ "$(tr ' ' '\n' <<<"$versions" | sort -u | wc -w)" = 3 ] || fail "versions: $versions"
}

@test "profile --counters (libcupti 12.8 that has no values) gives up and names the remedy" {
	requires bpf sim
	export SIMCUDA_CUPTI_VERSION=12.8
	run -1 counted overview -- "$STORM" -n 200 -p 1000
	unharmed
	grep -q 'CUPTI returned no values.*use that of CUDA 13.0 or later (.cuda-trace doctor. lists what is installed' err
	assert_equal "$(lines counters_state '.[0] | [.outcome, .result, .failed_call, .counted, .missed, .passes > 1]')" \
		'["failed",1002,"cuptiRangeProfilerDecodeData",0,3,true]'
	# So few that it does not yet know.
	run -1 counted quick -- "$STORM" -n 2
	unharmed
	grep -q 'no kernel was counted: CUPTI returned no values for those that ran' err
	# Launches that fail have no values either, and are no reason to give up.
	SIMCUDA_CUPTI_VERSION=13.0 counted quick --skip 1 -- "$WORKLOADS/failures"
	assert_equal "$(lines counters length)" 9
}

@test "profile --counters (libcupti lists no metrics, or not what they are) counts all the same" {
	requires bpf sim
	local how
	for how in SIMCUDA_PROFILER=ProfilerHostGetBaseMetrics:8 SIMCUDA_PROFILER=ProfilerHostGetSubMetrics:8 SIMCUDA_BARE_METRICS=1; do
		export "${how?}"
		counted quick -- "$WORKLOADS/saxpy"
		unharmed
		assert_equal "$how $(lines counters length)" "$how 10"
		unset "${how%%=*}"
	done
	SIMCUDA_BARE_METRICS=1 run -0 sim "$CUDA_TRACE" profile --list-metrics=^dram__bytes_read --json
	assert_equal "$(jq -r .description <<<"$output")" 'a metric of the simulated GPU'
	# Where names are listed, one that is not there is still refused.
	SIMCUDA_BARE_METRICS=1 run -2 sim "$CUDA_TRACE" profile --counters dram__bites_read.sum -- "$WORKLOADS/saxpy"
}

@test "counters (requested by environment, but nobody listens) stay off" {
	requires sim
	CUPTI_USDT_COUNTERS=gpu__time_duration.sum CUDA_INJECTION64_PATH=$AGENT run -0 sim "$WORKLOADS/saxpy"
	! grep -q profiler_enable log
}

@test "counters (listened to, but not requested) leave the process as it was" {
	requires root bpf sim
	CUDA_INJECTION64_PATH=$AGENT run -0 timeout 60 "$B/tests/agent/listen" "$AGENT" counters \
		counters_batch -- "$SIM" "$STORM" -n 100 -p 10000
	assert_line --regexp '^probe=counters_batch hits=0 '
	# One that was not primed leaves no line.
	run ! grep -E ' (subscriptions=[2-9]|callbacks_max=[1-9])' log
}

@test "counters (readable probe) fire once for each metric of each kernel" {
	requires root bpf sim
	printf '* gpu__time_duration.sum 125920.5\n' >counters
	export CUDA_INJECTION64_PATH=$AGENT
	CUPTI_USDT_COUNTERS=gpu__time_duration.sum,dram__bytes.sum run -0 timeout 60 \
		"$B/tests/agent/listen" -v "$AGENT" counters -- "$SIM" "$WORKLOADS/saxpy"
	assert_equal "$(grep -c '^readable probe=counters text=gpu__time_duration.sum' <<<"$output")" 10
	assert_equal "$(grep -c '^readable probe=counters text=dram__bytes.sum' <<<"$output")" 10
	assert_line --regexp 'text=gpu__time_duration\.sum args=1,[0-9]+,[0-9]+,[0-9]+,125920500,'
}

@test "profile --counters (a hostile process) is shown escaped, and kept within bounds" {
	requires root bpf
	export CUDA_TRACE_AGENT=$B/tests/agent/emitter/libcupti-usdt.so
	run -0 ct profile --counters gpu__time_duration.sum --json -o out.json -- "$B/tests/agent/emitter/emit" counters
	# Two true ones, one whose shape is impossible, 3000 made up; those that contradict themselves are none.
	assert_equal "$(lines counters length)" 3003
	assert_equal "$(lines counters '.[0].metrics["gpu__time_duration.sum"].value')" 1000
	assert_equal "$(lines counters '.[2] | [.metrics["gpu__time_duration.sum"].value, .verdict.waves]')" "[null,null]"
	assert_equal "$(lines counters_state '.[0].outcome')" '"unknown"'
	run -0 ct profile --counters gpu__time_duration.sum -n 3000 -o out -- "$B/tests/agent/emitter/emit" counters
	run -1 grep -P '[\x00-\x08\x0b-\x1f]' out
	run -0 cat out
	assert_line --partial 'evil\x1b[31m__metric\x0a.sum'
	assert_line --regexp '[0-9]+ launches of further kernels and shapes were not kept'
}

@test "profile --list-metrics says what there is and what it means" {
	requires sim
	run -0 sim "$CUDA_TRACE" profile --list-metrics=^dram__bytes_
	assert_line --regexp '^  quick +what is busy, in one pass'
	assert_line "dram__bytes_read"
	refute_line "sm__cycles_active"
	run -0 sim "$CUDA_TRACE" profile --list-metrics=^dram__bytes_read --json
	assert_equal "$(jq -r '[.metric, .type, .unit, (.rollups | contains(".sum"))] | @csv' <<<"$output")" \
		'"dram__bytes_read","counter","byte",true'
	SIMCUDA_CUPTI_VERSION=12.5 run -1 sim "$CUDA_TRACE" profile --list-metrics
	assert_output --partial "older than CUDA 12.6"
	run -1 sim "$CUDA_TRACE" profile --list-metrics --chip XY999
	assert_output --partial "XY999"
}
