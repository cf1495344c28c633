#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Shares of a GPU that several processes use at once, in metrics, stat and report: against four processes whose shares
# are known (tests/capture/sharers).

load ../lib/helpers

SHARERS=$B/tests/capture/sharers/sharers
ID=s$((RANDOM % 10000))

setup() {
	requires bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
	export CUDA_TRACE_AGENT=$SHARERS
}

# exporter ARGS...: runs it in the background; its address is in $URL.
exporter() {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# sum NAME [LABEL]: of the samples, of those with the label.
sum() {
	awk -v name="$1{" -v label="${2-}" 'index($0, name) == 1 && index($0, label) { sum += $NF } END { printf "%.9f\n", sum }' scrape
}

# Shares are there some seconds later: nearly all of them, and then nothing that was busy waits for its owner.
divided() {
	curl -sS -f --max-time 10 -o scrape "$URL/metrics" || return 1
	awk "BEGIN { shares = $(sum cuda_gpu_share_seconds_total "comm=\"$ID")
		all = shares + $(sum cuda_gpu_share_unattributed_seconds_total 'uuid="GPU-5aa5')
		exit !(shares > 0.9 * $(expect_key truth busy) && all > 0.9999 * $(sum cuda_device_busy_seconds_total 'uuid="GPU-5aa5')) }"
}

# near A B PERCENT
near() {
	awk "BEGIN { a = $1; b = $2; d = a > b ? a - b : b - a; exit !(b > 0 && d <= b * $3 / 100) }" ||
		fail "$1 is not within $3 % of $2"
}

@test "metrics (four processes on one GPU) divides its busy time among them, within 3 %, in all within 1 %" {
	local i
	exporter
	"$SHARERS" --name "$ID" >truth
	wait_for 20 divided
	for i in 0 1 2 3; do
		near "$(sum cuda_gpu_share_seconds_total "comm=\"$ID$i\"")" "$(expect_key truth share$i)" 3
	done
	near "$(sum cuda_gpu_share_seconds_total "comm=\"$ID")" "$(expect_key truth busy)" 1
	# All that is busy is somebody's.
	near "$(awk "BEGIN { print $(sum cuda_gpu_share_seconds_total "comm=\"$ID") + $(sum cuda_gpu_share_unattributed_seconds_total 'uuid="GPU-5aa5') }")" \
		"$(sum cuda_device_busy_seconds_total 'uuid="GPU-5aa5')" 0.01
	assert_equal "$(sum cuda_gpu_share_unattributed_seconds_total 'uuid="GPU-5aa5')" 0.000000000
	# The time of each without the others is more than its share.
	assert awk "BEGIN { exit !($(sum cuda_gpu_busy_seconds_total "comm=\"$ID") > 1.3 * $(expect_key truth busy)) }"
}

# expect_shares FILE: what stat and report say of the shares, against the truth.
expect_shares() {
	local i share
	jq -e '.time.gpus | map(select(.uuid == "GPU-5aa50000-0000-0000-0000-000000000000"))[0]' "$1" >gpu.json
	for i in 0 1 2 3; do
		share=$(json "$1" "[.shares[] | select(.process == \"$ID$i\") | .share_ns] | add / 1e9")
		near "$share" "$(expect_key truth share$i)" 3
	done
	near "$(json "$1" "[.shares[] | select(.process | startswith(\"$ID\")) | .share_ns] | add / 1e9")" "$(expect_key truth busy)" 1
	# In all exactly what was busy, but for rounding.
	jq -e --slurpfile gpu gpu.json '[.shares[] | select(.uuid == $gpu[0].uuid) | .share_ns] | add - $gpu[0].busy_ns | . > -5 and . < 5' "$1"
	json gpu.json '.nobodys_ns == 0'
	# The third never has the GPU for itself.
	json "$1" "[.shares[] | select(.process == \"${ID}2\")] | .[0].alone_ns < 0.01 * .[0].share_ns"
}

# off KIND A B...: the most that one of the four times is off that of the truth, in percent of it.
off() {
	local kind=$1 i
	shift
	for i in 0 1 2 3; do
		awk "BEGIN { off = 100 * ($1 / $(expect_key truth "$kind$i") - 1); print off < 0 ? -off : off }"
		shift
	done | sort -n | tail -n1
}

# expect_turns KIND A B C D: they are those of the truth, within 3 %; those of the other kind are far off.
expect_turns() {
	local kind=$1 off
	shift
	off=$(off "$kind" "$@")
	awk "BEGIN { exit !($off <= 3) }" || fail "$* are $off % off $(cat truth)"
	assert awk "BEGIN { exit !($(off "$([ "$kind" = share ] && echo equal || echo share)" "$@") > 10) }"
}

# shares_of FILE: those of the four, in s, and all of them are what was busy.
shares_of() {
	local i
	for i in 0 1 2 3; do
		jq "[.shares[] | select(.process == \"$ID$i\") | .share_ns] | add / 1e9" "$1"
	done
	jq -e '. as $in | .time.gpus | all(. as $gpu | ([$in.shares[] | select(.uuid == $gpu.uuid) | .share_ns] | add) + .nobodys_ns - .busy_ns
		| . > -5 and . < 5)' "$1" >&2
}

# series_of: the same of a scrape.
series_of() {
	local i
	for i in 0 1 2 3; do
		sum cuda_gpu_share_seconds_total "comm=\"$ID$i\""
	done
}

# with_mps_server: a process of that name, until the test ends.
with_mps_server() {
	cp "$(command -v sleep)" nvidia-cuda-mps-server
	start mps ./nvidia-cuda-mps-server 120
}

@test "stat -a, record, report (four processes that take turns) give each what it ran, within 3 %" {
	local -a found
	start stat "$CUDA_TRACE" stat -v -a -e kernels --json -o stat.json
	start record "$CUDA_TRACE" record -v -a -e kernels -o r.db
	wait_for 20 grep -q 'watching .*sharers' stat.err
	wait_for 20 grep -q 'watching .*sharers' record.err
	"$SHARERS" --name "$ID" --hold-ms 300 --turns >truth
	kill -INT "$stat_PID" "$record_PID"
	finished "$stat_PID"
	finished "$record_PID"
	ct report --json r.db >report.json
	for file in stat.json report.json; do
		mapfile -t found < <(shares_of "$file")
		expect_turns share "${found[@]}"
		json "$file" '.shares_mps == false'
	done
}

@test "metrics (four processes that take turns) gives each what it ran, within 3 %, and all is somebody's" {
	local -a found
	exporter
	"$SHARERS" --name "$ID" --turns >truth
	wait_for 20 divided
	mapfile -t found < <(series_of)
	expect_turns share "${found[@]}"
	near "$(sum cuda_gpu_share_seconds_total "comm=\"$ID")" "$(sum cuda_device_busy_seconds_total 'uuid="GPU-5aa5')" 0.01
}

@test "stat -a, record, report, metrics (an MPS server runs) divide each moment equally, and say so" {
	local -a found
	start stat "$CUDA_TRACE" stat -v -a -e kernels --json -o stat.json
	start record "$CUDA_TRACE" record -v -a -e kernels -o r.db
	exporter
	wait_for 20 grep -q 'watching .*sharers' stat.err
	wait_for 20 grep -q 'watching .*sharers' record.err
	# After the tools, and before the programs.
	with_mps_server
	"$SHARERS" --name "$ID" --hold-ms 300 --turns >truth
	kill -INT "$stat_PID" "$record_PID"
	finished "$stat_PID"
	finished "$record_PID"
	ct report --json r.db >report.json
	for file in stat.json report.json; do
		mapfile -t found < <(shares_of "$file")
		expect_turns equal "${found[@]}"
		json "$file" '.shares_mps == true'
	done
	assert_equal "$(sqlite3 r.db "SELECT value FROM META_DATA_CAPTURE WHERE name = 'MPS'")" 1
	ct report r.db >report.txt
	grep -q '^ An MPS server ran: each moment is divided equally among all that had work$' report.txt
	wait_for 20 divided
	mapfile -t found < <(series_of)
	expect_turns equal "${found[@]}"
}

@test "stat -a (the MPS control daemon alone, a name that only begins so) does not divide equally" {
	local -a found
	cp "$(command -v sleep)" nvidia-cuda-mps-control
	start mps ./nvidia-cuda-mps-control 120
	cp "$(command -v sleep)" nvidia-cuda-mps-server-not
	start not ./nvidia-cuda-mps-server-not 120
	start stat "$CUDA_TRACE" stat -v -a -e kernels --json -o stat.json
	wait_for 20 grep -q 'watching .*sharers' stat.err
	"$SHARERS" --name "$ID" --hold-ms 300 --turns >truth
	kill -INT "$stat_PID"
	finished "$stat_PID"
	mapfile -t found < <(shares_of stat.json)
	expect_turns share "${found[@]}"
	json stat.json '.shares_mps == false'
}

@test "stat -a (four processes on one GPU, one of them 700 ms late) divides its busy time among them" {
	start stat "$CUDA_TRACE" stat -v -a -e kernels --json -o stat.json
	wait_for 20 grep -q 'watching .*sharers' stat.err
	"$SHARERS" --name "$ID" --late 700 --hold-ms 300 >truth
	kill -INT "$stat_PID"
	finished "$stat_PID"
	expect_shares stat.json
}

@test "record, report (four processes on one GPU) divide its busy time among them, in text and JSON" {
	start record "$CUDA_TRACE" record -v -a -e kernels -o r.db
	wait_for 20 grep -q 'watching .*sharers' record.err
	"$SHARERS" --name "$ID" --hold-ms 300 >truth
	kill -INT "$record_PID"
	finished "$record_PID"
	ct report --json r.db >report.json
	expect_shares report.json
	ct report r.db >report.txt
	grep -q '^Shares of the time in which GPUs were busy$' report.txt
	grep -qE "^ +[01] +3[34]\.[0-9]% +[0-9.]+ ms +[0-9.]+ ms +[0-9]+ .* ${ID}0\$" report.txt
}

@test "metrics (a process whose records come when others have their shares) counts what is late, and all is somebody's" {
	exporter
	"$SHARERS" --name "$ID" --late 3300 --hold-ms 3300 >truth
	wait_for 20 divided
	assert awk "BEGIN { exit !($(awk '/^cuda_trace_late_share_seconds_total / { print $2 }' scrape) > 0) }"
	near "$(awk "BEGIN { print $(sum cuda_gpu_share_seconds_total "comm=\"$ID") + $(sum cuda_gpu_share_unattributed_seconds_total 'uuid="GPU-5aa5') }")" \
		"$(sum cuda_device_busy_seconds_total 'uuid="GPU-5aa5')" 0.01
}

@test "stat (a process that has its GPU alone) has all of its busy time, and text has no shares" {
	unset CUDA_TRACE_AGENT
	export CUDA_TRACE_AGENT=$AGENT
	ct stat --json -o one.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json one.json '.shares | length == 1 and .[0].process == "saxpy" and .[0].share == 1 and .[0].share_ns == .[0].alone_ns'
	json one.json '.shares[0].share_ns == .time.gpu_busy_ns and .time.gpus[0].nobodys_ns == 0'
	ct stat -o one.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	run ! grep -q Shares one.txt
}
