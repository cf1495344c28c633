# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: programs under rules of their own, that end in every way, that make streams and
# contexts without end; calls that fail, and what they requested; graphs made ready; kernels by NVTX range.
: "${work:?}" "${bundle:?}"
declare -a on

# behaves NAME KEYS PROGRAM ARGS…: ends as it should, and its totals are what it said
behaves() {
	local name=$1 keys
	read -ra keys <<<"$2"
	shift 2
	timeout 60 cuda-trace stat --errors --json -o "$work/b.json" -- "${on[@]}" "$@" >"$work/b.out" 2>>"$OUT/behaviour.err" ||
		row "$name: status" 0 "$?"
	compare "$name" "$work/b.out" "$work/b.json" "${keys[@]}"
}

# As without the agent: status, output; and every kernel, where it has the time to end.
early_exits() {
	local mode plain status seen text="" ok=1
	for mode in return exit _exit signal kill abort crash exec pthread_exit destroy running unsynced endless; do
		plain=0 status=0
		timeout 60 "${on[@]}" "$bundle/workloads/early-exit" $mode >"$work/plain.out" 2>/dev/null || plain=$?
		timeout 60 cuda-trace stat --json -o "$work/e.json" -- "${on[@]}" "$bundle/workloads/early-exit" $mode \
			>"$work/e.out" 2>>"$OUT/behaviour.err" || status=$?
		if [ "$status" != "$plain" ] || ! cmp -s "$work/plain.out" "$work/e.out"; then
			ok=0
			text+=" $mode: $status for $plain;"
		fi
		case $mode in return | exit | pthread_exit | destroy)
			seen=$(jq -r '"\(.totals.kernels) \(.lost.total)"' "$work/e.json")
			[ "$seen" = "$(truth_of "$work/e.out" kernels) 0" ] || {
				ok=0
				text+=" $mode: $seen of $(truth_of "$work/e.out" kernels) kernels;"
			}
			;;
		esac
	done
	row "early-exit, 13 ways" $ok "${text:-as without the agent; all kernels of those that end in order}"
}

# requested: of each line of JSON on stdin the call, and what it requested
requested() {
	jq -cS '{call, bytes, address, direction, value, device, grid, block, dynamic_shared, kernel} |
		with_entries(select(.value != null))' | sort
}

part_behaviour() {
	local mode ours theirs
	for mode in seccomp chroot vfork signals malloc; do
		behaves "bonds $mode" "launches kernels syncs api_errors" "$bundle/workloads/bonds" $mode
	done
	early_exits
	behaves "20,000 streams" "launches kernels syncs" "$bundle/workloads/streams" 20000 500
	behaves "resets" "launches kernels syncs" "$bundle/workloads/resets" 20
	behaves "failed copies" "memcpys api_errors" "$bundle/workloads/badcopies"

	timeout 60 cuda-trace trace --errors --json -o "$OUT/refused.jsonl" -- "${on[@]}" "$bundle/workloads/refused" \
		>"$work/r.out" 2>>"$OUT/behaviour.err"
	cp "$work/r.out" "$OUT/refused.out"
	ours=$(jq -c 'select(.event == "error" and .domain == "runtime")' "$OUT/refused.jsonl" | requested)
	theirs=$(grep '"cuda' "$work/r.out" | requested)
	row "failed calls of the runtime" "$([ -n "$ours" ] && [ "$ours" = "$theirs" ] && echo 1 || echo 0)" \
		"$(wc -l <<<"$ours") as the program made them, of $(wc -l <<<"$theirs")"
	ours=$(jq -c 'select(.event == "error" and .domain == "driver")' "$OUT/refused.jsonl" | requested)
	theirs=$(grep '^{' "$work/r.out" | grep -v '"cuda' | requested)
	row "failed calls of the driver" "$([ -n "$theirs" ] && [ -z "$(comm -13 <(echo "$ours") <(echo "$theirs"))" ] && echo 1 || echo 0)" \
		"$(comm -12 <(echo "$ours") <(echo "$theirs") | wc -l) as the program made them, of $(wc -l <<<"$theirs")"

	timeout 60 cuda-trace stat -e graphs --json -o "$OUT/instantiations.json" -- "${on[@]}" "$bundle/workloads/graphs" \
		>"$work/g.out" 2>>"$OUT/behaviour.err"
	row "graphs made ready" "$(jq --argjson n "$(truth_of "$work/g.out" instantiations)" \
		'.graph_instantiations | .count == $n and .min_ns > 0 | if . then 1 else 0 end' "$OUT/instantiations.json")" \
		"$(jq -c .graph_instantiations "$OUT/instantiations.json") of $(truth_of "$work/g.out" instantiations)"

	timeout 60 cuda-trace stat -e kernels,nvtx --json -o "$OUT/ranges.json" -- "${on[@]}" "$bundle/workloads/ranges" 500 \
		>"$work/n.out" 2>>"$OUT/behaviour.err"
	ours=$(jq -r '.kernel_ranges[] | "owner \(.domain // "")|\(.name // "")|\(.entered)|\(.launches)|\(.kernels)|" +
		"\(.self_launches)|\(.self_kernels)"' "$OUT/ranges.json" | sort)
	theirs=$(grep '^owner ' "$work/n.out" | sort)
	row "kernels by NVTX range" "$([ -n "$theirs" ] && [ "$ours" = "$theirs" ] && echo 1 || echo 0)" \
		"$(comm -12 <(echo "$ours") <(echo "$theirs") | wc -l) of $(wc -l <<<"$theirs") ranges"
}
