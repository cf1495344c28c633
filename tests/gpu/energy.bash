# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: stat --energy against NVML's own counter, and two kernels in a mix against each alone.

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
