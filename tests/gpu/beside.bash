# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: programs that go on working, and check themselves, while they are profiled.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"
declare -a on

# until_there FILE REGEX: 20 s at most
until_there() {
	for _ in $(seq 200); do
		grep -qs "$2" "$1" && return
		sleep 0.1
	done
}

# unharmed FILE STATUS: 1 if the program ended well and found nothing wrong
unharmed() {
	local wrong
	wrong=$(truth_of "$1" wrong_seconds)
	[ "$2" = 0 ] && [ "${wrong:-$(truth_of "$1" wrong)}" = 0 ] && echo 1 || echo 0
}

counters_state() {
	jq -c 'select(.event == "counters_state") | [.outcome, .counted, .missed, .result, .failed_call]' "$1" | tail -n1
}

# Kernels are run several times to be counted, while another thread launches kernels, or captures and launches graphs.
beside_counters() {
	local mode presets status
	for mode in graph kernel; do
		timeout 60 cuda-trace profile --counters quick -k increment --kernels 20 --json -o "$work/beside.jsonl" -- \
			"$work/beside" 3 "$mode" >"$work/beside.out" 2>>"$OUT/beside.err"
		status=$?
		row "profile --counters beside a $mode" "$(unharmed "$work/beside.out" $status)" \
			"status $status $(counters_state "$work/beside.jsonl") $(tail -n1 "$work/beside.out")"
	done
	CUDA_INJECTION64_PATH=$(the_agent) "$work/beside" 24 graph >"$work/beside.out" 2>>"$OUT/beside.err" &
	local pid=$!
	sleep 2.5
	for presets in quick overview quick; do
		timeout 20 cuda-trace profile --counters $presets -k increment --kernels 20 -d 4 --json \
			-o "$work/late.jsonl" -p $pid 2>>"$OUT/beside.err"
		row "profile --counters $presets -p" "$(jq -s 'map(select(.event == "counters_state").counted) | add == 20 |
			if . then 1 else 0 end' "$work/late.jsonl")" "$(counters_state "$work/late.jsonl")"
	done
	timeout 20 cuda-trace profile --counters quick -d 4 -o "$work/late.txt" -p $pid 2>"$work/late.err"
	row "profile --counters -p, a fourth time" "$(grep -q 'CUPTI was switched on in it three times' "$work/late.err" && echo 1 || echo 0)" \
		"$(grep -o 'CUPTI was switched on in it three times.*' "$work/late.err" | head -c 120)"
	wait $pid
	status=$?
	row "three --counters -p beside graphs" "$(unharmed "$work/beside.out" $status)" "status $status $(tail -n1 "$work/beside.out")"
}

# One session that goes on, and counts far more than the three above, beside graphs.
beside_long() {
	local how pid status counted least
	for how in "quick" "overview" "overview --replay launches"; do
		CUDA_INJECTION64_PATH=$(the_agent) "$work/beside" 13 graph >"$work/beside.out" 2>>"$OUT/beside.err" &
		pid=$!
		sleep 2
		# shellcheck disable=SC2086
		timeout 20 cuda-trace profile --counters $how -k increment -d 9 --json -o "$work/long.jsonl" -p $pid 2>>"$OUT/beside.err"
		wait $pid
		status=$?
		# By turns it ends after three sets.
		[[ $how = *launches ]] && least=3 || least=100
		counted=$(jq -s 'map(select(.event == "counters_state").counted) | add' "$work/long.jsonl")
		row "a long --counters $how -p" "$([ "${counted:-0}" -ge $least ] && unharmed "$work/beside.out" $status || echo 0)" \
			"status $status $(counters_state "$work/long.jsonl") $(tail -n1 "$work/beside.out")"
	done
}

# Captures that begin and end while windows of PC samples open and close. Its kernels take 3 ms, and there is one most of the
# time: samples must come. "other" counts: a graph was launched before the first window, and CUPTI may not know whose they are.
part_captures() {
	local pid status i traced json rows=""
	CUDA_INJECTION64_PATH=$(the_agent) timeout 30 "${on[@]}" "$bundle/workloads/captures" 7 4 long \
		>"$work/captures.out" 2>>"$OUT/beside.err" &
	pid=$!
	until_there "$work/captures.out" ready
	traced=$(pgrep -P $pid -x captures)
	for i in 1 2 3; do
		json=$OUT/captures-$i.json
		timeout 20 cuda-trace profile --pc --bursts 20ms/200ms --json -d 1 -o "$json" -p "$traced" 2>>"$OUT/beside.err"
		rows+=$(jq -c '[.windows, .samples.total, .samples.placed, .samples.other, .processes[0].trouble]' "$json")
	done
	wait $pid
	status=$?
	row "profile --pc -p beside captures" "$([ $status = 0 ] && jq -s 'all(.windows > 0 and .samples.total > 0) |
		if . then 1 else 0 end' "$OUT"/captures-[123].json || echo 0)" \
		"status $status, windows, samples, placed, other, trouble: $rows, $(tail -n1 "$work/captures.out")"
}

kernels_seen() { # PORT
	curl -s "127.0.0.1:$1/metrics" | awk '/^cuda_kernel_duration_seconds_count/ {sum += $2} END {print sum + 0}'
}

# metrics watches the machine; a PyTorch program is sampled, and its kernels come back afterwards. Its modules were
# there before: their lines come from PyTorch's files.
beside_torch() {
	local metrics pid program status before after
	cuda-trace metrics --listen 127.0.0.1:9878 2>>"$OUT/beside.err" &
	metrics=$!
	CUDA_INJECTION64_PATH=$(the_agent) timeout 90 python3 tests/gpu/torch-checked.py 60 >"$work/torch.out" 2>>"$OUT/beside.err" &
	program=$!
	until_there "$work/torch.out" ready
	pid=$(sed -n 's/^ready //p' "$work/torch.out")
	timeout 40 cuda-trace profile --pc --bursts 20ms/200ms -d 2 --json -o "$OUT/beside-torch.json" -p "$pid" 2>>"$OUT/beside.err"
	sleep 1
	before=$(kernels_seen 9878)
	sleep 1
	after=$(kernels_seen 9878)
	kill -USR1 "$pid"
	wait $program
	status=$?
	kill $metrics
	row "profile --pc -p in PyTorch" "$(jq '.samples.placed > 0 | if . then 1 else 0 end' "$OUT/beside-torch.json")" \
		"$(jq -c '[.windows, .samples, ([.functions[].instructions[] | select(.line)] | length)]' "$OUT/beside-torch.json")"
	row "metrics beside it, afterwards" "$([ "$after" -gt "$before" ] && echo 1 || echo 0)" "$before, a second later $after kernels"
	row "the program meanwhile" "$(unharmed "$work/torch.out" $status)" "status $status $(tail -n1 "$work/torch.out")"
}

part_long() {
	nvcc -arch=native -O2 -o "$work/beside" tests/gpu/beside.cu >>"$OUT/nvcc.log" 2>&1 && beside_long
}

part_beside() {
	nvcc -arch=native -O2 -o "$work/beside" tests/gpu/beside.cu >>"$OUT/nvcc.log" 2>&1 || {
		row "beside: nvcc" 0 "see nvcc.log"
		return
	}
	beside_counters
	beside_long
	part_captures
	! torch_is_here beside || beside_torch
}
