#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --perfetto: read back by the rules of Perfetto's format (read_perfetto.py).

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# exported DB: its trace, as what read_perfetto.py found in t.json.
exported() {
	ct report --perfetto t.pftrace "$1"
	python3 "$TOP/tests/export/read_perfetto.py" t.pftrace >t.json
}

# is FILTER SQL DB: jq finds in t.json what the recording has.
is() {
	assert_equal "$1: $(jq -r "$1" t.json)" "$1: $(sqlite3 -separator ' ' "$3" "$2")"
}

# consumer: Perfetto (its own format) | reader | kernels with their shapes, below the launch that submitted them
@test "report --perfetto (ranges, launches, kernels, graphs) has each where Perfetto looks for it" {
	requires bpf sim
	ct record -g -e kernels,copies,sync,runtime,nvtx,graphs,graph-nodes -o r.db -- "$SIM" "$WORKLOADS/ranges" >out
	exported r.db
	is '[.gpu[] | select(.stage == "Kernel")] | length, (map(.end - .start) | add)' \
		'SELECT count(*) || char(10) || sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL' r.db
	assert_equal "$(jq '[.gpu[] | select(.stage == "Kernel")] | length' t.json)" "$(expect_key out kernels)"
	is '[.gpu[] | select(.kernel) | "\(.start) \(.name) \(.grid[0]) \(.block[0]) \(.arguments.registers_per_thread) \(.pid)"] | sort[]' \
		"SELECT start || ' ' || value || ' ' || gridX || ' ' || blockX || ' ' || registersPerThread || ' ' || (globalPid >> 24 & 0xffffff)
		 FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName ORDER BY 1" r.db
	# Each piece of work belongs to one launch: the one with its correlation id.
	assert_equal "$(jq '[.host[].submitted[]] | length, (unique | length)' t.json | uniq)" "$(jq '.gpu | length' t.json)"
	assert_equal "$(jq -r '([.gpu[] | {key: "\(.id)", value: .start}] | from_entries) as $at |
		[.host[] | .start as $call | .submitted[] | "\($call) \($at["\(.)"])"][]' t.json | sort)" \
		"$(sqlite3 -separator ' ' r.db "SELECT min(r.start), w.start FROM (SELECT start, correlationId, globalPid
			FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, correlationId, globalPid FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
			AS w JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = w.correlationId AND
			r.globalTid & ~0xffffff = w.globalPid GROUP BY w.rowid, w.start, w.correlationId" | sort)"
	is '[.host[] | select(.category == "nvtx") | "\(.start) \(.end)"] | sort[]' \
		"SELECT start || ' ' || end FROM NVTX_EVENTS WHERE eventType IN (59, 60) ORDER BY 1" r.db
	jq -e '[.host[].name] | index("left first") and index("all of it")' t.json
	# Ranges of a thread lie in each other as they did, the calls within them; outermost function first.
	[ "$(jq '[.host[] | select(.category == "cuda_driver").depth] | max' t.json)" -ge 3 ]
	assert_equal "$(jq -r '[.host[] | select(.stack != [] and .name == "cuLaunchKernel")][0].stack | .[0], .[-1]' t.json | tr '\n' ' ')" "_start cuLaunchKernel "
	assert_equal "$(jq -r '.processes[]' t.json)" ranges
}

@test "report --perfetto (kernels of one stream that overlap, three processes) keeps them apart" {
	local feeder=$B/tests/recording/store/feeder
	"$feeder" -n 1000 -p 3 r.db >expect 2>err || fail "$(cat err)"
	sqlite3 r.db 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 100000'
	exported r.db
	is '[.gpu[] | select(.stage == "Kernel")] | length' 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL' r.db
	is '[.gpu[].pid] | unique[]' 'SELECT DISTINCT globalPid >> 24 & 0xffffff FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1' r.db
	[ "$(jq '[.gpu[].queue] | unique | length' t.json)" -gt "$(sqlite3 r.db 'SELECT count(DISTINCT globalPid || streamId || deviceId)
		FROM CUPTI_ACTIVITY_KIND_KERNEL')" ]
	# A launch names its own process's work.
	assert_equal "$(jq '([.gpu[] | {key: "\(.id)", value: .pid}] | from_entries) as $of |
		[.host[] | .pid as $pid | .submitted[] | select($of["\(.)"] != $pid)] | length' t.json)" 0
}

@test "report --perfetto (losses, impossible times) says what is missing" {
	local feeder=$B/tests/recording/store/feeder
	"$feeder" -n 100 -x lost r.db >expect 2>err || fail "$(cat err)"
	sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5 WHERE rowid = 1"
	ct report --perfetto t.pftrace r.db 2>err
	grep -qx 'cuda-trace: 1 rows have impossible times and are left out' err
	python3 "$TOP/tests/export/read_perfetto.py" t.pftrace >t.json
	assert_equal "$(jq -r '.lost | map(select(test("ring_full$")))[]' t.json)" "7 lost: collect.ring_full"
}

@test "report --perfetto --device (samples of a GPU) has them as counters" {
	local feeder=$B/tests/recording/store/feeder
	"$feeder" -n 100 r.db >expect 2>err || fail "$(cat err)"
	python3 - >rows <<-'END'
		import json, sqlite3
		db = sqlite3.connect("r.db")
		began, = db.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()
		uuid, = db.execute("SELECT uuid FROM TARGET_INFO_CUDA_DEVICE").fetchone()
		for k in range(5):
		    value = {"mean": k, "min": 0, "max": 9}
		    print(json.dumps({"event": "device", "device": 0, "uuid": uuid, "time_ns": 7 + k * 1000000,
		        "end_ns": 7 + (k + 1) * 1000000, "utc_ns": began + k * 1000000, "samples": 1, "lost": 0,
		        "columns": {"sm": value, "tensor": value if k else None}}))
	END
	ct report --perfetto t.pftrace --device rows r.db
	python3 "$TOP/tests/export/read_perfetto.py" t.pftrace >t.json
	assert_equal "$(jq -c .counters t.json)" '{"GPU 0 sm":5,"GPU 0 tensor":4}'
}
