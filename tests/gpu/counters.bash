# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: hardware counters of kernels that are known, against what they do, against
# Nsight Compute, and the verdict over kernels that have exactly one bottleneck.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"
counters=$work/counters

# count NAME PRESETS KERNEL...: counted by $work/NAME.jsonl, PROGRAM's output in $work/NAME.out
count() {
	local name=$1 presets=$2
	shift 2
	timeout 120 cuda-trace profile --json -o "$work/$name.jsonl" --counters "$presets" -- \
		"$counters" "$@" >"$work/$name.out" 2>>"$OUT/counters.err"
}

# counted NAME N METRIC: of the N-th kernel, from 1 on
counted() {
	jq -r "select(.event == \"counters\" and .number == $2).metrics[\"$3\"].value" "$work/$1.jsonl"
}

# within NAME GOT WANT PERCENT: a row
within() {
	row "$1" "$(awk -v a="$2" -v b="$3" -v p="$4" 'BEGIN {
		print (a != "" && b > 0 && (a - b) ^ 2 <= (b * p / 100) ^ 2) ? 1 : 0 }')" \
		"$2, known: $3, within $4 %"
}

counters_truth() {
	local metric
	count truth dram__bytes_read.sum,dram__bytes_write.sum,sm__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__ops_path_tensor_src_fp16.sum,achieved_occupancy,gpu__time_duration.sum \
		copy matrix_product fma_chain tensor_product spin_full spin_half spin_eighth
	for metric in dram__bytes_read.sum dram__bytes_write.sum; do
		within "copy: $metric" "$(counted truth 1 $metric)" "$(truth_of "$work/truth.out" copy_bytes)" 3
	done
	metric=sm__sass_thread_inst_executed_op_ffma_pred_on.sum
	within "matrix product: FFMA" "$(counted truth 2 $metric)" "$(truth_of "$work/truth.out" matrix_ffma)" 1
	within "FMA chain: FFMA" "$(counted truth 3 $metric)" "$(truth_of "$work/truth.out" chain_ffma)" 1
	within "tensor product: operations" "$(counted truth 4 sm__ops_path_tensor_src_fp16.sum)" \
		"$(truth_of "$work/truth.out" tensor_ops)" 1
	metric=sm__warps_active.avg.pct_of_peak_sustained_active
	within "occupancy of 8 x 256 threads" "$(counted truth 5 $metric)" 100 3
	within "occupancy of 4 x 256 threads" "$(counted truth 6 $metric)" 50 3
	within "occupancy of 1 x 256 threads" "$(counted truth 7 $metric)" 12.5 3
	cp "$work/truth.jsonl" "$OUT/counters-truth.jsonl"
}

# Operations by the roofline of the precision that a kernel computes in: of a chain 2 for a thread's
# instruction, 4 in half precision, whose instructions work on two numbers.
counters_roofline() {
	local number=0 line name precision known chain
	count roofline roofline fma_chain double_chain half_chain tensor_product
	chain=$(truth_of "$work/roofline.out" chain_ffma)
	for line in "fma_chain fp32 $((chain * 2))" "double_chain fp64 $((chain * 2))" "half_chain fp16 $((chain * 4))" \
		"tensor_product tensor_fp16 $(truth_of "$work/roofline.out" tensor_ops)"; do
		read -r name precision known <<<"$line"
		number=$((number + 1))
		jq -r "select(.event == \"counters\" and .number == $number) | (.metrics[\"gpu__time_duration.sum\"].value) as \$ns |
			.verdict.roofline | [.precision, .flop_per_second * \$ns / 1e9, .flop_per_second / .roof_flop_per_second] | @tsv" \
			"$work/roofline.jsonl" >"$work/roofline.row"
		row "roofline of $name: precision" "$([ "$(cut -f1 "$work/roofline.row")" = "$precision" ] && echo 1 || echo 0)" \
			"$(cut -f1 "$work/roofline.row"), known: $precision"
		within "roofline of $name: operations" "$(cut -f2 "$work/roofline.row")" "$known" 1
		row "roofline of $name: below its roof" "$(cut -f3 "$work/roofline.row" | awk '{ print ($1 > 0.3 && $1 <= 1.02) ? 1 : 0 }')" \
			"$(cut -f3 "$work/roofline.row") of it"
	done
	cp "$work/roofline.jsonl" "$OUT/counters-roofline.jsonl"
}

# The verdict of each, and of its twin without the bottleneck.
counters_verdicts() {
	local names=() line name want got unit because number=0
	# Each with a bottleneck, and the same without: "!" is anything but that. "@": the unit that is busiest.
	local table="copy=memory-bound copy_and_work=!memory-bound
		fma_chain=compute-bound fma_few_warps=latency-bound tensor_product=compute-bound
		strided=uncoalesced unit_stride=memory-bound one_lane=divergent all_lanes=!divergent
		tail=tail_effect no_tail=compute-bound chase_one=latency-bound
		chase_small_blocks=occupancy-limited:block_size
		chase_registers=occupancy-limited:registers chase_shared=occupancy-limited:shared_memory
		chase_full=!occupancy-limited nothing=launch-bound short_spin=!launch-bound
		l2_reads=memory-bound@L2 l2_reads_and_work=!memory-bound
		shared_reads=memory-bound@L1 shared_reads_and_work=!memory-bound
		half_chain=compute-bound@FP16 half_few_warps=latency-bound
		double_chain=compute-bound@FP64 double_few_warps=latency-bound
		strided_stores=uncoalesced unit_stride_stores=!uncoalesced
		unequal_blocks=tail_effect equal_blocks=!tail_effect"
	for line in $table; do
		names+=("${line%%=*}")
	done
	count verdicts overview "${names[@]}"
	cp "$work/verdicts.jsonl" "$OUT/counters-verdicts.jsonl"
	for line in $table; do
		number=$((number + 1)) name=${line%%=*} want=${line#*=}
		unit=${want#"${want%@*}"}
		want=${want%@*}
		got=$(jq -r "select(.event == \"counters\" and .number == $number).verdict |
			.is + (if .limited_by then \":\" + .limited_by else \"\" end)" \
			"$work/verdicts.jsonl" | tr ' ' _)
		if [ "${want#!}" != "$want" ]; then
			row "verdict: $name" "$([ -n "$got" ] && [ "${got%%:*}" != "${want#!}" ] && echo 1 || echo 0)" \
				"$got, and not ${want#!}"
		else
			because=$(jq -r "select(.event == \"counters\" and .number == $number).verdict.because" "$work/verdicts.jsonl")
			row "verdict: $name" "$([ "$got" = "$want" ] && [[ $because = "${unit#@}"* ]] && echo 1 || echo 0)" \
				"$got, built to be: $want${unit:+ by ${unit#@}}; $because"
		fi
	done
	timeout 60 cuda-trace profile --counters overview -o "$OUT/counters-overview.txt" -- "$counters" \
		copy matrix_product strided >/dev/null 2>>"$OUT/counters.err"
}

# A counted kernel runs once for each pass; what comes on top.
counters_cost() {
	local passes call kernel preset
	for preset in quick overview; do
		count "cost-$preset" $preset copy long
		passes=$(jq -r 'select(.event == "counters" and .number == 2).passes' "$work/cost-$preset.jsonl")
		call=$(jq -r 'select(.event == "counters" and .number == 2).call_ns' "$work/cost-$preset.jsonl")
		kernel=$(counted "cost-$preset" 2 gpu__time_duration.sum)
		row "cost of $preset" "$(awk -v c="$call" -v p="$passes" -v k="$kernel" \
			'BEGIN { print (k > 0 && c <= 1.2 * p * k) ? 1 : 0 }')" \
			"launch $call ns, $passes passes x $kernel ns; at most 1.2 of that"
	done
}

# Of kernels of 5 us what a pass takes is CUPTI's own: by turns with a program that counts its own one by one, with
# nobody beside, the same metrics; the mean of all launches but the first, as the program sees it. With one pass
# profile has CUPTI started over 64 of them, which is far less.
counters_floor() {
	local library preset metrics bare ours launches counted
	library=$(find -L /usr/local/cuda/ -name libcupti.so.13 2>/dev/null | head -n1)
	[ -n "$library" ] || return
	gcc -I. -I/usr/local/cuda/include -L"$bundle/simcuda" -o "$work/counting" tests/gpu/counting.c \
		-l:libcuda.so.1 -ldl >>"$OUT/nvcc.log" 2>&1 || return
	for preset in quick overview; do
		[ $preset = quick ] && launches=129 || launches=21
		metrics=$(jq -r 'select(.event == "counters" and .number == 2).metrics | keys_unsorted | .[]' \
			"$work/cost-$preset.jsonl")
		: >"$work/floor"
		for _ in 1 2 3 4 5; do
			# shellcheck disable=SC2086
			"$work/counting" "$library" $launches 5000 $metrics >"$work/floor.out" 2>>"$OUT/counters.err"
			CUDA_TRACE_LIBCUPTI=$library timeout 60 cuda-trace profile --json -o "$work/floor.jsonl" \
				--counters $preset -- "$work/counting" "" $launches 5000 >"$work/floor-ours.out" 2>>"$OUT/counters.err"
			bare=$(truth_of "$work/floor.out" ns)
			ours=$(truth_of "$work/floor-ours.out" ns)
			counted=$(jq -s 'map(select(.event == "counters")) | length' "$work/floor.jsonl")
			[ "$counted" = $launches ] && echo "$bare $ours" >>"$work/floor"
		done
		cp "$work/floor" "$OUT/counters-floor-$preset.txt"
		row "cost of $preset over CUPTI's own" "$(awk '$1 > 0 && $2 > 0 { print $2 / $1 }' "$work/floor" | sort -g |
			awk 'NR == 3 { middle = $1 } END { print (NR == 5 && middle <= 1.2) ? 1 : 0 }')" \
			"$(truth_of "$work/floor.out" passes) passes of 5 us; CUPTI, ours ns: $(paste -sd';' "$work/floor")"
	done
}

# A context that was counted in has the GPU's counters until they are taken from it, though it goes.
counters_contexts() {
	local preset how
	for preset in quick overview; do
		for how in "" turns; do
			# shellcheck disable=SC2086
			timeout 60 cuda-trace profile --json -o "$work/contexts.jsonl" --counters $preset -- \
				"$bundle/workloads/resets" 2 $how >"$work/contexts.out" 2>>"$OUT/counters.err"
			row "$preset in contexts, ${how:-one after the other}" "$(jq -s "map(select(.event == \"counters_state\")) |
				if length == 1 and .[0].counted == $(truth_of "$work/contexts.out" launches) then 1 else 0 end" \
				"$work/contexts.jsonl")" "$(counters_state "$work/contexts.jsonl") $(tail -n1 "$work/contexts.out")"
		done
	done
}

# The program's results, its graphs, and the other profilers of the machine.
counters_manners() {
	local status
	count manners quick increment graph increment graph
	status=$?
	row "program unharmed (graphs, increments)" "$([ $status = 0 ] && echo 1 || echo 0)" \
		"$(tail -n1 "$work/manners.out"); counted $(jq -rc 'select(.event == "counters_state") |
			[.counted, .missed, .graphs]' "$work/manners.jsonl")"
	# Some 12 s, which the other comes into the middle of.
	# shellcheck disable=SC2046
	timeout 60 cuda-trace profile --counters quick -o "$work/holder.txt" -- \
		"$counters" copy $(yes long | head -n 40) >/dev/null 2>&1 &
	sleep 4
	count busy quick copy
	wait
	row "busy with another profiler" \
		"$(grep -q 'held by another profiler' "$OUT/counters.err" && grep -q '^expect' "$work/busy.out" && echo 1 || echo 0)" \
		"$(grep 'held by another' "$OUT/counters.err" | head -n1)"
	timeout 60 cuda-trace profile --counters quick --json -o "$work/user.jsonl" -- \
		setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "$counters" copy \
		>"$work/user.out" 2>"$work/user.err"
	row "without rights" "$({ grep -q NVreg_Restrict "$work/user.err" ||
		grep -q '"event":"counters"' "$work/user.jsonl"; } && grep -q '^expect' "$work/user.out" && echo 1 || echo 0)" \
		"$(grep -o 'RmProfilingAdminOnly: .' /proc/driver/nvidia/params); $(jq -rc \
			'select(.event == "counters_state") | [.outcome, .result]' "$work/user.jsonl")"
	timeout 120 cuda-trace profile --counters quick -k "gemm|nvjet" --kernels 5 --json -o "$work/torch.jsonl" -- \
		python3 tests/bench/torch-step.py -n 50 >"$work/torch.out" 2>>"$OUT/counters.err"
	status=$?
	python3 -c 'import torch' 2>/dev/null || return
	row "PyTorch: five gemm" "$([ $status = 0 ] && [ "$(grep -c '"event":"counters"' "$work/torch.jsonl")" = 5 ] && echo 1 || echo 0)" \
		"$(jq -rc 'select(.event == "counters_state") | [.outcome, .launches, .matched, .counted]' "$work/torch.jsonl")"
	cp "$work/torch.jsonl" "$OUT/counters-torch.jsonl"
}

# sassed KERNEL: what its instructions did, by $work/sass-KERNEL.jsonl
sassed() {
	timeout 120 cuda-trace profile --sass --kernels 1 --json -o "$work/sass-$1.jsonl" -- \
		"$counters" "$1" >"$work/sass-$1.out" 2>>"$OUT/counters.err"
	cp "$work/sass-$1.jsonl" "$OUT/" 2>/dev/null
}

# looked_at KERNEL: findings with their lines
looked_at() {
	jq -rc 'select(.event == "sass").look_at | map("\(.is):\(.line)") | join(" ")' "$work/sass-$1.jsonl"
}

# line_of TEXT: where that stands in the source
line_of() {
	grep -nF "$1" tests/gpu/counters.cu | head -n1 | cut -d: -f1
}

# Instructions against what the kernels are known to do, by count and by line; each in a process of its
# own, as libcupti 13.0 looks into one kernel of each.
counters_sass() {
	local kernel got
	for kernel in copy strided unit_stride one_lane; do
		sassed $kernel
	done
	got=$(jq -r 'select(.event == "sass").sectors' "$work/sass-copy.jsonl")
	within "sass: copy, sectors" "$got" $((2 * $(truth_of "$work/sass-copy.out" copy_bytes) / 32)) 0.01
	got=$(looked_at strided)
	row "sass: strided, where" "$([ "$got" = "uncoalesced:$(line_of 'v[j] = in[')" ] && echo 1 || echo 0)" "$got"
	got=$(looked_at unit_stride)
	row "sass: unit_stride, where" "$([ -z "$got" ] && [ -s "$work/sass-unit_stride.jsonl" ] && echo 1 || echo 0)" \
		"nowhere: '$got'"
	got=$(looked_at one_lane)
	row "sass: one_lane, where" "$(case "$got" in divergent:*) echo 1 ;; *) echo 0 ;; esac)" \
		"$got, the loop is at $(line_of 'v = v * 0.5f + 1.25f;')"
	timeout 60 cuda-trace profile --sass --kernels 1 -o "$OUT/counters-sass.txt" -- "$counters" strided \
		>/dev/null 2>>"$OUT/counters.err"
}

# The same metrics of the same kernels by Nsight Compute.
# Kernels whose blocks wait for each other, and one that ends when the host says so, which waits for it.
counters_others() {
	count together quick together
	row "cooperative kernel" "$([ "$(grep -c '"event":"counters"' "$work/together.jsonl")" = 1 ] &&
		grep -q '^expect' "$work/together.out" && ! grep -q 'together() made' "$OUT/counters.err" && echo 1 || echo 0)" \
		"$(jq -rc 'select(.event == "counters_state") | [.outcome, .matched, .counted]' "$work/together.jsonl")"
	timeout 150 cuda-trace profile --counters quick --kernels 1 --json -o "$work/endless.jsonl" -- "$counters" endless \
		>"$work/endless.out" 2>"$work/endless.err"
	row "endless kernel" "$(grep -q 'has not ended within 60 s' "$work/endless.err" &&
		grep -q '^expect' "$work/endless.out" && echo 1 || echo 0)" "$(grep -o 'the counted kernel has not ended.*' "$work/endless.err" | head -c 120)"
}

counters_ncu() {
	local metrics kernels=(copy matrix_product tensor_product strided spin_half)
	command -v ncu >/dev/null || return
	metrics=dram__bytes_read.sum,dram__bytes_write.sum,sm__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__warps_active.avg.pct_of_peak_sustained_active,gpu__time_duration.sum,smsp__inst_executed.sum,smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio,lts__t_sectors.sum.pct_of_peak_sustained_elapsed,dram__bytes.sum.pct_of_peak_sustained_elapsed
	count ncu $metrics "${kernels[@]}"
	timeout 120 ncu --csv --page raw --print-units base --cache-control none --clock-control none \
		--metrics "$metrics,launch__registers_per_thread" --log-file "$work/ncu.csv" \
		"$counters" "${kernels[@]}" >/dev/null 2>>"$OUT/counters.err"
	cp "$work/ncu.csv" "$OUT/counters-ncu.csv"
	row "side by side with ncu" "$(python3 tests/gpu/compare-ncu.py "$work/ncu.jsonl" "$work/ncu.csv" \
		>"$OUT/counters-ncu.txt" 2>&1 && echo 1 || echo 0)" "$(tail -n1 "$OUT/counters-ncu.txt")"
}

# by_turns NAME METRICS PROGRAM...: no kernel runs twice, each launch is counted with some of the metrics
by_turns() {
	local name=$1 metrics=$2
	shift 2
	timeout 120 cuda-trace profile --json -o "$work/$name.jsonl" --counters "$metrics" --replay launches -- \
		"$@" >"$work/$name.out" 2>>"$OUT/counters.err"
	cp "$work/$name.jsonl" "$OUT/counters-$name.jsonl"
}

# summed NAME KERNEL FILTER: of the means of a kernel
summed() {
	jq -r "select(.event == \"counters_sum\" and (.kernel | test(\"\\\\b$2\\\\b\"))) | $3" "$work/$1.jsonl"
}

# The same kernels again and again, each metric of other launches: figures as known, and the verdicts of kernel replay.
counters_turns() {
	local line name library bare ours metrics=overview,dram__bytes_read.sum,dram__bytes_write.sum
	# shellcheck disable=SC2046
	by_turns turns $metrics "$counters" $(yes copy matrix_product fma_chain tensor_product strided one_lane | head -n 25)
	row "by turns: all launches" "$(jq -s 'map(select(.event == "counters_state"))[0] | .counted == .launches and
		.missed == 0 and .outcome == "on" | if . then 1 else 0 end' "$work/turns.jsonl")" \
		"$(counters_state "$work/turns.jsonl"), $(grep -o '[0-9]* sets\? of metrics on' "$OUT/counters.err" | tail -n1)"
	for name in dram__bytes_read.sum dram__bytes_write.sum; do
		within "by turns, copy: $name" "$(summed turns copy ".metrics[\"$name\"].value")" "$(truth_of "$work/turns.out" copy_bytes)" 3
	done
	name=sm__sass_thread_inst_executed_op_ffma_pred_on.sum
	within "by turns, matrix product: FFMA" "$(summed turns matrix_product ".metrics[\"$name\"].value")" \
		"$(truth_of "$work/turns.out" matrix_ffma)" 1
	within "by turns, FMA chain: FFMA" "$(summed turns fma_chain ".metrics[\"$name\"].value")" "$(truth_of "$work/turns.out" chain_ffma)" 1
	for line in copy=memory-bound fma_chain=compute-bound tensor_product=compute-bound strided=uncoalesced one_lane=divergent; do
		name=${line%%=*}
		row "by turns, verdict: $name" "$([ "$(summed turns "$name" .verdict.is)" = "${line#*=}" ] && echo 1 || echo 0)" \
			"$(summed turns "$name" '"\(.verdict.is), \(.launches) launches; \(.verdict.because)"')"
	done
	# And what it takes: kernels of 5 us, beside CUPTI alone, which replays each.
	library=$(find -L /usr/local/cuda/ -name libcupti.so.13 2>/dev/null | head -n1)
	gcc -I. -I/usr/local/cuda/include -L"$bundle/simcuda" -o "$work/counting" tests/gpu/counting.c \
		-l:libcuda.so.1 -ldl >>"$OUT/nvcc.log" 2>&1 || return
	export CUDA_TRACE_LIBCUPTI=$library
	by_turns cost-turns overview "$work/counting" "" 601 5000
	unset CUDA_TRACE_LIBCUPTI
	metrics=$(jq -r 'select(.event == "counters_sum").metrics | keys_unsorted | .[]' "$work/cost-turns.jsonl")
	# shellcheck disable=SC2086
	"$work/counting" "$library" 11 5000 $metrics >"$work/floor.out" 2>>"$OUT/counters.err"
	bare=$(truth_of "$work/floor.out" ns)
	ours=$(truth_of "$work/cost-turns.out" ns)
	row "by turns: cost over CUPTI's own" "$(awk -v a="$ours" -v b="$bare" 'BEGIN { print (a > 0 && b > 0 && a <= b / 2) ? 1 : 0 }')" \
		"$(jq -sc 'map(select(.event == "counters_sum"))[0] | [.launches, (.metrics | length)]' "$work/cost-turns.jsonl") of 5 us; CUPTI, which replays, and ours ns a launch: $bare $ours"
}

# A graph of eight nodes that run one kernel, and that kernel beside it: the graph's count is eight times the kernel's.
counters_graphs() {
	local metric=smsp__inst_executed.sum what graph kernel
	nvcc -arch=native -O2 -o "$work/pc-graph" tests/gpu/pc-graph.cu >>"$OUT/nvcc.log" 2>&1 || return
	for what in --graphs ""; do
		# shellcheck disable=SC2086
		timeout 60 cuda-trace profile --counters $metric $what --kernels 5 --json -o "$work/graphs$what.jsonl" -- \
			"$work/pc-graph" 2 >"$work/graphs$what.out" 2>>"$OUT/counters.err"
		cp "$work/graphs$what.jsonl" "$OUT/counters-graphs$what.jsonl"
	done
	graph=$(jq -r "select(.event == \"counters\" and .number == 5 and .graph).metrics[\"$metric\"].value" "$work/graphs--graphs.jsonl")
	kernel=$(jq -r "select(.event == \"counters\" and .number == 5 and (.graph | not)).metrics[\"$metric\"].value" "$work/graphs.jsonl")
	row "graphs: as its kernels" "$(awk -v g="$graph" -v k="$kernel" 'BEGIN { print (k > 0 && g == 8 * k) ? 1 : 0 }')" \
		"$graph, known: 8 x $kernel; $(counters_state "$work/graphs--graphs.jsonl"), $(tail -n1 "$work/graphs--graphs.out")"
	counters_graph_threads $metric
}

# Graphs of four kernels that four threads launch, with each libcupti: all are counted, and alike.
counters_graph_threads() { # METRIC
	local file name launched values
	while read -r file; do
		name=$(basename "$(dirname "$file")")/$(basename "$file")
		case $file in *libcupti.so.11.* | *libcupti.so.13.0) continue ;; esac
		CUDA_TRACE_LIBCUPTI=$file timeout 60 cuda-trace profile --counters "$1" --graphs --json -o "$work/threads.jsonl" -- \
			"$bundle/workloads/launch-storm" -t 4 -n 60 -g 4 >"$work/threads.out" 2>>"$OUT/counters.err"
		launched=$(truth_of "$work/threads.out" graph_launches)
		values=$(jq -sc "map(select(.event == \"counters\" and .graph).metrics[\"$1\"].value) | [length, (unique | length), .[0] > 0]" \
			"$work/threads.jsonl")
		row "graphs of 4 threads: $name" "$([ "${launched:-0}" -gt 0 ] && [ "$values" = "[$launched,1,true]" ] && echo 1 || echo 0)" \
			"$values of $launched"
	done < <(libcuptis)
}

part_graph_counters() {
	counters_graphs
}

part_turns() {
	nvcc -arch=native -O2 -lineinfo -o "$counters" tests/gpu/counters.cu >>"$OUT/nvcc.log" 2>&1 || return
	counters_turns
}

part_counters() {
	local chip
	nvcc -arch=native -O2 -lineinfo -o "$counters" tests/gpu/counters.cu >>"$OUT/nvcc.log" 2>&1 || return
	timeout 60 cuda-trace profile --list-metrics >"$OUT/counters-metrics.txt" 2>>"$OUT/counters.err"
	chip=$(sed -n 's/^Metrics of \([^ ]*\) .*/\1/p' "$OUT/counters-metrics.txt")
	row "list of metrics" "$([ "$(wc -l <"$OUT/counters-metrics.txt")" -gt 1000 ] && echo 1 || echo 0)" \
		"$(wc -l <"$OUT/counters-metrics.txt") lines, $chip"
	counters_truth
	counters_roofline
	counters_verdicts
	counters_cost
	counters_floor
	counters_contexts
	counters_turns
	counters_sass
	counters_graphs
	counters_manners
	counters_others
	counters_ncu
}
