# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: PyTorch programs with one planted cause for an idle GPU each, three times, against what
# stat --idle finds. IDLE_NAMES: of these alone; IDLE_RUNS=N. Two at a time start, one at a time uses the GPU. $IDLE_PROGRAM stands in where there is no PyTorch.

# What this file shares with tests/gpu/run:
: "${work:?}" "${OUT:?}"
IDLE_PROGRAM=${IDLE_PROGRAM:-tests/workloads/idle/torch-causes.py}
IDLE_RUNS=${IDLE_RUNS:-3}

# What a step of these keeps the GPU busy: they cannot know that themselves.
idle_busy() {
	local name
	for name in item pageable tiny; do
		timeout 60 python3 "$IDLE_PROGRAM" $name --busy 2>>"$OUT/idle.err" | tail -n1 >"$work/idle-$name.busy"
		say "  idle $name" "$(cat "$work/idle-$name.busy") ns of GPU time a step, by torch.profiler"
	done
}

idle_run() { # RUN-NAME
	local name=${1#*-} busy=
	[ ! -s "$work/idle-$name.busy" ] || busy=$(cat "$work/idle-$name.busy")
	IDLE_BUSY=${busy:-0} timeout 60 cuda-trace stat --idle --json -o "$OUT/idle-$1.json" -- \
		python3 "$IDLE_PROGRAM" "$name" >"$work/idle-$1.out" 2>>"$OUT/idle-$1.err" || echo "$1 ended with $?" >>"$OUT/idle.err"
}

# Tab-separated: first cause, its share of the idle time, the share that has a cause, ns of the planted one, advices, places
idle_found() { # JSON PLANTED
	jq -r --arg planted "$2" '.idle | (.idle_ns | if . > 0 then . else 1 end) as $all |
		[.causes[0].cause // "-", ((.causes[0].ns // 0) / $all * 1000 | round / 10),
		(1 - ([.causes[] | select(.cause == "unexplained").ns] | add // 0) / $all | . * 1000 | floor / 10),
		([.causes[] | select(.cause == $planted).ns] | add // 0),
		([.causes[] | select(.advice).cause] | join(",") | if . == "" then "-" else . end),
		([.reduced // empty, (if .lost > 0 then "lost \(.lost)" else empty end)] | join(", ") | if . == "" then "-" else . end),
		(.causes[0].places[0].place // "-")] | @tsv' "$1"
}

idle_program() { # NAME
	local run first share with_cause ns advice reduced place ratio planted ok=1 text=""
	for run in $(seq "$IDLE_RUNS"); do
		planted=$(sed -n 's/^cause //p' "$work/idle-$run-$1.out")
		IFS=$'\t' read -r first share with_cause ns advice reduced place < <(idle_found "$OUT/idle-$run-$1.json" "$planted")
		ratio=$(awk -v a="$ns" -v b="$(truth_of "$work/idle-$run-$1.out" idle_ns)" 'BEGIN { if (b > 0) printf "%.3f", a / b; else print "-" }')
		printf '%-18s %s planted %-10s first %-10s %5s %%, explained %5s %%, planted/program %s, advice %s, reduced %s, %s\n' \
			"$1" "$run" "$planted" "$first" "$share" "$with_cause" "$ratio" "$advice" "$reduced" "$place" >>"$OUT/idle.txt"
		if [ "$planted" = none ]; then
			[ "$advice" = - ] && [ -n "$first" ] || ok=0
			text="$text [$advice]"
			continue
		fi
		if [ "$first" = "$planted" ] && [ -n "$planted" ]; then
			idle_right[run]=$((idle_right[run] + 1))
		else
			ok=0
		fi
		[ "$(near "$with_cause" 100 5)" = 1 ] && [ "$(near "$ratio" 1 0.05)" = 1 ] || ok=0
		text="$text [$first $with_cause% $ratio]"
	done
	row "idle $1" $ok "planted $planted:$text"
}

# Per program and run: the first cause (is it the planted one?), the share of the idle time that has a cause (95 %), the
# time of the planted cause as a part of what the program says (5 %). Of healthy ones: for which causes there is an advice.
part_idle() {
	local name run names from=$SECONDS
	local -a idle_right=()
	names=${IDLE_NAMES:-$(python3 "$IDLE_PROGRAM" --list 2>>"$OUT/idle.err")}
	: >"$OUT/idle.txt"
	idle_busy
	export IDLE_LOCK=$work/idle.lock IDLE_PROGRAM work OUT
	export -f idle_run
	for run in $(seq "$IDLE_RUNS"); do
		idle_right[run]=0
		for name in $names; do
			echo "$run-$name"
		done
	done >"$work/idle-runs"
	xargs -P 2 -I '{}' bash -c 'idle_run "$1"' - '{}' <"$work/idle-runs"
	for name in $names; do
		idle_program "$name"
	done
	cat "$OUT/idle.txt"
	row "idle, first cause is the planted" "$(printf '%s\n' "${idle_right[@]}" | awk '$1 < 12 { bad = 1 } END { print (!bad && NR ? 1 : 0) }')" \
		"${idle_right[*]} of 12 with one GPU (the rank that waits needs two), in $((SECONDS - from)) s"
}

# idlecost_step NAME LIMIT ARGS...: what a step of PyTorch takes under stat --idle, with a limit, and under stat, as a
# factor of what it takes without. SECONDS_ON=N: under each, in each round.
idlecost_step() {
	local json=$OUT/idlecost-$1.json name=$1 limit=$2
	shift 2
	timeout 400 python3 tests/bench/torch-turns.py --tool cuda-trace --agent "$(the_agent)" --step "python3 tests/bench/torch-step.py -d 600 $*" \
		--rounds "${ROUNDS:-6}" --seconds "${SECONDS_ON:-2}" --off 1.2 --warm 3 idle default idle-limited 2>>"$OUT/idle.err" | tail -n1 >"$json"
	row "stat --idle --max-overhead 5%, $name PyTorch step" "$(jq '."idle-limited".ratio[0] <= 1.05 | if . then 1 else 0 end' "$json")" \
		"$(jq -c '."idle-limited".ratio' "$json")"
	row "stat --idle, $name PyTorch step" "$(jq --argjson limit "$limit" '.idle.ratio[0] <= $limit | if . then 1 else 0 end' "$json")" \
		"$(jq -c 'map_values({ratio: [.ratio[] * 1e4 | round / 1e4], ms: [.ms[] * 1e3 | round / 1e3], without: [.nothing_ms[] * 1e3 | round / 1e3]})' "$json")"
}

part_idlecost() {
	torch_is_here idlecost || return
	idlecost_step GPU-bound 1.02 -b 256 --sync 10
	idlecost_step launch-bound 1.05 -b 1 --sync 10
}

# What --idle costs 64 threads that have nothing to do with the program.
part_unwatched() {
	torch_is_here unwatched || return
	timeout 200 python3 tests/bench/unwatched.py --switches "$bundle/bench/switches" --rounds "${ROUNDS:-8}" --warm 15 \
		-- python3 tests/bench/torch-step.py -d 600 --sync 10 2>>"$OUT/idle.err" >"$OUT/unwatched.json"
	row "--idle beside 64 threads" "$(jq '.share[0] <= 0.02 | if . then 1 else 0 end' "$OUT/unwatched.json")" "$(jq -c '{ns, share,
		message_ns: [.message_ns[] | round], per_second: [.per_second[] | round], added: [.added_ns[] | round]}' "$OUT/unwatched.json")"
}
