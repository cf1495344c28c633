# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: which operator and which line each kernel came from (record -g), in a training step of PyTorch and
# in a model of Hugging Face that decodes, beside torch.profiler's own link; and what the stacks cost.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"

# attributed NAME PROGRAM.py ARGS…: rows from operators.py, and the tables of report --by
attributed() {
	local name=$1 db=$OUT/operators-$1.db log=$OUT/operators-$1 good key text what
	shift
	timeout 180 cuda-trace record -v -g -f -e kernels,copies,nvtx -o "$db" -- python3 "$@" >"$log.out" 2>"$log.err"
	timeout 180 python3 tests/gpu/operator-truth.py "$work/$name.truth" "$@" >"$work/$name.out" 2>"$log-truth.err"
	cp "$work/$name.truth" "$log.truth" 2>/dev/null
	timeout 120 cuda-trace report --timeline "$work/$name.json" "$db" 2>>"$log.err"
	timeout 120 python3 tests/gpu/operators.py "$db" "$work/$name.json" "$1" "$work/$name.truth" >"$log.txt" 2>>"$log.err"
	for what in operator module line; do
		timeout 60 cuda-trace report --by $what "$db" >>"$log-by.txt" 2>>"$log.err"
	done
	while IFS=$'\t' read -r key good text; do
		case $good in
		0 | 1) row "$name: $key" "$good" "$text" ;;
		-) say "  $key" "$text" ;;
		esac
	done <"$log.txt"
	[ -s "$log.txt" ] || row "$name: operators" 0 "nothing was printed: $(tail -n1 "$log.err")"
	say "  stacks" "$(grep -h 'stacks of\|unwound\|frame pointers' "$log.err" | tail -n2 | tr '\n' ' ')"
	gzip -9kf "$db"
	# For Holistic Trace Analysis, which reads both.
	timeout 120 cuda-trace report --timeline "$log-hta.json.gz" --runtime-names "$db" 2>>"$log.err"
	gzip -9c "$work/$name.truth.json" >"$log-profiler.json.gz"
	say "  recording" "$(stat -c %s "$db") bytes, $(stat -c %s "$db.gz") compressed"
}

# graphed MODE [EAGER-MODE]: kernels of graphs have the operator and the line that put them there. MODE-window: recorded
# with --profiler-api, which begins after the graphs were captured.
graphed() {
	local mode=$1 db=$OUT/graphed-$1.db log=$OUT/graphed-$1 key good text
	# 60,000 launches a second: without the larger buffer, not all of them have a copy of the stack.
	# shellcheck disable=SC2046 # one word, or none
	timeout 180 cuda-trace record -v -g -f --buffer 1024 -e kernels $([ "$mode" = "${mode%-window}" ] || echo --profiler-api) \
		-o "$db" -- python3 tests/gpu/graphed-step.py "${mode%-window}" 20 >"$log.out" 2>"$log.err"
	timeout 60 cuda-trace report --timeline "$work/graphed-$mode.json" "$db" 2>>"$log.err"
	rm -f "$db"
	[ "$mode" != eager ] || return
	timeout 60 python3 tests/gpu/graphed-origins.py ${2:+"$work/graphed-$2.json"} "$work/graphed-$mode.json" >"$log.txt" 2>>"$log.err"
	while IFS=$'\t' read -r key good text; do
		case $good in
		0 | 1) row "$mode: $key" "$good" "$text" ;;
		-) say "  $key" "$text" ;;
		esac
	done <"$log.txt"
	[ -s "$log.txt" ] || row "graphed $mode" 0 "nothing was printed: $(tail -n1 "$log.err")"
}

# What a stack of each 100th and of each launch adds over what CUPTI alone adds, in turns within one process.
stacks_cost() {
	local agent turn
	agent=$(find /usr/lib -name libcupti-usdt.so | head -n1)
	timeout 200 python3 tests/bench/turns.py --tool cuda-trace --agent "$agent" --launch-rate "$bundle/bench/launch-rate" \
		--processes 1 --rounds 6 kernel record stacks every >"$OUT/stacks-cost.json" 2>"$OUT/stacks-cost.err"
	row "record -g=100 cost over CUPTI's" "$(jq '.compare.stacks.ratio | .[0] <= 1.15 | if . then 1 else 0 end' "$OUT/stacks-cost.json")" \
		"$(jq -rc '.compare | map_values(.ratio | map(. * 1000 | round / 1000)) | tostring' "$OUT/stacks-cost.json")"
	say "  ns that a launch takes longer" "$(jq -rc '.turns | map_values(.added_ns | map(round)) | tostring' "$OUT/stacks-cost.json")"
	# Real stacks, of 30 to 60 frames: batches of 4 are bound by launches.
	timeout 300 python3 tests/bench/torch-turns.py --tool cuda-trace --agent "$agent" --rounds 4 --seconds 2 --off 1 --attach 1.5 \
		--step "python3 tests/bench/torch-step.py -d 300 --sync 5 -b 2" record stacks every 2>"$OUT/stacks-torch.err" |
		tail -n1 >"$OUT/stacks-torch.json"
	for turn in record stacks every; do
		say "  PyTorch step under $turn" "$(jq -rc --arg turn "$turn" '.[$turn].ratio | map(. * 1000 | round / 1000) | tostring' \
			"$OUT/stacks-torch.json")"
	done
}

# Graphs that are changed, and conditional nodes: each kernel has the line that put it there.
part_changes() {
	local db=$OUT/changes.db log=$OUT/changes
	nvcc -arch=native -g -o "$work/graph-changes" tests/gpu/graph-changes.cu >>"$OUT/nvcc.log" 2>&1
	timeout 60 cuda-trace record -g -f -e kernels -o "$db" -- "$work/graph-changes" >"$log.out" 2>"$log.err"
	timeout 60 cuda-trace report --by line --json "$db" >"$log.jsonl" 2>>"$log.err"
	timeout 60 cuda-trace report --folded "$log.folded" "$db" 2>>"$log.err"
	awk '$1 == "origin" {print $2, $3}' "$log.out" | sort >"$work/changes.want"
	jq -r '"\(.line | capture(":(?<line>[0-9]+) ").line) \(.kernels)"' "$log.jsonl" | sort >"$work/changes.got"
	row "changed graphs: kernels by line" "$([ -s "$work/changes.want" ] && cmp -s "$work/changes.want" "$work/changes.got" && echo 1 || echo 0)" \
		"$(comm -12 "$work/changes.want" "$work/changes.got" | wc -l) of $(wc -l <"$work/changes.want") lines"
	timeout 60 cuda-trace stat --json -o "$log.json" -- "$work/graph-changes" >"$log.out" 2>>"$log.err"
	compare "stat graph-changes" "$log.out" "$log.json" kernels
	timeout 60 cuda-trace trace --json -o "$work/changes.trace" -- "$work/graph-changes" >"$log.out" 2>>"$log.err"
	row "trace graph-changes" "$([ "$(jq -s 'map(select(.event == "kernel" and .gpu_start_ns)) | length' "$work/changes.trace")" = \
		"$(truth_of "$log.out" kernels)" ] && echo 1 || echo 0)" "$(truth_of "$log.out" kernels) kernels"
}

part_operators() {
	attributed train tests/bench/torch-step.py -n 25
	attributed decode tests/gpu/decode-loop.py -n 32
	part_graphed
}

part_graphed() {
	graphed eager
	graphed graph eager
	graphed compile
	graphed graph-window eager
	graphed compile-window
}

# The table of stat --by has the kernels and the time of stat, and the operators of the recording.
part_by() {
	timeout 120 cuda-trace stat --by operator -g --json -o "$OUT/by.json" -- python3 tests/bench/torch-step.py -n 25 >/dev/null 2>"$OUT/by.err"
	row "stat --by operator" "$(jq '([.by.rows[].kernels] | add) == .totals.kernels and ([.by.rows[].total_ns] | add) == .totals.gpu_ns and
		([.by.rows[] | select(.name | test("^aten::")).kernels] | add) >= 0.99 * .totals.kernels | if . then 1 else 0 end' "$OUT/by.json")" \
		"$(jq -c '[.totals.kernels, .totals.gpu_ns, .lost.total], [.by.rows[:6][] | [.name, .kernels, .total_ns]]' "$OUT/by.json" | tr '\n' ' ')"
}

part_stacks() {
	stacks_cost
}

# lined FRAMEWORK: each kernel has the line of the program that launched it, as often as the program says
lined() {
	local name=$1 json=$OUT/lines-$1.json truth=$OUT/lines-$1.truth
	timeout 120 cuda-trace stat --by line -g --json -o "$json" -- python3 tests/gpu/lines.py "$name" >"$truth" 2>"$OUT/lines-$name.err"
	if [ ! -s "$truth" ]; then
		say "  $name" "not run: $(tail -n1 "$OUT/lines-$name.err")"
		return
	fi
	row "$name: lines" "$(jq --rawfile truth "$truth" '
		([$truth | split("\n")[] | select(. != "") | split(" ") | {key: .[0], value: .[1]}] | from_entries) as $want |
		([.by.rows[] | select(.name | test("lines\\.py:[0-9]+")) | {key: (.name | capture("lines\\.py:(?<line>[0-9]+)").line), value: .kernels}]
		 | from_entries) as $seen |
		([$want | to_entries[] | select(.value != "-" and (.value | tonumber) != ($seen[.key] // 0))] | length) == 0 and
		([$want | to_entries[] | select($seen[.key] == null)] | length) == 0 and
		([$seen[]] | add) >= 0.99 * .totals.kernels | if . then 1 else 0 end' "$json")" \
		"$(jq -c '[.totals.kernels, .lost.total], [.by.rows[:8][] | [.name, .kernels]]' "$json" | tr '\n' ' ') expected: $(tr '\n' ';' <"$truth")"
}

part_lines() {
	local framework
	for framework in cupy triton jax numba; do
		lined $framework
	done
}

# What tracing adds to a captured node: a program each, in turns.
capture_cost() {
	local round kind
	for round in 1 2 3; do
		for kind in none kernels stacks; do
			case $kind in
			none) timeout 60 python3 tests/gpu/capture-cost.py ;;
			kernels) timeout 60 cuda-trace stat -e kernels -o /dev/null -- python3 tests/gpu/capture-cost.py ;;
			stacks) timeout 60 cuda-trace record -q -f -g -e kernels -o "$work/capture.db" -- python3 tests/gpu/capture-cost.py ;;
			esac 2>>"$OUT/capture-cost.err" | sed "s/^/$kind $round /" >>"$OUT/capture-cost.txt"
		done
	done
	awk '
	match($3, /[0-9]+$/) { ns = substr($3, RSTART); sub("kib=", "", $4); sub("nodes=", "", $5)
		if (!($1 in low) || ns < low[$1]) low[$1] = ns
		if (ns > high[$1]) high[$1] = ns
		kib[$1] += $4 / 3; nodes = $5 }
	END {
		for (kind in low) if (kind != "none")
			printf "%s\t%d\t+%.2f to +%.2f us, %+.0f bytes a node\n", kind,
				high[kind] - low["none"] <= 20000 && (kib[kind] - kib["none"]) * 1024 / nodes <= 128,
				(low[kind] - high["none"]) / 1e3, (high[kind] - low["none"]) / 1e3, (kib[kind] - kib["none"]) * 1024 / nodes
	}' "$OUT/capture-cost.txt" | while IFS=$'\t' read -r kind good text; do row "capture under $kind" "$good" "$text"; done
}

replay_cost() {
	local agent
	agent=$(find /usr/lib -name libcupti-usdt.so | head -n1)
	timeout 200 python3 tests/bench/torch-turns.py --tool cuda-trace --agent "$agent" --rounds 5 --seconds 2 --off 1 --attach 1.5 \
		--step "python3 tests/bench/torch-step.py --graph -d 200 --sync 5" kernels every 2>"$OUT/replay-cost.err" |
		tail -n1 >"$OUT/replay-cost.json"
	row "replay, origins over CUPTI" "$(jq '.every.ratio[0] / .kernels.ratio[0] <= 1.005 | if . then 1 else 0 end' "$OUT/replay-cost.json")" \
		"$(jq -rc 'map_values(.ratio | map(. * 10000 | round / 10000)) | tostring' "$OUT/replay-cost.json")"
}

part_graphcost() {
	capture_cost
	replay_cost
}

# The same program recorded and profiled by torch.profiler, each for Holistic Trace Analysis; launches are calls of the runtime.
part_hta() {
	local db=$work/hta.db name
	for name in train decode; do
		set -- tests/bench/torch-step.py -n 25
		[ $name = train ] || set -- tests/gpu/decode-loop.py -n 32
		timeout 180 cuda-trace record -q -f -e kernels,copies,sync,nvtx,runtime,api -o "$db" -- python3 "$@" >/dev/null 2>>"$OUT/hta.err"
		timeout 120 cuda-trace report --timeline "$OUT/hta-$name.json" "$db" 2>>"$OUT/hta.err"
		gzip -9f "$OUT/hta-$name.json"
		timeout 180 python3 tests/gpu/operator-truth.py "$work/hta.truth" "$@" >/dev/null 2>>"$OUT/hta.err"
		gzip -9c "$work/hta.truth.json" >"$OUT/hta-$name-profiler.json.gz"
		say "hta $name" "$(stat -c %s "$OUT/hta-$name.json.gz" "$OUT/hta-$name-profiler.json.gz" | tr '\n' ' ')"
	done
}
