#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics: what it shows against what each program says of itself, its formats, its
# bounds and its manners towards clients.

load helpers

CROWD=$B/tests/crowd/crowd
ID=$(printf '%03d' $((RANDOM % 1000)))

setup() {
	requires bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
}

# exporter ARGS...: runs it in the background; its address is in $URL.
exporter() {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# traced NAME ARGS...: a workload with the guest, on the simulated driver, under a name that no
# other process of this machine has: the exporter sees them all. Its output is NAME.out.
traced() {
	cp "$WORKLOADS/$1" "./$ID$1"
	CUDA_INJECTION64_PATH=$GUEST "$SIM" "./$ID$1" "${@:2}" >"$1.out"
}

# scrape [CURL-ARGS...]: into the file `scrape`.
scrape() {
	curl -sS -f --max-time 10 -o scrape "$@" "$URL/metrics"
}

# value COMM NAME [LABEL...]: sum of the samples NAME with comm="COMM" and all LABELs. What modules
# bring with them (kind="device_static") is no allocation that a program counts.
value() {
	local comm=$1 name=$2 label
	[ "$comm" = crowd ] || comm=$ID$comm
	grep "^$name{" scrape | grep "comm=\"$comm\"" | grep -v '_static"' >samples || true
	for label in "${@:3}"; do
		grep -F "$label" samples >fewer || true
		mv fewer samples
	done
	awk '{ sum += $NF } END { printf "%.9g\n", sum }' samples
}

@test "metrics (workloads) counts what each program counted" {
	exporter
	for w in saxpy copies memory syncs graphs failures; do traced $w; done
	sleep 0.3
	scrape
	for w in saxpy copies memory syncs graphs failures; do
		assert_equal "$w launches $(value $w cuda_kernel_launches_total)" \
			"$w launches $(($(expect_key $w.out launches) - $(expect_key $w.out launch_errors)))"
		assert_equal "$w errors $(value $w cuda_kernel_launch_errors_total)" \
			"$w errors $(expect_key $w.out launch_errors)"
		assert_equal "$w kernels $(value $w cuda_kernel_duration_seconds_count)" \
			"$w kernels $(expect_key $w.out kernels)"
		assert_equal "$w graphs $(value $w cuda_graph_launches_total)" \
			"$w graphs $(expect_key $w.out graph_launches)"
		assert_equal "$w memcpys $(value $w cuda_memcpy_copies_total)" \
			"$w memcpys $(expect_key $w.out memcpys)"
		assert_equal "$w bytes $(value $w cuda_memcpy_bytes_total)" \
			"$w bytes $(expect_key $w.out memcpy_bytes)"
		assert_equal "$w memsets $(value $w cuda_memset_operations_total)" \
			"$w memsets $(expect_key $w.out memsets)"
		assert_equal "$w allocs $(value $w cuda_memory_allocations_total)" \
			"$w allocs $(expect_key $w.out allocs)"
		assert_equal "$w frees $(value $w cuda_memory_frees_total)" \
			"$w frees $(expect_key $w.out frees)"
		assert_equal "$w syncs $(value $w cuda_sync_wait_seconds_count)" \
			"$w syncs $(expect_key $w.out syncs)"
	done
	assert_equal "$(grep '^cuda_trace_lost_records_total' scrape | awk '{ s += $NF } END { print s }')" 0
}

# gated NAME ARGS...: a workload without the guest under a name of its own, started up and waiting
# at a gate; $NAME_PID. `opened NAME` lets it go on and waits for its end.
gated() {
	cp "$WORKLOADS/$1" "./$ID$1"
	mkfifo "gate.$1"
	start "$1" env PROGRAM_GATE="gate.$1" "$SIM" "./$ID$1" "${@:2}"
}

opened() {
	local pid=${1}_PID
	: >"gate.$1"
	finished "${!pid}"
	assert_equal "$1 $status" "$1 0"
}

# objects map|prog|link: the numbers of what the exporter holds in the kernel.
objects() {
	sed -n "s/^$1_id:[[:space:]]*//p" /proc/"$exporter_PID"/fdinfo/* | sort -u
}

# taken_over PID: the exporter's driver source watches it.
taken_over() {
	[ -n "${pids_map:=$(bpftool -j map show | jq -r '.[] | select(.name == "driver_pids") | .id' |
		grep -xF -e "$(objects map)")}" ] || return 1
	bpftool -j map dump id "$pids_map" | grep -q "\"key\":$1,"
}

# One link for all entry points of libcuda.
requires_uprobe_multi() {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
}

@test "metrics (programs without the guest) counts what they counted, and no time of the GPU" {
	requires_uprobe_multi
	local w pid
	exporter
	for w in saxpy copies memory syncs graphs failures; do gated $w; done
	for w in saxpy copies memory syncs graphs failures; do
		pid=${w}_PID
		wait_for 20 taken_over "${!pid}"
		opened $w
	done
	scrape
	for w in saxpy copies memory syncs graphs failures; do
		assert_equal "$w launches $(($(value $w cuda_kernel_launches_total) + $(value $w cuda_kernel_launch_errors_total) + $(value $w cuda_graph_launches_total) + $(value $w cuda_graph_launch_errors_total)))" \
			"$w launches $(($(expect_key $w.out launches) + $(expect_key $w.out graph_launches)))"
		assert_equal "$w allocs $(value $w cuda_memory_allocations_total)" "$w allocs $(expect_key $w.out allocs)"
		assert_equal "$w frees $(value $w cuda_memory_frees_total)" "$w frees $(expect_key $w.out frees)"
		assert_equal "$w live $(($(value $w cuda_memory_allocated_bytes_total) - $(value $w cuda_memory_freed_bytes_total)))" \
			"$w live $(expect_key $w.out live_bytes)"
		assert_equal "$w syncs $(value $w cuda_sync_wait_seconds_count)" "$w syncs $(expect_key $w.out syncs)"
	done
	assert_equal "$(value copies cuda_memcpy_copies_total)" "$(expect_key copies.out memcpys)"
	assert_equal "$(value copies cuda_memcpy_bytes_total)" "$(expect_key copies.out memcpy_bytes)"
	assert_equal "$(value failures cuda_kernel_launch_errors_total)" "$(expect_key failures.out launch_errors)"
	run grep -E "^cuda_(kernel_duration|gpu_busy|kernel_queue|memcpy_duration|memcpy_busy|memset).*comm=\"$ID" scrape
	assert_output ""
	run grep "comm=\"$ID" scrape
	refute_line --regexp 'device='
	assert_equal "$(grep -vc 'source="driver"' <<<"$output" || true)" 0
}

@test "metrics (--events errors) counts each failed call once, by its code" {
	exporter --events kernels,memory,errors
	traced failures
	sleep 0.3
	scrape
	assert_equal "$(value failures cuda_api_errors_total)" "$(expect_key failures.out api_errors)"
	run grep "comm=\"${ID}failures\"" scrape
	assert_line --regexp '^cuda_api_errors_total.*code="2",error="CUDA_ERROR_OUT_OF_MEMORY"} 10$'
}

@test "metrics (times) shows each kernel's time in the right bucket" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter
	# Kernels of 1, 2 ... 16 us, as many of each.
	"$CROWD" --launches 16000 --wait-ms 5000 >crowd.out
	sleep 0.2
	scrape
	assert_equal "$(value crowd cuda_kernel_duration_seconds_sum)" \
		"$(awk "BEGIN { printf \"%.9g\", $(expect_key crowd.out gpu_ns) / 1e9 }")"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="1.024e-06"')" 1000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="4.096e-06"')" 4000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="1.6384e-05"')" 16000
	assert_equal "$(value crowd cuda_kernel_duration_seconds_bucket 'le="+Inf"')" 16000
	# One after the other without overlap: busy as long as they ran.
	assert_equal "$(value crowd cuda_gpu_busy_seconds_total)" \
		"$(value crowd cuda_kernel_duration_seconds_sum)"
	# A sample of one in 256, each 3 us after its launch.
	assert [ "$(value crowd cuda_kernel_queue_seconds_count)" -gt 30 ]
	assert_equal "$(value crowd cuda_kernel_queue_seconds_bucket 'le="1.024e-06"')" 0
	assert_equal "$(value crowd cuda_kernel_queue_seconds_bucket 'le="4.096e-06"')" \
		"$(value crowd cuda_kernel_queue_seconds_count)"
}

@test "metrics (four threads and two devices at once) loses and doubles nothing" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter
	"$CROWD" --launches 400000 --threads 4 --devices 2 --failures 10 --wait-ms 5000 >crowd.out 3>&- &
	local crowd=$!
	# Each scrape flips the generations under the running batches.
	for _ in 1 2 3 4 5 6 7 8 9 10; do scrape; done
	wait $crowd
	sleep 0.2
	scrape
	assert_equal "$(value crowd cuda_kernel_launches_total)" "$(expect_key crowd.out launches)"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_count)" "$(expect_key crowd.out kernels)"
	assert_equal "$(value crowd cuda_kernel_launch_errors_total)" "$(expect_key crowd.out launch_errors)"
}

@test "metrics (both formats) satisfies promtool and is negotiated" {
	requires promtool
	exporter --by-kernel 5
	traced saxpy
	traced failures
	sleep 0.3
	scrape -D headers
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	grep -qi '^content-type: text/plain; version=0.0.4' headers
	scrape -D headers -H 'Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.1'
	grep -qi '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8' headers
	assert_equal "$(tail -n 1 scrape)" "# EOF"
	grep -q '^cuda_kernel_launches_created{comm="'"$ID"'saxpy"' scrape
	grep -q '^# UNIT cuda_memcpy_bytes bytes$' scrape
	scrape -D headers -H 'Accept: application/openmetrics-text;q=0.1,text/plain'
	grep -qi '^content-type: text/plain' headers
	scrape -D headers --compressed
	grep -qi '^content-encoding: gzip' headers
	grep -q '^cuda_kernel_launches_total{comm="'"$ID"'saxpy"' scrape
}

@test "metrics (other paths and methods) answers as an exporter should" {
	exporter
	assert_equal "$(curl -s "$URL/healthz")" ok
	curl -s "$URL/" | grep -q 'href="/metrics"'
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' "$URL/nothing")" 404
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' -d x=1 "$URL/metrics")" 405
	assert_equal "$(curl -s -o /dev/null -w '%{http_code}' -H "X: $(head -c 60000 /dev/zero | tr '\0' a)" "$URL/metrics")" 431
}

@test "metrics (forty clients that never finish their request) still answers" {
	exporter
	local host=${URL#http://} before after
	for _ in $(seq 30); do
		(exec 9<>"/dev/tcp/${host%:*}/${host#*:}"; printf 'GET /metrics HTTP/1.1\r\nX: ' >&9; sleep 20) 3>&- &
	done
	sleep 0.5
	before=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	run curl -s -o /dev/null -w '%{http_code} %{time_total}' --max-time 5 "$URL/metrics"
	assert_output --regexp '^200 0\.'
	# They are cut off after 10 s, whatever they send.
	wait_for 14 eval '[ "$(ss -Htn state established "sport = :${host#*:}" | wc -l)" = 0 ]'
	after=$(awk '/VmRSS/ { print $2 }' "/proc/$exporter_PID/status")
	assert [ $((after - before)) -lt 4096 ]
	jobs -p | xargs -r kill 2>/dev/null || true
}

@test "metrics (--by-pid, 300 processes come and go) keeps to its label sets" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter --by-pid --label-sets 20 --events kernels
	"$CROWD" --processes 300 --launches 640 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	run awk '/^cuda_kernel_launches_total/ { n++ } END { print n }' scrape
	assert [ "$output" -le 21 ]
	assert [ "$output" -ge 20 ]
	# What found no room is told, whichever way it went.
	assert [ "$(awk '/^cuda_trace_label_sets_(evicted|folded)_total/ { s += $NF } END { print s }' scrape)" -ge 200 ]
	assert_equal "$(awk '/^cuda_trace_records_total{probe="launch_batch"/ { print $NF }' scrape)" 192000
}

@test "metrics (300 processes come and go) counts them all under their name" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter --events kernels
	"$CROWD" --processes 300 --launches 640 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	assert_equal "$(value crowd cuda_kernel_launches_total)" "$(expect_key crowd.out launches)"
	assert_equal "$(value crowd cuda_kernel_duration_seconds_count)" "$(expect_key crowd.out kernels)"
}

@test "metrics (--by-kernel 5, 20000 names) shows five and the sum of the rest" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter --by-kernel 5 --events kernels
	"$CROWD" --names 20000 --launches 100000 --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	assert_equal "$(grep -c '^cuda_kernel_name_executions_total{comm="crowd"' scrape)" 6
	grep -q '^cuda_kernel_name_executions_total{comm="crowd",device="0",kernel="other"}' scrape
	assert_equal "$(value crowd cuda_kernel_name_executions_total)" "$(expect_key crowd.out kernels)"
}

@test "metrics (web configuration) wants the password, speaks TLS, follows changes" {
	requires htpasswd openssl
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=localhost 2>/dev/null
	printf 'tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prom: %s\n' \
		"$(htpasswd -nbBC 5 prom secret | cut -d: -f2)" >web.yml
	exporter --web-config web.yml
	code() { curl -sk -o /dev/null -w '%{http_code}' "$@" "$URL/metrics"; }
	[[ $URL == https://* ]]
	assert_equal "$(code)" 401
	assert_equal "$(code -u prom:wrong)" 401
	assert_equal "$(code -u nobody:secret)" 401
	assert_equal "$(code -u prom:secret)" 200
	assert_equal "$(code -u prom:secret --tls-max 1.1 || true)" 000
	printf 'basic_auth_users:\n  prom: %s\n' "$(htpasswd -nbBC 5 prom other | cut -d: -f2)" >web.yml
	assert_equal "$(code -u prom:secret)" 401
	assert_equal "$(code -u prom:other)" 200
	echo 'nonsense: true' >web.yml
	assert_equal "$(code -u prom:other)" 500
}

@test "metrics (--textfile) replaces the file at once and in the old format" {
	requires promtool
	mkdir dir
	start exporter "$CUDA_TRACE" metrics --textfile dir/cuda.prom --interval 200ms
	wait_for 10 test -s dir/cuda.prom
	traced saxpy
	sleep 0.6
	cp dir/cuda.prom scrape
	assert_equal "$(value saxpy cuda_kernel_launches_total)" "$(expect_key saxpy.out launches)"
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	# node_exporter has these itself.
	run ! grep -E '^(process_|go_)| [0-9.e+]+ [0-9]{10,}$' scrape
	kill -TERM "$exporter_PID"
	finished "$exporter_PID"
	assert_equal "$status" 0
	assert_equal "$(ls dir)" cuda.prom
}

@test "metrics (bad input) says one line and fails" {
	exporter
	run --separate-stderr ct metrics --listen "${URL#http://}"
	assert_failure 1
	[[ $stderr == *"in use"* ]]
	run --separate-stderr ct metrics --listen 12832
	assert_failure 1
	run --separate-stderr ct metrics --textfile /nonexistent/cuda.prom -d 5
	assert_failure 1
	[[ $stderr == *"/nonexistent/cuda.prom: No such file or directory"* ]]
	echo 'basic_auth_users: {prom: plain}' >web.yml
	run --separate-stderr ct metrics --listen 127.0.0.1:0 --web-config web.yml
	assert_failure 1
	[[ $stderr == *"web.yml:1: not a bcrypt hash"* ]]
	run --separate-stderr ct metrics --events kernels,nonsense
	assert_failure 2
	[[ $stderr == *"'nonsense' is none of"* ]]
	run --separate-stderr ct metrics --nonsense
	assert_failure 2
}

@test "metrics (killed with -9) leaves nothing in the kernel, and the program runs on" {
	exporter
	start storm env CUDA_INJECTION64_PATH="$GUEST" "$SIM" "$WORKLOADS/launch-storm" -n 4000000
	sleep 1
	kill -KILL "$exporter_PID"
	wait_for 5 eval '! bpftool prog list 2>/dev/null | grep -q "pids .*($exporter_PID)"'
	finished "$storm_PID" 60
	assert_equal "$status" 0
	assert_equal "$(expect_key storm.out launches)" 4000000
}

@test "metrics (hostile process name) escapes it" {
	export CUDA_TRACE_GUEST=$CROWD
	exporter --events kernels
	# The same file under another name: probes belong to files.
	local name=$'a"b\\\nc'
	ln "$CROWD" "$name" || skip "needs hard links"
	"./$name" --wait-ms 5000 >crowd.out
	sleep 0.3
	scrape
	run grep -cF 'cuda_kernel_launches_total{comm="a\"b\\\\x0ac",' scrape
	assert_output 1
}
