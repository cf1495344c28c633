# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: recordings against the truth and against stat, what report makes of them,
# Python's stacks, and our Kineto file against torch.profiler's of the same program.

# $STEP stands in where there is no PyTorch. What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"
declare -a on
read -ra step <<<"python3 ${STEP:-tests/bench/torch-step.py -n 50}"
recorded=kernels,copies,memory,sync,errors,overhead

# sql FILE STATEMENT: Python's SQLite, not ours, and not sqlite3(1), which may be missing
sql() {
	python3 - "$@" <<-'END' 2>&1
		import sqlite3, sys
		rows = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(sys.argv[2])
		print("\n".join("|".join(str(value) for value in row) for row in rows))
	END
}

same() { # A B: 1 if they are equal and not empty
	if [ -n "$1" ] && [ "$1" = "$2" ]; then echo 1; else echo 0; fi
}

kernels_sql='SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL'
bytes_sql='SELECT coalesce(sum(bytes), 0) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind < 11'

# What the rows of a recording say, beside what the program says of itself.
by_sql() { # NAME DB STDOUT
	local got want
	got="kernels=$(sql "$2" "$kernels_sql") bytes=$(sql "$2" "$bytes_sql")"
	want="kernels=$(truth_of "$3" kernels) bytes=$(truth_of "$3" memcpy_bytes)"
	row "$1" "$(same "$got" "$want")" "$got, program: $want; without their launch: $(sql "$2" \
		'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE (correlationId, globalPid / 0x1000000)
		NOT IN (SELECT correlationId, globalTid / 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME)')"
}

record_workload() { # NAME ARGS…
	local name=$1 db=$work/$1.db
	local program=("${on[@]}" "$bundle/workloads/$1" "${@:2}")
	timeout 120 cuda-trace record -q -f -e $recorded -o "$db" -- \
		"${program[@]}" >"$work/$name.out" 2>>"$OUT/record-$name.err"
	timeout 60 cuda-trace report --json "$db" >"$OUT/record-$name.json" 2>>"$OUT/record-$name.err"
	all_keys "record $name" "$work/$name.out" "$OUT/record-$name.json"
	by_sql "  by SQL" "$db" "$work/$name.out"
	timeout 120 cuda-trace stat --errors --json -o "$OUT/stat-$name.json" -- \
		"${program[@]}" >"$work/$name.out2" 2>>"$OUT/record-$name.err"
	compare_totals "  as stat" "$OUT/record-$name.json" "$OUT/stat-$name.json" \
		launches kernels launch_errors graph_launches memcpys memcpy_bytes memsets allocs frees \
		live_bytes syncs api_errors
}

compare_totals() { # NAME JSON JSON KEY…
	local name=$1 one two ok=1 text="" key
	for key in "${@:4}"; do
		one=$(jq ".totals.$key" "$2" 2>&1) two=$(jq ".totals.$key" "$3" 2>&1)
		[ "$(same "$one" "$two")" = 1 ] || ok=0 text="$text $key=$one/$two"
	done
	row "$name" $ok "${text:- $# totals equal}; GPU time $(jq .totals.gpu_ns "$2") and $(jq .totals.gpu_ns "$3") ns"
}

# A file of each kind; $OUT keeps those that are small.
make_outputs() { # DB
	local kind file start
	for kind in timeline html pprof flamegraph folded; do
		file=$work/torch.$kind start=$(date +%s%N)
		timeout 120 cuda-trace report --$kind "$file" "$1" 2>>"$OUT/report.err"
		row "report --$kind" "$([ -s "$file" ] && echo 1 || echo 0)" \
			"$(stat -c %s "$file" 2>&1) bytes in $((($(date +%s%N) - start) / 1000000)) ms"
	done
	row "  timeline is JSON" "$(jq '.traceEvents | length > 0' "$work/torch.timeline" | sed s/true/1/)" \
		"$(jq -rc '[.traceEvents[].cat] | group_by(.) | map("\(.[0]) \(length)") | join(", ")' \
			"$work/torch.timeline" 2>&1 | head -c 400)"
	row "  pprof is gzip" "$(gzip -t "$work/torch.pprof" 2>/dev/null && echo 1 || echo 0)" \
		"$(gzip -l "$work/torch.pprof" 2>&1 | tail -n1)"
	gzip -9c "$work/torch.html" >"$OUT/torch.html.gz"
	cp "$work/torch.flamegraph" "$OUT/torch.svg"
	timeout 60 cuda-trace report "$1" >"$OUT/report-torch.txt" 2>>"$OUT/report.err"
	row "report (text)" "$([ -s "$OUT/report-torch.txt" ] && echo 1 || echo 0)" \
		"$(wc -l <"$OUT/report-torch.txt") lines"
}

# How many launches have a stack, and how many of those lead into the program's own Python.
python_stacks() {
	local db=$work/torch-g.db of calls with python own
	timeout 180 cuda-trace record -g -f -o "$db" -- "${on[@]}" "${step[@]}" >"$work/g.out" 2>"$OUT/record-g.err"
	of="FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS n ON n.id = r.nameId
		WHERE (n.value LIKE 'cuLaunch%' OR n.value LIKE 'cuGraphLaunch%')"
	calls=$(sql "$db" "SELECT count(*) $of")
	with=$(sql "$db" "SELECT count(*) $of AND r.callchainId IS NOT NULL")
	of="$of AND r.callchainId IN (SELECT c.id FROM CUDA_CALLCHAINS AS c JOIN StringIds AS s ON s.id = c.symbol WHERE s.value"
	python=$(sql "$db" "SELECT count(*) $of LIKE '%.py:%')")
	own=$(sql "$db" "SELECT count(*) $of LIKE '%$(basename "${step[1]}"):%')")
	row "record -g: Python frames" "$([ "$own" -gt 0 ] 2>/dev/null && echo 1 || echo 0)" \
		"$(python3 -V 2>&1): of $calls launches $with have a stack, $python with Python frames, $own with $(basename "${step[1]}"):"
	say "  frames" "$(sql "$db" "SELECT count(*) || ' of which unresolved ' || sum(unresolved) || ', stacks '
		|| count(DISTINCT id) FROM CUDA_CALLCHAINS")"
	say "  lost" "$(timeout 60 cuda-trace report --json "$db" 2>>"$OUT/record-g.err" | jq -c .lost)"
	timeout 120 cuda-trace report --folded "$work/g.folded" "$db" 2>>"$OUT/record-g.err"
	head -c 200000 "$work/g.folded" >"$OUT/torch-g.folded"
	timeout 120 cuda-trace report --flamegraph "$OUT/torch-g.svg" "$db" 2>>"$OUT/record-g.err"
	grep -m1 -oE "$(basename "${step[1]}"):[0-9]+ [^;]*" "$work/g.folded" | head -n1 | sed 's/^/  such as: /'
}

kineto_files() {
	local db=$work/torch-k.db ours=$work/ours.json theirs=$work/theirs.json line
	timeout 180 cuda-trace record -q -f -e $recorded,runtime -o "$db" -- \
		"${on[@]}" "${step[@]}" >"$work/k.out" 2>>"$OUT/kineto.err"
	timeout 120 cuda-trace report --timeline "$ours" "$db" 2>>"$OUT/kineto.err"
	if [ -n "${STEP:-}" ]; then
		cp "$ours" "$theirs"
	else
		KINETO_OUT=$theirs timeout 180 python3 tests/gpu/torch-count.py -n 50 >"$work/t.out" 2>>"$OUT/kineto.err"
	fi
	python3 tests/gpu/kineto.py "$ours" "$theirs" >"$OUT/kineto.txt" 2>&1
	while IFS=$'\t' read -r ok name line; do
		case $ok in
		0 | 1) row "kineto $name" "$ok" "$line" ;;
		-) say "kineto $name" "$line" ;;
		*) row kineto 0 "$ok $name $line" ;;
		esac
	done <"$OUT/kineto.txt"
	[ -s "$OUT/kineto.txt" ] || row kineto 0 "the comparison printed nothing"
}

part_record() {
	local name
	for name in saxpy graphs copies forks; do
		record_workload "$name"
	done
	record_workload launch-storm -n 50000 -t 4
	timeout 180 cuda-trace record -f -e $recorded -o "$work/torch.db" -- \
		"${on[@]}" "${step[@]}" >"$work/torch.out" 2>"$OUT/record-torch.err"
	timeout 60 cuda-trace report --json "$work/torch.db" >"$OUT/record-torch.json" 2>>"$OUT/record-torch.err"
	timeout 180 cuda-trace stat --json -o "$OUT/stat-torch.json" -- \
		"${on[@]}" "${step[@]}" >"$work/torch.out2" 2>>"$OUT/record-torch.err"
	compare_totals "record torch, as stat" "$OUT/record-torch.json" "$OUT/stat-torch.json" \
		kernels launches graph_launches memcpys memcpy_bytes memsets
	row "  nothing lost" "$(same "$(jq .lost.total "$OUT/record-torch.json")" 0)" \
		"$(detail "$OUT/record-torch.json" '.lost | with_entries(select(.value > 0))')"
	row "  same result" "$(same "$(tail -n1 "$work/torch.out")" "$(tail -n1 "$work/torch.out2")")" \
		"$(tail -n1 "$work/torch.out") and $(tail -n1 "$work/torch.out2")"
	row "  kernels by SQL" "$(same "$(sql "$work/torch.db" "$kernels_sql")" "$(jq .totals.kernels "$OUT/stat-torch.json")")" \
		"$(sql "$work/torch.db" "$kernels_sql") rows, file of $(stat -c %s "$work/torch.db") bytes"
	make_outputs "$work/torch.db"
	python_stacks
	kineto_files
}
