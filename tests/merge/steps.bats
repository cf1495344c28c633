#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --steps: what a step takes on each rank, and which rank differs.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# run_of FOLDER [OPTION...]: recordings of a run that never was
run_of() {
	python3 "$TOP/tests/merge/synthetic.py" "$@" >"$1.truth"
}

# middles FILE: of its steps, and of the time of its kernels of gemm, by SQLite alone
middles() {
	sqlite3 "$1" "SELECT end - start FROM NVTX_EVENTS ORDER BY 1 LIMIT 1 OFFSET (SELECT (count(*) + 1) / 2 - 1 FROM NVTX_EVENTS);
		SELECT end - start FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName = 1 ORDER BY 1
		LIMIT 1 OFFSET (SELECT (count(*) + 1) / 2 - 1 FROM NVTX_EVENTS)"
}

@test "report --steps (4 ranks, the GPU of one is slow) has the steps of each, and names that rank and its kernel" {
	run_of runs --slow 2 --steps 101
	ct report --steps --json runs >steps.json
	jq -s . steps.json >all.json
	json all.json '(map(.rank) == [0, 1, 2, 3]) and all(.steps == 101 and .host == (if .rank < 2 then "host0" else "host1" end))'
	local rank
	for rank in 0 1 2 3; do
		assert_equal "$(jq -r "select(.rank == $rank) | .step_ns.p50, (.kernels[] | select(.name == \"gemm\") | .ns.p50)" steps.json)" \
			"$(middles runs/host$((rank / 2))-00$rank.db)"
	done
	# Each step has one collective, whose kernel is the only one of NCCL; what threads did was not recorded.
	json all.json 'all(.idle == null and (.collectives | length) == 1 and .collectives[0] == {operation: "all_reduce", calls: 101,
		bytes: (101 * 1048576), ns: .nccl_ns})'
	# Its kernels of NCCL are the others' time of waiting.
	json all.json '(.[2].nccl_ns.p50 * 5 < .[0].nccl_ns.p50) and all(.gpu_busy_ns.p50 <= .step_ns.p50)'
	ct report --steps runs >steps.txt
	assert_equal "$(grep -c '^ *[0-3] host[01] ' steps.txt)" 4
	grep -qE '^Rank 2 \(host host1\) takes 6\.5[0-9.]* ms a step for gemm, and half of the ranks at most 5\.0[0-9.]* ms\.$' steps.txt
	# From summaries alone it says the same.
	mkdir summaries
	split -l 1 --additional-suffix=.json steps.json summaries/
	ct report --steps summaries >again.txt
	diff steps.txt again.txt
	ct report --steps - <steps.json >again.txt
	diff steps.txt again.txt
	# Nothing goes over what was read, also in a folder.
	run -1 --separate-stderr ct report --steps -o summaries/aa.json summaries
	run -2 --separate-stderr ct report --steps -o runs/host0-000.db runs
	ct report --steps summaries >again.txt
	diff steps.txt again.txt
}

@test "report --steps (ranks that are alike; one that is late) names none for its kernels" {
	run_of alike --steps 40
	run_of late --steps 40 --late 1
	ct report --steps alike >alike.txt
	ct report --steps late >late.txt
	run ! grep -q 'takes .* a step' alike.txt late.txt
}

@test "report --steps --json (20 kernels with long names) takes at most 3 KB a rank, and adds up" {
	run_of runs --hosts 1 --per-host 1 --steps 20
	local i
	for i in $(seq 20); do
		sqlite3 runs/host0-000.db "INSERT INTO StringIds VALUES (100 + $i, printf('%.*c', 400, 'k') || $i);
			INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT end, end + $i, 0, 1, 7, 0, globalPid, 100 + $i, 100 + $i, NULL
			FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName = 1"
	done
	ct report --steps --json runs >steps.json
	[ "$(wc -c <steps.json)" -le 3072 ]
	json steps.json '(.kernels | length) == 9 and .kernels[8].name == "[others]" and ([.kernels[].count] | add) == 20 * 23'
}

# states FILE: as of a recorder that saw no wait: each gap is there, and unexplained.
states() {
	sqlite3 "$1" "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT); INSERT INTO META_DATA_CAPTURE VALUES ('THREAD_STATES', 'complete');
		CREATE TABLE CUDA_TRACE_THREAD_STATES (globalTid INTEGER, start INTEGER, end INTEGER, state INTEGER, cause INTEGER, waitsFor INTEGER,
			function INTEGER, offNs INTEGER, delayNs INTEGER, wakerGlobalTid INTEGER, waker INTEGER, rival INTEGER)"
}

@test "report --steps --json (quotes in long names, 10 operations of NCCL, causes of idle time) takes at most 3 KB a rank" {
	run_of runs --hosts 1 --per-host 1 --steps 20
	local i
	for i in $(seq 20); do
		sqlite3 runs/host0-000.db "INSERT INTO StringIds VALUES (100 + $i, $i || printf('%.*c', 400, '\"'));
			INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT end, end + 1000 + $i, 0, 1, 7, correlationId + 1000 * $i, globalPid, 100 + $i, 100 + $i, NULL
			FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName = 1;
			INSERT INTO CUDA_TRACE_COLLECTIVES SELECT start, globalTid, $i, communicator, communicatorId, size, rank, number, elements, dataType,
			1e15, 0, 0, 0, stream, correlationId - 1 + 1000 * $i FROM CUDA_TRACE_COLLECTIVES WHERE correlationId < 1000"
	done
	states runs/host0-000.db
	ct report --steps --json runs >steps.json
	[ "$(wc -c <steps.json)" -le 3072 ]
	[ "$(wc -c <steps.json)" -ge 1500 ]
	json steps.json '(.kernels | length) == 9 and (.collectives | length) == 4 and (.idle.causes | length) >= 1'
	json steps.json '.idle.ns.p50 > 0 and .idle.ns.p50 < .step_ns.p50 and ([.idle.causes[].ns.p50] | max) <= .idle.ns.p50'
	ct report --steps runs >steps.txt
	grep -qF 'IDLE-P50 (CAUSE)' steps.txt
	ct report --steps steps.json >again.txt
	diff steps.txt again.txt
}

# lost FILE REASON COUNT: as of a recorder that lost something
lost() {
	sqlite3 "$1" "CREATE TABLE IF NOT EXISTS CUDA_TRACE_LOST (stage TEXT, reason TEXT, meaning TEXT, count INTEGER);
		INSERT INTO CUDA_TRACE_LOST VALUES ('collect', '$2', '', $3)"
}

@test "report --steps (causes of idle time are not known) says so and why, in summaries too, and has neither causes nor zeros" {
	local reason
	for reason in unobserved observed_late yielded files_left_out; do
		run_of "$reason" --hosts 2 --per-host 1 --steps 20
		states "$reason/host0-000.db"
		states "$reason/host1-001.db"
		lost "$reason/host1-001.db" "$reason" 1
		ct report --steps --json "$reason" >steps.json
		jq -s . steps.json >all.json
		json all.json '(.[0] | .idle_unknown == null and (.idle.causes | length) > 0) and
			(.[1] | .idle == null and .idle_unknown == "work was not seen (lost: report --losses)")'
		ct report --steps "$reason" >steps.txt
		grep -qE '^ *0 .* \(unexplained\)$' steps.txt
		grep -qE '^ *1 .* not known$' steps.txt
		grep -qx 'Why the GPUs of 1 of 2 ranks were idle is not known: work was not seen (lost: report --losses).' steps.txt
		ct report --steps steps.json >again.txt
		diff steps.txt again.txt
	done
	# What is lost in known numbers does not change that, as in stat.
	run_of known --hosts 1 --per-host 1 --steps 20
	states known/host0-000.db
	lost known/host0-000.db missed 3
	ct report --steps --json known >steps.json
	json steps.json '.idle_unknown == null and (.idle.causes | length) > 0'
	# Nor does a process that was killed, unless its last kernels are missing.
	lost known/host0-000.db killed 1
	ct report --steps --json known >steps.json
	json steps.json '.idle_unknown == null and (.idle.causes | length) > 0'
}

@test "report, report --idle, report --steps (a killed process, whose last kernels are missing) say that causes are not known" {
	requires root bpf sim
	ct record -q --idle -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/training" -n 30 -m 20 >out
	ct report --idle --json r.db >idle.json
	json <(jq -c 'select(.table == "idle_causes")' idle.json) '.idle.idle_ns > 0'
	# As if it had been killed, and what it did at last were missing.
	sqlite3 r.db "INSERT INTO CUDA_TRACE_LOST (stage, reason, text, count) VALUES ('collect', 'killed', '', 1);
		DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start > (SELECT max(start) * 0.8 FROM CUPTI_ACTIVITY_KIND_KERNEL)"
	ct report --idle --json r.db >idle.json
	json <(jq -c 'select(.table == "idle_causes")' idle.json) '.idle == null'
	ct report --steps --json r.db >steps.json
	json steps.json '.idle == null and .idle_unknown == "a process was killed, and the records of its last kernels are lost"'
	ct report --json r.db >report.json
	json report.json '.time.idle_is_known == false and .idle == null and (.idle_unknown | startswith("a process was killed")) and .advice == []'
}

@test "report --steps --json (a summary with the largest numbers and names of quotes) cuts names, to at most 3 KB" {
	jq -nc '{p50: 9000000000000000000, p99: 9000000000000000000} as $ns | {summary: "steps of a rank", range: ("\"" * 40), rank: 9000000000,
		host: ("\"" * 12), process: ("\"" * 12), pid: 4000000000, steps: 9000000000000000000, step_ns: $ns, gpu_busy_ns: $ns, nccl_ns: $ns,
		idle: {ns: $ns, causes: [range(9) | {cause: "unexplained", ns: $ns}]},
		collectives: [range(9) | {operation: "reduce_scatter", calls: $ns.p50, bytes: $ns.p50, ns: $ns}],
		kernels: [range(12) | {name: ("\"" * 80), count: $ns.p50, ns: $ns}]}' >large.json
	[ "$(wc -c <large.json)" -ge 4000 ]
	ct report --steps --json large.json >again.json
	[ "$(wc -c <again.json)" -le 3072 ]
	json again.json '(.kernels | length) == 9 and (.kernels[0].name | endswith("…")) and (.collectives | length) == 4 and (.idle.causes | length) == 4
		and .steps == 9000000000000000000'
}

@test "report --steps (steps that sleep, recorded with --idle) has sleep among the causes of idle time" {
	requires root bpf sim
	ct record -q --idle -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/training" -n 30 -m 20
	ct report --steps --json r.db >steps.json
	# On a busy machine, its thread also waits for a CPU.
	json steps.json '.steps == 30 and .idle.ns.p50 > 10000000 and .idle.ns.p50 <= .step_ns.p99
		and any(.idle.causes[]; .cause == "sleep" and .ns.p99 > 8000000) and .idle.causes[0].ns.p50 <= .idle.ns.p50'
	ct report --steps r.db >steps.txt
	grep -qE ' [0-9.]+ ms \([a-z_]+\)$' steps.txt || fail "$(cat steps.txt)"
}

@test "report --steps (a folder with recordings and their summaries) has each rank once, and says so" {
	run_of runs --hosts 2 --per-host 2 --steps 5
	ct report --steps --json runs >steps.json
	cp steps.json runs/
	ct report --steps --json runs >again.json 2>err
	diff steps.json again.json
	assert_equal "$(<err)" "cuda-trace report: 4 ranks are in several of the files, and count once"
}

@test "report --steps (no such ranges, nonsense, nothing) says so, and names the remedy" {
	run_of runs --hosts 1 --per-host 1 --steps 3
	run -1 --separate-stderr ct report --steps --step-range 'train *' runs
	# shellcheck disable=SC2154 # by bats
	assert_equal "$stderr" "cuda-trace report: no range 'train *' is in these recordings: record with -e kernels,nvtx, or name another one by --step-range"
	echo '{"summary":"steps of a rank","rank":"x","kernels":[1,{"name":[]}],"steps":-1}' >odd.json
	ct report --steps odd.json >odd.txt
	grep -q '^Steps' odd.txt
	head -c 20000 /dev/zero | tr '\0' '[' >deep.json
	echo '{"rank":1}' >other.json
	local file
	for file in deep.json other.json; do
		run -1 --separate-stderr ct report --steps "$file"
		assert_equal "$stderr" "cuda-trace report: $file is neither a recording nor a summary of --steps --json"
	done
	mkdir empty
	run -1 --separate-stderr ct report --steps empty
	assert_regex "$stderr" 'empty has neither recordings nor summaries'
	for file in '--steps' '--steps --csv runs' '--steps --merge runs' '--step-range x runs'; do
		# shellcheck disable=SC2086 # several words
		run -2 --separate-stderr ct report $file
	done
}
