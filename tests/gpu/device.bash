# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Part of tests/gpu/run: whole GPUs over time, against loads whose figures are known, beside another
# profiler, and what it costs.

# What this file shares with tests/gpu/run:
: "${work:?}"

# device_beside KIND: samples of two seconds beside that load, to $work/KIND.jsonl
device_beside() {
	local pid
	"$work/device" "$1" 5 >"$work/$1.out" 2>>"$OUT/device.err" &
	pid=$!
	sleep 1.2
	timeout 30 cuda-trace profile --device=device,dram_read_bytes,dram_write_bytes --json -d 2 \
		-o "$work/$1.jsonl" 2>>"$OUT/device.err"
	wait $pid
	cp "$work/$1.jsonl" "$OUT/device-$1.jsonl"
}

device_mean() { # KIND COLUMN
	jq -r "select(.event == \"device_summary\").columns[\"$2\"].mean" "$work/$1.jsonl"
}

# device_row KIND COLUMN WANT MIN MAX: a row; MIN and MAX are parts of WANT
device_row() {
	local got
	got=$(device_mean "$1" "$2")
	row "device, $1: $2" "$(awk -v v="$got" -v w="$3" -v l="$4" -v m="$5" 'BEGIN {
		print (v != "" && v >= w * l && v <= w * m) ? 1 : 0 }')" "$got, known: $3"
}

device_truth() {
	local kind
	for kind in duty half copy down up; do
		device_beside $kind
		row "device, $kind: nothing lost" "$(jq 'select(.event == "device_summary") |
			if .lost == 0 and .samples > 1900 and .samples < 2300 then 1 else 0 end' "$work/$kind.jsonl")" \
			"$(jq -c 'select(.event == "device_summary") | [.samples, .lost, .seconds]' "$work/$kind.jsonl")"
	done
	device_row duty busy "$(truth_of "$work/duty.out" busy)" 0.95 1.05
	device_row duty sm "$(truth_of "$work/duty.out" busy)" 0.95 1.05
	device_row half sm 0.5 0.96 1.02
	device_row copy dram_read_bytes "$(truth_of "$work/copy.out" bytes_per_second)" 0.97 1.03
	device_row copy dram_write_bytes "$(truth_of "$work/copy.out" bytes_per_second)" 0.97 1.03
	# The link carries headers, too.
	device_row down pcie_write_bytes "$(truth_of "$work/down.out" bytes_per_second)" 1 1.12
	device_row up pcie_read_bytes "$(truth_of "$work/up.out" bytes_per_second)" 1 1.12
}

# One owner: who comes second gets a message, and the first goes on.
device_owner() {
	local pid
	timeout 30 cuda-trace profile --device --json -d 4 -o "$work/owner.jsonl" 2>>"$OUT/device.err" &
	pid=$!
	sleep 2
	timeout 20 cuda-trace profile --device -d 1 >"$work/second.out" 2>&1
	row "device: a second one is refused with the reason" "$(grep -q 'another profiler' "$work/second.out" && echo 1 || echo 0)" \
		"$(head -c 120 "$work/second.out")"
	wait $pid
	row "device: the first one goes on" "$(jq 'select(.event == "device_summary") |
		if .lost == 0 and .seconds > 3 then 1 else 0 end' "$work/owner.jsonl")" \
		"$(jq -c 'select(.event == "device_summary") | [.samples, .lost, .seconds]' "$work/owner.jsonl")"
	# Killed outright, it lets the GPU go.
	timeout -s KILL 2 cuda-trace profile --device -d 10 >/dev/null 2>&1
	sleep 0.5
	timeout 20 cuda-trace profile --device -d 1 >"$OUT/device.txt" 2>"$work/after.err"
	row "device: after one that was killed" "$([ -s "$work/after.err" ] && echo 0 || echo 1)" "$(head -c 120 "$work/after.err")"
	# Four thousand a second: decoding one takes some 0.1 ms.
	timeout 20 cuda-trace profile --device --every 250us --json -d 2 -o "$work/fast.jsonl" 2>>"$OUT/device.err"
	row "device: each 250 us" "$(jq 'select(.event == "device_summary") |
		if .lost == 0 and .samples > 7600 then 1 else 0 end' "$work/fast.jsonl")" \
		"$(jq -c 'select(.event == "device_summary") | [.samples, .lost, .overflows]' "$work/fast.jsonl")"
}

part_device() {
	nvcc -O2 -arch=native -o "$work/device" tests/gpu/device.cu >>"$OUT/nvcc.log" 2>&1 || {
		row "device: nvcc" 0 "see nvcc.log"
		return
	}
	device_truth
	device_owner
}
