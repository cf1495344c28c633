#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record --energy and report --energy: kernels whose power is known (SIMCUDA_WATTS, beyond the 70 W of an idle
# GPU), and a simulated NVML whose counter follows them.

load ../lib/helpers

setup() {
	requires root bpf sim sqlite3
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_ENERGY_LOG=$PWD/energy.log SIMCUDA_WATTS=spin=200,empty=400 SIMCUDA_KERNEL_NS=5000000
}

record() { # record's arguments: with the simulated NVML for the tool
	LD_LIBRARY_PATH=$B/simcuda/nvml ct record --energy -q "$@"
}

@test "record --energy, report --energy (kernels of known power) have the energy of each within 5 %, as stat --energy" {
	record -o r.db -- "$SIM" "$WORKLOADS/energy" 1500 >out
	ct report --energy --json r.db >report.json
	# 1.5 s at 270 and at 470 W.
	json report.json '.table == "energy"'
	json report.json '.energy.kernels | map({(.name): .joules}) | add | .spin / 405, .empty / 705 | . > 0.95 and . < 1.05'
	json report.json '.energy.kernels[].ns == 1500000000'
	# The program waits for 300 kernels at once: none of them counts as late.
	ct report --json r.db >summary.json
	json summary.json '.time.late_events == 0 and .time.gpu_busy_ns > 2999000000'
	json report.json '.energy.processes | length == 1 and .[0].process == "energy"'
	json report.json '.energy | ([.gpus[] | .attributed_joules + .idle_joules + .unattributed_joules - .meter_joules] | all(. < 1e-6 and . > -1e-6))
		and ((([.kernels[].joules] | add) - ([.gpus[].attributed_joules] | add)) | . < 1e-6 and . > -1e-6)'
	# The table has exactly what the meter counted.
	assert_equal "$(sqlite3 r.db 'SELECT sum(millijoules) FROM CUDA_TRACE_ENERGY')" \
		"$(jq '.energy.gpus[0].meter_joules * 1000 | round' report.json)"
	assert_equal "$(sqlite3 r.db 'SELECT DISTINCT value FROM CUDA_TRACE_ENERGY JOIN StringIds ON id = uuidId')" \
		GPU-51515151-5151-5151-5151-515151515100
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM (SELECT start, lag(end) OVER (ORDER BY start) AS before FROM CUDA_TRACE_ENERGY)
		WHERE start <> before')" 0
	# The summary has it, too, and the table is the same in text.
	ct report r.db >summary.txt
	ct report --energy r.db >energy.txt
	sed -n '/^Energy, estimated/,/^$/p' summary.txt | grep -v '^$' >part
	diff part <(grep -v '^$' energy.txt)
	grep -qE '^ +[0-9.]+% +[0-9.]+ +[0-9.]+ +([0-9.]+|-) +1\.500 s spin$' energy.txt
}

@test "report --energy (hostile numbers in the table) neither crashes nor invents" {
	record -o r.db -- "$SIM" "$WORKLOADS/energy" 300 >out
	sqlite3 r.db "INSERT INTO CUDA_TRACE_ENERGY (start, end, millijoules, uuidId, failedReadings) VALUES
		(-9223372036854775808, 9223372036854775807, 5, (SELECT min(uuidId) FROM CUDA_TRACE_ENERGY), 0),
		(5, 1, 9223372036854775807, 1, 3), (1, 5, -7, 1, -1), (1, 9000000000000000000, 7, 99999, 0)"
	LIMIT=20 ct report --energy --json r.db >report.json
	json report.json '.energy.gpus | length >= 1 and all(.meter_joules >= 0 and .meter_joules < 10000)'
}

@test "record --energy (no NVML), report --energy (nothing recorded) say so" {
	SIMNVML_INIT=9 record -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out 2>err
	grep -qx 'cuda-trace record: no energy: NVML could not be initialised' err
	run ct report --energy r.db
	assert_success
	assert_output --partial 'no energy: the recording was not made with record --energy'
	run -2 ct report --energy --csv r.db
	run -2 ct record --energy -e copies -- true
	assert_output --partial '--energy needs kernels'
	ct report --json r.db >out.json
	json out.json '.energy == null'
}
