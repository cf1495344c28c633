#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --timeline for Holistic Trace Analysis: by its rules (read_timeline.py), and by HTA itself where its
# source is: HTA=FOLDER, and a $PYTHON that has pandas, networkx, plotly and psutil (Debian: python3-pandas ...).

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

is() {
	assert_equal "$1: $(jq -r "$1" t.json)" "$1: $2"
}

# launches_of CLASS: calls, cpu_ns, gpu_ns and delay_ns of kernels by the calls of the runtime (0) or the driver (1).
launches_of() {
	sqlite3 -separator ' ' r.db "SELECT count(*), sum(r.end - r.start), sum(k.end - k.start), sum(max(k.start - r.end, 0))
		FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k
		ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & ~0xFFFFFF) WHERE r.eventClass = $1"
}

# What a program's file of torch.profiler would have: a default recording has the driver's calls alone.
# consumer: Holistic Trace Analysis | reader | launch statistics of a default recording
@test "report --timeline --runtime-names (a default recording, as Holistic Trace Analysis reads it) has its launches" {
	requires bpf sim sqlite3
	for program in "runtime 20" "saxpy --repeat 30"; do
		# shellcheck disable=SC2086
		ct record -q -f -o r.db -- "$SIM" "$WORKLOADS"/$program >out
		ct report --timeline t.json --runtime-names r.db
		python3 "$TOP/tests/export/read_timeline.py" hta t.json >read
		assert_equal "$(awk '/^cudaLaunch/ { n += $3; cpu += $5; gpu += $9; late += $11 } END { print n, cpu, gpu, late }' read)" \
			"$(launches_of 1)"
		assert_equal "$(awk '/^cudaLaunch/ { n += $3 } END { print n }' read)" "$(expect_key out kernels)"
		is '[.traceEvents[] | select(.cat == "cuda_driver" and (.name | test("Launch")))] | length' 0
		# The name is not the recorded one, and says so. The runtime's own calls that failed are recorded as such.
		is '[.traceEvents[] | select(.cat == "cuda_runtime" and .args.result == null) | .args | (.["recorded as"] | startswith("cuLaunchKernel"))
			and .cbid == null] | unique[]' true
	done
	# Without the option it has what was called.
	ct report --timeline t.json r.db
	is '[.traceEvents[] | select(.cat == "cuda_driver" and (.name | test("^cuLaunchKernel"))) | .args | .["recorded as"] == null
		and .cbid > 0] | unique[]' true
	run -2 ct report --runtime-names r.db
	assert_output --partial '--runtime-names goes with --timeline'
}

@test "report --timeline (a rank of several) says which, in the words of torch.profiler" {
	requires bpf sim
	ct record -q -o r.db -- env RANK=3 WORLD_SIZE=8 "$SIM" "$WORKLOADS/saxpy" >out
	ct report --timeline t.json r.db
	is '.distributedInfo | "\(.rank) \(.world_size)"' '3 8'
	# HTA finds it by this expression, in the beginning of the file.
	head -c 4096 t.json | grep -qE '"rank": 3,'
	ct record -q -f -o r.db -- env -u RANK -u WORLD_SIZE "$SIM" "$WORKLOADS/saxpy" >out
	ct report --timeline t.json r.db
	is '.distributedInfo | "\(.rank) \(.world_size)"' '0 null'
}

# hta TIMELINE...: the lines of run_hta.py.
hta() {
	run -0 "${PYTHON:-python3}" "$TOP/tests/export/run_hta.py" "$@"
	refute_output --partial FAILS
}

# us NS: as run_hta.py prints it.
us() {
	awk -v ns="$1" 'BEGIN { printf "%.3f", ns / 1000 }'
}

# consumer: Holistic Trace Analysis | itself | its analyses of one rank, with the numbers of the recording
@test "report --timeline (in the real Holistic Trace Analysis) is analysed, with the numbers of the recording" {
	requires bpf sim sqlite3
	[ -d "${HTA-}/hta" ] || skip "needs Holistic Trace Analysis (HTA=FOLDER of its source)"
	local events option class launches
	for events in kernels,copies,sync,nvtx kernels,copies,sync,nvtx,runtime; do
		for program in nvtx "runtime 20" "saxpy --repeat 30"; do
			# shellcheck disable=SC2086
			ct record -q -f -e $events -o r.db -- "$SIM" "$WORKLOADS"/$program >out
			# Of these, one calls the runtime.
			option=--runtime-names class=1
			[[ $events,$program != *runtime,runtime* ]] || option='' class=0
			# shellcheck disable=SC2086
			ct report --timeline t.json $option r.db
			hta "$PWD/t.json"
			read -r -a launches <<<"$(launches_of $class)"
			awk -v want="${launches[*]}" '{ split(want, is) } $1 == "launches" { seen = $2 == is[1] && near($4, is[2]) &&
				near($6, is[3]) && near($8, is[4]) } END { exit !seen }
				function near(us, ns) { return us * 1000 - ns < 50 && us * 1000 - ns > -50 }' <<<"$output" ||
				fail "launches ${launches[*]}, but: $output"
			assert_line --regexp "^kernels [0-9]+ $(us "$(sqlite3 r.db "SELECT sum(t) FROM (
				SELECT sum(end - start) AS t FROM CUPTI_ACTIVITY_KIND_KERNEL
				UNION ALL SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY
				UNION ALL SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMSET)")")$"
			assert_line 'critical_path true'
			assert_line --regexp "^queue $((2 * launches[0]))$"
		done
	done
	ct record -q -f -e kernels,nvtx -o r.db -- "$SIM" "$WORKLOADS/nvtx" >out
	ct report --timeline t.json r.db
	hta "$PWD/t.json"
	assert_line 'annotations across in a domain inner outer registered'
}
