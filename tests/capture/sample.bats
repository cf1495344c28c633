#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# --sample and --max-overhead: GPU records of windows only, everything of the host's exact, estimates
# that say so; and devices, which are reported without CUPTI.

load ../lib/helpers

STORM=$WORKLOADS/launch-storm

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Whoever watches the whole system without a sample gets everything, and so do we.
alone() {
	! pgrep -x cuda-trace >/dev/null || skip "another cuda-trace runs and may ask for everything"
}

# within JSON ESTIMATE ERROR TRUTH: not further off than three times what is said of 95 cases in 100.
within() {
	json "$1" "($2 - $4 | fabs) <= 3 * $3 + 1"
}

# host_is_exact OUT JSON: what is counted on the host equals what the program counted, nothing is lost.
host_is_exact() {
	local key
	for key in launches launch_errors graph_launches allocs frees live_bytes syncs; do
		assert_equal "$key=$(json "$2" ".totals.$key")" "$key=$(expect_key "$1" $key)"
	done
	assert_equal "$(jq .lost.total "$2")" 0
}

# listen PROBE... -- CMD: as tests/agent/agent.bats does it, at a library under a name of its own.
listen() {
	cp "$AGENT" agent-under-test.so
	CUDA_INJECTION64_PATH=$PWD/agent-under-test.so timeout -k 5 60 "$B/tests/agent/listen" \
		"$PWD/agent-under-test.so" name status lost error launch_batch "$@" >heard 2>&1
}

heard() {
	grep "^probe=$1 " heard | tr ' ' '\n' | sed -n "s/^$2=//p"
}

@test "estimators (populations that are known) cover the truth, and are not off on average" {
	run -0 "$B/tests/capture/sample/unit"
}

@test "agent (sampled_kernel_batch) sends kernels of windows, and every launch" {
	listen sample_on_20 sample_every_200 sampled_kernel_batch -- "$SIM" "$STORM" -s 1 -p 200
	assert_equal "$(heard launch_batch records)" "$(expect_key heard launches)"
	[ "$(heard sampled_kernel_batch records)" -gt 0 ]
	[ "$(heard sampled_kernel_batch records)" -lt $(($(expect_key heard launches) / 2)) ]
	assert_equal "$(heard sampled_kernel_batch unnamed)" 0
	! grep '^lost reason=' heard
}

@test "agent (a sample and all of it) sends all of it to both" {
	listen sample_on_1 sample_every_1000 sampled_kernel_batch kernel_batch -- "$SIM" "$STORM" -n 20000
	assert_equal "$(heard kernel_batch records)" 20000
	assert_equal "$(heard sampled_kernel_batch records)" 20000
}

@test "agent (a window as long as its period) is never off" {
	listen sample_on_1000 sample_every_1000 sampled_kernel_batch -- "$SIM" "$STORM" -s 1 -p 500
	[ "$(heard sampled_kernel_batch records)" -ge $(($(expect_key heard launches) * 9 / 10)) ]
}

@test "stat --sample (kernels of many lengths) estimates their time, and says how well" {
	alone
	ct stat --json -o all.json -- "$SIM" "$STORM" -n 10000 -p 100 -v 1000 >out
	ct stat --sample 20ms/200ms --json -o sample.json -- "$SIM" "$STORM" -n 10000 -p 100 -v 1000 >out
	host_is_exact out sample.json
	json all.json '.totals.estimated == false and (.kernels[0] | .estimated == false and (has("total_ns_error") | not))'
	json sample.json '.totals | .estimated and .kernels == .launches and .unfinished == null'
	json sample.json '.totals | .sampled_kernels > 100 and .unsampled_launches == 0'
	json sample.json '.kernels[0] | .estimated and .count == .launches and .sampled > 100'
	json sample.json '.sample | .on_ns == 2e7 and .period_ns == 2e8 and .windows >= 3 and .open_ns > 0 and .open_ns < .watched_ns'
	within sample.json .totals.gpu_ns .totals.gpu_ns_error "$(jq .totals.gpu_ns all.json)"
	json sample.json '.totals | .gpu_ns_error < .gpu_ns / 5'
	json sample.json '.time == null'
	json sample.json '.totals | .gpu_ns_error > 0 and .sampled_kernels < .kernels / 2'
}

@test "stat --sample (text) marks estimates" {
	alone
	ct stat --sample 50ms/200ms -o out.txt -- "$SIM" "$STORM" -n 5000 -p 50 >out
	run -0 cat out.txt
	assert_line "Kernels by GPU time, estimated"
	assert_line --regexp 'launches .* kernels; about .* of GPU time'
	assert_line --regexp '^GPU times are estimates: .* \+- .* \(95%\), from [0-9,]+ kernels in [0-9]+ windows of 50 ms in each 200 ms'
}

@test "stat --sample (kernels longer than the window) neither loses nor doubles any" {
	SIMCUDA_KERNEL_NS=20000000 ct stat --sample 50ms/200ms --json -o s.json -- \
		"$SIM" "$STORM" -n 100 -p 5000 >out
	host_is_exact out s.json
	json s.json '.totals | .sampled_kernels >= 3 and .kernels == 100 and .gpu_ns == 100 * 20000000'
}

@test "stat --sample (kernels that no window saw) leaves their time out and says so" {
	ct stat --sample 1ms/20s --json -o s.json -- "$SIM" "$WORKLOADS/saxpy" >out
	host_is_exact out s.json
	# One start in some hundred meets the window; then nothing is missing.
	json s.json '.totals | (.gpu_ns == 0 and .unsampled_launches == .launches) or .sampled_kernels > 0'
	ct stat --sample 1ms/20s -o s.txt -- "$SIM" "$WORKLOADS/saxpy" >out
	grep -qE '^10 launches are of kernels that ran in no window|from [1-9][0-9]* kernels' s.txt
}

@test "stat --sample (graphs) scales their kernels by graph launches" {
	ct stat --sample 50ms/200ms --json -o s.json -- "$SIM" "$STORM" -n 8000 -p 50 -g 5 >out
	host_is_exact out s.json
	json s.json "(.totals.kernels - $(expect_key out kernels) | fabs) <= $(expect_key out kernels) / 20"
}

@test "stat --sample (-e launches) switches nothing else on" {
	ct stat --sample 10ms/1s -e launches --json -o s.json -- "$SIM" "$WORKLOADS/saxpy" >out
	json s.json '.totals | .estimated == false and .launches == 10 and .kernels == 0'
	json s.json 'has("sample") | not'
}

@test "stat --sample (values that no probe stands for, or that contradict) is refused" {
	for cycle in 0.5ms/1s 2s/20s 10ms 10ms/3s 1s/100ms x/y ""; do
		run -2 ct stat --sample "$cycle" -- true
		assert_output --partial "--sample ON/PERIOD"
	done
	run -2 ct stat --sample 10ms/1s --max-overhead 2% -- true
	run -2 ct stat --sample 10ms/1s --min-duration 1ms -- true
	run -2 ct stat --sample 10ms/1s --source driver -- true
	for percent in 0 -1 101% two 2x; do
		run -2 ct stat --max-overhead "$percent" -- true
		assert_output --partial "--max-overhead wants a percentage"
	done
}

@test "stat --sample (a window that no probe stands for) takes the nearest and says so" {
	alone
	run --separate-stderr ct stat --sample 3ms/1s -- true
	[[ $stderr == *"cuda-trace stat: --sample: the nearest possible window is 2 ms"* ]]
	ct stat --sample 30ms/1s --json -o s.json -- "$SIM" "$WORKLOADS/saxpy" >out 2>err
	run ! grep nearest err
	json s.json '.sample.on_ns == 30000000'
}

@test "record --sample: report estimates from the file, launches are all there" {
	alone
	ct record -q --sample 20ms/200ms -o r.db -- "$SIM" "$STORM" -n 10000 -p 100 -v 1000 >out
	ct report --json r.db >report.json
	json report.json '.totals | .launches == 10000 and .kernels == 10000 and .estimated and .gpu_ns_error != null'
	json report.json '.sample | .on_ns == 2e7 and .windows > 1'
	assert_equal "$(sqlite3 r.db 'SELECT count(*), onNs, periodNs, openNs > 0 AND openNs < watchedNs FROM CUDA_TRACE_SAMPLES')" \
		"1|20000000|200000000|1"
	# 200 ns and 1 ns for each 100 threads of 1 to 1000 blocks of 1000
	within report.json .totals.gpu_ns .totals.gpu_ns_error "$((10000 * (200 + 5005)))"
	ct record -q -f -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out
	json <(ct report --json r.db) '.totals.estimated == false'
	ct report --kernels r.db >out 2>err
	assert_equal "$(cat err)" ""
}

@test "record --sample: report estimates copies, too, and says that tables have the windows alone" {
	alone
	ct record -q --sample 20ms/200ms -o r.db -- "$SIM" "$WORKLOADS/idle/pageable" 800 >out
	ct report --json r.db >report.json
	json report.json '.copies | length == 1 and (.[0] | .sampled < 240 and .estimated)'
	jq -e ".copies[0].count / $(expect_key out memcpys) | . > 0.6 and . < 1.6" report.json
	ct report r.db >text
	grep -qx 'Copies, estimated' text
	ct report --copies r.db >out 2>err
	grep -qE '^cuda-trace report: --copies has what was in windows of --sample, [0-9.]+% of the time; the summary [(]no option[)] has estimates$' err
}

@test "record (without windows, beside a tool that has some) keeps everything, and estimates nothing" {
	start program "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$STORM" -s 30 -p 100
	ready program
	start sampled "$CUDA_TRACE" stat --sample 20ms/200ms --json -o s.json -p "$program_PID"
	ct record -q -d 2 -o r.db -p "$program_PID"
	kill -INT "$sampled_PID"
	finished "$sampled_PID"
	json s.json '.totals.estimated and .sample.windows > 0'
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM CUDA_TRACE_SAMPLES')" 0
	json <(ct report --json r.db) '.totals.estimated == false and .totals.kernels > 100'
}

@test "stat --max-overhead (windows that cost nothing) lengthens them" {
	alone
	ct stat --max-overhead 5% --json -o s.json -- "${PROMPT[@]}" "$SIM" "$STORM" -s 6 -p 100 >out
	json s.json '.sample | .max_overhead == 0.05 and .launches_compared > 0 and .overhead <= 0.05'
	json s.json '.sample.on_ns >= 2e7'
}

@test "stat --max-overhead (expensive windows) measures what they cost, and keeps below" {
	alone
	# 5120: where a step of the histogram begins (a sixteenth of 2^12).
	# As many launches a second as without other load: where there are few, windows need not become shorter.
	SIMCUDA_LAUNCH_NS=5120 SIMCUDA_RECORD_NS=20000 ct stat --max-overhead 0.05% --json -o s.json -- \
		"${PROMPT[@]}" "$SIM" "$STORM" -s 5 -p 100 >out
	# A loaded machine makes the middle launch longer, never shorter.
	json s.json '.sample | .launch_ns >= 5120 and .launch_added_ns >= 15000 and .launch_added_ns < 100000'
	json s.json '.sample | .on_ns < 1e7 and (.overhead <= 0.000625 or .on_ns == 1e6)'
}

@test "trace --max-overhead lengthens its windows, and shows every launch" {
	alone
	ct trace -v --max-overhead 50% -e kernels --json -o t.json -- "${PROMPT[@]}" "$SIM" "$STORM" -s 6 -p 100 >out 2>err
	grep -q 'trace: windows of 20 ms in 1000 ms now' err
	jq -sc 'map(select(.event != "lost") | .gpu_start_ns != null)' t.json >timed.json
	assert_equal "$(jq length timed.json)" "$(expect_key out launches)"
	json timed.json 'any and (all | not)'
}

@test "record --max-overhead (no stacks requested) lengthens its windows; with -g it is for stacks" {
	alone
	ct record -q -v --max-overhead 50% -o r.db -- "${PROMPT[@]}" "$SIM" "$STORM" -s 5 -p 100 >out 2>err
	grep -q 'record: windows of 20 ms in 1000 ms now' err
	ct report --json r.db >report.json
	json report.json ".totals | .estimated and .launches == $(expect_key out launches) and .kernels == .launches"
	assert_equal "$(sqlite3 r.db 'SELECT count(*) FROM CUDA_CALLCHAINS')" 0
	ct record -q -f -g --max-overhead 50% -o r.db -- "$SIM" "$STORM" -n 10 >out
	json <(ct report --json r.db) '.totals.estimated == false'
	for command in record trace; do
		run -2 ct $command --max-overhead 0 -o x.db -- true
		run -2 ct $command --max-overhead 2% --sample 10ms/1s -o x.db -- true
	done
}

@test "metrics --sample: launches are exact, GPU time is an estimate and labelled so" {
	alone
	requires curl
	start exporter "$CUDA_TRACE_UNDER_TEST" metrics --sample 20ms/200ms --listen 127.0.0.1:0
	wait_for 30 grep -q 'listening on' exporter.err
	# Under a name of its own: the exporter counts everybody's.
	cp "$STORM" sampled-storm
	CUDA_INJECTION64_PATH=$AGENT sim ./sampled-storm -n 10000 -p 100 -v 1000 >out
	counted() {
		curl -s "$(sed -n 's/.*listening on //p' exporter.err)" >scrape
		grep -q '^cuda_kernel_launches_total{comm="sampled-storm",device="0"} 10000$' scrape
	}
	wait_for 20 counted || { grep launches scrape; cat exporter.err; false; }
	value() { awk -v name="$1" 'index($0, name "{comm=\"sampled-storm\",device=\"0\",estimated=\"true\"}") == 1 {print $NF}' scrape; }
	grep '^cuda_trace_sample_share 0.1$' scrape
	# By time: the number of launches in windows varies, too.
	sum=$(value cuda_kernel_duration_seconds_sum)
	awk -v sum="$sum" -v error="$(value cuda_kernel_duration_error_seconds)" \
		'BEGIN {off = sum - 10000 * 5205e-9; exit !(off * off <= 9 * error * error + 1e-4)}' ||
		fail "sum $sum, error $(value cuda_kernel_duration_error_seconds)"
	! grep '^cuda_kernel_duration_seconds_sum{comm="sampled-storm",device="0"}' scrape
}

@test "devices (record -p, two consumers) are reported to the later one as well, with names" {
	start program env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$STORM" -s 20 -p 1000
	wait_for 20 pgrep -g "$program_PID" -x launch-storm >/dev/null
	pid=$(pgrep -g "$program_PID" -x launch-storm)
	start first "$CUDA_TRACE_UNDER_TEST" record -q -o first.db -d 4 -p "$pid"
	ct trace -e objects,launches --json -d 2 -p "$pid" >trace.json
	jq -s 'map(select(.event == "device"))[0]' trace.json >device.json
	json device.json '.name == "Simulated GPU" and .uuid == "GPU-51515151-5151-5151-5151-515151515100" and .pci == "0000:01:00.0" and .compute_capability == "9.0" and .memory_bytes == 85899345920'
	assert_equal "$(jq -s 'map(select(.event == "device")) | length' trace.json)" 1
	finished "$first_PID"
	assert_equal "$(sqlite3 first.db 'SELECT name, uuid, busLocation FROM TARGET_INFO_GPU')" \
		"Simulated GPU|GPU-51515151-5151-5151-5151-515151515100|0000:01:00.0"
}

@test "trace --sample shows every launch, and kernels of windows with their times" {
	alone
	ct trace --sample 50ms/200ms --json -o t.json -- "$SIM" "$STORM" -n 2000 -p 200 >out
	assert_equal "$(jq -s '[.[] | select(.event == "kernel" or .event == "launch")] | length' t.json)" 2000
	[ "$(jq -s '[.[] | select(.event == "kernel" and .gpu_ns > 0 and .launch_ns > 0)] | length' t.json)" -gt 0 ]
	assert_equal "$(jq -s 'map(select(.event == "lost"))[0].lost.total' t.json)" 0
	# One that came at the end of a window was held, and its time is longer for it.
	jq -es '(map(select(.launch_ns and (.held | not)).launch_ns) | sort | .[length / 2 | floor]) as $usual |
		map(select(.held).launch_ns) | length > 0 and all(. > $usual)' t.json
}

# storm_meanwhile SECONDS ARGS...: the storm in the background, seen by nobody else's name.
storm_meanwhile() {
	cp "$STORM" sampled-storm
	CUDA_INJECTION64_PATH=$AGENT start storm "${PROMPT[@]}" "$SIM" ./sampled-storm -s "$@"
}

@test "metrics --max-overhead (windows that cost nothing) lengthens them, and says what they cost" {
	alone
	storm_meanwhile 60 -p 50
	ct metrics -v --max-overhead 50% --textfile - -d 12s >m.prom 2>err
	grep -q 'metrics: windows of 20 ms in 1000 ms now' err
	grep -q '^cuda_kernel_duration_seconds_sum{comm="sampled-storm",device="0",estimated="true"}' m.prom
	awk '/^cuda_trace_sample_share / && $2 > 0.01 && $2 <= 0.5 {found++}
		/^cuda_trace_sample_overhead_ratio / && $2 >= 0 && $2 <= 0.5 {found++} END {exit found != 2}' m.prom ||
		fail "$(grep sample m.prom)"
	# Each kernel takes 200 ns. By time: the number of launches in windows varies, too.
	awk '/^cuda_kernel_duration_seconds_sum{comm="sampled/ {sum = $2} /^cuda_kernel_launches_total{comm="sampled/ {n += $2}
		END {exit !(sum > n * 100e-9 && sum < n * 400e-9)}' m.prom || fail "$(grep sampled m.prom)"
}

@test "metrics --max-overhead (expensive windows) keeps below" {
	alone
	SIMCUDA_LAUNCH_NS=5000 SIMCUDA_RECORD_NS=20000 storm_meanwhile 30 -p 100
	ct metrics -v --max-overhead 0.05% --textfile - -d 12s >m.prom 2>err
	awk '/^cuda_trace_sample_share / {share = $2} /^cuda_trace_sample_overhead_ratio / {part = $2}
		END {exit !(share < 0.01 && part > 0 && (part <= 0.000625 || share == 0.001))}' m.prom ||
		fail "$(cat err; grep trace_sample m.prom)"
}

@test "top --sample (and --max-overhead) says so and estimates GPU time" {
	alone
	storm_meanwhile 60 -p 50 -v 1000
	ct top --sample 20ms/200ms --once --json -d 5s >top.json
	json top.json '.sample == {on_ns: 20000000, period_ns: 200000000}'
	# 200 ns and 1 ns for each 100 threads of 1 to 1000 blocks of 1000: 5205 in the middle
	# by launches, which a busy machine spreads unevenly over windows, it may be off by more.
	json top.json '.processes[] | select(.process == "sampled-storm") | .totals
		| .launches > 1000 and .kernels > 100 and .gpu_ns / .kernels > 2600 and .gpu_ns / .kernels < 10400'
	ct top --sample 20ms/200ms --once -d 1s >page.txt
	grep -q '^GPU times are taken for 20 ms in every 200 ms: kernels and copies are estimates' page.txt
	start tool "$CUDA_TRACE_UNDER_TEST" top -v --max-overhead 50% --json
	wait_for 30 grep -q 'top: windows of 20 ms in 1000 ms now' tool.err
	longer() { tail -n 1 tool.out | jq -e '.sample.on_ns >= 2e7' >longer.json; }
	wait_for 20 longer
	kill -INT "$tool_PID"
	finished "$tool_PID"
	ct top --once --json -d 1s >top.json
	assert_equal "$(jq -c .sample top.json)" null
	for command in "top -b" metrics; do
		run -2 ct $command --sample 2s/20s
		assert_output --partial "--sample ON/PERIOD"
		run -2 ct $command --max-overhead 101%
		run -2 ct $command --sample 10ms/1s --max-overhead 2%
	done
}
