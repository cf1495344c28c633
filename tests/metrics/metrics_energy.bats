#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics --energy: kernels whose power is known (SIMCUDA_WATTS, beyond the 70 W of an idle GPU), and a
# simulated NVML whose counter follows them.

load ../lib/helpers

setup() {
	requires root bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_ENERGY_LOG=$PWD/energy.log SIMCUDA_WATTS=spin=200,empty=400 SIMCUDA_KERNEL_NS=5000000
}

# exporter ARGS...: with the simulated NVML, in the background; its address is in $URL.
exporter() {
	start exporter env LD_LIBRARY_PATH="$B/simcuda/nvml" "$CUDA_TRACE" metrics --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# sum NAME [LABEL]: of the samples, of those with the label.
sum() {
	awk -v name="$1{" -v label="${2-}" 'index($0, name) == 1 && index($0, label) { sum += $NF } END { printf "%.6f\n", sum }' scrape
}

# is EXPRESSION: true to awk.
is() {
	awk "BEGIN { exit !($1) }"
}

work() {
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "$WORKLOADS/energy" "$@"
}

# Some seconds late, all energy is there: as much as SECONDS of 70 W and the kernels' own took, and nothing after it.
energetic() {
	curl -sS -f --max-time 10 -o scrape "$URL/metrics" && is "$(sum cuda_energy_joules_total) > $1"
}

conserved() {
	local parts
	parts=$(awk "BEGIN { printf \"%.6f\", $(sum cuda_energy_joules_total) + $(sum cuda_energy_idle_joules_total) + $(sum cuda_energy_unattributed_joules_total) }")
	is "$parts > 0 && $parts - $(sum cuda_energy_meter_joules_total) < 1e-3 && $(sum cuda_energy_meter_joules_total) - $parts < 1e-3"
}

@test "metrics --energy (kernels of known power) has the energy of their process, and all of the meter's" {
	exporter --energy
	work 1500 >out
	# 1.5 s at 270 and at 470 W: 1,110 J.
	wait_for 40 energetic 1054
	conserved
	is "$(sum cuda_energy_joules_total 'comm="energy"') > 1054 && $(sum cuda_energy_joules_total 'comm="energy"') < 1166"
	assert_equal "$(sum cuda_energy_joules_total)" "$(sum cuda_energy_joules_total 'comm="energy"')"
	is "$(sum cuda_energy_idle_joules_total 'uuid="GPU-51515151-5151-5151-5151-515151515100"') > 70"
	grep -qx 'cuda_trace_failed_energy_readings_total 0' scrape
	refute grep -q 'cuda_energy.*kernel=' scrape
	promtool check metrics <scrape
}

@test "metrics --energy --by-kernel (kernels of known power) names those that took it; the sum stays" {
	exporter --energy --by-kernel 5
	work 4000 >out
	# 4 s at 270 and at 470 W: the two have the same power, as they ran within 20 s.
	wait_for 40 energetic 2812
	conserved
	is "$(sum cuda_energy_joules_total 'kernel="spin"') > 1200 && $(sum cuda_energy_joules_total 'kernel="empty"') > 1200"
	is "$(sum cuda_energy_joules_total) - $(sum cuda_energy_joules_total 'kernel="spin"') - $(sum cuda_energy_joules_total 'kernel="empty"') < 0.05 * $(sum cuda_energy_joules_total)"
}

@test "metrics --energy (two processes on one GPU) divides it by their shares" {
	exporter --energy --by-pid
	local one two
	work 1500 >one.out 3>&- &
	one=$!
	work 1500 >two.out 3>&- &
	two=$!
	wait $one $two
	wait_for 40 energetic 900
	conserved
	# As many joules in a second of its share of the GPU, on average over the kernels of both powers.
	grep '^cuda_energy_joules_total{' scrape | sed 's/.*pid="\([0-9]*\)".* /\1 /' | sort >joules
	grep '^cuda_gpu_share_seconds_total{' scrape | sed 's/.*pid="\([0-9]*\)".* /\1 /' | sort >shares
	assert_equal "$(join joules shares | wc -l)" 2
	join joules shares | awk '{ each[NR] = $2 / $3 } END { exit !(each[1] / each[2] > 0.6 && each[2] / each[1] > 0.6) }' ||
		fail "$(join joules shares)"
}

@test "metrics --energy (no NVML, samples, no kernels) says so" {
	export SIMNVML_INIT=9
	exporter --energy
	grep -qx 'cuda-trace metrics: no energy: NVML could not be initialised' exporter.err
	curl -sS -f -o scrape "$URL/metrics"
	refute grep -q '^cuda_energy' scrape
	grep -q '^cuda_trace_' scrape
	run -2 ct metrics --energy --sample 10ms/1s
	assert_output --partial 'not with --sample'
	run -2 ct metrics --energy -e copies
	assert_output --partial '--energy needs kernels'
}
