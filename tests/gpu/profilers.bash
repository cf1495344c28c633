# SPDX-License-Identifier: BSD-2-Clause
# Each mode of profile with each libcupti of the machine. Sourced by tests/gpu/run.

# profiler NAME MODE FILTER COMMAND…: FILTER finds something in the JSON, or it is said that the library is too old.
profiler() {
	local name=$1 mode=$2 filter=$3 found=0 status said
	shift 3
	# shellcheck disable=SC2086
	timeout 60 cuda-trace profile $mode --json -o "$work/p.json" "$@" >"$work/p.out" 2>"$work/p.err"
	status=$?
	cat "$work/p.err" >>"$OUT/profilers.err"
	said=$(grep -v '^$' "$work/p.err" | tail -n1 | head -c 150)
	[ "$(jq -s "$filter" "$work/p.json" 2>/dev/null)" = true ] && found=1
	grep -q 'older than CUDA' "$work/p.err" && found=1
	# Those before the driver; what they do is reported, and no other library may do it.
	[[ $name =~ \.so\.(12|2025\.[12]\.) ]] && grep -q 'CUPTI returned no values' "$work/p.err" && found=1
	# What cannot be profiled must still run to its end.
	[ $# = 2 ] || grep -q '^expect' "$work/p.out" || found=0
	row "$mode: $name" $found "status $status; $said"
}

part_profilers() {
	local file name
	nvcc -arch=native -lineinfo -o "$work/counters" tests/gpu/counters.cu >>"$OUT/nvcc.log" 2>&1
	nvcc -arch=native -lineinfo -o "$work/pc-split" tests/gpu/pc-split.cu >>"$OUT/nvcc.log" 2>&1
	while read -r file; do
		case $file in *libcupti.so.11.* | *libcupti.so.13.0) continue ;; esac
		name=$(basename "$(dirname "$file")")/$(basename "$file")
		export CUDA_TRACE_LIBCUPTI=$file
		profiler "$name" "--pc --bursts 50ms/500ms" '.[0].samples.placed > 0 and .[0].lost.total == 0' -- "$work/pc-split" 2
		profiler "$name" "--counters quick" 'map(select(.event == "counters")) | length == 3' -- "$work/counters" increment copy increment
		profiler "$name" "--sass --kernels 2" 'map(select(.event == "sass")) | length > 0' -- "$work/counters" increment copy
		profiler "$name" --device 'map(select(.event == "device_summary")) | .[0].samples > 500 and .[0].lost == 0' -d 1
		unset CUDA_TRACE_LIBCUPTI
	done < <(libcuptis)
}
