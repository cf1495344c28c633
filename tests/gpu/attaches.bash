# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: six attaches to threads that launch kernels and graphs flat out, with each libcupti that the
# machine has and the guest takes. Those before 13.0 Update 1 lock up by themselves there, see docs/guest.md.

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

# attaches NAME THREADS: a row
attaches() {
	local seen="" well=1 pid stuck=""
	CUDA_INJECTION64_PATH=$(the_guest) "${on[@]}" "$bundle/bench/launch-rate" -t "$2" -g -i 50 -d 60 \
		>"$work/attaches.out" 2>>"$OUT/attaches.err" &
	pid=$!
	for _ in $(seq 100); do [ "$(wc -l <"$work/attaches.out")" -ge 3 ] && break; sleep 0.1; done
	for _ in 1 2 3 4 5 6; do
		timeout 30 cuda-trace stat --source cupti -e kernels -d 0.4 --json -o "$work/a.json" -p $pid 2>>"$OUT/attaches.err"
		seen+=" $(jq -r '"\(.totals.kernels)\(if .lost.total > 0 then "(\(.lost.total) lost)" else "" end)"' "$work/a.json")"
		jq -e '.totals.kernels > 0 and .lost.total == 0' "$work/a.json" >/dev/null || well=0
		moves || { stuck=", then nothing moved"; break; }
	done
	kill -USR1 $pid
	for _ in $(seq 50); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
	kill -KILL $pid 2>/dev/null && well=0
	wait $pid || { well=0; stuck+=", status $?"; }
	row "attaches: $1" $well "$2 threads with graphs, kernels seen:$seen$stuck"
}

part_attaches() {
	local file name
	while read -r file; do
		case $file in *libcupti.so.11.[0-7] | *libcupti.so.13.0) continue ;; esac
		name=$(basename "$(dirname "$file")")/$(basename "$file")
		export CUDA_TRACE_LIBCUPTI=$file
		attaches "$name" 8
		attaches "$name" 32
		unset CUDA_TRACE_LIBCUPTI
	done < <(libcuptis)
}
