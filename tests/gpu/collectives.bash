# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: NCCL's collectives on two GPUs: which rank is late, bytes and counts, bandwidth, and the price.
# LATE_RUNS=N runs of each kind (2).

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

# Of one all-reduce, in turns: without the tool, and with parts of what it observes by default.
collectives_cost() { # BYTES
	local size=$1 turn what file
	local -A ns
	for turn in 1 2 3; do
		ns[none]+=" $(timeout 60 python3 tests/gpu/collectives.py rate "$size" 2>>"$OUT/collectives.err" | tail -n1 | jq .ns)"
		for what in launches kernels collectives default; do
			file=$OUT/collectives-$what-$turn.json
			if [ $what = default ]; then
				timeout 60 cuda-trace stat --json -o "$file" -- python3 tests/gpu/collectives.py rate "$size"
			else
				timeout 60 cuda-trace stat -e $what --json -o "$file" -- python3 tests/gpu/collectives.py rate "$size"
			fi 2>>"$OUT/collectives.err" >"$work/c.out"
			ns[$what]+=" $(tail -n1 "$work/c.out" | jq .ns)"
		done
	done
	row "collectives: cost, $size bytes" "$(awk -v a="${ns[default]}" -v b="${ns[none]}" 'BEGIN {n = split(a, x); split(b, y);
		for (i = 1; i <= n; i++) { with += x[i]; without += y[i] } print (with / without <= 1.01)}')" \
		"ns without:${ns[none]}; launches:${ns[launches]}; kernels:${ns[kernels]}; collectives:${ns[collectives]}; default:${ns[default]}"
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
	collectives_bus
	collectives_cost 1048576
}
