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

# graphed MODE [EAGER-MODE]: kernels of graphs have the operator and the line that put them there
graphed() {
	local mode=$1 db=$OUT/graphed-$1.db log=$OUT/graphed-$1 key good text
	# 60,000 launches a second: without the larger buffer, not all of them have a copy of the stack.
	timeout 180 cuda-trace record -v -g -f --buffer 1024 -e kernels -o "$db" -- python3 tests/gpu/graphed-step.py "$mode" 20 >"$log.out" 2>"$log.err"
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

part_operators() {
	attributed train tests/bench/torch-step.py -n 25
	attributed decode tests/gpu/decode-loop.py -n 32
	part_graphed
}

part_graphed() {
	graphed eager
	graphed graph eager
	graphed compile
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
