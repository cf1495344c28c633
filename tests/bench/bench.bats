#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The benchmark measures what it says: a cost that is known is found.

load ../lib/helpers

setup() {
	requires root bpf sim python3
	cd "$BATS_TEST_TMPDIR" || return 1
}

gates() {
	python3 "$TOP/tests/bench/gates.py" --tool "$CUDA_TRACE" --agent "$AGENT" --sim "$SIM" \
		--launch-rate "$B/bench/launch-rate" --gate "$B/bench/libgate.so" "$@" 2>err
}

@test "bench (a cost added in turn, and one of nothing) finds it" {
	# A busy machine may have a bad second.
	for _ in 1 2 3 4 5 6; do
		gates --extra-ns 3000 --cpu-time --processes 1 --seconds 2 --warm 0.2 --base 0.2 stat >out
		jq -e '.stat | (.more_ns[0] / .spun_ns[0] | . > 0.8 and . < 1.25) and .proof[0].lost == 0' out && break
	done
	json out '.stat | .more_ns[0] / .spun_ns[0] | . > 0.8 and . < 1.25'
	json out '.stat | .pairs > 5 and .proof[0].launches > 0 and .proof[0].lost == 0'
}

@test "bench (instructions) has the agent's where it is called, and nowhere else" {
	local limit=220 clock except=none
	clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
	# The long way: where Linux does not keep time by the CPU's counter, each launch reads a clock.
	[ "$clock" = tsc ] || limit=1000
	# Reading this one takes some more or less each time.
	[ "$clock" != kvm-clock ] || except='[vdso]'
	gates --steps "$B/bench/steps" --launches 5 stat >out
	json out ".stat | .full[\"libcupti-usdt.so\"] > 100 and .full[\"libcupti-usdt.so\"] < $limit"
	json out '.stat | .alone["libcupti-usdt.so"] == null and .nothing["libcupti-usdt.so"] == null'
	json out ".stat | map_values(objects | .all - (.[\"$except\"] // 0)) as \$all |
		\$all.nothing < \$all.alone and \$all.alone + .full[\"libcupti-usdt.so\"] <= \$all.full + 100"
}
