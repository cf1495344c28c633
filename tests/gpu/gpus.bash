# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: several GPUs in one machine, and programs that share one through MPS.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"

copies_between() {
	local json=$OUT/gpus-peers.json lines=$OUT/gpus-peers.lines db=$work/peers.db text
	timeout 60 cuda-trace stat --json -o "$json" -- "$bundle/workloads/peers" >"$work/peers.out" 2>>"$OUT/gpus.err"
	all_keys "stat peers, $(truth_of "$work/peers.out" devices) GPUs" "$work/peers.out" "$json"
	say "  memory" "$(detail "$json" '[.memory[] | "\(.device) \(.kind) \(.bytes)"] | join(", ")')"
	timeout 60 cuda-trace trace -e copies,kernels --json -o "$lines" -- "$bundle/workloads/peers" >"$work/peers.out" \
		2>>"$OUT/gpus.err"
	text=$(jq -sc 'map(select(.event == "memcpy") | "\(.direction) \(.device) \(.from_device)-\(.to_device)") |
		group_by(.) | map("\(.[0]) \(length)") | join(", ")' "$lines")
	row "  from which GPU to which" "$(same "$(jq -s 'map(select(.direction == "PtoP" and
		.from_device != .to_device and .from_device >= 0 and .to_device >= 0)) | length' "$lines")" \
		"$(truth_of "$work/peers.out" peer_copies)")" "$text, program: $(truth_of "$work/peers.out" peer_copies)"
	row "  kernels of each GPU" "$(same "$(jq -s 'map(select(.event == "kernel").device) | unique | length' "$lines")" \
		"$(truth_of "$work/peers.out" devices)")" "$(jq -sc 'map(select(.event == "kernel").device) |
		group_by(.) | map("\(.[0]) \(length)")' "$lines")"
	timeout 60 cuda-trace record -q -f -o "$db" -- "$bundle/workloads/peers" >"$work/peers.out" 2>>"$OUT/gpus.err"
	row "  recorded, by SQL" "$(same "$(sql "$db" 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY
		WHERE srcDeviceId <> dstDeviceId')" "$(truth_of "$work/peers.out" peer_copies)")" \
		"$(sql "$db" 'SELECT srcDeviceId, dstDeviceId, count(*), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY
		GROUP BY 1, 2' | tr '\n' ' ')"
}

live() {
	local json=$OUT/gpus-top.json
	CUDA_INJECTION64_PATH=$(find /usr/lib -name libcupti-usdt.so | head -n1) \
		timeout 15 "$bundle/workloads/peers" 1000000 >"$work/live.out" 2>>"$OUT/gpus.err" &
	sleep 1
	timeout 30 cuda-trace top --json -n 2 -d 1 >"$json" 2>>"$OUT/gpus.err"
	kill %% 2>/dev/null
	row "top, GPUs seen busy" "$(same "$(tail -n1 "$json" | jq '[.devices[] | select(.gpu_percent > 0 and .copy_percent > 0)] | length')" \
		"$(nvidia-smi -L | wc -l)")" "$(tail -n1 "$json" | jq -c '[.devices[] | [.device, .gpu_percent, .copy_percent]]' | head -c 300)"
}

ranks() {
	local json=$OUT/gpus-ranks.json
	torch_is_here ranks || return
	PROFILED=1 timeout 100 python3 tests/gpu/ranks.py >"$work/ranks.want" 2>>"$OUT/gpus.err"
	timeout 100 cuda-trace stat --json -o "$json" -- python3 tests/gpu/ranks.py >"$work/ranks.out" 2>>"$OUT/gpus.err"
	compare "PyTorch with NCCL, a process a GPU" "$work/ranks.want" "$json" kernels
	row "  its result as without us" "$(same "$(truth_of "$work/ranks.out" result)" "$(truth_of "$work/ranks.want" result)")" \
		"$(truth_of "$work/ranks.out" result), with torch.profiler $(truth_of "$work/ranks.want" result); kernels of each: $(
			detail "$json" '[.processes[] | select(.kernels > 0) | .kernels]')"
}

part_gpus() {
	nvidia-smi -L >"$OUT/gpus.txt"
	if [ "$(wc -l <"$OUT/gpus.txt")" -lt 2 ]; then
		say gpus "one GPU alone: not tried"
		return
	fi
	copies_between
	live
	ranks
}

# Clients of one MPS server: traced as if they were alone.
part_mps() {
	local control n json programs=()
	control=$(command -v nvidia-cuda-mps-control || ls /usr/local/nvidia/bin/nvidia-cuda-mps-control 2>/dev/null)
	[ -n "$control" ] || { say MPS "not tried: no nvidia-cuda-mps-control"; return; }
	mkdir -p "$work/mps"
	export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps
	timeout 20 "$control" -d >>"$OUT/mps.err" 2>&1
	for n in saxpy launch-storm graphs copies; do
		timeout 60 cuda-trace stat --json -o "$OUT/mps-$n.json" -- "$bundle/workloads/$n" >"$work/mps-$n.out" \
			2>>"$OUT/mps.err" &
		programs+=($!)
	done
	wait "${programs[@]}"
	for n in saxpy launch-storm graphs copies; do
		all_keys "MPS, four at once: $n" "$work/mps-$n.out" "$OUT/mps-$n.json"
	done
	say "  server" "$(grep -c 'is ACTIVE' "$work/mps/server.log") clients came; doctor: $(
		timeout 30 cuda-trace doctor 2>&1 | grep -m1 MPS)"
	echo quit | timeout 20 "$control" >>"$OUT/mps.err" 2>&1
	unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}
