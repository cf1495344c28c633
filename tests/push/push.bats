#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace push: what receivers get, read by others' decoders, and that every profile that they do not get is counted.

load ../lib/helpers

setup() {
	requires bpf sim python3
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir got
	echo 200 >got/mode
}

# receive [ARGS...]: starts the receiver; $URL is its address.
receive() {
	rm -f got/port
	start receiver python3 "$TOP/tests/push/receiver.py" "$PWD/got" "$@"
	wait_for 30 test -e got/port
	PORT=$(<got/port)
	URL=http://127.0.0.1:$PORT
}

# push ARGS... PROGRAM...: with its counts as JSON in counts.json; PROGRAM's output in program.
push() {
	ct push --json -o counts.json "$@" >program 2>push.err
}

# nothing_unknown: what was produced or found was sent, is in the queue, or is counted as lost; each kernel was in a profile.
nothing_unknown() {
	json counts.json '[.profiles, .kernels, .samples, .metrics | .produced + .found == .sent + .queued + .lost.total and
		.lost.total == (.lost | del(.total) | add)] | all' >equal
	json counts.json '.observed.kernels == .kernels.produced + .observed.in_no_profile' >equal
}

# profile BODY: a pprof body as text, by protoc.
profile() {
	gzip -dc "$1" | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto
}

# stacks: all profiles' stacks with their values, outermost function first.
stacks() {
	local body
	for body in got/body.*; do
		profile "$body" >text
		python3 "$TOP/tests/export/read_pprof.py" text
	done
}

@test "push (Pyroscope) sends pprof bodies that protoc decodes, with right sums, mappings and lines" {
	requires protoc
	receive
	push --url "$URL" -g=1 --label team=hpc,zone=b -- "$SIM" "$WORKLOADS/stacks" -n 50
	nothing_unknown
	stacks >lines
	assert_equal "$(awk '/train_step;forward;layer;spin/ {n += $(NF - 1); ns += $NF} END {print n, ns}' lines)" \
		"$(expect_key program forward) $(($(expect_key program forward) * 30000))"
	assert_equal "$(awk '/train_step;backward;spin/ {n += $(NF - 1); ns += $NF} END {print n, ns}' lines)" \
		"$(expect_key program backward) $(($(expect_key program backward) * 10000))"
	json counts.json ".kernels.sent == $(expect_key program kernels) and .profiles.lost.total == 0" >equal
	# The parts by which a reader finds lines: the file, its build id, an address in the mapping.
	profile got/body.1 >text
	grep -q 'build_id: ' text
	grep -qE "^string_table: \"$(readlink -f "$WORKLOADS/stacks")\"" text
	grep -qE "^string_table: \"$(readelf -n "$WORKLOADS/stacks" | sed -n 's/.*Build ID: //p')\"" text
	[ "$(grep -c '^  address: ' text)" -ge 5 ]
	# Where Pyroscope finds labels and times.
	run -0 json got/log '.path'
	assert_output --regexp '^/ingest\?name=stacks%7Bteam%3Dhpc%2Czone%3Db%2Ccomm%3Dstacks%2C.*%7D&from=[0-9]+&until=[0-9]+&format=pprof'
}

@test "push -g=10 divides a kernel's exact time among the stacks that are known" {
	requires protoc
	receive
	push --url "$URL" -g=10 -- "$SIM" "$WORKLOADS/stacks" -n 500
	nothing_unknown
	stacks >lines
	assert_equal "$(awk '{n += $(NF - 1)} END {print n}' lines)" "$(expect_key program kernels)"
	assert_equal "$(awk '{ns += $NF} END {print ns}' lines)" \
		"$(($(expect_key program forward) * 30000 + $(expect_key program backward) * 10000))"
	grep -q 'forward;layer;spin' lines
	run -1 grep -F '[no stack]' lines
}

@test "push -g=100 (kernels in graphs) has the stack of each node's creation, and launches beside them as samples" {
	requires protoc
	receive
	push --url "$URL" -g=100 -- "$SIM" "$WORKLOADS/graph-origins" -n 50 --eager 2000 --copies </dev/null
	nothing_unknown
	stacks >lines
	grep -qE ';run;make_captured;embed;captured;cuLaunchKernel;spin 100 3000000$' lines || fail "$(cat lines)"
	grep -qE ';run;make_captured;head;captured;cuLaunchKernel;spin 50 500000$' lines
	grep -qE ';run;make_built;build;cuGraphAddKernelNode(_v2)?;spin 100 500000$' lines
	grep -qE ';copied;captured;cuLaunchKernel;spin 50 150000$' lines
	grep -qE ';plain;counted__launch;cuLaunchKernel;spin 2000 4000000$' lines
}

@test "push (Python) keeps a function's file and line apart from its name" {
	requires protoc python3
	receive
	push --url "$URL" -g=1 -- "$SIM" python3 "$TOP/tests/workloads/stacks.py" 3
	profile got/body.1 >text
	grep -q '^string_table: ".*/stacks.py"' text
	run -1 grep -E '^string_table: "stacks.py:[0-9]+ ' text
}

@test "push --interval sends one profile after the other, without a gap or an overlap" {
	requires protoc
	receive
	push --url "$URL" --interval 300ms -- "$SIM" "$WORKLOADS/launch-storm" -s 2 -p 1000
	nothing_unknown
	json counts.json ".profiles.sent >= 4 and .profiles.sent == .profiles.produced and .kernels.sent == $(expect_key program kernels)" >equal
	for ((n = 1; n <= $(json counts.json .profiles.sent); n++)); do
		profile got/body.$n >text
		echo "$(sed -n 's/^time_nanos: //p' text) $(sed -n 's/^duration_nanos: //p' text)"
	done >times
	end=''
	while read -r start duration; do
		assert_equal "$start" "${end:-$start}"
		end=$((start + duration))
	done <times
}

@test "push (receiver answers 500, 429 with Retry-After, then 200) sends everything" {
	receive
	echo 500 >got/mode
	start push "$CUDA_TRACE" push --json -o counts.json --url "$URL" --interval 300ms --final-wait 30s -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 3 -p 1000
	wait_for 30 grep -q '"500"' got/log
	echo 429 3 >got/mode
	wait_for 30 grep -q '"429"' got/log
	echo 200 >got/mode
	wait_for 60 test -s counts.json
	nothing_unknown
	json counts.json '.profiles.sent == .profiles.produced and .requests.failed >= 2' >equal
	# The pause that it requested.
	json <(jq -s '.' got/log) '[.[] | select(.status == "429")][-1].time as $requested |
		[.[] | select(.status == "200")][0].time - $requested >= 3' >equal
	assert_equal "$(grep -c 'answered 500' "$BATS_TEST_TMPDIR/push.err")" 1
}

@test "push (receiver rejects with 400) counts profiles and kernels as lost, and does not repeat them" {
	receive
	echo 400 >got/mode
	push --url "$URL" -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.lost.rejected == .profiles.produced and .kernels.lost.rejected == .kernels.produced and
		.kernels.produced > 0 and .requests.made == .profiles.produced' >equal
	grep -q 'the receiver answered 400: these profiles are lost' push.err
}

@test "push (no receiver) counts what was not sent, and ends" {
	receive
	stop_started
	push --url "$URL" --final-wait 300ms -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.lost.unsent == .profiles.produced and .profiles.produced > 0 and .profiles.sent == 0' >equal
	ct push --url "$URL" --final-wait 0 -- "$SIM" "$WORKLOADS/saxpy" >text 2>&1
	grep -q 'lost: 1 profiles with [1-9][0-9]* kernels: they were not sent until the end' text
	run -1 grep 'nothing was lost' text
}

@test "push --queue keeps profiles for the next run, which sends them" {
	receive
	stop_started
	push --url "$URL" --final-wait 300ms --queue "$PWD/queue" -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.queued == .profiles.produced and .profiles.queued > 0 and .kernels.queued == .kernels.produced' >equal
	receive --port "$PORT"
	push --url "$URL" --queue "$PWD/queue" --final-wait 30s -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.found == 1 and .profiles.sent == 2 and .kernels.sent == .kernels.found + .kernels.produced' >equal
	assert_equal "$(ls queue)" lock
	assert_equal "$(ls got/body.* | wc -l)" 2
}

@test "push --queue-size drops the oldest and counts them; what is left is sent later" {
	receive
	stop_started
	push --url "$URL" --interval 200ms --final-wait 0.1s --queue "$PWD/queue" --queue-size 4K -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 4 -p 1000
	nothing_unknown
	json counts.json '.profiles.lost.queue_full > 0 and .profiles.queued > 0' >equal
	[ "$(cat queue/*.push | wc -c)" -lt 8192 ]
	mv counts.json before.json
	receive --port "$PORT"
	push --url "$URL" --queue "$PWD/queue" --final-wait 30s -- "$SIM" "$WORKLOADS/saxpy"
	json counts.json ".profiles.found == $(json before.json .profiles.queued) and .profiles.queued == 0" >equal
}

@test "push --queue (a damaged file) counts it, and sends the others" {
	receive
	stop_started
	for _ in 1 2 3; do
		push --url "$URL" --final-wait 0 --queue "$PWD/queue" -- "$SIM" "$WORKLOADS/saxpy"
	done
	set -- queue/*.push
	assert_equal $# 3
	printf x | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 9)) conv=notrunc status=none
	truncate -s 20 "$2"
	receive --port "$PORT"
	push --url "$URL" --queue "$PWD/queue" --final-wait 30s -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.found == 3 and .profiles.lost.damaged == 2 and .profiles.sent == 2' >equal
}

@test "push --queue (disk full) counts it, and keeps what fits into memory until it is sent" {
	requires root
	receive
	stop_started
	mkdir full
	mount -t tmpfs -o size=64k,mode=700 tmpfs full
	dd if=/dev/zero of=full/filler bs=1k count=64 status=none 2>/dev/null || :
	push --url "$URL" --interval 200ms --final-wait 0.1s --queue "$PWD/full" -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	grep -q 'cannot write a file: No space left on device' push.err
	nothing_unknown
	json counts.json '.requests.write_errors > 0 and .profiles.lost.disk == .profiles.produced' >equal
	receive --port "$PORT"
	push --url "$URL" --interval 200ms --final-wait 30s --queue "$PWD/full" -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	umount full
	nothing_unknown
	json counts.json '.requests.write_errors > 0 and .profiles.sent == .profiles.produced' >equal
}

@test "push (receiver slow, then connections cut) never holds up the collection, and repeats what was cut" {
	receive
	echo slow 2 >got/mode
	start push "$CUDA_TRACE" push --json -o counts.json --url "$URL" --interval 200ms --final-wait 30s -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 3 -p 1000
	wait_for 30 test -e got/log
	echo cut >got/mode
	wait_for 30 grep -q '"cut"' got/log
	echo 200 >got/mode
	wait_for 60 test -s counts.json
	nothing_unknown
	json counts.json ".lost.total == 0 and .profiles.sent == .profiles.produced and .profiles.produced > 5 and
		.kernels.sent == $(expect_key "$BATS_TEST_TMPDIR/push.out" kernels)" >equal
}

@test "push (receiver restarts) sends everything" {
	receive
	start push "$CUDA_TRACE" push --json -o counts.json --url "$URL" --interval 200ms --final-wait 30s -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 4 -p 1000
	wait_for 30 test -e got/body.1
	kill -KILL -- -"$receiver_PID"
	wait_for 30 grep -q 'tried again' push.err
	mv got before
	mkdir got
	echo 200 >got/mode
	receive --port "$PORT"
	wait_for 60 test -s counts.json
	nothing_unknown
	json counts.json '.profiles.lost.total == 0 and .profiles.sent == .profiles.produced' >equal
	[ "$(ls before/body.* got/body.* | wc -l)" -ge "$(json counts.json .profiles.sent)" ]
}

@test "push (receiver down, a hundred intervals) stays below 64 MiB of memory" {
	receive
	stop_started
	start push "$CUDA_TRACE" push --json -o counts.json --url "$URL" --interval 100ms --final-wait 0.1s --queue-size 8K -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 10 -p 100
	wait_for 30 grep -q 'tried again' push.err
	most=0
	while [ -e "/proc/$push_PID/status" ] && [ ! -s counts.json ]; do
		now=$(awk '/^VmHWM/ {print $2}' "/proc/$push_PID/status" 2>/dev/null) || break
		[ "${now:-0}" -le "$most" ] || most=$now
		sleep 0.2
	done
	wait_for 30 test -s counts.json
	nothing_unknown
	json counts.json '.profiles.lost.queue_full > 0' >equal
	[ "$most" -gt 0 ] && [ "$most" -lt 65536 ] || fail "$most KiB"
}

@test "push (https) checks the receiver's certificate with --ca; the token is in the request and nowhere else" {
	requires openssl
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	receive --tls cert.pem key.pem
	printf 's3cret-token\n' >token
	printf 'X-Scope-OrgID: tenant-7\n' >headers
	push -v --url "https://127.0.0.1:$PORT" --ca cert.pem --token-file token --header @headers -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.sent == 1' >equal
	json got/log '.headers.authorization == "Bearer s3cret-token" and .headers["x-scope-orgid"] == "tenant-7"' >equal
	run -1 grep -r s3cret push.err counts.json
	# A certificate that nobody vouches for.
	push --url "https://127.0.0.1:$PORT" --token-file token --final-wait 3s -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.lost.unsent == 1' >equal
	grep -qi certificate push.err
	assert_equal "$(wc -l <got/log)" 1
}

@test "push --token-file reads the token anew for each request" {
	receive
	echo one >token
	start push "$CUDA_TRACE" push --json -o counts.json --url "$URL" --interval 200ms --token-file token -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 30 -p 1000
	wait_for 30 grep -q 'Bearer one' got/log
	echo two >token.new
	mv token.new token
	wait_for 30 grep -q 'Bearer two' got/log
}

@test "push --format parca sends all profiles in one request of Parca's gateway" {
	requires protoc jq base64
	receive
	push --url "$URL" --format parca -g=1 -- "$SIM" "$WORKLOADS/stacks" -n 20
	nothing_unknown
	json counts.json '.profiles.sent == 1' >equal
	json got/log '.path == "/api/profiles/writeraw" and .headers["content-type"] == "application/json"' >equal
	json got/body.1 '.series[0].labels.labels | map({(.name): .value}) | add |
		.["__name__"] == "cuda" and .service_name == "stacks" and .comm == "stacks"' >equal
	jq -r '.series[0].samples[0].rawProfile' got/body.1 | base64 -d >body
	profile body >text
	python3 "$TOP/tests/export/read_pprof.py" text >lines
	assert_equal "$(awk '{n += $(NF - 1)} END {print n}' lines)" "$(expect_key program kernels)"
}

# with_module NAME: skips where the npm registry's package is not there.
with_module() {
	requires node
	[ -d "$B/npm/node_modules/$1" ] || skip "needs $1 (mk/npm-packages)"
}

@test "push (bodies for Pyroscope) are read by pprof-format, with every address in its mapping" {
	with_module pprof-format
	receive
	push --url "$URL" -g=1 -- "$SIM" "$WORKLOADS/stacks" -n 50
	run -0 node "$TOP/tests/push/decode.mjs" "$B/npm" pprof got/body.1
	assert_line --regexp "^stack stacks;.*;train_step;forward;layer;spin;.*;spin $(expect_key program forward) $(($(expect_key program forward) * 30000))\$"
}

# otlp BODY: a request as protobufjs reads it, checked; with the published files where there are any.
otlp() {
	node "$TOP/tests/push/decode.mjs" "$B/npm" otlp "$TOP/tests/push/receiver.proto" receiver.ProfilesRequest "$1" || return
	[ -z "${OTEL_PROTOS-}" ] || node "$TOP/tests/push/decode.mjs" "$B/npm" otlp \
		"$OTEL_PROTOS/opentelemetry/proto/collector/profiles/v1development/profiles_service.proto" \
		opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest "$1" >published
}

@test "push --format otlp sends a request that protobufjs decodes: right sums, a dictionary by the rules, frame types" {
	with_module protobufjs
	receive
	push --url "$URL" --format otlp -g=1 --label team=hpc -- "$SIM" "$WORKLOADS/stacks" -n 50
	nothing_unknown
	json counts.json ".profiles.sent == 2 and .kernels.sent == $(expect_key program kernels)" >equal
	json got/log '.path == "/v1development/profiles" and .headers["content-type"] == "application/x-protobuf" and
		.headers["content-encoding"] == "gzip"' >equal
	otlp got/body.1 >lines || fail "$(cat lines)"
	grep -qE '^resource .*"team":"hpc","service.name":"stacks","process.pid":[0-9]+,"process.executable.name":"stacks"' lines
	assert_equal "$(grep -oE '^profile [^ ]+' lines | sort)" $'profile gpu_time/nanoseconds\nprofile kernels/count'
	forward=$(expect_key program forward)
	grep -qE "^stack .*native:main;native:train_step;native:forward;native:layer;native:spin;.*;cuda:spin $((forward * 30000)) $forward\$" lines ||
		fail "$(cat lines)"
}

@test "push --format otlp (Python) gives frames the type cpython, with file and line" {
	with_module protobufjs
	receive
	push --url "$URL" --format otlp -g=1 -- "$SIM" python3 "$TOP/tests/workloads/stacks.py" 3
	otlp got/body.1 >lines || fail "$(cat lines)"
	grep -qE '^stack .*;cpython:main;cpython:step;' lines
	line=$(awk '$1 == "line" && $2 == "layer" {print $3}' program)
	grep -qxF "function layer $TOP/tests/workloads/stacks.py $line" lines || fail "$(cat lines)"
}

@test "push --format otlp (the receiver takes a part) counts the rest as rejected" {
	receive
	# partial_success { rejected_profiles: 1 error_message: "no" }
	printf '\x0a\x06\x08\x01\x12\x02no' >got/answer
	push --url "$URL" --format otlp -- "$SIM" "$WORKLOADS/saxpy"
	nothing_unknown
	json counts.json '.profiles.sent == 1 and .profiles.lost.rejected == 1' >equal
}

@test "push --format otlp (several processes) has a resource for each" {
	with_module protobufjs
	receive
	push --url "$URL" --format otlp -- "$SIM" "$WORKLOADS/forks"
	nothing_unknown
	cat got/body.* >/dev/null
	for body in got/body.*; do otlp "$body"; done >lines
	assert_equal "$(grep -c '^resource ' lines)" "$(grep -oE '"process.pid":[0-9]+' lines | sort -u | wc -l)"
}

# The samples of one window, of two functions; "other" is launched by nobody.
script() {
	cat >script <<-END
		spin 70 long_scoreboard 600
		spin 70 long_scoreboard_not_issued 500
		spin 90 wait 200
		_Z5otherPfi 10 barrier 100
		dropped 7
		other 3
	END
	export SIMCUDA_PC_SCRIPT=$PWD/script
}

# sum REGEX: the first values of the stacks that match.
sum() {
	awk -v regex="$1" '$1 == "stack" && $0 ~ regex {n += $(NF - 1)} END {print n + 0}' lines
}

# all_samples_known: each that the GPU took is in a profile, of other programs, or counted with a reason.
all_samples_known() {
	nothing_unknown
	json counts.json '.samples | .produced + .found == .sent + .queued + .lost.total' >equal
	json counts.json '(.pc.placed + .pc.dropped == .samples.produced + .pc.in_no_profile) and
		.pc.total == .pc.placed + .pc.dropped + .pc.other + .pc.unplaced and .kernels.produced == 0' >equal
}

# has_windows: what decoded lines must have: of $n windows, by stack, kernel and reason.
has_windows() {
	n=$(($(json counts.json .pc.placed) / 900))
	[ "$n" -gt 0 ] && assert_equal "$(json counts.json '[.pc.placed, .pc.dropped, .pc.other, .pc.unplaced] | map(tostring) | join(" ")')" \
		"$((900 * n)) $((7 * n)) $((3 * n)) 0"
	assert_equal "$(sum ';([a-z]+:)?spin;(-:)?long_scoreboard ')" $((600 * n))
	assert_equal "$(sum ';([a-z]+:)?spin;(-:)?wait ')" $((200 * n))
	assert_equal "$(sum '[; ](-:)?\[no stack\];([a-z]+:)?other\(float\*, int\);(-:)?barrier ')" $((100 * n))
	assert_equal "$(sum '[; ](-:)?\[dropped by the GPU\] ')" $((7 * n))
	assert_equal "$(sum .)" "$(json counts.json .samples.sent)"
	# Three parts of four of the launches are of forward().
	assert_equal "$(sum 'train_step;([a-z]+:)?forward;.*;([a-z]+:)?spin;(-:)?')" $((600 * n))
	assert_equal "$(sum 'train_step;([a-z]+:)?backward;.*;([a-z]+:)?spin;(-:)?')" $((200 * n))
}

# push_pc OPTIONS...: a program of a second with four launches in each step, of which forward() has three.
push_pc() {
	mkfifo hold
	exec 8<>hold
	setsid "$CUDA_TRACE" push --json -o counts.json --url "$URL" --pc --bursts 10ms/100ms "$@" -- \
		"$SIM" "$WORKLOADS/stacks" -n 100 --linger <hold >program 2>push.err 8>&- 3>&- &
	local pid=$!
	echo $pid >>started
	wait_for 30 grep -q '^expect ' program
	sleep 1
	exec 8>&-
	: >hold
	finished "$pid" 40
	assert_equal "$status" 0
}

@test "push --pc (Pyroscope) has stall reasons below their kernels, divided among the stacks of its launches, as pprof-format reads it" {
	with_module pprof-format
	receive
	script
	push_pc -g=1
	all_samples_known
	for body in got/body.*; do node "$TOP/tests/push/decode.mjs" "$B/npm" pprof "$body"; done >lines
	run ! grep '^wrong' lines
	assert_equal "$(grep '^type ' lines | sort -u)" 'type gpu_pc_samples/count'
	has_windows
	run -0 json got/log '.path'
	assert_output --regexp '^/ingest\?name=stacks%7Bcomm%3Dstacks%2C'
}

@test "push --pc --format otlp has one profile gpu_pc_samples, kernels of type cuda and stall reasons of none, as protobufjs reads it" {
	with_module protobufjs
	receive
	script
	push_pc -g=1 --format otlp
	all_samples_known
	for body in got/body.*; do otlp "$body"; done >lines || fail "$(cat lines)"
	assert_equal "$(grep -oE '^profile [^ ]+' lines | sort -u)" 'profile gpu_pc_samples/count'
	has_windows
	grep -qE '^stack .*native:main;native:train_step;native:forward;native:layer;native:spin;.*;cuda:spin;-:long_scoreboard ' lines ||
		fail "$(cat lines)"
}

@test "push --pc, profile --pc (the same script) have the same shares" {
	requires protoc
	receive
	script
	push --url "$URL" --pc --bursts 10ms/100ms -g=0 -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	all_samples_known
	stacks >text.pc
	run -1 grep -F '[no stack]' text.pc
	ct profile --pc --bursts 10ms/100ms --json -o profile.json -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000 >program
	for reason in long_scoreboard wait barrier; do
		share=$(json profile.json "[.reasons[] | select(.reason == \"$reason\").samples] | add / (1.0 * $(json profile.json .samples.placed))")
		json counts.json "$(awk -v r="$reason" '$0 ~ ";" r " " {n += $(NF - 1)} END {print n}' text.pc) / .pc.placed == $share" >equal
	done
}

@test "push --pc (receiver down, many intervals) keeps its bounds and counts the samples of what it dropped" {
	receive
	stop_started
	script
	start push "$CUDA_TRACE" push --json -o "$PWD/counts.json" --url "$URL" --pc --bursts 10ms/100ms --interval 100ms \
		--final-wait 0.1s --queue-size 4K -- "$SIM" "$WORKLOADS/launch-storm" -s 4 -p 1000
	most=0
	while [ -e "/proc/$push_PID/status" ] && [ ! -s counts.json ]; do
		now=$(awk '/^VmHWM/ {print $2}' "/proc/$push_PID/status" 2>/dev/null) || break
		[ "${now:-0}" -le "$most" ] || most=$now
		sleep 0.2
	done
	wait_for 30 test -s counts.json
	all_samples_known
	json counts.json '.profiles.lost.queue_full > 0 and .samples.lost.queue_full > 0 and .samples.sent == 0 and
		.samples.lost.total == .samples.produced' >equal
	[ "$most" -gt 0 ] && [ "$most" -lt 65536 ] || fail "$most KiB"
}

@test "push --pc --queue keeps the number of samples for the next run" {
	receive
	stop_started
	script
	push --url "$URL" --pc --bursts 10ms/100ms --final-wait 0 --queue "$PWD/queue" -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	json counts.json '.samples.queued == .samples.produced and .samples.queued > 0' >equal
	queued=$(json counts.json .samples.queued)
	receive --port "$PORT"
	push --url "$URL" --queue "$PWD/queue" --final-wait 30s -- "$SIM" "$WORKLOADS/saxpy"
	json counts.json ".samples.found == $queued and .samples.sent == $queued and .pc == null" >equal
}

@test "push --pc (no permission; samples of other kernels alone) says why, and what helps" {
	receive
	SIMCUDA_PC_SAMPLING=35 push --url "$URL" --pc -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	grep -q 'ERR_NVGPUCTRPERM' push.err
	json counts.json '.profiles.produced == 0 and .pc.total == 0' >equal
	printf 'saxpy 70 wait 1\nother 1000\n' >script
	SIMCUDA_PC_SCRIPT=$PWD/script push --url "$URL" --pc --bursts 10ms/100ms --interval 200ms -- \
		"$SIM" "$WORKLOADS/launch-storm" -s 1 -p 1000
	grep -q '^cuda-trace push: nearly all samples are of kernels that CUPTI does not attribute' push.err
	json counts.json '.pc.note | test("^nearly all samples")' >equal
	run -2 ct push -a --url http://host --bursts 10ms/1s
	assert_output --partial -- '--bursts goes with --pc'
	run -2 ct push -a --url http://host --pc --bursts 10ms
	assert_output --partial -- '--bursts ON/PERIOD'
	run -2 ct push -a --url http://host --format otlp --pc --metrics
	assert_output --partial 'either --pc or --metrics'
}

@test "push --metrics sends hw.gpu.* and the kernels of each process, which protobufjs decodes" {
	with_module protobufjs
	receive
	push --url "$URL" --format otlp --metrics --interval 400ms -- "$SIM" "$WORKLOADS/launch-storm" -s 2 -p 1000
	nothing_unknown
	json counts.json '.metrics.sent >= 2 and .metrics.sent == .metrics.produced' >equal
	# The last one, which has all.
	n=$(json <(jq -s . got/log) '[to_entries[] | select(.value.path == "/v1/metrics").key] | max + 1')
	node "$TOP/tests/push/decode.mjs" "$B/npm" metrics "$TOP/tests/push/receiver.proto" receiver.MetricsRequest "got/body.$n" >lines
	grep -qE '^hw.gpu.utilization 1 gauge - [01](\.[0-9]+)?(e-[0-9]+)? hw.id=GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12},.*hw.vendor=NVIDIA,hw.gpu.task=general' lines || fail "$(cat lines)"
	grep -qE '^hw.gpu.memory.limit By sum 2 [0-9]+ hw.id=GPU-' lines || fail "$(cat lines)"
	grep -qE '^cuda_device_busy_seconds s counter 2 [0-9.e-]+ hw.id=GPU-' lines || fail "$(cat lines)"
	grep -qE "^cuda_kernel_duration_seconds s histogram 2 $(expect_key program kernels) [0-9.e-]+ device=0 .*process.executable.name=launch-storm" lines ||
		fail "$(cat lines)"
	run -2 ct push --url http://host --metrics -a
	assert_output --partial '--metrics goes with --format otlp'
}

@test "push and stat (one program, watched by both) take nothing from each other: stat has the launches, push their stacks" {
	receive
	mkfifo gate
	start holder sh -c 'exec sleep 60 >gate'
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "$WORKLOADS/launch-storm" -w -n 20000 -t 2 <gate >out &
	local program=$!
	start push "$CUDA_TRACE" push -v --json -o counts.json --url "$URL" -g=10 -p $program
	wait_for 20 grep -q "watching .* in process" push.err
	# The agent has looked, and sends no launches: until stat wants them.
	sleep 0.6
	start stat "$CUDA_TRACE" stat -v --json -o stat.json -p $program
	wait_for 20 grep -q "watching .* in process" stat.err
	sleep 0.6
	echo >gate
	wait $program
	# shellcheck disable=SC2154 # set by start
	finished "$stat_PID"
	finished "$push_PID"
	assert_equal "$(json stat.json .totals.launches)" "$(expect_key out launches)"
	assert_equal "$(json counts.json .kernels.sent)" "$(expect_key out kernels)"
	nothing_unknown
	# 4,000 of 40,000, by chance.
	json counts.json '.observed.stacks > 3600 and .observed.stacks < 4400' >equal
}

@test "stat -p (push has taken stacks of its launches before) has a launch of each kernel" {
	receive
	# It rests so long that hardly any launch is under way when the time begins or ends.
	CUDA_INJECTION64_PATH=$AGENT start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 20000
	ready storm
	local pid; pid=$(pgrep -f "^$WORKLOADS/launch-storm" | tail -n 1)
	start push "$CUDA_TRACE" push -v --url "$URL" -g=10 -p "$pid"
	# shellcheck disable=SC2154 # set by start
	wait_for 20 grep -q "watching .* in process" push.err
	sleep 0.6
	ct stat -p "$pid" -d 4 --json -o stat.json
	json stat.json '.totals.launches > 100 and .totals.launches == .totals.kernels and .lost.total == 0' >equal
}

@test "push -a makes a profile for each program" {
	requires root
	receive
	start one env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready one
	LIMIT=90 push --url "$URL" -a --interval 500ms -d 3
	nothing_unknown
	json counts.json '.profiles.sent > 1' >equal
	grep -q 'name=launch-storm%7B' got/log
}

@test "push (mistakes) says what is wrong, and touches nothing" {
	run -2 ct push -a
	assert_output --partial '--url names the receiver'
	run -2 ct push -a --url ftp://host
	assert_output --partial 'neither http:// nor https://'
	run -2 ct push -a --url http://user:word@host
	assert_output --partial 'passwords go into a file'
	refute_output --partial word@
	run -2 ct push -a --url http://host --interval 1ms
	run -2 ct push -a --url http://host -g=7
	run -2 ct push -a --url http://host --queue-size 1G
	run -2 ct push -a --url http://host --label 'a-b=c'
	run -2 ct push -a --url http://host --format json
	mkdir -m 777 open
	run -1 ct push -a --url http://127.0.0.1:1 --queue "$PWD/open" -d 1
	assert_output --partial 'other users can write there'
}
