# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: stat --energy against NVML's own counter, kernels in a mix against each alone, and shares of a GPU.

# What this file shares with tests/gpu/run:
: "${work:?}" "${OUT:?}"
ENERGY_PROGRAM=${ENERGY_PROGRAM:-tests/gpu/energy-loop.py}
ENERGY_SECONDS=${ENERGY_SECONDS:-20}

energy_run() { # NAME KERNEL…
	local name=$1
	shift
	timeout 120 cuda-trace stat --energy --json -o "$OUT/energy-$name.json" -- \
		python3 "$ENERGY_PROGRAM" "$ENERGY_SECONDS" "$@" >"$work/energy-$name.out" 2>>"$OUT/energy.err"
}

energy_watts() { # NAME KERNEL: the watts of the kernels of that kind
	jq -r --arg kernel "$2" '[.energy.kernels[] | select(.name | if $kernel == "matmul" then test("gemm|cutlass|cublas|nvjet"; "i")
		else test("elementwise"; "i") end)] | (map(.joules) | add // 0) / ((map(.ns) | add // 1) / 1e9)' "$OUT/energy-$1.json"
}

part_energy() {
	local kernel alone mixed meter nvml
	energy_run matmul matmul
	energy_run copy copy
	energy_run mix matmul copy
	# The loop says what the counter says of the time in which it ran, with the GPU busy all the time.
	for kernel in matmul copy; do
		nvml=$(truth_of "$work/energy-$kernel.out" joules)
		meter=$(jq '[.energy.kernels[].joules] | add' "$OUT/energy-$kernel.json")
		row "energy $kernel, total" "$(near "$meter" "$nvml" "$(awk -v j="$nvml" 'BEGIN { print j * 0.01 }')")" \
			"$meter J, the meter $nvml J"
	done
	for kernel in matmul copy; do
		alone=$(energy_watts "$kernel" "$kernel")
		mixed=$(energy_watts mix "$kernel")
		row "energy $kernel, in a mix" "$(near "$mixed" "$alone" "$(awk -v w="$alone" 'BEGIN { print w * 0.05 }')")" \
			"$mixed W, alone $alone W"
	done
	row "energy is conserved" "$(jq '[.energy.gpus[] | .attributed_joules + .idle_joules + .unattributed_joules - .meter_joules
		| . < 1e-3 and . > -1e-3] | all | if . then 1 else 0 end' "$OUT/energy-mix.json")" "$(jq -c '.energy.gpus' "$OUT/energy-mix.json")"
}

# Each of twenty kernels has the power in a mix of all of them that it has alone.
part_energies() {
	local kind program=$work/kernels right=0 text="" mixed alone
	nvcc -O2 -std=c++17 -o "$program" tests/gpu/kernels.cu >>"$OUT/nvcc.log" 2>&1 || { row "energies: nvcc" 0 "see nvcc.log"; return; }
	timeout 200 cuda-trace stat --energy --json -o "$OUT/energies-mix.json" -- "$program" -1 "${MIX_SECONDS:-80}" "${TURN_MS:-300}" 2>>"$OUT/energy.err"
	for kind in $(seq 0 19); do
		timeout 60 cuda-trace stat --energy --json -o "$OUT/energies-$kind.json" -- "$program" "$kind" "${ALONE_SECONDS:-4}" 2>>"$OUT/energy.err"
		mixed=$(energies_watts mix "$kind")
		alone=$(energies_watts "$kind" "$kind")
		[ "$(near "$mixed" "$alone" "$(awk -v w="$alone" 'BEGIN { print w * 0.05 }')")" = 1 ] && right=$((right + 1))
		text+=" $(awk -v a="$mixed" -v b="$alone" -v k="$kind" 'BEGIN { printf "%d: %.0f/%.0f W, %+.1f %%;", k, a, b, (a / b - 1) * 100 }')"
	done
	row "energies: of 20 kernels" "$([ $right = 20 ] && echo 1 || echo 0)" "$right of 20 within 5 %, in the mix and alone:$text"
	say "  meter" "$(jq -c '.energy.gpus' "$OUT/energies-mix.json")"
}

energies_watts() { # NAME KIND
	jq -r --arg kernel "mixed<$2>|mixedILi$2E" '[.energy.kernels[] | select(.name | test($kernel))] |
		(map(.joules) | add // 0) / ((map(.ns) | add // 1) / 1e9)' "$OUT/energies-$1.json"
}

# Four processes take turns on one GPU: each has the share that its finished kernels would have taken alone.
part_shares() {
	local program=$work/kernels from n pause=(0 3 6 12) ms=(4 3 2 1.5) json=$OUT/shares.json
	nvcc -O2 -std=c++17 -o "$program" tests/gpu/kernels.cu >>"$OUT/nvcc.log" 2>&1 || { row "shares: nvcc" 0 "see nvcc.log"; return; }
	from=$(($(date +%s) + 16))
	# One after the other: each measures how long its kernel takes alone.
	for n in 0 1 2 3; do
		CUDA_INJECTION64_PATH=$(the_agent) "$program" share "${ms[n]}" "${pause[n]}" "$from" 12 >"$work/share-$n.out" 2>>"$OUT/energy.err" &
		for _ in $(seq 50); do grep -qs ready "$work/share-$n.out" && break; sleep 0.1; done
	done
	while [ "$(date +%s)" -lt $((from - 1)) ]; do sleep 0.1; done
	timeout 30 cuda-trace record -q -f -a -e kernels -d 16 -o "$OUT/shares.db" 2>>"$OUT/energy.err"
	timeout 30 cuda-trace report --json "$OUT/shares.db" >"$json" 2>>"$OUT/energy.err"
	wait
	for n in 0 1 2 3; do
		tail -n1 "$work/share-$n.out" >>"$OUT/shares.txt"
	done
	jq -r --rawfile want "$OUT/shares.txt" '. as $in | [$want | split("\n")[] | select(. != "") | capture("kernels=(?<n>[0-9]+) alone_ns=(?<ns>[0-9]+)") |
			(.n | tonumber) * (.ns | tonumber)] | sort as $own | [$in.shares[].share_ns] | sort as $found |
		($own | add) as $all | ($found | add) as $sum |
		[([range(4) | ($found[.] / $sum) / ($own[.] / $all) - 1 | if . < 0 then -. else . end] | max | . <= 0.03),
		 ($own | map(. / $all * 1000 | round / 10)), ($found | map(. / $sum * 1000 | round / 10)), $sum, $all] | @json' "$json" >"$work/shares"
	row "shares of four processes" "$(jq 'if .[0] then 1 else 0 end' "$work/shares")" "%: program $(jq -c '.[1]' "$work/shares"), tool $(jq -c '.[2]' "$work/shares"
		); GPU ns: $(jq -c '.[3:]' "$work/shares"), busy $(jq -c '[.devices[]? | .busy_ns // .gpu_busy_ns]' "$json"), lost $(jq .lost.total "$json")"
}
