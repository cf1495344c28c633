#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record: what is in the file, whatever happens while it is made.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sql FILE STATEMENT: by the system's own sqlite3, not by ours.
sql() {
	sqlite3 -readonly "$1" "$2"
}

# feed FILE ARGS...: a recording of made-up events; what was fed is in FILE.expect.
feed() {
	local file=$1; shift
	"$FEEDER" "$@" "$file" >"$file.expect" 2>"$file.err" ||
		{ cat "$file.err"; fail "feeder $*"; }
}

kernels_of() {
	sql "$1" 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL'
}

@test "record (saxpy) holds every launch and kernel" {
	requires bpf sim sqlite3
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/saxpy" >out
	assert_equal "$(kernels_of r.db)" "$(expect_key out kernels)"
	assert_equal "$(sql r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds
		ON id = nameId WHERE value LIKE 'cuLaunchKernel%'")" "$(expect_key out launches)"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = k.correlationId
		AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000')" "$(expect_key out kernels)"
	assert_equal "$(sql r.db 'SELECT name FROM PROCESSES')" saxpy
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_TRACE_LOST')" 0
	assert [ ! -e r.db.part ]
}

@test "record (every workload) gives the program's own count of everything" {
	requires bpf sim sqlite3
	local workload key
	for workload in copies memory syncs nvtx graphs failures unified streams threads resets forks runtime; do
		# On a busy machine the agent may run out of buffers, and counts it: that is another test's.
		for _ in 1 2 3; do
			rm -f r.db*
			ct record -q -e kernels,copies,memory,sync,errors,overhead,nvtx,unified -o r.db -- \
				"$SIM" "$WORKLOADS/$workload" >out 2>err || { cat err; fail "$workload"; }
			ct report --json r.db >report.json
			[ "$(jq .lost.total report.json)" != 0 ] || break
		done
		totals_of report.json
		for key in launches kernels launch_errors graph_launches memcpys memcpy_bytes memsets allocs \
			frees live_bytes syncs api_errors; do
			assert_equal "$workload $key ${TOTALS[$key]}" "$workload $key $(expect_key out "$key")"
		done
		assert_equal "$workload lost $(jq .lost.total report.json)" "$workload lost 0"
		assert_equal "$workload $(sql r.db "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)
			|| ' ' || (SELECT coalesce(sum(bytes), 0) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind < 11)
			|| ' ' || (SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memKind < 5)
			|| ' ' || (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType <> 2)")" \
			"$workload $(expect_key out kernels) $(expect_key out memcpy_bytes) $(($(expect_key out allocs) +
				$(expect_key out frees))) $(expect_key out syncs)"
	done
}

@test "record (4 threads flat out) equals the ground truth and stat's sums" {
	requires bpf sim sqlite3
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 50000 -t 4 >out
	assert_equal "$(kernels_of r.db)" "$(expect_key out kernels)"
	ct report --json r.db >report.json
	assert_equal "$(json report.json .totals.launches)" "$(expect_key out launches)"
	assert_equal "$(json report.json .totals.kernels)" "$(expect_key out kernels)"
	assert_equal "$(json report.json .totals.gpu_ns)" \
		"$(sql r.db 'SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL')"
}

@test "record and stat (one program, watched by both) give the same sums" {
	requires bpf sim
	mkfifo gate
	sleep 60 >gate 3>&- &
	echo $! >>started
	SIMCUDA_LOG=$PWD/cupti.log CUDA_INJECTION64_PATH=$AGENT "$SIM" "$WORKLOADS/launch-storm" -w -n 20000 -t 2 <gate >out &
	local program=$!
	start stat "$CUDA_TRACE" stat -v --json -o stat.json -p $program
	start record "$CUDA_TRACE" record -v -q -o r.db -p $program
	wait_for 20 grep -q "watching .* in process" stat.err
	wait_for 20 grep -q "watching .* in process" record.err
	# The agent notices within 0.3 s.
	wait_for 20 grep -qs 'kinds=[0-9,]*10' cupti.log
	echo >gate
	wait $program
	# shellcheck disable=SC2154 # set by start
	finished "$stat_PID"
	finished "$record_PID"
	ct report --json r.db >report.json
	assert_equal "$(json report.json .totals.kernels)" "$(expect_key out kernels)"
	run diff <(jq -S '[.totals, (.kernels | sort_by(.name))]' stat.json) \
		<(jq -S '[.totals, (.kernels | sort_by(.name))]' report.json)
	assert_success
}

@test "record -p (a recording that takes seconds to write) has left the program before it writes" {
	requires bpf sim
	export SIMCUDA_LOG=$PWD/cupti.log
	CUDA_INJECTION64_PATH=$AGENT start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -b 1
	# shellcheck disable=SC2154 # set by start
	ready storm
	start record "$CUDA_TRACE" record -q -o r.db -p "$(pgrep -f "^$WORKLOADS/launch-storm" | tail -n 1)" -d 3
	wait_for 20 grep -q 'kinds=[0-9]' cupti.log
	off() { tail -n 1 cupti.log | grep -q 'subscribed=0 .*kinds=- '; }
	wait_for 20 off
	kill "$storm_PID"
	# shellcheck disable=SC2154
	kill -0 "$record_PID"
	[ ! -e r.db ]
	finished "$record_PID" 60
	assert_equal "$status" 0
	[ "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" -gt 100000 ]
}

@test "record (nothing to record) says why there are no events" {
	requires bpf
	run -0 --separate-stderr ct record -o nothing.db -- true
	[[ $stderr == *'0 events, '*' KiB: neither PROGRAM nor any process that it started made a CUDA call'* ]]
	run -0 ct report nothing.db
	assert_line 'No CUDA activity was seen: the recording contains no CUDA process.'
}

@test "record (PROGRAM fails) passes its exit status on" {
	requires bpf
	run ct record -q -o r.db -- sh -c 'exit 7'
	assert_failure 7
	assert [ -e r.db ]
}

@test "record (FILE is something else) refuses, and -f replaces it" {
	requires bpf
	echo 'chapter one' >thesis.tex
	run ct record -q -o thesis.tex -- true
	assert_failure 2
	assert_output --partial 'is not a recording'
	assert_equal "$(cat thesis.tex)" 'chapter one'
	ct record -q -f -o thesis.tex -- true
	run head -c 15 thesis.tex
	assert_output 'SQLite format 3'
}

@test "record (FILE is a device or a link) refuses, also with -f" {
	requires bpf
	mknod -m 666 null c 1 3 2>/dev/null || skip "cannot make a device node"
	ln -s elsewhere link.db
	local file
	for file in null link.db; do
		run ct record -q -f -o "$file" -- touch ran
		assert_failure 1
		assert [ ! -e ran ]
		assert_output --partial "is not a regular file"
	done
	assert [ -c null ]
	assert [ -L link.db ]
}

@test "record (--max-size, --last: nonsense) is a usage error" {
	run ct record --max-size banana -o r.db -- true
	assert_failure 2
	run ct record --last banana -o r.db -- true
	assert_failure 2
}

@test "record (every kind of event) gives by SQL what was fed" {
	requires sqlite3
	feed r.db -n 20000 -p 3
	while read -r key statement; do
		assert_equal "$key=$(sql r.db "$statement")" "$key=$(expect_key r.db.expect "$key")"
	done <<-'SQL'
		kernels SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL
		kernel_time SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL
		launches SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1
		launches SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE launchName IS NOT NULL
		failed SELECT count(*) FROM CUDA_TRACE_ERRORS
		memcpys SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY
		memcpy_bytes SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY
		memsets SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET
		allocs SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memoryOperationType = 0
		frees SELECT count(*) FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memoryOperationType = 1
		syncs SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType = 3
		failed SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE returnValue <> 0
		graphs SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE
		overheads SELECT count(*) FROM CUPTI_ACTIVITY_KIND_OVERHEAD WHERE overheadType = 3
		ranges SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59
	SQL
	assert_equal "$(sql r.db 'PRAGMA integrity_check')" ok
}

@test "record (a program that ends at once) knows its GPU" {
	requires bpf sim sqlite3
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 1 >out
	assert_equal "$(kernels_of r.db)" 1
	assert_equal "$(sql r.db 'SELECT name FROM TARGET_INFO_GPU AS g JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k
		ON g.id = k.deviceId')" 'Simulated GPU'
}

@test "record (events) knows the call and the stream of every event that a wait is for" {
	requires bpf sim sqlite3
	ct record -q -e sync,api -o r.db -- "$SIM" "$WORKLOADS/syncs" 7 >out
	assert_equal "$(sql r.db "SELECT count(*), count(DISTINCT streamId) FROM CUDA_TRACE_EVENT_RECORDS
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME USING (correlationId) JOIN StringIds ON id = nameId
		WHERE value LIKE 'cuEventRecord%'")" \
		"$(sql r.db "SELECT count(*), 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId
		WHERE value LIKE 'cuEventRecord%'")"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_TRACE_EVENT_RECORDS')" 14
	assert_equal "$(sql r.db "SELECT count(*) > 0, sum(eventId IN (SELECT eventId FROM
		CUDA_TRACE_EVENT_RECORDS)) = count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
		WHERE syncType IN (1, 2)")" '1|1'
}

# consumer: nsys stats | reader | the tables and columns that its report scripts check for
@test "record (the schema) has what readers of Nsight's exports ask for" {
	requires sqlite3
	feed r.db -n 10
	assert_equal "$(sql r.db "SELECT value FROM META_DATA_EXPORT
		WHERE name = 'EXPORT_SCHEMA_VERSION_MAJOR'")" 3
	# The columns that nsys' own report scripts check for, and joins as they write them.
	sql r.db 'SELECT greenContextId FROM CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY
		USING (greenContextId) LIMIT 1'
	assert_equal "$(sql r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
		JOIN StringIds AS s ON s.id = k.shortName JOIN TARGET_INFO_GPU AS g
		ON g.id = k.deviceId AND g.vmId = k.globalPid >> 48 << 48 WHERE s.value = 'kernel'")" 10
	assert_equal "$(sql r.db 'SELECT label FROM ENUM_CUDA_MEMCPY_OPER JOIN
		CUPTI_ACTIVITY_KIND_MEMCPY ON id = copyKind LIMIT 1')" Host-to-Device
	assert_equal "$(sql r.db 'SELECT DISTINCT globalTid / 0x1000000 % 0x1000000
		FROM CUPTI_ACTIVITY_KIND_RUNTIME')" 1000
}

@test "record (killed at any moment) leaves a file that opens and holds all but the last second" {
	requires sqlite3
	local rate killed last
	# Few events fill no block, and of one kernel no new name ends it: those must not wait for it.
	for rate in 20 100000 20 100000; do
		rm -f k.db*
		"$FEEDER" -n 100000000 -r $rate -k 1 k.db >/dev/null 2>&1 &
		sleep "1.$((RANDOM % 10))"
		killed=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
		kill -KILL $!
		wait $! || true
		run ct report --kernels --json k.db
		assert_success
		assert [ ! -e k.db.part ]
		# What happened up to a second before, by the clock of the machine.
		last=$(sql k.db 'SELECT ((SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL) +
			systemClockNs) / 1000000 FROM TARGET_INFO_SESSION_START_TIME')
		assert [ $((killed - last)) -lt 1000 ]
		assert_equal "$(sql k.db "SELECT count(*) FROM CUDA_TRACE_LOST
			WHERE reason = 'recorder_died'")" 1
		assert_equal "$(sql k.db 'PRAGMA integrity_check')" ok
	done
}

# powercut AT SEED ARGS...: feeds r.db until the cut, and puts what the disk holds then into disk/.
powercut() {
	rm -rf r.db* disk
	mkdir disk
	POWERCUT_AT=$1 POWERCUT_SEED=$2 POWERCUT_DISK=disk "$FEEDER-powercut" "${@:3}" r.db 2>/dev/null >cut
	grep '^cut ' cut || { cat cut; fail "no cut at $1"; }
}

@test "record (the power is cut at any moment) leaves a file that opens and holds all but the last second" {
	requires sqlite3
	local moment
	for moment in 1 2 3; do
		# A machine that stands still for a moment holds up the recorder, too: that is no loss of its.
		lost_a_second || lost_a_second || lost_a_second || fail "more than the last second is missing"
		assert_equal "$(sql disk/r.db "SELECT count(*) FROM CUDA_TRACE_LOST
			WHERE reason = 'recorder_died'")" 1
		assert_equal "$(sql disk/r.db 'PRAGMA integrity_check')" ok
	done
}

# lost_a_second: cuts the power while launches are recorded; true if at most a second of them is lost.
lost_a_second() {
	local cut last longest
	powercut "ms:$((1100 + RANDOM % 1500))" $RANDOM -n 100000000 -r 20000
	ct report --kernels --json disk/r.db >kernels.json
	# The last launch before the first gap, and the cut, by the clock of the machine.
	last=$(sql disk/r.db 'SELECT max(start) + (SELECT systemClockNs FROM TARGET_INFO_SESSION_START_TIME)
		FROM (SELECT start, correlationId - row_number() OVER (ORDER BY correlationId) AS missing
		FROM CUPTI_ACTIVITY_KIND_KERNEL) WHERE missing = 0')
	cut=$(sed -n 's/.* ns=\([0-9]*\).*/\1/p' cut)
	longest=$(sed -n 's/.*longest_sync_ns=\([0-9]*\).*/\1/p' cut)
	# A disk that is slow to sync loses what comes meanwhile, and what waits for the next sync.
	echo "lost $(((cut - last) / 1000000)) ms, longest sync $((longest / 1000000)) ms"
	[ $((cut - last)) -lt $((1000000000 + 2 * longest)) ]
}

@test "record (the power is cut while the file is being finished) loses nothing" {
	requires sqlite3
	local moments extra at
	# One after the other: the file is made, synced, renamed, its folder synced, the spool taken
	# away; a compressed one is made and renamed first. What is unsynced then is a coin's toss.
	for moments in 'none 0 1 2 3' 'compress 0 1 2 3 4 5 6'; do
		extra=${moments%% *}
		for at in ${moments#* } end end end end; do
			powercut "${at/#[0-9]/file:$at}" $RANDOM -n 3000 -x $extra
			grep -q 'complete=1' cut
			run ct report --sql 'SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL' --json disk/r.db
			assert_success
			assert_line '{"n":3000}'
		done
	done
}

@test "record (the disk is full) keeps what it has, says so, and makes a file of it later" {
	requires root sqlite3
	mkdir small
	mount -t tmpfs -o size=8m none small || skip "cannot mount a tmpfs"
	run "$FEEDER" -n 100000 small/r.db
	echo "$output"
	assert_failure
	assert_output --partial 'No space left'
	assert_output --partial 'are kept in'
	assert [ -s small/r.db.part ]
	cp small/r.db.part r.db.part
	umount small
	run --separate-stderr ct report --kernels r.db
	assert_success
	assert [ "$(kernels_of r.db)" -gt 10000 ]
}

teardown() {
	umount "$BATS_TEST_TMPDIR/small" 2>/dev/null || true
	stop_started
}

@test "record (--last) keeps the last seconds only" {
	requires sqlite3
	feed r.db -n 1000000 -r 200000 -l 3
	local span
	# Where the disk is slow, nothing happens for some tenths of a second.
	span=$(sql r.db 'SELECT (max(end) - min(start)) / 1000000 FROM CUPTI_ACTIVITY_KIND_KERNEL')
	assert [ "$span" -ge 2500 ]
	assert [ "$span" -le 3700 ]
	# Names came before that, and are there all the same.
	assert_equal "$(sql r.db "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds
		ON id = demangledName WHERE value LIKE '[name%'")" 0
}

@test "record --last (SIGUSR2) saves what there is and goes on" {
	requires bpf sim sqlite3
	# What was last is seconds old where a busy machine takes its time to end it.
	start record "$CUDA_TRACE" record --last 3s -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 100
	ready record
	sleep 4.5
	kill -USR2 "$record_PID"
	wait_for 30 grep -q 'saving r.db-' record.err
	sleep 1
	kill -TERM "$record_PID"
	finished "$record_PID"
	local snapshot
	snapshot=$(echo r.db-*.db)
	assert [ -s "$snapshot" ]
	assert [ "$(kernels_of "$snapshot")" -gt 100 ]
	assert [ "$(sql "$snapshot" 'SELECT (max(end) - min(start)) / 1000000
		FROM CUPTI_ACTIVITY_KIND_KERNEL')" -lt 3700 ]
	# The end of the recording is later than that of the snapshot.
	assert [ "$(sql r.db 'SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL')" -gt \
		"$(sql "$snapshot" 'SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL')" ]
}

@test "record --last (SIGUSR2, and at once the end of all of it) saves what there is, and ends" {
	requires bpf sim sqlite3
	start record "$CUDA_TRACE" record --last 5s -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 100
	ready record
	sleep 1.5
	kill -USR2 "$record_PID"
	wait_for 30 grep -q 'saving r.db-' record.err
	kill -TERM -- "-$record_PID"
	finished "$record_PID"
	assert [ "$(kernels_of r.db-*.db)" -gt 100 ]
	assert [ "$(kernels_of r.db)" -gt 100 ]
}

@test "record (--max-size) stops there, and the program goes on" {
	requires bpf sim
	ct record --max-size 2M -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 200000 >out 2>err
	grep -q -- '--max-size is reached' err
	assert_equal "$(expect_key out launches)" 200000
	assert [ "$(stat -c %s r.db)" -lt 2200000 ]
	assert [ "$(kernels_of r.db)" -gt 1000 ]
}

@test "record (--max-duration) stops there, and the program goes on" {
	requires bpf sim sqlite3
	ct record -q --max-duration 1s -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -s 4 >out
	assert [ "$(kernels_of r.db)" -gt 100 ]
	assert [ "$(expect_key out launches)" -gt "$(kernels_of r.db)" ]
	assert [ "$(sql r.db 'SELECT duration / 1000000 FROM ANALYSIS_DETAILS')" -ge 1000 ]
	# It ended in order. On a busy machine the agent may run out of buffers: that is another test's.
	assert_equal "$(sql r.db "SELECT count(*) FROM CUDA_TRACE_LOST WHERE stage = 'store'")" 0
	assert [ ! -e r.db.part ]
}

@test "record (the folder is read-only or not there) says so, and runs no program" {
	requires root bpf
	mkdir small
	mount -t tmpfs -o ro none small || skip "cannot mount a tmpfs"
	local file
	for file in small/r.db nowhere/r.db; do
		run ct record -q -o "$file" -- touch ran
		assert_failure 1
		assert_line --regexp "^cuda-trace: cannot make $file.part: (Read-only file system|No such file)"
		assert [ ! -e ran ]
	done
}

@test "record (-z, less and less space) makes the whole file or keeps the spool" {
	requires root sqlite3
	mkdir small
	mount -t tmpfs -o size=1500k none small || skip "cannot mount a tmpfs"
	local kib whole said made=0 kept=0
	for kib in 1500 1800 2100 2400 2700 3000 3300; do
		mount -o remount,size=${kib}k small
		if "$FEEDER" -n 9000 -x compress small/r.db >out 2>&1; then
			made=$((made + 1))
			assert [ ! -e small/r.db.part ]
			mv small/r.db .
		else
			grep -qE 'No space left|disk is full' out
			kept=$((kept + 1))
			assert [ ! -e small/r.db ]
			mv small/r.db.part .
		fi
		rm -f small/*
		ct report --losses r.db
		# Everything is there, or it was said where it ends.
		whole=$(($(kernels_of_any r.db) >= 9000))
		said=$(grep -c 'events after that are lost' out) || true
		assert_equal "$kib $((whole + said))" "$kib 1"
		rm r.db
	done
	assert [ $made -gt 0 ]
	assert [ $kept -gt 2 ]
}

# kernels_of_any FILE: of a compressed one too.
kernels_of_any() {
	ct report --json --sql 'SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL' "$1" | jq .n
}

@test "record (-z) compresses, and report reads it" {
	feed plain.db -n 50000
	feed small.db -n 50000 -x compress
	assert [ "$(($(stat -c %s small.db) * 3))" -lt "$(($(stat -c %s plain.db) * 2))" ]
	ct report --json --kernels plain.db | jq -c 'del(.total_ns)' | sort >plain.json
	ct report --json --kernels small.db | jq -c 'del(.total_ns)' | sort >small.json
	run diff plain.json small.json
	assert_success
	# Summary and page read it by several handles, though it has no name once it is unpacked.
	assert_equal "$(ct report --json small.db | jq -s '.[0].totals.kernels')" 50000
	mkdir empty
	TMPDIR=$PWD/empty ct report --html page.html --idle --json small.db >idle.json
	assert_equal "$(jq -c 'del(.longest_gap_at_ns)' idle.json)" \
		"$(ct report --idle --json plain.db | jq -c 'del(.longest_gap_at_ns)')"
	assert_equal "$(ls empty)" ''
	# 60 bytes a launch, kernel included.
	assert [ "$(stat -c %s small.db)" -lt $((50000 * 60)) ]
}

@test "record (a loop of one kernel, two threads) takes 60 bytes a launch, kernel included" {
	requires bpf sim sqlite3
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 40000 -t 2 >out
	assert_equal "$(kernels_of r.db)" 80000
	# The tables themselves are 200 KiB.
	assert [ "$(stat -c %s r.db)" -lt $((80000 * 60 + 200000)) ]
	# What is not stored in the rows is read from them all the same.
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE
		blockX > 0 AND globalPid > 0 AND greenContextId IS NULL AND demangledName IN
		(SELECT id FROM StringIds) AND typeof(deviceId) = "integer"')" 80000
}

@test "record (a value changes late) keeps it right in the rows before and after" {
	requires sqlite3
	# Processes take turns, names and streams change by count, errors come each 50th launch.
	feed one.db -n 3000 -k 1
	assert_equal "$(sql one.db 'SELECT count(DISTINCT demangledName), min(globalPid) = max(globalPid),
		count(*) FILTER (WHERE gridX = 1 + (correlationId - 1) % 256) FROM
		CUPTI_ACTIVITY_KIND_KERNEL')" '1|1|3000'
	feed two.db -n 3000 -k 7 -p 2
	assert_equal "$(sql two.db 'SELECT count(DISTINCT demangledName), count(*) FILTER (WHERE
		globalPid / 0x1000000 % 0x1000000 = 1000 + (correlationId + 1) % 2), count(*) FILTER
		(WHERE streamId = iif((correlationId - 1) % 3, 7, 13)) FROM CUPTI_ACTIVITY_KIND_KERNEL')" \
		'7|3000|3000'
	assert_equal "$(sql two.db 'SELECT count(*), sum(returnValue), sum(launchName IS NULL) FROM
		CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 0')" '60|120|60'
}

# declared FILE TABLE: its columns by name, those that may not be NULL with a "!", TEXT named.
declared() {
	sql "$1" "SELECT group_concat(c, ' ') FROM (SELECT name || iif(\"notnull\", '!', '') ||
		iif(type = 'INTEGER', '', ' ' || type) AS c FROM pragma_table_info('$2') ORDER BY name COLLATE BINARY)"
}

# consumer: scripts on Nsight's SQLite | reader | columns and types as Nsight's exports declare them
@test "record (full tables, empty ones) declares columns and types as Nsight's exports do, ours aside" {
	requires sqlite3
	feed full.db -n 500 -p 2
	feed empty.db -n 0
	local file kernel='blockX! blockY! blockZ! cacheConfig clusterSchedulingPolicy clusterX clusterY clusterZ
		contextId! correlationId demangledName! deviceId! dynamicSharedMemory! end! globalPid graphId
		graphNodeId greenContextId gridId! gridX! gridY! gridZ! launchType localMemoryPerThread!
		localMemoryTotal! mangledName maxActiveClusters maxPotentialClusterSize qmdBulkReleaseDone
		qmdLastCtaDone qmdPreexitDone registersPerThread! sharedMemoryExecuted sharedMemoryLimitConfig
		sharedMemoryRequestedPercentage shortName! start! staticSharedMemory! streamId!
		tensorSizeMinusOneElements! TEXT'
	for file in full.db empty.db; do
		assert_equal "$(declared $file CUPTI_ACTIVITY_KIND_KERNEL)" "$(xargs <<<"$kernel")"
		assert_equal "$(declared $file CUPTI_ACTIVITY_KIND_RUNTIME)" 'callchainId contextId correlationId end! eventClass!'\
' globalTid launchName launchShape nameId! returnValue! start! streamHandle timed'
		assert_equal "$(declared $file CUPTI_ACTIVITY_KIND_MEMCPY)" 'bytes! contextId! copyCount copyKind!'\
' correlationId deprecatedSrcId deviceId! dstContextId dstDeviceId dstKind end! globalPid graphNodeId'\
' greenContextId migrationCause srcContextId srcDeviceId srcKind start! streamId! virtualAddress'
		assert_equal "$(declared $file CUPTI_ACTIVITY_KIND_MEMSET)" 'bytes! contextId! correlationId deviceId!'\
' end! globalPid graphNodeId greenContextId memKind start! streamId! value!'
		assert_equal "$(declared $file CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)" 'contextId! correlationId'\
' deprecatedSyncType deviceId! end! eventId! eventSyncId globalPid greenContextId start! streamId! syncType!'
	done
	# Readers that ask for each value's type get the one that is declared.
	assert_equal "$(sql full.db "SELECT DISTINCT typeof(start) || typeof(globalPid) || typeof(gridX) ||
		tensorSizeMinusOneElements || ifnull(clusterX, 'NULL') FROM CUPTI_ACTIVITY_KIND_KERNEL")" \
		'integerintegerinteger[]NULL'
}

@test "record (losses) are in the file, by stage and reason" {
	requires sqlite3
	feed r.db -n 100 -x lost
	assert_equal "$(sql r.db "SELECT stage || '/' || reason || '/' || count FROM CUDA_TRACE_LOST
		ORDER BY 1")" "$(printf 'collect/ring_full/7\nprocess/pool_empty/5')"
	run sql r.db 'SELECT text FROM DIAGNOSTIC_EVENT'
	assert_output --partial '7 lost (ring_full)'
	run ct report r.db
	assert_output --partial 'lost'
}

@test "record (fed flat out) takes 800,000 rows a second and loses none" {
	requires sqlite3
	local rate
	# The fastest of three: what else the machine does slows down some of them.
	for _ in 1 2 3; do
		rm -f r.db*
		feed r.db -n 500000
		rate=$(sed -n 's/^feeder: \([0-9]*\) records.*/\1/p' r.db.err)
		[ "$rate" -le 800000 ] || break
	done
	assert [ "$rate" -gt 800000 ]
	assert_equal "$(kernels_of r.db)" 500000
}

# consumer: scripts on Nsight's SQLite | reader | names of ranges, domains and sources where they look for them
@test "a recording (statements written for Nsight's export) has names of ranges, domains and sources" {
	requires bpf sim sqlite3
	ct record -q -e kernels,nvtx,overhead,runtime -o r.db -- "$SIM" "$WORKLOADS/nvtx" >out
	q() { sqlite3 -bail r.db "$1"; }
	# Each range has its name in `text`, and domains have theirs in rows of type 75 of the same process.
	assert_equal "$(q 'SELECT count(*) FROM NVTX_EVENTS WHERE text IS NULL')" 0
	assert_equal "$(q 'SELECT count(*) > 0 FROM NVTX_EVENTS WHERE eventType = 59 AND text <> ""')" 1
	assert_equal "$(q 'SELECT count(*) FROM NVTX_EVENTS AS e WHERE eventType IN (59, 60) AND domainId <> 0 AND NOT EXISTS
		(SELECT 1 FROM NVTX_EVENTS AS d WHERE d.eventType = 75 AND d.domainId = e.domainId AND d.text <> "" AND
		(d.globalTid & 0xFFFFFF000000) = (e.globalTid & 0xFFFFFF000000))')" 0
	# Calls get the name of their kernel in a column of the user's own.
	q 'ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernelName TEXT'
	q 'SELECT count(*) FROM DIAGNOSTIC_EVENT AS d JOIN ENUM_DIAGNOSTIC_SOURCE_TYPE AS s ON s.id = d.source'
	q 'SELECT count(*), sum(end - start) FROM PROFILER_OVERHEAD LEFT JOIN ENUM_CUPTI_OVERHEAD_TYPE ON id = overheadType'
	# Our own reader is not misled by the user's column.
	ct report --json r.db >before.json
	q 'UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernelName = "mine"'
	ct report --json r.db >after.json
	assert_equal "$(json before.json '[.. | .launches? | numbers] | max > 0' | sort -u)" true
	diff before.json after.json
}

@test "record -g (ten programs that end a few ms after cuInit) names their frames" {
	requires bpf sim
	local program
	for program in {1..10}; do
		run -0 --separate-stderr ct record -f -g -e kernels -o r.db -- "$SIM" "$WORKLOADS/nvtx"
		assert_regex "$stderr" 'of [0-9]+ frames, 0 have no name'
	done
}

# The statements that NVIDIA's Analysis Guide prints for CUDA and NVTX, under "Common SQLite examples".
# consumer: NVIDIA's Analysis Guide | reader | right answers to each of its statements on CUDA
@test "a recording (the CUDA examples of NVIDIA's Analysis Guide) answers each of them" {
	requires bpf sim sqlite3
	ct record -q -g -e kernels,nvtx,overhead,runtime -o r.db -- "$SIM" "$WORKLOADS/nvtx" >out
	q() { sqlite3 -bail r.db "$1"; }
	# Correlate kernel launches with calls.
	q 'ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN name TEXT;
		ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernelName TEXT;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernelName = (SELECT value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL
		AS cuda_gpu ON cuda_gpu.shortName = StringIds.id AND CUPTI_ACTIVITY_KIND_RUNTIME.correlationId = cuda_gpu.correlationId);
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET name = (SELECT value FROM StringIds WHERE nameId = StringIds.id)'
	assert_equal "$(q "SELECT DISTINCT kernelName FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE name GLOB 'cuLaunchKernel*'")" empty
	assert_equal "$(q 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE name IS NULL')" 0
	# Rename kernels with NVTX.
	q 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN nvtxRange TEXT; CREATE INDEX nvtx_start ON NVTX_EVENTS (start);
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET nvtxRange = (SELECT NVTX_EVENTS.text FROM NVTX_EVENTS
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME ON NVTX_EVENTS.eventType == 59
		AND NVTX_EVENTS.globalTid == CUPTI_ACTIVITY_KIND_RUNTIME.globalTid
		AND NVTX_EVENTS.start <= CUPTI_ACTIVITY_KIND_RUNTIME.start AND NVTX_EVENTS.end >= CUPTI_ACTIVITY_KIND_RUNTIME.end
		WHERE CUPTI_ACTIVITY_KIND_RUNTIME.correlationId == CUPTI_ACTIVITY_KIND_KERNEL.correlationId
		ORDER BY NVTX_EVENTS.start DESC LIMIT 1)'
	assert_equal "$(q "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE nvtxRange IS NULL OR nvtxRange = ''")" 0
	assert_equal "$(q "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE nvtxRange = 'inner'")" 10
	# Calls with backtraces.
	q 'ALTER TABLE CUDA_CALLCHAINS ADD COLUMN symbolName TEXT;
		UPDATE CUDA_CALLCHAINS SET symbolName = (SELECT value FROM StringIds WHERE symbol = StringIds.id)'
	assert_equal "$(q "SELECT count(*) > 0 FROM CUDA_CALLCHAINS JOIN CUPTI_ACTIVITY_KIND_RUNTIME ON callchainId == CUDA_CALLCHAINS.id
		WHERE symbolName = 'main' AND globalTid / 0x1000000 % 0x1000000 > 0")" 1
	# Remove ranges that overlap with overhead.
	overlap='FROM PROFILER_OVERHEAD AS overhead JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS cuda ON
		(cuda.start BETWEEN overhead.start AND overhead.end) OR (cuda.end BETWEEN overhead.start AND overhead.end)
		OR (cuda.start < overhead.start AND cuda.end > overhead.end)'
	q 'INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, eventClass, overheadType)
		SELECT min(start), min(start) + 1, 103, 3 FROM CUPTI_ACTIVITY_KIND_RUNTIME'
	assert_equal "$(q "SELECT count(*) > 0 $overlap")" 1
	q "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid IN (SELECT cuda.rowid $overlap)"
	assert_equal "$(q "SELECT count(*) $overlap")" 0
}
# consumer: NVIDIA's Analysis Guide | reader | which call created a node of a graph
@test "record -e graph-nodes,api (the statement of NVIDIA's Analysis Guide) finds the call that created each node" {
	requires bpf sim sqlite3
	ct record -q -e kernels,copies,graph-nodes,api -o r.db -- "$SIM" "$WORKLOADS/graphs" 3 7 >out
	q() { sqlite3 -bail r.db "$1"; }
	created='FROM CUPTI_ACTIVITY_KIND_RUNTIME AS api JOIN (SELECT start, graphNodeId, globalTid
		FROM CUDA_GRAPH_NODE_EVENTS GROUP BY graphNodeId HAVING count(originalGraphNodeId) = 0) AS graph
		ON api.globalTid == graph.globalTid AND api.start < graph.start AND api.end > graph.start'
	# One call for each node: seven that were added, and a capture of a fill, three kernels and a copy.
	assert_equal "$(q "SELECT count(*) $created")" "$(expect_key out created_nodes)"
	assert_equal "$(q "SELECT (SELECT value FROM StringIds WHERE id = nameId) AS name, count(*) $created GROUP BY 1 ORDER BY 1")" \
		$'cuGraphAddKernelNode_v2|7\ncuLaunchKernel|3\ncuMemcpyDtoDAsync_v2|1\ncuMemsetD8Async|1'
	# What ran is a copy, made by instantiating, of a node that one of them created.
	assert_equal "$(q "SELECT count(*), count(DISTINCT name) FROM (SELECT k.rowid, (SELECT value FROM StringIds WHERE id = api.nameId) AS name
		FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUDA_GRAPH_NODE_EVENTS AS copied
		ON copied.graphNodeId = k.graphNodeId AND copied.originalGraphNodeId IS NOT NULL
		JOIN CUDA_GRAPH_NODE_EVENTS AS original ON original.graphNodeId = copied.originalGraphNodeId
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS api ON api.globalTid = original.globalTid
		AND api.start < original.start AND api.end > original.start)")" "$((3 * (7 + 3)))|2"
	assert_equal "$(q "SELECT DISTINCT label FROM CUDA_GRAPH_NODE_EVENTS LEFT JOIN ENUM_NSYS_EVENT_CLASS AS e ON e.id = eventClass")" \
		'CUDA graph node creation'
	# It is empty without this group, stacks, ranges and collectives.
	ct record -q -e kernels -o r.db -f -- "$SIM" "$WORKLOADS/graphs" 3 7 >out
	assert_equal "$(q 'SELECT count(*) FROM CUDA_GRAPH_NODE_EVENTS')" 0
}
