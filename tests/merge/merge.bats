#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --merge: recordings of several ranks and hosts on one clock.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# run_of FOLDER [OPTION...]: recordings of a run that never was, and what is true of it in FOLDER.json.
run_of() {
	python3 "$TOP/tests/merge/synthetic.py" "$@" >"$1.json"
}

# merge OPTION... : its report as JSON in m.json.
merge() {
	ct report --json --merge "$@" >m.json
}

# problems: their kinds.
problems() {
	jq -r '[.problems[].kind] | join(" ")' m.json
}

# near FOLDER NS [FEWER]: lateness, skew and exposed communication are true within NS, and the error of clocks is below
# 20 us; so many FEWER collectives may be compared.
near() {
	jq -e -n --argjson most "$2" --argjson fewer "${3:-0}" --slurpfile m m.json --slurpfile t "$1.json" '
		$m[0] as $m | $t[0] as $t |
		def close($a; $b): ($a - $b | fabs) < $most;
		close($m.skew_ns; $t.skew_ns) and $m.compared_collectives >= $t.collectives - $fewer and
		([range($t.ranks | length) as $i | $m.ranks[$i] as $r | $t.ranks[$i] as $s |
			$r.rank == $s.rank and
			(if $s.last < 20 then true else ($r.last - $s.last | fabs) <= 0.02 * $t.collectives and close($r.late_ns; $s.late_ns) end) and
			(($r.exposed_ns - $s.exposed_ns | fabs) < 0.001 * $s.exposed_ns + $most)] | all) and
		([$m.clocks[] | .aligned and .error_ns < 20000] | all)' >/dev/null ||
		{ cat "$1.json" m.json; return 1; }
}

@test "report --merge (two hosts 10 s apart, 50 ppm of drift, a late rank) is true within 20 us, and names the rank" {
	run_of r --late 2
	merge r
	near r 20000
	assert_equal "$(problems)" ''
	json m.json '.clocks | map({(.host): .}) | add | .host1.ahead_ns - .host0.ahead_ns | . - 10e9 | fabs < 300000'
	json m.json '[.clocks[].drift_ppm | select(. != null) | fabs - 50 | fabs < 1] | all and length == 1'
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 2 and .compared == 400'
	json m.json '.ranks[2].last == 400 and .ranks[0].last == 0'
	run -0 ct report --merge r
	assert_line --regexp '^ host1 +\+10\.0[0-9]+ s +\+(49|50)\.[0-9]+ ppm +[0-9.]+ [nu]s '
	assert_line --regexp '^ +2 host1 +1[0-9]+ +400 +400\.00 MiB .* 100\.0% [23]\.[0-9]+ ms$'
	assert_line --partial 'rank 2 (host1, pid 11002) arrives last in 100 % of 400 collectives, by 3.0'
}

@test "report --merge (a communicator of before, which each rank numbers on its own) finds what belongs together, as exactly" {
	run_of r --late 2 --found
	merge r
	near r 20000
	assert_equal "$(problems)" ''
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 2 and .compared == 383'
	json m.json '.clocks | map({(.host): .}) | add | .host1.ahead_ns - .host0.ahead_ns | . - 10e9 | fabs < 300000'
	# The timeline's numbers are the same in all ranks.
	ct report --merge --timeline t.json r
	json t.json '[.traceEvents[] | select(.args.operation == "all_reduce" and .args.last != null) | .args.number] | group_by(.) |
		length >= 383 and all(length <= 4) and (map(select(length == 4)) | length) == 383'
	# Ranks of one host, whose clock is one.
	run_of one --hosts 1 --per-host 4 --late 1 --found --regular
	merge one
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 1 and .compared == 383'
}

@test "report --merge (a communicator of before, five equal collectives in each step) finds what belongs together" {
	run_of r --late 2 --found --extra 4
	merge r
	assert_equal "$(problems)" ''
	json m.json '.compared_collectives == 5 * 383 and (.communicators[0] | .verdict == "late_rank" and .late.rank == 2)'
	json m.json '.clocks | map({(.host): .}) | add | .host1.ahead_ns - .host0.ahead_ns | . - 10e9 | fabs < 300000'
}

@test "report --merge (one rank was recorded later, and numbers on its own) leaves the others' numbers as they are" {
	run_of r --late 2 --found-rank 3
	merge r
	near r 20000
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 2'
	# Also where its own cannot be matched.
	run_of regular --found-rank 3 --regular
	merge regular
	json m.json '[.clocks[].aligned] | all'
	assert_equal "$(problems)" unmatched
}

@test "report --merge (a communicator of before, wall clocks that are seconds apart) does not guess" {
	run_of r --late 2 --found --wall-ms 4300 --steps 2000
	merge r
	assert_equal "$(problems)" 'not_aligned unmatched'
}

@test "report --merge (a communicator of before, steps that all take the same time, on two hosts) does not guess" {
	run_of r --late 2 --found --regular
	merge r
	assert_equal "$(problems)" 'not_aligned unmatched'
	json m.json '.compared_collectives == 0 and .communicators[0].verdict != "late_rank"'
}

@test "report --merge (two hosts, a late rank, each step is a graph's replay) aligns the clocks on replays, as exactly" {
	run_of r --late 2 --replayed
	merge r
	near r 20000
	assert_equal "$(problems)" ''
	json m.json '.clocks | map({(.host): .}) | add | .host1.ahead_ns - .host0.ahead_ns | . - 10e9 | fabs < 300000'
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 2 and .compared == 400 and .operations[0].calls == 1600'
	json m.json '.collectives_without_kernel == 0 and .collectives_of_unknown_nodes == 0'
	ct report --steps --json r >s.json
	jq -s -e 'map(select(.collectives != null)) | length == 4 and all(.collectives[0] | .operation == "all_reduce" and .calls > 0)' s.json
}

@test "report --merge (outliers, uneven steps, eight hosts) is true within 20 us, and blames nobody" {
	run_of r --hosts 8 --per-host 1 --uneven --steps 600
	merge r
	near r 20000
	json m.json '.communicators[0].verdict == "balanced" and .communicators[0].late == null'
}

@test "report --merge (one rank with a slower GPU) compares its kernels with the others" {
	run_of r --slow 1
	merge r/*.db
	json m.json '.kernels[0] | .name == "gemm" and .ranks == 4 and .slowest_rank == 1 and (.median_ns - 5000000 | fabs < 1000) and
		(.ratio - 1.3 | fabs < 0.001)'
	json m.json '.communicators[0].late.rank == 1'
}

@test "report --merge --timeline has a process row for each rank, on one clock" {
	run_of r --late 3 --steps 50
	ct report --merge --timeline t.json r >/dev/null
	assert_equal "$(jq -c '[.traceEvents[] | select(.name == "process_name") | .args.name] | sort' t.json)" \
		'["rank 0 (host0, pid 11000)","rank 1 (host0, pid 11001)","rank 2 (host1, pid 11002)","rank 3 (host1, pid 11003)"]'
	jq -e '[.traceEvents[] | select(.ph == "X")] | length == 600 and all(.ts >= 0 and .dur > 0)' t.json
	# The ends of each collective are the same moment on all rows; each waits for rank 3, but rank 3.
	jq -e '[.traceEvents[] | select(.args.number != null)] | length == 200 and (group_by(.args.number)
		| all(length == 4 and (map(.ts + .dur) | max - min) < 50))' t.json
	jq -e '[.traceEvents[] | select(.args.number != null)] | all((.args.last | startswith("rank 3 ")) and .args.ranks == 4
		and (.args."waited us" > 2500 or (.args."waited us" < 20 and .pid == 4)))' t.json
}

@test "report --merge (a rank is missing) says which, and compares the clocks and kernels of the others" {
	run_of r --late 2 --missing 1
	merge r
	assert_equal "$(problems)" ranks_missing
	json m.json '.problems[0].text | contains("3 of 4 ranks are in the recordings; missing: 1.")'
	json m.json '.communicators[0].verdict == "ranks_missing" and .compared_collectives == 0 and (.ranks | length) == 3'
	json m.json '([.clocks[] | .aligned] | all) and (.ranks | all(.exposed_ns > 0)) and .kernels[0].ranks == 3'
}

@test "report --merge (a recording of another run; a copy of one) says so, and reports the run" {
	run_of r --late 2 --steps 200
	run_of other --run 7 --steps 100 --hosts 1 --per-host 1
	cp r/host0-000.db r/copy.db
	merge r other
	assert_equal "$(problems)" 'repeated other_run'
	json m.json '.problems | map({(.kind): .text}) | add | (.other_run | contains("other/host0-000.db")) and (.repeated | contains("r/host0-000.db"))'
	json m.json '[.communicators[] | select(.size == 4)][0] | .late.rank == 2 and .operations[0].calls == 800'
}

@test "report --merge (no shared collective) aligns nothing, says so, and reports each" {
	run_of a --hosts 1 --per-host 2 --steps 100
	run_of b --run 2 --steps 100 --missing 0 --missing 1
	merge a b
	json m.json '[.problems[].kind] | contains(["other_run", "ranks_missing", "not_aligned"])'
	json m.json '[.clocks[] | select(.host == "host1")][0] | .aligned == false and .error_ns == null'
	json m.json '(.ranks | length) == 4 and (.ranks | all(.exposed_ns > 0))'
}

@test "report --merge (all ranks were restarted) keeps the processes apart" {
	run_of r --restart --late 1
	merge r
	assert_equal "$(problems)" restarted
	json m.json '.problems[0].text | startswith("4 ranks have more than one process, such as rank 0 (host0, pid 1000) and rank 0 (host0, pid 5000)")'
	json m.json '(.ranks | length) == 8 and .compared_collectives == 400 and ([.communicators[].late.rank] | tostring) == "[1,1]"'
}

@test "report --merge (a clock steps by 3 ms, forward or back) says when, and is true on both sides of it" {
	local ms
	for ms in 3 -3; do
		run_of r --late 0 --clock-step $ms
		merge r
		# What runs across the step is not true: the kernels of one step, by 3 ms.
		near r 60000 1
		json m.json '.problems[0].kind == "clock_step" and (.problems | length <= 2)'
		json m.json ".problems[0].text | startswith(\"host1: its clock steps $([ $ms = 3 ] && echo forward || echo back) by \")"
		json m.json '.problems[0].text | capture("by (?<ms>[0-9.]+) ms").ms | tonumber | . > 2.9 and . < 3.1'
		json m.json '[.clocks[].steps] | sort | tostring == "[0,1]"'
	done
}

@test "report --merge (the numbers of one rank are off by one from the middle on) says that its collectives are apart" {
	run_of r --hosts 1 --per-host 3 --shift 1
	merge r
	assert_equal "$(problems)" apart
	json m.json '.compared_collectives > 195 and .compared_collectives < 205'
}

@test "report --merge (files that are damaged, empty or none) reports the others, and ends with 1" {
	run_of r --late 2 --steps 100
	head -c 5000 r/host0-000.db >r/damaged.db
	echo nothing >r/none.txt
	run -1 ct report --json --merge r
	echo "$output" | sed -n '/^{/,$p' >m.json
	json m.json '.files == 5 and ([.problems[].kind] | index("unreadable") != null) and .communicators[0].late.rank == 2'
	mkdir empty
	run -1 ct report --merge empty
	assert_output 'cuda-trace report: empty has no recordings'
	run -1 ct report --merge r/none.txt missing.db
	assert_output --partial 'r/none.txt is neither a recording'
}

@test "report --merge (numbers that make no sense) ends with a report or an error, never otherwise" {
	run_of r --steps 40
	sqlite3 r/host0-000.db "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775807, end = 9223372036854775807 WHERE rowid % 3 = 0;
		UPDATE CUDA_TRACE_COLLECTIVES SET number = -1 WHERE rowid % 5 = 0; UPDATE CUDA_TRACE_COLLECTIVES SET operation = 77 WHERE rowid % 7 = 0;
		UPDATE CUDA_TRACE_COMMUNICATORS SET size = -5, rank = 9223372036854775807"
	sqlite3 r/host1-002.db "UPDATE TARGET_INFO_SESSION_START_TIME SET systemClockNs = 9223372036854775807, utcEpochNs = 'x';
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start, demangledName = -3 WHERE rowid % 4 = 0; UPDATE CUDA_TRACE_PROCESSES SET rank = -7"
	merge --timeline t.json r
	json m.json '(.ranks | length) == 4'
	jq -e . t.json >/dev/null
}

@test "report --merge with what it has not (--csv, --kernels, --html, --sql), or without files, is misuse" {
	local option
	for option in --csv --kernels '--html x.html' '--sql SELECT' --compare --all; do
		# shellcheck disable=SC2086 # an option and its value
		run -2 ct report --merge $option a.db b.db
	done
	run -2 ct report --merge
	assert_output --partial '--merge needs folders or files'
	run_of r --steps 5 --hosts 1
	run -2 ct report --merge -o r/host0-001.db r
	assert_output --partial 'r/host0-001.db'
	assert_equal "$(head -c 6 r/host0-001.db)" SQLite
}

@test "report --merge (64 recordings of 100 thousand rows) needs less than 100 MiB" {
	run_of r --hosts 16 --per-host 4 --steps 400 --late 13
	merge r
	near r 20000
	json m.json '.communicators[0].late.rank == 13 and .files == 64'
	run -0 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$CUDA_TRACE" report --merge r
	[ "$output" -lt 102400 ]
}

@test "record -o %h-%r.db of each rank, report --merge: the ranks of a real run" {
	requires bpf sim
	local rank pids=()
	for rank in 0 1; do
		env SIMNCCL_ID="/simnccl-$$" RANK=$rank WORLD_SIZE=2 "$CUDA_TRACE" record -q -o 'run-%h-%r.db' -- \
			"$SIM" "$WORKLOADS/ranks" -s 120 -l 1 -u 3000 >"called$rank" &
		pids+=($!)
	done
	wait "${pids[@]}"
	merge run-*.db
	assert_equal "$(problems)" ''
	json m.json '[.ranks[] | select(.calls > 0) | .rank] == [0, 1] and (.clocks | length) == 1'
	json m.json '.communicators[0] | .size == 2 and .compared == 120 and .verdict == "late_rank" and .late.rank == 1'
	json m.json '.ranks | map(select(.calls > 0)) | .[0].exposed_ns > .[1].exposed_ns and .[1].last > 90 and .[0].bytes == 125829120'
}

@test "record of each rank, report --merge (collectives that a graph replays) names the late rank" {
	requires bpf sim
	local rank pids=()
	# No communicator is made before both ranks are observed.
	open_gate gate 2
	for rank in 0 1; do
		env SIMNCCL_ID="/simnccl-$$" RANK=$rank WORLD_SIZE=2 timeout -k 5 60 "$CUDA_TRACE" record -q -o r$rank.db -- \
			"$SIM" "$WORKLOADS/ranks" -s 60 -l 1 -u 5000 -e 100000 -g gate --replayed >called$rank 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	merge r0.db r1.db
	json m.json '.communicators[0] | .verdict == "late_rank" and .late.rank == 1 and .compared == 60 and .operations[0].calls == 120'
	json m.json '.compared_collectives == 60 and .skew_ns > 4000000 and (.ranks | map(select(.calls > 0)) |
		.[1].rank == 1 and .[1].last > 50 and .[0].exposed_ns > 60 * 4000000 and .[1].exposed_ns < .[0].exposed_ns / 4)'
	json m.json '.collectives_of_unknown_nodes == 0 and .collectives_without_kernel == 0'
	ct report --merge --timeline t.json r0.db r1.db >/dev/null
	jq -e '[.traceEvents[] | select(.args.operation == "all_reduce")] | length == 120 and all(.args.number < 0 and .args.ranks == 2)' t.json
}

@test "report --merge (ranks that ran before they were recorded, one late) compares them, and names it" {
	requires root bpf sim
	[ "$(uname -m)" = x86_64 ] || skip "such communicators are identified on x86-64 only"
	start ranks "$SIM" "$WORKLOADS/ranks" -s 20000 -c 2000 -l 1 -u 1000
	wait_for 30 grep -q 'under way' ranks.out
	ct record -q -o r.db -p "$ranks_PID" -d 4
	assert_equal "$(sqlite3 r.db 'SELECT count(*), sum(found) FROM CUDA_TRACE_COMMUNICATORS')" '2|2'
	ct report --merge --json r.db >m.json
	json m.json '.compared_collectives > 100 and (.communicators[0] | .verdict == "late_rank" and .late.rank == 1)'
	assert_equal "$(problems)" ''
}
