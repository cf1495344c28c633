#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --device: whole GPUs over time. The samples are those that SIMCUDA_PM_SCRIPT scripts.

load ../lib/helpers

PEAK=pct_of_peak_sustained_elapsed

setup() {
	requires sim
	cd "$BATS_TEST_TMPDIR" || return 1
	export SIMCUDA_LOG=$BATS_TEST_TMPDIR/log SIMCUDA_PM_SCRIPT=$BATS_TEST_TMPDIR/script
	cat >script <<-END
		* 0 gr__cycles_active.sum.$PEAK 50
		* 0 sm__cycles_active.avg.$PEAK 25
		0 500 gr__cycles_active.sum.$PEAK 100
		1 0 dram__bytes_read.sum.$PEAK 12.5
		* 0 pcie__read_bytes.sum.per_second 12345678901
	END
}

# sampled ARGS...: profile --device on the simulated driver: out, err; the status is in $status.
# shellcheck disable=SC2034 # read by the test
sampled() {
	status=0
	sim "$CUDA_TRACE" profile "$@" >out 2>err || status=$?
	! grep '^[0-9]* [0-9]* fault' log || fail "a fault"
}

# lines EVENT FILTER: jq's answer over the lines of that event, as an array.
lines() {
	jq -sc "map(select(.event == \"$1\")) | $2" out
}

@test "profile --device (one GPU, for a second) shows what was sampled, nothing lost" {
	sampled --device --json -d 1.05 --interval 0.5
	assert_equal "$status" 0
	# By the script 0.5 s each: what the hardware said is what is shown, percent as parts of 1. On a busy machine the
	# intervals begin later than the script.
	assert_equal "$(lines device '.[0].columns.busy.min')" 0.5
	assert_equal "$(lines device '.[1].columns.busy | [.max, .mean > .min or .mean == 1]')" '[1,true]'
	assert_equal "$(lines device '.[0].columns | [.sm.mean, .tensor.mean, .pcie_read_bytes.mean]')" \
		'[0.25,0,12345678900]'
	assert_equal "$(lines device_summary '.[0] | [.device, .name, .chip, .lost, .overflows]')" \
		'[0,"Simulated GPU","GH100",0,0]'
	# Each sample is in one line, and all of them cover the time without a gap.
	assert_equal "$(lines device 'map(.samples) | add')" "$(lines device_summary '.[0].samples')"
	json out 'select(.event == "device_summary") | .samples >= 1000 and .samples == (.seconds * 1000 | round)'
	# It stays at 1 if the tool comes to its end late.
	json out 'select(.event == "device_summary") | .seconds as $seconds | .columns.busy |
		(.mean - (1 - 0.25 / $seconds) | . > -0.04 and . < 0.04) and .p95 == 1'
}

@test "profile --device (its helper stands still for 400 ms) dates the samples as if it had not" {
	start profile "$SIM" "$CUDA_TRACE" profile --device --json -d 1.6 --interval 0.5
	wait_for 10 pgrep -P "$profile_PID" >helpers
	sleep 0.2
	pkill -STOP -P "$profile_PID" && sleep 0.4
	pkill -CONT -P "$profile_PID"
	finished "$profile_PID" 20
	cp profile.out out
	assert_equal "$(lines device 'map(.samples) | .[:3] | map(. >= 490 and . <= 510)')" '[true,true,true]'
}

@test "profile --device (text) has a line an interval, a summary, and 80 columns" {
	sampled --device -d 1.05 --interval 0.5
	assert_equal "$status" 0
	run -0 cat out
	assert_line --index 0 'SECONDS GPU BUSY   SM  OCC ISSUE TENS MEM-R MEM-W   L2 PCI-R PCI-W NVL-R NVL-T'
	assert_line --regexp '^    1\.0   0 +(100|[5-9][0-9]\.[0-9]) 25\.0  0\.0   0\.0  0\.0   0\.0   0\.0  0\.0 12\.3G     0     0     0$'
	assert_line 'GPU 0: Simulated GPU, GH100, GPU-51515151-5151-5151-5151-515151515100'
	assert_line --regexp '^  1\.[0-9] s, 1,[0-9]+ samples, 0 lost$'
	assert_line --regexp '^  sm +25\.0 +25\.0 +25\.0 +25\.0$'
	run awk 'length > 80' out
	assert_output ""
}

@test "profile --device (two GPUs, and one of them) samples each by its number" {
	export SIMCUDA_DEVICES=2
	sampled --device --json -d 0.3
	assert_equal "$(lines device_summary 'map([.device, .uuid[-2:], .columns.dram_read.mean])')" \
		'[[0,"00",0],[1,"01",0.125]]'
	sampled --device --json --gpus 1 -d 0.2
	assert_equal "$status" 0
	assert_equal "$(lines device_summary 'map(.device)')" '[1]'
	sampled --device --gpus 2 -d 0.2
	assert_equal "$status" 1
	grep -q 'GPU 2: there is no such GPU' err
	sampled --device --gpus 0-x -d 0.2
	assert_equal "$status" 2
}

@test "profile --device (PROGRAM) samples as long as it runs, with its status and its stdout" {
	sampled --device --json -o samples -- sh -c 'echo its own; sleep 0.5; exit 7'
	assert_equal "$status" 7
	assert_equal "$(cat out)" "its own"
	json samples 'select(.event == "device_summary") | .seconds > 0.45 and .seconds < 1.5'
	sampled --device -- ./not-there
	assert_equal "$status" 127
}

@test "profile --device (the hardware's buffer runs over) counts what was lost" {
	SIMCUDA_PM_GAP=200:100 sampled --device --json -d 0.5
	# The gap itself and what passed until it was noticed, 50 ms at most.
	json out 'select(.event == "device_summary") | .lost >= 100 and .lost <= 160 and .overflows > 0'
	json out 'select(.event == "device_summary") | (.lost_seconds * 1000 - .lost | fabs) < 3'
	assert_equal "$(lines device 'map(.lost) | add')" "$(lines device_summary '.[0].lost')"
	SIMCUDA_PM_GAP=200:100 sampled --device -d 0.5
	grep -qE ' lost 1[0-9][0-9]$' out
	grep -qE 'samples, 1[0-9][0-9] lost \(0\.1[0-9]* s without any' out
}

@test "profile --device (no permission, another profiler, no such thing) says how to fix it" {
	SIMCUDA_PROFILER=cuptiPmSamplingEnable:35 sampled --device -d 1
	assert_equal "$status" 1
	grep -q 'ERR_NVGPUCTRPERM.*--cap-add SYS_ADMIN.*NVreg_RestrictProfilingToAdminUsers=0' err
	touch busy
	SIMCUDA_PM_BUSY=busy sampled --device -d 1
	assert_equal "$status" 1
	grep -q 'another profiler.*dcgmi profile --pause' err
	SIMCUDA_PROFILER=cuptiProfilerInitialize:42 sampled --device -d 1
	grep -q 'mining processors' err
	SIMCUDA_CUPTI_VERSION=12.4 sampled --device -d 1
	assert_equal "$status" 1
	grep -q 'older than CUDA 12.6' err
	SIMCUDA_INIT=100 sampled --device -d 1
	grep -q 'cuInit failed with error 100' err
	# A program that was to be watched is not run unwatched.
	SIMCUDA_PROFILER=cuptiPmSamplingStart:999 sampled --device -- touch ran
	assert_equal "$status" 1
	[ ! -e ran ]
}

@test "profile --device (one of two GPUs is held by another profiler) samples the other" {
	export SIMCUDA_DEVICES=2 SIMCUDA_PM_DEVICE=0
	SIMCUDA_PROFILER=cuptiPmSamplingEnable:26 sampled --device --json -d 0.3
	assert_equal "$status" 1
	grep -q 'GPU 0: another profiler' err
	assert_equal "$(lines device_summary 'map(.device)')" '[1]'
}

@test "profile --device (libcupti crashes, or fails later) harms neither the tool nor PROGRAM" {
	SIMCUDA_PM=crash sampled --device -d 1
	assert_equal "$status" 1
	grep -q 'libcupti crashed in the helper process (signal 11)' err
	SIMCUDA_PROFILER=cuptiPmSamplingDecodeData:999 sampled --device -- sh -c 'sleep 0.5; echo done'
	grep -q 'cuptiPmSamplingDecodeData fails with error 999' err
	grep -q done out
}

@test "profile --device=LIST (presets, columns, metrics) samples these; a chip may lack some" {
	sampled --device=tensor,sm__cycles_active.avg.$PEAK --json -d 0.2
	assert_equal "$(lines device_summary '.[0].columns | keys')" "[\"sm__cycles_active.avg.$PEAK\",\"tensor\"]"
	# Without the newer name of a metric the older one; without any, the column is left out and named.
	export SIMCUDA_LACKS=sm__pipe_tensor_cycles_active_realtime,nvlrx__bytes
	sampled --device --json -d 0.2
	assert_equal "$(lines device_summary '.[0].columns | [.tensor.metric, has("nvlink_receive_bytes")]')" \
		"[\"sm__pipe_tensor_cycles_active.avg.$PEAK\",false]"
	sampled --device -d 0.2
	grep -q 'not available on this chip, or not together with the others: nvlink_receive_bytes' out
	sampled --device=nonsense -d 0.2
	assert_equal "$status" 2
	grep -q 'nonsense is neither device' err
	sampled --device=sim__alone.sum,sm -d 0.2 --json
	assert_equal "$(lines device_summary '.[0].columns | keys')" '["sim__alone.sum"]'
}

@test "profile --device (unknown metric, rollup, column) names what is near, and no GPU is to blame" {
	sampled --device=sm__cycles_activ.avg.$PEAK -d 0.2
	assert_equal "$status" 1
	grep -q 'GPU 0: GH100 has no metric sm__cycles_activ.avg.*(near it: sm__cycles_active, ' err
	run ! grep 'does not support' err
	# Beside others, too: it was requested by name.
	sampled --device=device,sm__cycles_activ.avg.$PEAK -d 0.2
	assert_equal "$status" 1
	sampled --device=sm__cycles_active.avg.pct_of_paek_sustained_elapsed -d 0.2
	grep -q "it has other rollups (near it: .avg.$PEAK" err
	sampled --device=dram_raed -d 0.2
	assert_equal "$status" 2
	grep -q 'dram_raed is neither device, .* (similar: dram_read, ' err
	# A GPU that cannot be sampled is still reported as one.
	SIMCUDA_PROFILER=cuptiPmSamplingEnable:27 sampled --device -d 0.2
	grep -q 'does not support this GPU' err
}

@test "metrics --counters (unknown metric) says so once, and goes on without" {
	exporter sm__cycles_activ.avg.$PEAK
	wait_for 10 grep -q 'has no metric sm__cycles_activ.*near it: sm__cycles_active' exporter.err
	wait_for 5 shown 'cuda_trace_killed_processes_total 0'
	sleep 2
	assert_equal "$(grep -c 'has no metric' exporter.err)" 1
	run -2 ct metrics --counters dram_raed
	assert_output --partial "similar: dram_read"
}

@test "profile --device (a GPU that counts clocks only, another rate) samples nevertheless" {
	SIMCUDA_PM=clocks sampled --device --json --every 10ms -d 0.35
	assert_equal "$status" 0
	json out 'select(.event == "device_summary") | .samples >= 30 and .samples <= 45'
	sampled --device --every 1us
	assert_equal "$status" 2
}

@test "profile --device (Ctrl-C, a reader that goes away) ends, and leaves no helper" {
	start tool "$SIM" "$CUDA_TRACE" profile --device --interval 0.2
	# shellcheck disable=SC2154 # set by start
	wait_for 10 grep -q '  0.4   0' tool.out
	kill -INT -- "-$tool_PID"
	finished "$tool_PID" 5
	assert_equal "$status" 0
	grep -q ' samples, 0 lost' tool.out
	timeout 20 "$SIM" "$CUDA_TRACE" profile --device --interval 0.1 | head -n 2 >/dev/null
	# Killed outright: the helper notices, and lets the GPU go.
	start killed "$SIM" "$CUDA_TRACE" profile --device --interval 0.2
	# shellcheck disable=SC2154
	wait_for 10 grep -q '  0.4   0' killed.out
	kill -KILL "$killed_PID"
	nobody_left() { ! pgrep -g "$killed_PID" >/dev/null; }
	wait_for 5 nobody_left
	assert_equal "$(grep -c pm_disable log)" "$(grep -c pm_enable log)"
}

# exporter ARGS...: runs `metrics --counters` in the background; its address is in $URL.
exporter() {
	requires bpf curl
	start exporter "$SIM" "$CUDA_TRACE" metrics --listen 127.0.0.1:0 --counters "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# shown LINE: does a scrape have this line by now?
shown() {
	curl -sS -f --max-time 10 -o scrape "$URL/metrics" && grep -qxF "$1" scrape
}

@test "metrics --counters (two GPUs) has ratios of 1 and counts the bytes" {
	export SIMCUDA_DEVICES=2
	local labels='device="1",uuid="GPU-51515151-5151-5151-5151-515151515101"'
	exporter device
	wait_for 10 shown "cuda_device_utilization_ratio{$labels,part=\"dram_read\"} 0.125"
	assert_equal "$(grep -c '^cuda_device_utilization_ratio{.*part="busy"} ' scrape)" 2
	grep -qxF "cuda_device_sampled{$labels} 1" scrape
	grep -qxF "cuda_device_lost_samples_total{$labels} 0" scrape
	# 12.3 GB in each second that was sampled.
	sleep 1
	shown "cuda_device_sampled{$labels} 1"
	run -0 awk -v labels="{$labels" '
		index($1, "cuda_device_samples_total" labels) { ms = $2 }
		index($1, "cuda_device_traffic_bytes_total" labels ",path=\"pcie_read_bytes\"") { bytes = $2 }
		END { print (ms > 500 && bytes / ms > 12345678 && bytes / ms < 12345680) ? "ok" : ms " " bytes }' scrape
	assert_output ok
	if command -v promtool >/dev/null; then
		run promtool check metrics <scrape
		refute_output --partial cuda_device
	fi
}

@test "metrics --counters (another profiler has the GPU for a while) says so, and goes on afterwards" {
	touch busy
	export SIMCUDA_PM_BUSY=$BATS_TEST_TMPDIR/busy
	local labels='device="0",uuid="GPU-51515151-5151-5151-5151-515151515100"'
	exporter device
	wait_for 10 shown "cuda_device_sampled{$labels} 0"
	grep -q 'GPU 0: another profiler.*trying again' exporter.err
	run ! grep '^cuda_device_utilization_ratio' scrape
	rm busy
	wait_for 15 shown "cuda_device_utilization_ratio{$labels,part=\"sm\"} 0.25"
	kill -TERM "$exporter_PID"
	finished "$exporter_PID" 5
	assert_equal "$(grep -c pm_disable log)" 1
}

@test "metrics --counters (nonsense, no permission) is said; what programs do is shown nevertheless" {
	run -2 ct metrics --counters nonsense
	assert_output --partial "'nonsense' is neither device"
	export SIMCUDA_PROFILER=cuptiPmSamplingGetCounterAvailability:35
	exporter device
	wait_for 10 grep -q 'ERR_NVGPUCTRPERM' exporter.err
	wait_for 5 shown 'cuda_trace_killed_processes_total 0'
	run ! grep '^cuda_device_utilization_ratio' scrape
}

@test "report --timeline --device (samples taken while recording) are counters below the kernels" {
	requires bpf
	sim "$CUDA_TRACE" profile --device --json --interval 1ms -o samples -- \
		"$CUDA_TRACE" record -q -o r.db -- "$WORKLOADS/saxpy" >out 2>err
	run -0 ct report --timeline t.json --device samples r.db
	# In the rows of the GPU that the kernels have, and in their time.
	local kernels='[.traceEvents[] | select(.cat == "kernel")]'
	local counters='[.traceEvents[] | select(.ph == "C")]'
	assert_equal "$(jq -c "$counters | map(.pid) | unique" t.json)" "$(jq -c "$kernels | map(.pid) | unique" t.json)"
	json t.json "($kernels | map(.ts) | min) as \$first | $counters | map(select(.name == \"busy\")) |
		(map(.ts) | min < \$first + 1000 and max > \$first - 1000) and
		(map(.args.value) | unique - [0.5, 1] | length == 0)"
	assert_equal "$(jq -c "$counters | map(.name) | unique | length" t.json)" 12
	# Another GPU's are in rows of their own.
	sed -i 's/51515151-5151/61515151-5151/' samples
	run -0 ct report --timeline t.json --device samples r.db
	assert_equal "$(jq -c "$counters | map(.pid) | unique" t.json)" '[4000000]'
	assert_equal "$(jq -r '.traceEvents[] | select(.pid == 4000000 and .ph == "M") | .args.name' t.json)" 'GPU 0, as a whole'
	# What is no such file is said, and what is in it harms nobody.
	printf '{"event":"device","columns":{"a\\u001b":{"mean":1e400}},"device":0,"utc_ns":3999999999999999999}\n[]\n{"event":"device"}\n' >samples
	run -0 ct report --timeline t.json --device samples r.db
	jq -e . t.json >/dev/null
	echo nonsense >samples
	run ct report --timeline t.json --device samples r.db
	assert_failure
	assert_output --partial 'has no lines of cuda-trace profile --device --json'
	run ct report --timeline t.json --device not-there r.db
	assert_failure
	assert_output --partial 'not-there cannot be read'
}
