# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: every kind of event against what the programs counted, and what the machine has.
: "${work:?}" "${bundle:?}"
declare -a on

# all_keys NAME STDOUT JSON: every total that the program's last line has, too
all_keys() {
	local keys
	mapfile -t keys < <(tail -n1 "$2" | tr ' ' '\n' | sed -n 's/=.*//p' |
		while read -r key; do
			jq -e ".totals | has(\"$key\")" "$3" >/dev/null 2>&1 && echo "$key"
		done)
	# Without a single key it compares one that is missing, and so fails.
	compare "$1" "$2" "$3" "${keys[@]:-launches}"
}

# detail JSON FILTER: what else there is to say, on one line; never fails
detail() {
	jq -rc "$2" "$1" 2>&1 | head -c 300 | tr '\n' ' '
}

say() { # NAME TEXT: a line that is neither right nor wrong
	printf '%-34s %-4s %s\n' "$1" - "$2" | tee -a "$OUT/table.txt"
}

describe_modes() {
	say MIG "$(nvidia-smi --query-gpu=index,mig.mode.current --format=csv,noheader 2>&1 | tr '\n' ';')"
	say "compute mode" "$(nvidia-smi --query-gpu=index,compute_mode --format=csv,noheader 2>&1 | tr '\n' ';')"
	say MPS "$(pgrep -l nvidia-cuda-mps 2>/dev/null || echo "no daemon runs"); pipes: $(
		ls -d "${CUDA_MPS_PIPE_DIRECTORY:-/tmp/nvidia-mps}" 2>/dev/null || echo none); control: $(
		command -v nvidia-cuda-mps-control || echo "not installed")"
	say UVM "$(ls /dev/nvidia-uvm 2>/dev/null || echo "no /dev/nvidia-uvm"), module $(
		cat /sys/module/nvidia_uvm/version 2>/dev/null || echo unknown), HMM off: $(
		cat /sys/module/nvidia_uvm/parameters/uvm_disable_hmm 2>/dev/null || echo unknown),$(
		nvidia-smi -q 2>/dev/null | grep -i -m1 'addressing mode' | tr -s ' ')"
}

part_events() {
	local name json
	describe_modes
	for name in copies memory syncs unified nvtx streams; do
		json=$OUT/events-$name.json
		timeout 60 cuda-trace stat --errors --json -o "$json" -- \
			"${on[@]}" "$bundle/workloads/$name" >"$work/$name.out" 2>>"$OUT/events-$name.err"
		all_keys "stat $name" "$work/$name.out" "$json"
		case $name in
		copies) say "  copies" "$(detail "$json" '[.copies[] | "\(.direction) \(.count) \(.bytes)"] | join(", ")')" ;;
		memory) say "  errors" "$(detail "$json" .errors)" ;;
		syncs) say "  syncs" "$(detail "$json" '[.syncs[] | "\(.kind) \(.count) \(.total_ns) ns"] | join(", ")'
			) program: waited_ns=$(truth_of "$work/$name.out" waited_ns)" ;;
		esac
	done
	json=$OUT/events-migrations.json
	timeout 60 cuda-trace stat -e kernels,copies,sync,unified --json -o "$json" -- \
		"${on[@]}" "$bundle/workloads/unified" >"$work/u.out" 2>>"$OUT/events-unified.err"
	row "stat -e unified: migrations" "$(jq '.unified | .htod_bytes > 0 and .dtoh_bytes > 0' "$json" | sed s/true/1/)" \
		"$(detail "$json" .unified) program: $(truth_of "$work/u.out" managed_bytes) bytes a journey"
	estimated "launches, copies between them" "$bundle/bench/launch-rate" -i 50 -d 5 -m
	[ -n "${TRY:-}" ] || estimated PyTorch python3 tests/bench/torch-step.py -n 800
	nvtx_rows
}

# estimated NAME COMMAND…: the GPU time of all kernels, by windows of 10 ms in 100, against all of it in a run of its own
estimated() {
	local name=$1 whole=$work/whole.json sampled=$work/sampled.json
	shift
	timeout 60 cuda-trace stat -e kernels --json -o "$whole" -- "${on[@]}" "$@" >/dev/null 2>>"$OUT/events-sampled.err"
	timeout 60 cuda-trace stat -e kernels --sample 10ms/100ms --json -o "$sampled" -- \
		"${on[@]}" "$@" >/dev/null 2>>"$OUT/events-sampled.err"
	# Three times its own error, and 2 % that two runs may differ.
	row "stat --sample: $name" "$(jq -n --slurpfile all "$whole" --slurpfile some "$sampled" \
		'($all[0].totals | .gpu_ns / .launches) as $mean | $some[0].totals | .estimated and .sampled_kernels > 100 and
			(.gpu_ns / .launches - $mean | fabs) <= 3 * .gpu_ns_error / .launches + 0.02 * $mean | if . then 1 else 0 end')" \
		"$(jq -n -r --slurpfile all "$whole" --slurpfile some "$sampled" '$some[0].totals |
			"GPU ns a launch \(.gpu_ns / .launches) +- \(.gpu_ns_error / .launches) from \(.sampled_kernels) of \(.launches), " +
			"whole \($all[0].totals | .gpu_ns / .launches); \($some[0].sample | [.windows, .open_ns, .watched_ns])"')"
}

# ranges NAME PROGRAM ARGS…: as PROGRAM counted them
ranges() {
	local name=$1 json
	shift
	json=$OUT/events-ranges-${name//[^a-z]/-}.json
	timeout 60 cuda-trace stat -e kernels,nvtx --json -o "$json" -- \
		"${on[@]}" "$@" >"$work/n.out" 2>>"$OUT/events-nvtx.err"
	row "stat -e nvtx: $name" "$(same "$(jq '[.ranges[].count] | add' "$json")" "$(truth_of "$work/n.out" nvtx_ranges)")" \
		"seen/program: $(jq '[.ranges[].count] | add' "$json")/$(truth_of "$work/n.out" nvtx_ranges) launches $(
			jq .totals.launches "$json")/$(truth_of "$work/n.out" launches) $(
			detail "$json" '[.ranges[] | "\(.name) \(.count)"] | join(", ")')"
}

nvtx_rows() {
	ranges workload "$bundle/workloads/nvtx"
	if gcc -I/usr/local/cuda/include -L"$bundle/simcuda" -o "$work/ranges" tests/gpu/ranges.c -l:libcuda.so.1 -ldl \
		2>>"$OUT/events-nvtx.err"; then
		ranges "NVIDIA's header" "$work/ranges"
		ranges "NVIDIA's header, before cuInit" "$work/ranges" early
	else
		say "stat -e nvtx: NVIDIA's header" "not built: $(tail -n1 "$OUT/events-nvtx.err")"
	fi
	python3 -c 'import torch' 2>>"$OUT/events-nvtx.err" || return
	cat >"$work/ranges.py" <<-'END'
		import torch
		data = torch.ones(1000, device="cuda")
		for _ in range(10):
		    torch.cuda.nvtx.range_push("outer")
		    data += 1
		    with torch.cuda.nvtx.range("inner"):
		        data *= 2
		    torch.cuda.nvtx.range_pop()
		torch.cuda.synchronize()
		print("expect launches=21 nvtx_ranges=20")
	END
	ranges torch.cuda.nvtx python3 "$work/ranges.py"
}
