# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: the first attach to programs whose CUPTI was not initialised at their start
# (CUPTI_USDT_PRIME=0) and that make calls flat out. Launches are held for the first subscription, other calls are not
# (docs/internals/agent.md, Not primed). To try it elsewhere: SIMCUDA_STARVE_MS=60000, and a SIMCUDA_SASS_SCRIPT of the kernel "empty".

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}" "${kernels_sql:?}"
declare -a on

watched="stat trace record pc counters sass"

# attach_first SUBJECT COMMAND PID: a row
attach_first() {
	local got first="" subject=$1 command=$2 pid=$3 err=$work/unprimed.err
	local out=$OUT/unprimed-$subject-$command.json
	case $command in
	stat)
		timeout 20 cuda-trace stat -v --json -d "${LOOK:-3}" -o "$out" -p "$pid" 2>"$err"
		got=$(jq '.totals | .launches + .kernels + .memcpys + .memsets + .allocs + .syncs' "$out")
		first=$(jq .first_record_ms "$out") ;;
	trace)
		got=$(timeout 20 cuda-trace trace -v --json -d 1.5 -p "$pid" 2>"$err" | grep -c '"event":"kernel"') ;;
	record)
		timeout 20 cuda-trace record -v -f -e kernels -d 1.5 -o "$work/unprimed.db" -p "$pid" 2>"$err" >&2
		got=$(sql "$work/unprimed.db" "$kernels_sql") ;;
	pc)
		timeout 20 cuda-trace profile -v --pc --bursts 20ms/200ms --json -d 2 -o "$out" -p "$pid" 2>"$err"
		got=$(jq .samples.total "$out") ;;
	counters)
		timeout 20 cuda-trace profile -v --counters quick --kernels 5 --json -d 3 -o "$out" -p "$pid" 2>"$err"
		got=$(jq -s 'map(select(.event == "counters_state").counted) | max' "$out") ;;
	sass)
		timeout 20 cuda-trace profile -v --sass --kernels 1 --json -d 4 -o "$out" -p "$pid" 2>"$err"
		got=$(jq -s 'map(select(.event == "sass").executed) | add' "$out") ;;
	esac
	cat "$err" >>"$OUT/unprimed.err"
	row "unprimed $subject, $command" "$(awk -v got="$got" -v first="${first:-0}" \
		'BEGIN {print (got + 0 > 0 && first != "null" && first + 0 < 3000) ? 1 : 0}')" \
		"$got counted${first:+, the first record after $first ms}; launches held for $(
			sed -n 's/.*were held for //p' "$err" | xargs) $(grep -m1 'does not start' "$err")"
}

# ended FILE STATUS: whether it ended as it does without anybody
ended() {
	local wrong
	wrong=$(truth_of "$1" wrong)
	if [ "$2" = 0 ] && tail -n1 "$1" | grep -q ^expect && [ "${wrong:-0}" = 0 ]; then
		well=$((well + 1))
	else
		harmed+=" $1: status $2"
	fi
}

# first_of SUBJECT COMMAND OPTION...: of a launch-rate of 8 threads
first_of() {
	local out=$work/rate.out pid traced
	rm -f "$out"
	CUDA_INJECTION64_PATH=$(the_guest) timeout 30 "${on[@]}" "$bundle/bench/launch-rate" -t 8 -d 25 -i 100 "${@:3}" \
		>"$out" 2>>"$OUT/unprimed.err" &
	pid=$!
	until_there "$out" '^[0-9]'
	traced=$(pgrep -P $pid -x launch-rate)
	attach_first "$1" "$2" "$traced"
	kill -USR1 "$traced"
	wait $pid
	ended "$out" $?
}

# They start while the others are looked at, and stop when they are warm.
start_torch() {
	local command
	for command in $watched; do
		CUDA_INJECTION64_PATH=$(the_guest) timeout 120 python3 tests/gpu/torch-checked.py 60 stop \
			>"$work/torch-$command.out" 2>>"$OUT/unprimed.err" &
		torch[$command]=$!
	done
}

each_torch() {
	local command traced
	for command in $watched; do
		until_there "$work/torch-$command.out" ready
		traced=$(sed -n 's/^ready //p' "$work/torch-$command.out")
		kill -CONT "$traced"
		sleep 0.3
		attach_first PyTorch "$command" "$traced"
		kill -USR1 "$traced"
		wait "${torch[$command]}"
		ended "$work/torch-$command.out" $?
	done
}

# Is a capture that is under way while CUPTI is initialised spoilt? Nearly all the time there is one.
first_beside_captures() {
	local out=$work/captures.out pid
	rm -f "$out"
	CUDA_INJECTION64_PATH=$(the_guest) timeout 30 "${on[@]}" "$bundle/workloads/captures" 4 80 >"$out" 2>>"$OUT/unprimed.err" &
	pid=$!
	until_there "$out" ready
	LOOK=1.5 attach_first "captures-$1" stat "$(pgrep -P $pid -x captures)"
	wait $pid
	ended "$out" $?
}

part_unprimed() {
	local -x CUPTI_USDT_PRIME=0
	local -A torch
	local command kind well=0 harmed="" with_torch=0
	! torch_is_here unprimed || with_torch=1
	[ $with_torch = 0 ] || start_torch
	for command in $watched; do
		LOOK=1.5 first_of launches "$command"
	done
	# Nobody holds these; they let a subscription through on an H200 with driver 580.
	first_of calls stat -o cfaw
	for kind in c f a w; do
		LOOK=1.5 first_of "only-$kind" stat -o $kind
	done
	for kind in 1 2 3; do
		first_beside_captures $kind
	done
	[ $with_torch = 0 ] || each_torch
	row "unprimed programs ended well" "$([ -z "$harmed" ] && echo 1 || echo 0)" "$well$harmed"
}
