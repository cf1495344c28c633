#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The rank that launchers put into the environment of a process, wherever processes are shown.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# rank NAME=VALUE...: what the parser finds in this environment.
rank() {
	printf '%s\0' "$@" | ./rank
}

@test "rank (torchrun, Open MPI, PMIx, MPICH, MVAPICH, Slurm) is found, with size and local rank" {
	cc -D_GNU_SOURCE -I"$TOP" -o rank "$TOP/tests/proc/unit_rank.c" $(tool_sources rank process_environment)
	assert_equal "$(rank A=1 RANK=9 LOCAL_RANK=1 WORLD_SIZE=16)" '9 1 16'
	assert_equal "$(rank OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0)" '3 0 4'
	assert_equal "$(rank PMIX_RANK=5)" '5 -1 -1'
	assert_equal "$(rank PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0)" '0 0 2'
	assert_equal "$(rank MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2)" '1 -1 2'
	assert_equal "$(rank SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=3)" '7 3 8'
	assert_equal "$(rank RANK=2)" '2 -1 -1'
	# One torchrun on each node, started by srun: SLURM_PROCID is the node's.
	assert_equal "$(rank SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 RANK=12 LOCAL_RANK=4 WORLD_SIZE=16)" '12 4 16'
	assert_equal "$(rank OMPI_COMM_WORLD_RANK=7 RANK=3)" '7 -1 -1'
}

@test "rank (no number, too large, beyond the size, cut, another name) is none" {
	cc -D_GNU_SOURCE -I"$TOP" -o rank "$TOP/tests/proc/unit_rank.c" $(tool_sources rank process_environment)
	assert_equal "$(printf '' | ./rank)" none
	assert_equal "$(rank RANK= XRANK=1 RANKS=2 =3)" none
	assert_equal "$(rank RANK=1x)" none
	assert_equal "$(rank RANK=-1)" none
	assert_equal "$(rank RANK=99999999999999999999)" none
	assert_equal "$(rank RANK=7 RANK=8)" '7 -1 -1'
	assert_equal "$(rank RANK=8 WORLD_SIZE=4)" '8 -1 -1'
	assert_equal "$(printf 'A=1\0RANK=1' | ./rank)" none
}

@test "stat, record, report (two ranks of a launcher) show and store the rank of each process" {
	requires bpf sim
	cat >launcher <<-END
		for rank in 0 1; do
			RANK=\$rank LOCAL_RANK=\$rank WORLD_SIZE=2 "$WORKLOADS/saxpy" --repeat \$((rank + 3)) &
		done
		wait
	END
	ct stat --json -o s.json -- "$SIM" sh launcher
	assert_equal "$(json s.json '[.processes[] | select(.kernels > 0) | [.rank, .local_rank, .world_size, .kernels]]
		| sort | tostring')" '[[0,0,2,3],[1,1,2,4]]'
	ct stat -o s.txt -- "$SIM" sh launcher
	run -0 grep -A3 '^Processes' s.txt
	assert_line --regexp '^ +PID +RANK +PROCESS'
	assert_line --regexp '^ +[0-9]+ +1 +saxpy'
	ct record -q -o r.db -- "$SIM" sh launcher
	assert_equal "$(sqlite3 r.db 'SELECT rank, localRank, worldSize FROM CUDA_TRACE_PROCESSES ORDER BY rank' |
		paste -sd' ')" '0|0|2 1|1|2'
	ct report --json r.db >r.json
	assert_equal "$(json r.json '[.processes[] | [.rank, .kernels]] | sort | tostring')" '[[0,3],[1,4]]'
	run -0 ct stat -- "$SIM" env -u RANK -u SLURM_PROCID "$WORKLOADS/saxpy"
	refute_output --partial RANK
}

@test "report (a recording of before ranks were stored) has none" {
	requires bpf sim
	ct record -q -o r.db -- env RANK=1 "$SIM" "$WORKLOADS/saxpy"
	sqlite3 r.db 'ALTER TABLE CUDA_TRACE_PROCESSES DROP COLUMN rank'
	ct report --json r.db >r.json
	json r.json '.processes[0].rank == null and .processes[0].kernels == 10'
}

@test "list, top, metrics (a running rank) name the rank" {
	requires bpf sim curl
	start storm env RANK=5 WORLD_SIZE=8 CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/launch-storm" -s 30 -p 500
	ready storm
	ct list --json >list.json
	json list.json "select(.pid == $storm_PID) | .rank == 5"
	run -0 ct list --wide
	assert_line --regexp "^ +$storm_PID .* 5 "
	ct top --json -n 2 -d 0.5 >top.json
	assert_equal "$(tail -n 1 top.json | jq ".processes[] | select(.pid == $storm_PID) | .rank")" 5
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	url=$(sed -n 's/.*listening on \(http.*\)$/\1/p' exporter.err)
	curl -sS -f "$url" >/dev/null
	wait_for 10 sh -c "curl -sS -f '$url' | grep -q '^cuda_kernel_launches_total{.*rank=\"5\"'"
}
