#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Attaching to programs whose CUPTI is not initialised (CUPTI_USDT_PRIME=0) and whose
# threads launch without a pause: the tool holds their launches until the first subscription is through. The simulated driver's waits for
# a moment without a launch, as seen on an H200.
# shellcheck disable=SC2154 # storm_PID and the like are made by start

load ../lib/helpers

setup() {
	requires bpf sim jq
	cd "$BATS_TEST_TMPDIR" || return 1
	# Who watches the whole machine does not wake a file of that name, nor take the process for one without.
	cp "$GUEST" libcupti-usdt.so.held
	export CUDA_TRACE_GUEST=$PWD/libcupti-usdt.so.held
	export CUPTI_USDT_PRIME=0 SIMCUDA_STARVE_MS=60000 SIMCUDA_LAUNCH_NS=2000 SIMCUDA_KERNEL_NS=100
}

maps_guest() {
	grep -q 'libcupti-usdt\.so\.held$' "/proc/$1/maps"
}

# storm NAME OPTIONS...: 8 threads that launch without a pause
storm() {
	local name=$1 pid=$1_PID; shift
	SIMCUDA_LOG=$PWD/$name.log start "$name" "$SIM" env CUDA_INJECTION64_PATH="$CUDA_TRACE_GUEST" \
		"$WORKLOADS/launch-storm" -t 8 "$@"
	wait_for 10 maps_guest "${!pid}"
	wait_for 10 grep -q 'injection .*called=1' "$name.log"
	sleep 0.3
	entries=$(entry_of "${!pid}")
}

# entry_of PID: the first bytes of launch functions in the process, where breakpoints would be
entry_of() {
	local library base address
	library=$(awk '/libcuda\.so/ {print $6; exit}' "/proc/$1/maps")
	base=$(awk '/libcuda\.so/ {split($1, a, "-"); print a[1]; exit}' "/proc/$1/maps")
	for address in $(readelf --dyn-syms -W "$library" | awk '$8 ~ /^cu(LaunchKernel|GraphLaunch)(@|$)/ {print $2}'); do
		dd if="/proc/$1/mem" bs=1 skip=$((0x$base + 0x$address)) count=1 status=none | od -An -tx1
	done
}

is_as_before() {
	[ "$(entry_of "$1")" = "$entries" ]
}

is_held() {
	! is_as_before "$1"
}

# well NAME: ended as it does without anybody
well() {
	local pid=$1_PID
	finished "${!pid}"
	assert_equal "$status" 0
	assert_equal "$(cat "$1.err")" ""
	grep -q '^expect launches=.* api_errors=0$' "$1.out"
}

@test "attach (not primed, 8 threads launch without a pause, no hold) does not get through" {
	storm storm -s 6
	CUDA_TRACE_HOLD=0 ct stat -p "$storm_PID" -d 2 --json -o out.json 2>err
	json out.json '.totals.kernels == 0 and .totals.launches < 100'
	is_as_before "$storm_PID"
	grep -q "CUPTI does not start in process $storm_PID" err
	grep -q "CUPTI_USDT_PRIME=1" err
	well storm
}

@test "attach (primed, 8 threads launch without a pause, no hold) gets through" {
	export CUPTI_USDT_PRIME=1
	storm storm -s 6
	CUDA_TRACE_HOLD=0 ct stat -p "$storm_PID" -d 2 --json -o out.json 2>err
	json out.json '.first_record_ms < 1000 and .totals.kernels > 100'
	run ! grep 'CUPTI does not start' err
	well storm
}

@test "attach (not primed, 8 threads launch without a pause) gets through within 1 s, and leaves no probe" {
	storm storm -s 12
	start tool "$CUDA_TRACE" stat -v -p "$storm_PID" -d 3 --json -o out.json
	wait_for 5 grep -q "launches of process $storm_PID were held for" tool.err
	wait_for 1 is_as_before "$storm_PID"
	kill -0 "$tool_PID"
	finished "$tool_PID"
	json out.json '.first_record_ms < 1000 and .totals.kernels > 100 and .totals.launches > 100 and .lost.total == 0'
	is_as_before "$storm_PID"
	# By now it is as one that was primed.
	ct stat -v -p "$storm_PID" -d 1 --json -o out.json 2>err
	json out.json '.first_record_ms < 1000 and .totals.kernels > 100'
	run ! grep "launches of process" err
	well storm
}

# gets_through COMMAND: of a tool that attaches to a new storm; ends with -p: to that process
gets_through() {
	local command=$1
	storm storm -s 30 -g 5
	[[ $command != *-p ]] || command+=" $storm_PID"
	# shellcheck disable=SC2086
	ct $command >out 2>err || fail "$command: $(cat err)"
	grep -q " subscribe " storm.log || fail "$command: $(cat err)"
	wait_for 2 is_as_before "$storm_PID"
	kill -TERM -- "-$storm_PID"
}

@test "attach (not primed, graphs are launched as well) gets through in every command" {
	local command
	for command in "trace -o json -d 1.5 -p" "record -o r.db -d 1.5 -p" "profile --pc --json -d 1.5 -p" \
		"top -b -d 1 -n 2" "metrics --textfile - -d 1.5"; do
		gets_through "$command"
	done
}

@test "attach (not primed, hardware counters, instructions) gets through" {
	local command
	echo 'empty 70 smsp__sass_inst_executed 1000' >sass
	export SIMCUDA_SASS_SCRIPT=$PWD/sass
	for command in "profile --counters gpu__time_duration.sum --json -d 3 -p" "profile --sass --json -d 3 -p"; do
		gets_through "$command"
	done
}

@test "attach (not primed, whoever is meant, and how much of it) gets through" {
	local command
	for command in "stat -d 1.5 -a" "stat -d 1.5 -c launch-storm" "record -g -o s.db -d 1.5 -u $(id -u)" \
		"stat --source cupti -e launches -d 1.5 -p" "stat --sample 100ms/500ms -d 1.5 -p" \
		"top --sample 100ms/500ms -b -d 1 -n 2 -p" "metrics --max-overhead 5% --textfile - -d 1.5"; do
		gets_through "$command"
	done
}

@test "metrics (two processes, not primed) gets both through, and leaves no probe" {
	storm one -s 25
	storm two -s 25
	start tool "$CUDA_TRACE" metrics -v --textfile out.prom -d 20
	wait_for 15 grep -q ' subscribe ' one.log
	wait_for 15 grep -q ' subscribe ' two.log
	kill -TERM "$tool_PID"
	finished "$tool_PID"
	assert_equal "$(grep -cE "launches of process ($one_PID|$two_PID) were held" tool.err)" 2
	is_as_before "$one_PID"
	is_as_before "$two_PID"
}

@test "attach (not primed, the tool is killed with -9 while it holds) leaves no probe" {
	# Subscribing takes that long even when it is through: the tool holds all the time.
	export SIMCUDA_SUBSCRIBE=slow:2500
	storm storm -s 9
	start tool "$CUDA_TRACE" stat -v -p "$storm_PID" --json -o out.json
	wait_for 5 is_held "$storm_PID"
	kill -KILL -- "-$tool_PID"
	wait_for 5 is_as_before "$storm_PID"
	well storm
}

# Of a probe that is listened to already no second listener is heard: the guest tells it again and again.
@test "attach (not primed, one that holds nobody waits already) gets through once another one holds" {
	storm storm -s 30
	CUDA_TRACE_HOLD=0 start first "$CUDA_TRACE" stat -p "$storm_PID" -d 25 --json -o first.json
	wait_for 10 grep -q 'CUPTI does not start' first.err
	run ! grep ' subscribe ' storm.log
	# Who only looks is told so as well, though the guest's own thread waits.
	ct list --json | jq -c "select(.pid == $storm_PID)" >row
	json row '.state == "dormant" and (.note | contains("waits for a moment without a launch"))'
	ct stat -v -p "$storm_PID" -d 2 --json -o out.json 2>err
	grep -q "launches of process $storm_PID were held for" err
	json out.json '.first_record_ms < 2000 and .totals.kernels > 100'
	kill -INT "$first_PID"
	finished "$first_PID"
	json first.json '.totals.kernels > 100'
	kill -TERM -- "-$storm_PID"
}

@test "attach (not primed, after a tool that was killed with -9 while it waited) gets through" {
	storm storm -s 30
	CUDA_TRACE_HOLD=0 start first "$CUDA_TRACE" stat -p "$storm_PID" --json -o first.json
	wait_for 10 grep -q 'CUPTI does not start' first.err
	kill -KILL -- "-$first_PID"
	sleep 0.5
	run ! grep ' subscribe ' storm.log
	ct stat -v -p "$storm_PID" -d 2 --json -o out.json 2>err
	grep -q "launches of process $storm_PID were held for" err
	json out.json '.first_record_ms < 2000 and .totals.kernels > 100 and .lost.total == 0'
	kill -TERM -- "-$storm_PID"
}

@test "attach (not primed, after a tool that was killed with -9 while it held) holds again" {
	# The first one is gone before CUPTI so much as waits for a moment without launches.
	export SIMCUDA_SUBSCRIBE=slow:4000
	storm storm -s 30
	start first "$CUDA_TRACE" stat -p "$storm_PID" --json -o first.json
	wait_for 5 is_held "$storm_PID"
	kill -KILL -- "-$first_PID"
	wait_for 5 is_as_before "$storm_PID"
	start second "$CUDA_TRACE" stat -v -p "$storm_PID" -d 20 --json -o out.json
	wait_for 5 is_held "$storm_PID"
	kill -TERM -- "-$storm_PID"
}

@test "attach (not primed, the tool in a PID namespace of its own) gets through" {
	requires unshare
	cat >inside <<-'END'
		CUDA_INJECTION64_PATH=$CUDA_TRACE_GUEST SIMCUDA_LOG=$PWD/storm.log "$SIM" "$WORKLOADS/launch-storm" -s 30 -t 8 &
		until grep -q 'injection .*called=1' storm.log 2>/dev/null && grep -q libcupti-usdt "/proc/$!/maps"; do sleep 0.05; done
		sleep 0.3
		"$CUDA_TRACE" stat -v -p $! -d 2 --json -o out.json 2>err
		echo $! >pid
	END
	CUDA_TRACE=$CUDA_TRACE timeout -k 5 60 unshare --pid --fork --kill-child --mount-proc bash inside
	grep -q "launches of process $(cat pid) were held for" err || fail "$(cat err)"
	json out.json '.first_record_ms < 1000 and .totals.kernels > 100'
}

@test "list (not primed, primed) says of which what attaching may do" {
	local prime
	for prime in 0 1; do
		CUPTI_USDT_PRIME=$prime storm "primed$prime" -s 20 -p 1000
	done
	ct list --json >rows
	jq -c "select(.pid == $primed0_PID)" rows >row
	json row '.state == "dormant" and (.note | startswith("not primed: attaching may kill it"))'
	jq -c "select(.pid == $primed1_PID)" rows >row
	json row '.state == "dormant" and .prime_us > 0 and .note == ""'
	kill -TERM -- "-$primed0_PID" "-$primed1_PID"
}

# The simulated CUPTI's first subscription, like that of 13.0 on an H200, kills whoever makes a part of a graph meanwhile.
@test "attach (first, to a program that captures graphs) leaves it alone: CUPTI was subscribed to in its cuInit()" {
	unset CUPTI_USDT_PRIME
	SIMCUDA_TABLE_MS=300 start busy "$SIM" env CUDA_INJECTION64_PATH="$CUDA_TRACE_GUEST" "$WORKLOADS/captures" 4 1
	wait_for 10 grep -q ready busy.out
	ct stat -p "$busy_PID" -d 1.5 --json -o out.json
	json out.json '.totals.kernels > 0'
	finished "$busy_PID"
	assert_equal "$status" 0
	grep -q '^expect ' busy.out
}
