# SPDX-License-Identifier: BSD-2-Clause
# Source driver: programs are watched at the entry points of libcuda alone. Sourced by tests/gpu/run.

# by_driver NAME KEYS COMMAND…: its totals against its own words
by_driver() {
	local name=$1 keys
	read -ra keys <<<"$2"
	shift 2
	timeout 60 cuda-trace stat --source driver --errors --json -o "$OUT/driver-$name.json" -- \
		"${on[@]}" "$@" >"$work/driver.out" 2>>"$OUT/driver.err"
	compare "driver $name" "$work/driver.out" "$OUT/driver-$name.json" "${keys[@]}"
	timeout 60 cuda-trace record -q -f --source driver -o "$work/driver.db" -- \
		"${on[@]}" "$@" >"$work/driver.out" 2>>"$OUT/driver.err"
	cuda-trace report --json "$work/driver.db" >"$OUT/driver-$name-recorded.json" 2>>"$OUT/driver.err"
	compare "driver $name, recorded" "$work/driver.out" "$OUT/driver-$name-recorded.json" "${keys[@]}"
}

# launched FILE: of each kernel its name and how often it was launched
launched() { jq -cS '[.kernels[] | {(.name): .launches}] | add' "$1"; }

# The same loop twice: what the driver's entry points tell, and what CUPTI does.
by_both() {
	local name=$1 key ours theirs ok=1 text=""
	shift
	timeout 120 cuda-trace stat --source driver --json -o "$OUT/driver-$name.json" -- "${on[@]}" "$@" >/dev/null 2>>"$OUT/driver.err"
	timeout 120 cuda-trace stat --source cupti --json -o "$work/cupti.json" -- "${on[@]}" "$@" >/dev/null 2>>"$OUT/driver.err"
	for key in launches graph_launches memcpys memcpy_bytes allocs syncs; do
		ours=$(jq ".totals.$key" "$OUT/driver-$name.json")
		theirs=$(jq ".totals.$key" "$work/cupti.json")
		[ "$ours" = "$theirs" ] || ok=0
		text+=" $key=$ours/$theirs"
	done
	row "driver $name as CUPTI reports it" "$ok" "${text# }"
	ours=$(launched "$OUT/driver-$name.json")
	theirs=$(launched "$work/cupti.json")
	printf '%s\n%s\n' "$ours" "$theirs" >"$OUT/driver-$name-names.txt"
	row "driver $name, names" "$([ "$ours" = "$theirs" ] && echo 1 || echo 0)" \
		"$(jq -n --argjson a "$ours" --argjson b "$theirs" '"\($a | length) kernels, \([$a | to_entries[] |
			select($b[.key] == .value)] | length) of them the same as CUPTI says"' -r)"
}

part_driver() {
	local name
	for name in saxpy modules; do
		by_driver $name "launches launch_errors" "$bundle/workloads/$name"
	done
	by_driver graphs "launches graph_launches" "$bundle/workloads/graphs"
	by_driver failures "launches launch_errors" "$bundle/workloads/failures"
	by_driver copies "memcpys memcpy_bytes" "$bundle/workloads/copies"
	by_driver memory "allocs frees live_bytes" "$bundle/workloads/memory"
	by_driver syncs "syncs" "$bundle/workloads/syncs"
	by_both saxpy "$bundle/workloads/saxpy"
	[ -z "${TRY:-}" ] || return
	# Linked with the static runtime, which finds its entry points by itself.
	nvcc -o "$work/runtime-failures" tests/gpu/runtime-failures.cu >>"$OUT/nvcc.log" 2>&1 &&
		by_both static-runtime "$work/runtime-failures"
	by_both torch python3 tests/bench/torch-step.py -n 50
}
