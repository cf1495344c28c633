# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: programs that profile themselves while they are watched see all of their kernels, and the tool
# comes back after each session. SESSIONS=N of each (10).

# What this file shares with tests/gpu/run:
: "${work:?}"

# yields NAME: torch or jax, while `stat -p` and `metrics --attach` watch
yields() {
	local out=$work/yields.out json=$OUT/yields-$1.json pid exporter
	cuda-trace metrics --attach --textfile "$work/yields.prom" --interval 1s 2>>"$OUT/yields.err" &
	exporter=$!
	sleep 1
	rm -f "$out"
	python3 tests/gpu/profiled-often.py "$1" "${SESSIONS:-10}" >"$out" 2>"$OUT/yields-$1.err" &
	pid=$!
	for _ in $(seq 600); do grep -q ready "$out" && break; sleep 0.1; done
	timeout 120 cuda-trace stat -v -e kernels --json -o "$json" -p $pid 2>>"$OUT/yields.err"
	wait $pid
	row "yields: $1.profiler" "$(tail -n1 "$out" | grep -q 'wrong=0' && echo 1 || echo 0)" \
		"$(tail -n1 "$out"); $(tail -n1 "$OUT/yields-$1.err" | head -c 120)"
	row "  and the tool comes back" "$(jq -e '.totals.kernels > 100 and .processes[0].yields >= 1' "$json" >/dev/null && echo 1 || echo 0)" \
		"$(jq -c '[.totals.kernels, (.processes[0] | .yields, .yielded_ns, .client, .state), .lost.yielded]' "$json")"
	cp "$work/yields.prom" "$OUT/yields-$1.prom"
	kill "$exporter" 2>/dev/null
	wait "$exporter"
}

part_yields() {
	yields torch
	yields jax
}
