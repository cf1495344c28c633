# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: NCCL's collectives on two GPUs: which rank is late, bytes and counts, bandwidth, and the price.
# LATE_RUNS=N runs of each kind (2). Parts of their own: running (jobs that ran before), waits (a rank that waits is idle), phases
# (many verdicts about one job), allreduce (the price; TURNS: of torch-turns.py; NCCL=/usr: the system's
# instead of PyTorch's).

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"

collectives_run() { # NAME ARGS...: the program's last line in $work/c.out, stat's JSON in $OUT/collectives-NAME.json
	local json=$OUT/collectives-$1.json
	shift
	timeout 60 cuda-trace stat --json -o "$json" -- python3 tests/gpu/collectives.py "$@" >"$work/c.out" 2>>"$OUT/collectives.err"
	tail -n 1 "$work/c.out" >"$work/c.last"
}

# collectives_late NAME RANK ARGS...: RANK is named (-1: none is)
collectives_late() {
	local name=$1 rank=$2 json text="" well=1 i
	shift 2
	for ((i = 1; i <= ${LATE_RUNS:-2}; i++)); do
		json=$OUT/collectives-${name// /_}-$i.json
		collectives_run "${name// /_}-$i" "$@"
		jq -e --argjson rank "$rank" '[.communicators[] | select(.compared > 100)] | length > 0 and
			if $rank < 0 then all(.verdict == "balanced") else any(.verdict == "late_rank" and .late.rank == $rank) end' \
			"$json" >/dev/null || well=0
		text+=" [$(jq -r '[.communicators[] | "\(.verdict) \(.late.rank // "-") \(.late.share // "") \(.late.mean_ns // "")"] | join("; ")' "$json")]"
	done
	row "collectives: $name" $well "$text"
}

# The same of ranks that have run for 10 s before anybody looks, unprepared.
collectives_running() { # NAME RANK ARGS...
	local json=$OUT/collectives-running-$2.json name=$1 rank=$2 pid
	shift 2
	timeout 60 python3 tests/gpu/collectives.py "$@" >"$work/c.out" 2>>"$OUT/collectives.err" &
	pid=$!
	sleep 10
	timeout 60 cuda-trace stat --json -o "$json" -p $pid -d 8s 2>>"$OUT/collectives.err"
	kill $pid # timeout passes it on to all ranks
	wait $pid
	row "collectives: running before, $name" "$(jq -e --argjson rank "$rank" '.communicators | length == 1 and (.[0] | .size == 2 and .seen == 2 and
		.compared > 100 and .verdict == (if $rank < 0 then "balanced" else "late_rank" end) and (.late.rank // -1) == $rank)' "$json" >/dev/null &&
		echo 1 || echo 0)" "$(jq -c '[.communicators[] | [.size, .seen, .compared, .verdict, .late]]' "$json")"
}

part_running() {
	torch_is_here running || return
	[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { say running "one GPU alone: not tried"; return; }
	collectives_running "rank 0 sleeps 5 ms" 0 late 0 5 20000
	collectives_running "rank 1 sleeps 1 ms" 1 late 1 1 20000
	collectives_running balanced -1 late -1 0 20000
}

collectives_each() {
	local found
	collectives_run each each
	# Rank 0 has half of what both ranks called; "each" makes the same calls on both.
	found=$(jq -c '[.communicators[].operations[]] | group_by(.operation) | map({key: .[0].operation,
		value: [(map(.calls) | add) / 2, (map(.bytes) | add) / 2]}) | from_entries' "$OUT/collectives-each.json")
	row "collectives: counts and bytes" "$(jq -ne --argjson found "$found" --slurpfile want "$work/c.last" '$found == $want[0]' >/dev/null &&
		echo 1 || echo 0)" "$found of $(cat "$work/c.last")"
	say "  communicators" "$(jq -c '[.communicators[] | [.communicator, .size, .seen, .compared, .verdict]]' "$OUT/collectives-each.json"); lost $(
		jq -c .lost.total "$OUT/collectives-each.json")"
}

collectives_bus() {
	collectives_run bus bus
	say "  bus bandwidth, the program's" "$(cat "$work/c.last"); stat's $(jq -c '[.communicators[].operations[] |
		[.operation, .calls, .bytes, .transfer_ns, .bus_bytes_per_second]]' "$OUT/collectives-bus.json")"
}

# What is called once, and what a graph replays: as many collectives as the program says.
collectives_graph() {
	collectives_run graph graph
	row "collectives: of a graph" "$(jq -e --slurpfile want "$work/c.last" '[.communicators[].operations[]] | group_by(.operation) |
		map({key: .[0].operation, value: [(map(.kernels) | add) / 2, (map(.bytes) | add) / 2]}) | from_entries == $want[0]' \
		"$OUT/collectives-graph.json" >/dev/null && echo 1 || echo 0)" "$(jq -c '[.communicators[].operations[] |
		[.operation, .calls, .kernels, .bytes]]' "$OUT/collectives-graph.json") of $(cat "$work/c.last")"
}

# The GPU of a rank that waits is idle: the first cause, and as long as the program says (5 %).
part_waits() {
	local i well=1 text="" json
	torch_is_here waits || return
	[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { say waits "one GPU alone: not tried"; return; }
	for ((i = 1; i <= 3; i++)); do
		json=$OUT/collectives-idle-$i.json
		timeout 60 cuda-trace stat --idle --json -o "$json" -- python3 tests/gpu/collectives.py waits 2>>"$OUT/collectives.err" |
			tail -n 1 >"$work/c.last"
		jq -e --slurpfile want "$work/c.last" '.idle | .causes[0] | .cause == "collective" and
			(.ns / $want[0].waited_ns | . > 0.95 and . < 1.05)' "$json" >/dev/null || well=0
		text+=" $(jq -c --slurpfile want "$work/c.last" '[.idle.causes[0].ns / $want[0].waited_ns, (.idle.causes[:4][] | .cause, .ns)]' "$json") $(cat "$work/c.last")"
	done
	row "idle ranks" $well "planted collective:$text"
}

# One job with many communicators, each with what its file's line says: PHASES=N of each kind and rank (3), BALANCED=N (20)
# that the GPU bounds and as many that the host bounds. Nobody is made late there, but somebody may be: by their own clocks.
part_phases() {
	local json=$OUT/phases.json kind
	torch_is_here phases || return
	timeout 400 cuda-trace stat --json -o "$json" -- python3 tests/gpu/collectives.py phases "${PHASES:-3}" "${BALANCED:-20}" \
		2>>"$OUT/collectives.err" | grep '^[0-9]' >"$OUT/phases.txt"
	jq -r --rawfile want "$OUT/phases.txt" '[.communicators[] | {key: (([.operations[].calls] | add) / 2 | tostring), value: .}] |
		from_entries as $found | $want | split("\n")[] | select(. != "") | split(" ") | . as $line | $found[$line[0]] as $is |
		[if $line[2] == "GPU" or $line[2] == "host" then $line[2] else "late" end,
		 if ($line[1] == "-1" and $is.verdict == "balanced") or
			($is.verdict == "late_rank" and $is.late.rank == ($line[1] | tonumber)) then 1 else 0 end,
		 ($line[1:] | join(" ")), $is.verdict, $is.late.rank, $is.late.share, $is.late.mean_ns, $is.compared] | @tsv' "$json" >"$OUT/phases.tsv"
	for kind in late GPU host; do
		row "phases: $kind" "$(awk -F '\t' -v kind=$kind '$1 == kind { all++; right += $2 } END { print (all > 0 && all == right) }' "$OUT/phases.tsv")" \
			"$(awk -F '\t' -v kind=$kind '$1 == kind { all++; right += $2 } END { printf "%d of %d", right, all }' "$OUT/phases.tsv"
			) $(grep -P "^$kind\t0" "$OUT/phases.tsv" | cut -f 3- | tr '\t\n' ' ;')"
	done
	say "  lost" "$(jq -c .lost "$json")"
}

# Of one all-reduce that the GPUs and not the hosts bound, as nccl-tests measures it, in turns within one process. The last of
# the turns is held against the limit.
part_allreduce() {
	local nccl size
	local -a turns
	read -ra turns <<<"${TURNS:-kernels default sampled-default}"
	nccl=${NCCL:-$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null)}
	[ -f "$nccl/include/nccl.h" ] || nccl=$(dirname "$(dirname "$(find / -xdev -name nccl.h 2>/dev/null | head -n1)")")
	nvcc -O2 -std=c++17 -I"$nccl/include" -o "$work/allreduce" tests/gpu/allreduce.cu \
		-Xlinker "$(find "$nccl" -name 'libnccl.so.2' | head -n1)" -Xlinker -rpath="$nccl/lib" >>"$OUT/nvcc.log" 2>&1 || { row "all-reduce: nvcc" 0 "see nvcc.log"; return; }
	for size in ${SIZES:-131072 1048576 4194304}; do
		timeout 120 python3 tests/bench/torch-turns.py --tool cuda-trace --agent "$(the_agent)" --step "$work/allreduce 120 $size 100" \
			--warm 2 --seconds 2 --off 1 --attach 0.8 --settle 0.3 --rounds "${ROUNDS:-5}" "${turns[@]}" \
			2>>"$OUT/allreduce.err" | tail -n1 >"$OUT/allreduce-$size.json"
		row "all-reduce of $size bytes" "$(jq 'to_entries[-1].value.ratio[0] // 9 | if . <= 1.01 then 1 else 0 end' "$OUT/allreduce-$size.json")" \
			"$(jq -c 'map_values({ratio: [.ratio[] * 1e4 | round / 1e4], us: [.ms[] * 1e5 | round / 100], without: [.nothing_ms[] * 1e5 | round / 100]})' \
				"$OUT/allreduce-$size.json")"
	done
}

part_collectives() {
	torch_is_here collectives || return
	[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { say collectives "one GPU alone: not tried"; return; }
	collectives_late balanced -1 late -1 0
	collectives_late "rank 0 sleeps 5 ms" 0 late 0 5
	collectives_late "rank 1 sleeps 5 ms" 1 late 1 5
	collectives_late "rank 0 sleeps 1 ms" 0 late 0 1
	collectives_late "rank 1 sleeps 1 ms" 1 late 1 1
	collectives_late "rank 1's GPU is slower" 1 slow 1
	collectives_each
	collectives_graph
	collectives_bus
}
