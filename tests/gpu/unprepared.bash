# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: attaching to programs that were started with nothing in their environment. Each program of
# each kind is attached to three times and must end as it does alone; then the tool is killed in the middle of an attach.
# PROGRAMS=N programs of each kind (2), JOBS=N of them at a time (1), SESSIONS=N in each (3), KILLED=N that are killed (10),
# KINDS=REGEX of the names below. CORES=1: a program that dies leaves its call stacks in $OUT. Elsewhere: TRY="tests/sim env".

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"
declare -a on

# unprepared_start COMMAND...: in the background, its lines in $out; its number goes to $busy once three lines or "ready" are there
unprepared_start() {
	rm -f "$out"
	"${on[@]}" "$@" >"$out" 2>>"$OUT/unprepared.err" &
	busy=$!
	for _ in $(seq 600); do
		grep -q ready "$out" && break
		[ "$(wc -l <"$out")" -lt 3 ] || break
		sleep 0.1
	done
}

# unprepared_backtrace: of the program that died
unprepared_backtrace() {
	local core=/tmp/core.$busy
	[ -s "$core" ] || return
	timeout 100 cuda-gdb -batch -nx -ex 'set cuda break_on_launch none' -ex bt -ex 'x/6i $pc' -ex 'info registers' -ex 'x/24gx $rbx' -ex 'x/24gx $rdi' -ex 'info proc mappings' \
		-ex 'thread apply all bt 24' "$(readlink -f "$(command -v "$1")")" "$core" >"$OUT/backtrace-$busy.txt" 2>&1
	rm -f "$core"
}

# Its end: sets $ended to "" if it is as it should be.
unprepared_end() {
	local status=0
	kill -USR1 "$busy" 2>/dev/null
	for _ in $(seq 100); do kill -0 "$busy" 2>/dev/null || break; sleep 0.1; done
	kill -KILL "$busy" 2>/dev/null
	wait "$busy" || status=$?
	tail -n1 "$out" | grep -q ^expect && [ "$(truth_of "$out" wrong)" != 1 ] || status="$status, no result"
	ended=""
	[ "$status" = 0 ] || ended=" [$status]"
}

# unprepared_one N SEEN COMMAND...: one program; words of its three sessions go to $work/u.N.found, by what they are of
unprepared_one() {
	local total=$2 ended busy lost=0 file=$work/u.$1.json err=$work/u.$1.err out=$work/u.$1.out found=$work/u.$1.found
	shift 2
	: >"$found"
	unprepared_start "$@"
	for _ in $(seq "${SESSIONS:-3}"); do
		timeout 30 cuda-trace stat -v --json -e kernels,launches,graphs,copies,sync -d "${LOOK:-0.7}" -o "$file" -p "$busy" 2>"$err"
		cat "$err" >>"$OUT/unprepared.err"
		echo "seen $(jq ".totals.$total" "$file")" >>"$found"
		echo "first $(jq .first_record_ms "$file")" >>"$found"
		lost=$(jq .lost.total "$file")
		[ "$lost" = 0 ] || echo "bad lost:$(jq -c '.lost | map_values(select(. > 0))' "$file")" >>"$found"
		[ "$total" = none ] || jq -e ".totals.$total > 0" "$file" >/dev/null || echo "bad unseen" >>"$found"
		sed -n 's/.*stopped for up to \([0-9.]*\) ms (\([0-9.]*\) ms of it.*/stop \1\nload \2/p' "$err" >>"$found"
		sed -n 's/.*does not get the injection.*missing: /bad /p' "$err" >>"$found"
	done
	unprepared_end
	[ -z "$ended" ] || echo "bad$ended" >>"$found"
	[ -z "${CORES:-}" ] || [ -z "$ended" ] || unprepared_backtrace "$1"
}

# of WORD FILE...: how many there are, the middle one, the largest
of() {
	local word=$1
	shift
	sed -n "s/^$word //p" "$@" | sort -g | awk '{v[NR] = $1} END {print NR ", middle " v[int((NR + 1) / 2)] ", largest " v[NR]}'
}

# unprepared_kind NAME SEEN COMMAND...: a row; SEEN is the total that must be above 0 in each session. JOBS=N programs at a time
unprepared_kind() {
	local name=$1 total=$2 i bad
	shift 2
	[[ $name =~ ${KINDS:-.} ]] || return 0
	rm -f "$work"/u.*.found
	for ((i = 0; i < ${PROGRAMS:-2}; i++)); do
		unprepared_one "$i" "$total" "$@" &
		[ $(((i + 1) % ${JOBS:-1})) != 0 ] || wait
	done
	wait
	bad=$(sed -n 's/^bad //p' "$work"/u.*.found | sort | uniq -c | tr -s ' \n' ' ')
	row "unprepared: $name" "$([ -z "$bad" ] && echo 1 || echo 0)" "${PROGRAMS:-2} programs; $total: $(of seen "$work"/u.*.found);$(
		) stop in ms: $(of stop "$work"/u.*.found), to load: $(of load "$work"/u.*.found); first record after ms: $(of first "$work"/u.*.found)${bad:+; not as it should be:$bad}"
}

# unprepared_killed NAME COMMAND...: the tool and its helper die at a random moment of an attach
unprepared_killed() {
	local name=$1 ended busy harm="" well=0 tool after=0 out=$work/u.out
	shift
	[[ "killed $name" =~ ${KINDS:-.} ]] || return 0
	for _ in $(seq "${KILLED:-10}"); do
		unprepared_start "$@"
		setsid cuda-trace attach -p "$busy" >/dev/null 2>>"$OUT/unprepared.err" &
		tool=$!
		sleep "0.$(printf %03d $((RANDOM % 250)))"
		pkill -KILL -f "cuda-trace attach -p $busy"
		wait $tool 2>/dev/null
		timeout 30 cuda-trace stat -v --json -e kernels -d 0.7 -o "$work/u.json" -p "$busy" 2>"$work/u.err"
		if [ "$(jq .totals.kernels "$work/u.json")" -gt 0 ]; then
			after=$((after + 1))
		else
			cat "$work/u.err" "$work/u.json" >>"$OUT/unprepared-unseen.txt"
		fi
		unprepared_end
		[ -z "$ended" ] && well=$((well + 1))
		harm+=$ended
	done
	row "unprepared, tool killed: $name" "$([ -z "$harm" ] && echo 1 || echo 0)" \
		"$well of ${KILLED:-10} ended well, $after were attached to afterwards$harm"
}

# older_graphs_one N: one program of the series below; a line to $work/series
older_graphs_one() {
	local out=$work/series.$1 status=0 pid seen=0 dead="" json=$work/series.$1.json
	"${on[@]}" "$bundle/bench/launch-rate" -i 100 -d 60 -t 32 -g >"$out" 2>>"$OUT/unprepared.err" &
	pid=$!
	for _ in $(seq 100); do [ "$(wc -l <"$out")" -lt 3 ] || break; sleep 0.1; done
	for _ in 1 2 3 4 5; do
		timeout 30 cuda-trace stat --json -e kernels -d 0.7 -o "$json" -p "$pid" 2>>"$OUT/unprepared.err"
		jq -e '.totals.kernels > 0' "$json" >/dev/null 2>&1 && seen=$((seen + 1))
	done
	sleep 0.5
	kill -USR1 "$pid" 2>/dev/null || dead="already dead"
	for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" || status=$?
	rm -f "$out" "$json"
	echo "$status $seen $dead" >>"$work/series"
}

# Programs whose 32 threads launch graphs that they made before, five sessions each; SERIES=N programs (20), four at a time.
# With CUDA_TRACE_AGENT=FILE another build of the library.
part_older_graphs() {
	local i
	rm -f "$work/series"
	for ((i = 0; i < ${SERIES:-20}; i++)); do
		older_graphs_one "$i" &
		[ $((i % 4)) != 3 ] || wait
	done
	wait
	row "older graphs, 32 threads" "$(awk '$1 != 0 {bad = 1} END {print bad ? 0 : 1}' "$work/series")" \
		"$(awk '{n++; died += $1 != 0; seen += $2; early += /already/} END {print died + 0 " of " n " programs died, " early + 0 " of them before they were to end; kernels in " seen " of " 5 * n " sessions"}' "$work/series")"
}

part_unprepared() {
	local rate="$bundle/bench/launch-rate -i 100 -d 60"
	if [ -n "${CORES:-}" ]; then
		ulimit -c unlimited
		echo /tmp/core.%p >/proc/sys/kernel/core_pattern
	fi
	# shellcheck disable=SC2086
	{
		unprepared_kind "1 thread" kernels $rate -t 1
		unprepared_kind "8 threads with graphs" kernels $rate -t 8 -g
		unprepared_kind "32 threads" kernels $rate -t 32
		unprepared_kind "32 threads with graphs" kernels $rate -t 32 -g
		unprepared_kind "8 threads that make graphs" none $rate -t 8 -o g
		unprepared_killed "8 threads with graphs" $rate -t 8 -g
	}
	[ -z "${TRY:-}" ] || return 0
	unprepared_kind "before cuInit()" none python3 tests/gpu/late-init.py
	unprepared_kind "PyTorch, training" kernels python3 tests/gpu/torch-checked.py 60
	unprepared_kind "PyTorch, a deep queue" kernels python3 tests/gpu/torch-checked.py 60 deep
	unprepared_kind "PyTorch, a captured graph" kernels python3 tests/gpu/graph-loop.py
	unprepared_kind "JAX, a jitted loop" kernels python3 tests/gpu/jax-loop.py
	[ "$(nvidia-smi -L | wc -l)" -lt 2 ] || unprepared_kind "two ranks of torchrun" kernels python3 tests/gpu/ranks-loop.py
	unprepared_kind "CuPy" kernels python3 tests/gpu/cupy-loop.py
}
