# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: six attaches to threads that launch kernels and graphs flat out, then one for each kind of event,
# with each libcupti that the machine has and the agent takes. Those before 13.0 Update 1 lock up by themselves there, 12.9 lets
# graphs fault, and all crash at graphs made before they trace them as wholes: see docs/internals/agent.md.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"
declare -a on

moves() { # whether it launched anything in the last two seconds
	local before after
	before=$(wc -l <"$work/attaches.out")
	for _ in 1 2 3 4; do
		sleep 0.5
		after=$(wc -l <"$work/attaches.out")
		[ "$before" != "$after" ] && return
	done
	return 1
}

# begin PROGRAM...: in the background, with the agent; until it has printed three lines
begin() {
	CUDA_INJECTION64_PATH=$(the_agent) "${on[@]}" "$@" >"$work/attaches.out" 2>>"$OUT/attaches.err" &
	busy=$!
	for _ in $(seq 300); do [ "$(wc -l <"$work/attaches.out")" -ge 3 ] && break; sleep 0.1; done
}

# watch EVENTS: for 0.4 s, to $work/a.json
watch() {
	timeout 30 cuda-trace stat --source cupti -e "$1" -d 0.4 --json -o "$work/a.json" -p "$busy" 2>>"$OUT/attaches.err"
}

# Says what is wrong with it, if it does not end as it should.
end() {
	kill -USR1 "$busy"
	for _ in $(seq 50); do kill -0 "$busy" 2>/dev/null || break; sleep 0.1; done
	kill -KILL "$busy" 2>/dev/null
	wait "$busy" || echo ", status $?"
}

# attaches NAME THREADS: a row
attaches() {
	local seen="" well=1 stuck="" ended
	begin "$bundle/bench/launch-rate" -t "$2" -g -i 50 -d 60
	for _ in 1 2 3 4 5 6; do
		watch kernels
		seen+=" $(jq -r '"\(.totals.kernels)\(if .lost.total > 0 then "(\(.lost.total) lost)" else "" end)"' "$work/a.json")"
		jq -e '(.processes[0].cupti_version | . == 27 or . == 28) as $spared | .lost.total == 0 and
			if $spared then .totals.launches > 0 and .totals.graph_launches > 0 else .totals.kernels > 0 end' \
			"$work/a.json" >/dev/null || well=0
		moves || { stuck=", then nothing moved"; well=0; break; }
	done
	end >"$work/ended"
	ended=$(cat "$work/ended")
	[ -z "$ended" ] || well=0
	row "attaches: $1" $well "$2 threads with graphs, kernels seen:$seen$stuck$ended"
}

# one_of_each NAME PROGRAM...: it prints a line from time to time. A row: does it live on, whatever is traced of it while it runs?
one_of_each() {
	local name=$1 word stuck="" ended
	shift
	begin "$@"
	for word in launches kernels copies memory sync errors graphs kernels,graphs graph-nodes runtime api unified nvtx overhead objects; do
		watch "$word"
		moves || { stuck=" not after -e $word"; break; }
	done
	end >"$work/ended"
	ended=$(cat "$work/ended")
	row "each kind: $name" "$([ -z "$stuck$ended" ] && echo 1 || echo 0)" "goes on${stuck:- after each}$ended"
}

part_attaches() {
	local file name
	while read -r file; do
		case $file in *libcupti.so.11.[0-7] | *libcupti.so.13.0) continue ;; esac
		name=$(basename "$(dirname "$file")")/$(basename "$file")
		export CUDA_TRACE_LIBCUPTI=$file
		attaches "$name" 8
		attaches "$name" 32
		one_of_each "$name" "$bundle/bench/launch-rate" -t 8 -g -m -i 50 -d 120
		unset CUDA_TRACE_LIBCUPTI
	done < <(libcuptis)
	[ -n "${TRY:-}" ] || one_of_each "PyTorch" python3 tests/gpu/graph-loop.py
}
