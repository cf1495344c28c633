# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: other users of CUPTI in one process with the agent, graphs that PyTorch captures,
# and several processes at once. All of it needs PyTorch.

# What this file shares with tests/gpu/run:
: "${work:?}" "${recorded:?}"

torch_is_here() { # PART
	python3 -c 'import torch; assert torch.cuda.is_available()' 2>>"$OUT/stderr.log" && return
	say "$1" "not tried: no PyTorch with a GPU here"
	return 1
}

the_agent() {
	find "${AGENT:-/usr/lib}" -name libcupti-usdt.so 2>/dev/null | head -n1
}

profiled() { # CMD…: how many kernels torch.profiler says that the PyTorch step has
	"$@" python3 tests/gpu/torch-count.py -n 50 2>"$work/profiled.err" | tail -n1
}

dormant_client() {
	local without with
	without=$(profiled timeout 60)
	with=$(profiled timeout 60 env CUDA_INJECTION64_PATH="$agent")
	row "dormant agent, torch.profiler" "$(same "$without" "$with")" \
		"kernels that torch.profiler sees with the agent: $with, without: $without"
}

# We hold CUPTI: torch.profiler is refused and says so, and sees nothing; our counts are as without it.
second_client() {
	local json=$OUT/clients-first.json plain=$OUT/clients-plain.json seen ours want
	timeout 60 cuda-trace stat -e kernels --json -o "$plain" -- python3 tests/bench/torch-step.py -n 50 >/dev/null
	want=$(jq .totals.kernels "$plain")
	seen=$(profiled timeout 60 cuda-trace stat -e kernels --json -o "$json" --)
	ours=$(jq .totals.kernels "$json")
	cp "$work/profiled.err" "$OUT/clients-first.err"
	row "we first: torch.profiler" "$(same "$seen" 0)" "sees $seen kernels; says: $(
		grep -i -m1 cupti "$work/profiled.err" | head -c 200)"
	# The program that calls it makes a tensor before.
	row "  our counts" "$([ "$ours" -ge "$want" ] && [ "$ours" -le $((want + 2)) ] &&
		[ "$(jq .lost.total "$json")" = 0 ] && echo 1 || echo 0)" \
		"kernels: $ours, of the same program without torch.profiler: $want; lost: $(jq .lost.total "$json")"
}

# torch.profiler holds CUPTI: who attaches yields, gets a message, and spoils nothing.
first_client() {
	local json=$OUT/clients-second.json pid text
	CUDA_INJECTION64_PATH=$agent timeout 60 python3 tests/gpu/profiled-loop.py >"$work/loop.out" 2>"$OUT/clients-loop.err" &
	for _ in $(seq 300); do grep -q ready "$work/loop.out" && break; sleep 0.1; done
	pid=$(pgrep -P $! python3)
	timeout 30 cuda-trace list >"$OUT/clients-list.txt" 2>&1
	timeout 30 cuda-trace stat -e kernels -p "${pid:-$!}" -d 2 --json -o "$json" 2>"$work/second.err"
	cp "$work/second.err" "$OUT/clients-second.err"
	wait $!
	text=$(detail "$json" '.processes[0] | [.state, .source, .holder, .trouble, .launches, .kernels]')
	row "torch.profiler first: we yield" "$(same "$(jq -r '.processes[0].state' "$json")" yielded)" "$text"
	row "  message" "$(grep -qi 'cupti' "$work/second.err" && echo 1 || echo 0)" "$(tr '\n' ' ' <"$work/second.err" | head -c 300)"
	row "  torch.profiler's count" "$(same "$(truth_of "$work/loop.out" profiled)" "$(truth_of "$work/loop.out" kernels)")" \
		"sees $(truth_of "$work/loop.out" profiled) of $(truth_of "$work/loop.out" kernels)"
	say "  list, meanwhile" "$(tr -s ' ' <"$OUT/clients-list.txt" | tr '\n' ';' | head -c 300)"
}

part_clients() {
	local agent
	torch_is_here clients || return
	agent=$(the_agent)
	dormant_client
	second_client
	first_client
}

# graph_run JSON CMD…: under stat; what the programs print last goes to $work/graph.out
graph_run() {
	local json=$1
	shift
	timeout 100 cuda-trace stat --json -o "$json" -- "$@" >"$work/graph.out" 2>>"$OUT/multi.err"
}

one_with_graphs() {
	local json=$OUT/multi-graphs.json ours theirs
	PROFILED=1 timeout 60 python3 tests/gpu/graph-replay.py >"$work/truth.out" 2>>"$OUT/multi.err"
	graph_run "$json" python3 tests/gpu/graph-replay.py
	compare "PyTorch, 100 replays of a graph" "$work/truth.out" "$json" kernels graph_launches
	ours=$(jq .totals.gpu_ns "$json") theirs=$(truth_of "$work/truth.out" gpu_ns)
	row "  GPU time" "$(awk -v a="$ours" -v b="$theirs" 'BEGIN {print (b > 0 && a / b > .99 && a / b < 1.01)}')" \
		"ours $ours ns, torch.profiler's of another run $theirs ns"
}

four='for i in 1 2 3 4; do python3 tests/gpu/graph-replay.py & done; wait'

four_at_once() {
	local json=$OUT/multi-four.json db=$work/four.db want each
	want=$(truth_of "$work/truth.out" kernels)
	graph_run "$json" bash -c "$four" &
	for _ in $(seq 30); do
		timeout 30 cuda-trace list >"$OUT/multi-list.txt" 2>&1
		[ "$(grep -c python "$OUT/multi-list.txt")" = 4 ] && break
		sleep 0.3
	done
	timeout 30 cuda-trace list --json >"$OUT/multi-list.json" 2>&1
	wait $!
	row "4 PyTorch processes at once" "$(same "$(jq -c '[.totals.kernels, .totals.graph_launches, .lost.total,
		(.processes | map(select(.kernels > 0)) | length)]' "$json")" "[$((4 * want)),400,0,4]")" \
		"kernels=$(jq .totals.kernels "$json")/$((4 * want)) graph_launches=$(jq .totals.graph_launches "$json")/400 lost=$(
			jq .lost.total "$json") $(detail "$json" '[.processes[] | "\(.pid) \(.kernels) \(.source)"] | join(", ")')"
	say "  list, meanwhile" "$(tr -s ' ' <"$OUT/multi-list.txt" | tr '\n' ';' | head -c 500)"
	timeout 100 cuda-trace record -q -f -e "$recorded" -o "$db" -- bash -c "$four" >/dev/null 2>>"$OUT/multi.err"
	each=$(sql "$db" 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY globalPid / 0x1000000' | sort | uniq -c | xargs)
	row "  recorded, by SQL" "$(same "$each" "4 $want")" "processes and kernels of each: $each, wanted: 4 $want; without launch: $(
		sql "$db" 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE (correlationId, globalPid / 0x1000000)
			NOT IN (SELECT correlationId, globalTid / 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME)')"
}

part_multi() {
	timeout 60 cuda-trace doctor >"$OUT/doctor.txt" 2>&1
	timeout 60 cuda-trace doctor --json >"$OUT/doctor.json" 2>&1
	say doctor "$(wc -l <"$OUT/doctor.txt") lines: $(tail -n2 "$OUT/doctor.txt" | tr '\n' ' ' | head -c 300)"
	torch_is_here multi || return
	one_with_graphs
	four_at_once
}
