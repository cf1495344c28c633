#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --timeline, --folded, --pprof: what their readers need, read back by them or by
# the rules of their formats.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

feed() {
	local file=$1; shift
	"$FEEDER" "$@" "$file" >"$file.expect" 2>"$file.err" ||
		{ cat "$file.err"; fail "feeder $*"; }
}

# is FILTER VALUE: what jq says of t.json.
is() {
	assert_equal "$1: $(jq -r "$1" t.json)" "$1: $2"
}

# consumer: Perfetto, PyTorch's tools | reader | the events of Kineto's files, by its conventions
@test "report --timeline (one process) follows Kineto's conventions" {
	feed r.db -n 1000 -k 3
	ct report --timeline t.json r.db
	assert_equal "$(command jq -r 'keys_unsorted[0:2] | join(" ")' t.json)" 'schemaVersion deviceProperties'
	is '.schemaVersion, .displayTimeUnit' "$(printf '1\nns')"
	is '.baseTimeNanoseconds % 7889238000000000' 0
	is '.deviceProperties[0] | .name, .numSms, .computeMajor' "$(printf 'NVIDIA Test GPU\n132\n9')"
	is '[.traceEvents[] | select(.cat == "kernel")] | length' 1000
	is '[.traceEvents[] | select(.cat == "cuda_driver")] | length' 1000
	is '[.traceEvents[] | select(.cat == "gpu_memcpy")] | length' 20
	is '[.traceEvents[] | select(.cat == "gpu_memset") | .name] | unique[]' 'Memset (Device)'
	is '[.traceEvents[] | select(.cat == "gpu_memcpy") | .name] | unique | sort[]' \
		"$(printf 'Memcpy DtoH (Pageable -> Device)\nMemcpy HtoD (Pageable -> Device)')"
	# Rows of the GPU: pid is the device, tid the stream, and so say the arguments.
	is '[.traceEvents[] | select(.cat == "kernel") | .pid == .args.device and .tid == .args.stream
		and (.args.grid | length == 3) and (.args.block == [128,1,1])
		and .args["registers per thread"] == 32 and .args["shared memory"] == 0] | all' true
	is '[.traceEvents[] | select(.ph == "X") | has("ts") and has("dur") and has("name") and has("cat")
		and has("pid") and has("tid")] | all' true
	is '[.traceEvents[] | select(.cat == "cuda_driver") | .args.cbid] | unique[]' 307
	# Every kernel has its arrow: one start on the host, one end where the kernel begins.
	is '[.traceEvents[] | select(.cat == "ac2g" and .ph == "s") | .id] as $s
		| [.traceEvents[] | select(.cat == "kernel") | .args.correlation] as $k | ($k - $s) | length' 0
	is '[.traceEvents[] | select(.cat == "ac2g" and .ph == "f") | .bp] | unique[]' e
	is '[.traceEvents[] | select(.cat == "kernel") | .dur] | add * 1000 | round' \
		"$(expect_key r.db.expect kernel_time)"
	is '[.traceEvents[] | select(.name == "process_labels") | .args.labels] | sort | join(" ")' 'CPU GPU 0'
	# Times as text: three decimals, no exponent.
	run grep -cE '"(ts|dur)": [0-9]+\.[0-9]{3}[,}]' t.json
	assert_equal "$output" "$(grep -c '"ts": ' t.json)"
	run head -c 2000 t.json
	assert_output --partial '"rank": 0'
}

@test "report --timeline (shapes of launches) has the occupancy that the GPU's limits give" {
	requires sqlite3
	feed r.db -n 20 -k 1
	# capability, threads, registers, shared memory, blocks: percent; by hand from NVIDIA's tables.
	while read -r capability threads registers shared blocks percent; do
		sqlite3 r.db "UPDATE TARGET_INFO_GPU SET computeMajor = ${capability%.*}, computeMinor = ${capability#*.};
			UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = $threads, registersPerThread = $registers,
			dynamicSharedMemory = $shared, gridX = $blocks"
		ct report --timeline t.json r.db
		assert_equal "$capability $threads $(jq -c '[.traceEvents[] | select(.cat == "kernel")
			| .args["est. achieved occupancy %"]] | unique[]' t.json)" "$capability $threads $percent"
	done <<-'END'
		9.0 128 32 0 100000 100
		9.0 256 64 0 100000 50
		9.0 1024 32 204800 100000 50
		9.0 1024 32 102400 100000 100
		9.0 96 255 0 100000 9
		9.0 256 32 0 132 13
		8.6 32 32 0 100000 33
		7.5 64 32 0 100000 100
		5.0 128 32 0 100000 null
		9.0 -1 32 0 100000 null
		9.0 128 32 0 9223372036854775807 100
	END
}

@test "report --timeline (shapes of launches) has what limits them, and the GPU's own limits" {
	requires sqlite3
	feed r.db -n 20 -k 1
	ct report --timeline t.json r.db
	is '.deviceProperties[0] | [.maxThreadsPerBlock, .maxThreadsPerMultiprocessor, .regsPerBlock, .warpSize,
		.sharedMemPerBlock, .regsPerMultiprocessor, .sharedMemPerBlockOptin, .sharedMemPerMultiprocessor]
		| join(" ")' '1024 2048 65536 32 49152 65536 232448 233472'
	# 9.0; threads, registers, shared memory: blocks, what limits, by registers, shared memory, warps, blocks;
	# registers and bytes given to a block. By hand.
	while read -r threads registers shared expected; do
		sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = $threads, registersPerThread = $registers,
			dynamicSharedMemory = $shared, staticSharedMemory = 0"
		ct report --timeline t.json r.db
		is '[.traceEvents[] | select(.cat == "kernel") | .args.occupancy | [.activeBlocksPerMultiprocessor,
			.limitingFactors, .blockLimitRegs, .blockLimitSharedMem, .blockLimitWarps, .blockLimitBlocks,
			.allocatedRegistersPerBlock, .allocatedSharedMemPerBlock] | join(" ")] | unique[]' "$expected"
	done <<-'END'
		128 32 0 16 WARPS|REGS 16 228 16 32 4096 1024
		1024 32 204800 1 SMEM 2 1 2 32 32768 205824
		32 0 0 32 BLOCKS 2147483647 228 64 32 0 1024
		1024 255 0 0 REGS 0 228 2 32 262144 1024
	END
	sqlite3 r.db 'UPDATE TARGET_INFO_GPU SET computeMajor = 9223372036854775807'
	ct report --timeline t.json r.db
	is '.deviceProperties[0] | has("warpSize")' false
	is '[.traceEvents[] | select(.cat == "kernel") | .args | has("occupancy")] | any' false
}

@test "report --timeline (copies between GPUs, nodes of graphs, waits for events) names them as Kineto does" {
	requires sqlite3
	feed r.db -n 1000
	sqlite3 r.db 'UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10, srcDeviceId = 1, dstDeviceId = 2,
		srcContextId = 3, dstContextId = 4, graphNodeId = 5;
		UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET graphNodeId = 6;
		UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET syncType = 1, eventId = 7'
	ct report --timeline t.json r.db
	is '[.traceEvents[] | select(.cat == "gpu_memcpy") | .args | [has("device"), has("context"), .fromDevice,
		.toDevice, .fromContext, .toContext, .inDevice != null, .inContext != null, .["graph node id"]]
		| join(" ")] | unique[]' 'false false 1 2 3 4 true true 5'
	is '[.traceEvents[] | select(.cat == "gpu_memset") | .args["graph node id"]] | unique[]' 6
	is '[.traceEvents[] | select(.cat == "cuda_sync") | .args.wait_on_cuda_event_id] | unique[]' 7
	sqlite3 r.db 'UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET syncType = 3'
	ct report --timeline t.json r.db
	is '[.traceEvents[] | select(.cat == "cuda_sync") | .args | has("wait_on_cuda_event_id")] | any' false
}

@test "report --timeline (driver calls within runtime calls) lets each arrow begin once, at the outer call" {
	requires bpf sim
	ct record -q -e kernels,runtime -o r.db -- "$SIM" "$WORKLOADS/runtime" 20 >out
	ct report --timeline t.json r.db
	is '[.traceEvents[] | select(.cat == "kernel")] | length' "$(expect_key out kernels)"
	is '[.traceEvents[] | select(.ph == "s") | .id] | length == (unique | length) and length > 0' true
	# Where the arrow begins there a runtime call begins.
	is '[.traceEvents[] | select(.cat == "cuda_runtime") | "\(.args.correlation) \(.ts)"] as $calls
		| [.traceEvents[] | select(.ph == "s") | "\(.id) \(.ts)"] - $calls | length' 0
	# Holistic Trace Analysis takes a correlation id for that of one launch.
	is '[.traceEvents[] | select(.cat == "cuda_runtime" or .cat == "cuda_driver") | select(.name | test("Launch|Memcpy"))
		| .args.correlation] | length == (unique | length) and length > 20' true
	sqlite3 r.db "SELECT count(*) > 20 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1" | grep -qx 1
}

@test "report --timeline (three processes) keeps their devices and arrows apart" {
	feed r.db -n 900 -p 3
	ct report --timeline t.json r.db
	is '[.traceEvents[] | select(.cat == "kernel") | .pid] | unique | length' 3
	is '[.traceEvents[] | select(.cat == "cuda_driver") | .pid] | unique | map(tostring) | join(" ")' \
		'1000 1001 1002'
	is '[.traceEvents[] | select(.cat == "ac2g" and .ph == "s") | .id] | length == (unique | length)' true
}

@test "report --timeline (losses) says what is missing" {
	feed r.db -n 10 -x lost
	ct report --timeline t.json r.db
	is '.cuda_trace_lost["collect.ring_full"]' 7
}

# consumer: speedscope | itself | the rows of threads and streams
@test "report --timeline (in the real speedscope) opens and shows the streams" {
	requires chromium
	local scope=$B/npm/node_modules/speedscope/dist/release
	[ -d "$scope" ] || skip "needs speedscope (mk/npm-packages)"
	feed r.db -n 2000 -k 5
	ct report --timeline t.json r.db
	{
		printf 'speedscope.loadFileFromBase64("t.json", "'
		base64 -w0 t.json
		printf '")'
	} >t.js
	HOME=$PWD timeout -k 5 90 chromium --headless --no-sandbox --use-gl=angle --use-angle=swiftshader \
		--enable-unsafe-swiftshader --allow-file-access-from-files --user-data-dir="$PWD/chromium" \
		--virtual-time-budget=20000 --enable-logging=stderr --dump-dom \
		"file://$scope/index.html#localProfilePath=$PWD/t.js" >dom.html 2>browser.log
	grep -q 'Importing as Trace Event Format' browser.log
	run grep -c 'Tried to end' browser.log
	assert_output 0
	run grep -o 'title="feeder[^"]*stream 7[^"]*"' dom.html
	assert_success
	run grep -o 'title="feeder[^"]*thread 1000[^"]*"' dom.html
	assert_success
}

@test "report --folded gives stacks whose sum is the kernels' time" {
	feed r.db -n 1000 -p 2
	ct report --folded folded r.db
	assert_equal "$(awk '{ sum += $NF } END { printf "%d", sum }' folded)" "$(expect_key r.db.expect kernel_time)"
	run grep -cvE '^feeder;GPU 0;stream (7|13);void test::kernel<[0-9]+>\(float\*\) [0-9]+$' folded
	assert_output 0
}

@test "report --folded (names with semicolons and line breaks) keeps one stack a line" {
	feed r.db -n 120 -k 12 -x hostile
	ct report --folded folded r.db
	assert_equal "$(awk -F';' 'NF != 4' folded | wc -l)" 0
}

# consumer: pprof | reader | samples whose sums are the kernels'
@test "report --pprof is a profile that protoc decodes, with right sums" {
	requires protoc
	feed r.db -n 1000
	ct report --pprof p.pb.gz r.db
	gzip -dc p.pb.gz | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >p.txt
	# Two values a sample: kernels, nanoseconds.
	assert_equal "$(awk '/^  value:/ && n++ % 2 == 0 { sum += $2 } END { printf "%d", sum }' p.txt)" 1000
	assert_equal "$(awk '/^  value:/ && n++ % 2 == 1 { sum += $2 } END { printf "%d", sum }' p.txt)" \
		"$(expect_key r.db.expect kernel_time)"
	assert_equal "$(sed -n 's/^string_table: //p' p.txt | head -n 1)" '""'
	# Nothing is unknown to the format: protoc would print bare numbers.
	run grep -cE '^ *[0-9]+[:{ ]' p.txt
	assert_output 0
}

# difffolded.pl subtracts the numbers of equal lines; pprof -diff_base those of equal functions, whatever the labels. The
# simulated GPU takes the same time for the same kernels.
# consumer: difffolded.pl, pprof -diff_base | reader | no difference between two runs of a program
@test "report --folded and --pprof (two runs of a program) subtract to nothing, stripped or not" {
	requires bpf sim protoc
	cp "$WORKLOADS/saxpy" bare
	strip -s bare
	for program in "$WORKLOADS/saxpy" ./bare; do
		for run in 1 2; do
			ct record -q -f -g -e kernels -o $run.db -- "$SIM" "$program" >out
			ct report --folded $run.folded $run.db
			ct report --pprof $run.pprof $run.db
			sort $run.folded >$run.sorted
			gzip -dc $run.pprof | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >$run.txt
			python3 "$TOP/tests/export/read_pprof.py" $run.txt >$run.functions
		done
		[ -s 1.sorted ] && grep -q ';.*;.* 10 [0-9]*$' 1.functions
		diff 1.sorted 2.sorted
		diff 1.functions 2.functions
	done
}

# consumer: Holistic Trace Analysis | reader | gpu_user_annotation: NVTX ranges on the GPU's rows
@test "report --timeline (NVTX ranges) has them on the GPU's rows, from the first to the last kernel, as Kineto does" {
	requires bpf sim sqlite3
	ct record -q -e kernels,nvtx,runtime -o r.db -- "$SIM" "$WORKLOADS/nvtx" >out
	ct report --timeline t.json r.db
	# By hand: what was launched in the thread between a range's begin and its end.
	sqlite3 -separator ' ' r.db "SELECT e.text, min(k.start) || '', max(k.end) - min(k.start) FROM NVTX_EVENTS AS e
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.globalTid = e.globalTid AND r.start BETWEEN e.start AND e.end
		JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId WHERE e.eventType IN (59, 60)
		GROUP BY e.rowid" | awk '{ print $NF, $0 }' | sed -E 's/ [0-9]+ [0-9]+$//' | sort >expected
	jq -r '.traceEvents[] | select(.cat == "gpu_user_annotation") | "\(.dur * 1000 | round) \(.name)"' t.json | sort >seen
	assert [ "$(wc -l <expected)" -ge 30 ]
	diff expected seen
	# Their rows are the streams of the kernels.
	is '([.traceEvents[] | select(.cat == "kernel") | [.pid, .tid]] | unique)
		== ([.traceEvents[] | select(.cat == "gpu_user_annotation") | [.pid, .tid]] | unique)' true
}

# pprof itself is in no package; this reads a location as pprof's documentation says (proto/profile.proto, and
# GetBase of internal/elfexec): address - memory_start + file_offset, by the ELF segment that holds this offset.
# consumer: pprof -list | reader | mappings, addresses and build ids that lead to the lines of functions
@test "report --pprof (record -g) has mappings, addresses and build ids, by which readers find the lines" {
	requires bpf sim protoc readelf addr2line
	ct record -q -g -e kernels -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out
	ct report --pprof p.pb.gz r.db
	gzip -dc p.pb.gz | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >p.txt
	python3 - "$WORKLOADS/saxpy" p.txt >found <<-'END'
		import re, subprocess, sys
		program, text = sys.argv[1], open(sys.argv[2]).read()
		blocks = lambda name: [dict((k, int(v)) for k, v in re.findall(r"^ *(\w+): (\d+)$", body, re.M))
		    for body in re.findall(r"^%s \{\n(.*?)^\}" % name, text, re.M | re.S)]
		strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
		mappings = {m["id"]: m for m in blocks("mapping")}
		functions = {f["id"]: strings[f["name"]] for f in blocks("function")}
		segments = [[int(word, 16) for word in line.split()[1:6]] for line in
		    subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout.splitlines() if " LOAD " in line]
		build = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout)[1]
		for location in blocks("location"):
		    mapping = mappings.get(location.get("mapping_id"))
		    if not mapping or strings[mapping["filename"]] != program:
		        continue
		    assert strings[mapping["build_id"]] == build
		    assert mapping["memory_start"] <= location["address"] < mapping["memory_limit"]
		    offset = location["address"] - mapping["memory_start"] + mapping.get("file_offset", 0)
		    address = next(offset - s[0] + s[1] for s in segments if s[0] <= offset < s[0] + s[3])
		    seen = subprocess.run(["addr2line", "-f", "-e", program, hex(address)], capture_output=True, text=True).stdout.split("\n")
		    print(functions[location["function_id"]] if "function_id" in location else functions[location["id"]], seen[0], seen[1])
	END
	assert [ -s found ]
	# Each function is found under its name, and main's line is one of its source's.
	run awk '$1 != $2' found
	assert_output ''
	grep -qE '^main main .*/saxpy\.c:[0-9]+' found
}

# consumer: pprof -list | reader | files and lines of Python's functions
@test "report --pprof (functions of Python) has their files and lines" {
	requires bpf sim protoc sqlite3
	ct record -q -g -e kernels -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out
	sqlite3 r.db "INSERT INTO StringIds VALUES (1000001, 'train.py:42 forward'), (1000002, '/models/train.py');
		UPDATE CUDA_CALLCHAINS SET symbol = 1000001, module = 1000002, buildId = NULL, moduleAddress = NULL
		WHERE symbol = (SELECT id FROM StringIds WHERE value = 'main')"
	ct report --pprof p.pb.gz r.db
	gzip -dc p.pb.gz | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >p.txt
	grep -qx 'string_table: "forward"' p.txt
	grep -qx 'string_table: "/models/train.py"' p.txt
	grep -qx '    line: 42' p.txt
	run grep -c 'train.py:42' p.txt
	assert_output 0
}

# consumer: catapult (chrome://tracing) | reader | a slice for each arrow, and the stack of each launch
@test "report --timeline (launches of less than a microsecond, as catapult reads them) has each arrow at its slice" {
	requires bpf sim sqlite3
	ct record -q -g -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out
	sqlite3 r.db "CREATE TEMP TABLE b AS SELECT min(start) AS s FROM CUPTI_ACTIVITY_KIND_RUNTIME;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = (SELECT s FROM b) + rowid * 450, end = (SELECT s FROM b) + rowid * 450 + 400"
	ct report --timeline t.json r.db
	run -0 python3 "$TOP/tests/export/read_timeline.py" catapult t.json
	assert_output "bound $(jq '[.traceEvents[] | select(.ph == "s" or .ph == "f")] | length' t.json) unbound 0 stacks $(expect_key out launches)"
	# What this reader makes of it in microseconds: it does find such arrows.
	sed 's/"displayTimeUnit": "ns"/"displayTimeUnit": "ms"/' t.json >us.json
	run -0 python3 "$TOP/tests/export/read_timeline.py" catapult us.json
	refute_output --partial 'unbound 0 '
}

# consumer: Firefox Profiler | reader | the call trees of launches, by thread
@test "report --timeline (record -g, as the Firefox Profiler reads it) has the call stacks of launches, by thread" {
	requires bpf sim sqlite3
	ct record -q -g -o r.db -- "$SIM" "$WORKLOADS/stacks" >out
	# A launch each millisecond, of which that program keeps all.
	sqlite3 r.db "CREATE TEMP TABLE b AS SELECT min(start) AS s FROM CUPTI_ACTIVITY_KIND_RUNTIME;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = (SELECT s FROM b) + rowid * 1000000, end = (SELECT s FROM b) + rowid * 1000000 + 400"
	ct report --timeline t.json r.db
	python3 "$TOP/tests/export/read_timeline.py" firefox t.json >read
	assert_equal "$(awk '{ sum += $2 } END { print sum }' read)" \
		"$(sqlite3 r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL")"
	# The same stacks as in the folded ones, where process and GPU are around them.
	ct report --folded folded r.db
	sed -E 's/^[0-9]+ [0-9]+ \(root\);//' read | sort -u >stacks
	sed -E 's/^[^;]*;(.*);GPU 0;stream .*/\1/' folded | sort -u >same
	[ "$(wc -l <stacks)" -gt 1 ]
	run -0 diff stacks same
}

# Holistic Trace Analysis knows launches by four names of the runtime API, which `-e runtime` records.
# consumer: Holistic Trace Analysis | reader | one call of the runtime for each launch, and the sums of its launch statistics
@test "report --timeline (record -e runtime, as Holistic Trace Analysis reads it) has one call for each launch, and its sums" {
	requires bpf sim sqlite3
	ct record -q -e kernels,copies,runtime,nvtx -o r.db -- "$SIM" "$WORKLOADS/runtime" 20 >out
	ct report --timeline t.json r.db
	python3 "$TOP/tests/export/read_timeline.py" hta t.json >read
	# The same from the tables.
	sqlite3 -separator ' ' r.db "SELECT substr(s.value, 1, instr(s.value || '_v', '_v') - 1) AS name, 'calls', count(*), 'cpu_ns',
		sum(r.end - r.start), 'gpu', count(*), 'gpu_ns', sum(k.end - k.start), 'delay_ns', sum(max(k.start - r.end, 0))
		FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS s ON s.id = r.nameId
		JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & ~0xFFFFFF)
		WHERE r.eventClass = 0 GROUP BY 1 ORDER BY 1" >expected
	[ "$(wc -l <expected)" -ge 2 ]
	grep -q '^cudaLaunchKernel calls' expected
	grep '^cudaLaunch' read | diff expected -
	grep -q "^kernels_ns $(sqlite3 r.db 'SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL') " read
}
