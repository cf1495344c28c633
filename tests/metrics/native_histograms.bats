#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics as protocol buffers: what a decoder and a real Prometheus with native histograms find in it.

load ../lib/helpers

ID=$(printf '%03d' $((RANDOM % 1000)))
WANTED='application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'

setup() {
	requires bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 --by-kernel 10
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

traced() {
	cp "$WORKLOADS/$1" "./$ID$1"
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "./$ID$1" "${@:2}" >"$1.out"
}

# of_program FILE: its samples of the workload in the order of text, numbers with nine digits.
of_program() {
	grep "comm=\"$ID" "$1" | grep -v _native | python3 -c '
import re, sys
for line in sys.stdin:
    name, value = line.rsplit(" ", 1)
    name = re.sub(r"le=\"([0-9.e+-]+)\"", lambda m: "le=\"%.9g\"" % float(m[1]), name)
    print(name, "%.9g" % float(value))' | LC_ALL=C sort
}

has_kernels() {
	curl -sS -f --max-time 10 -o text "$URL/metrics" &&
		grep -q "^cuda_kernel_duration_seconds_count{comm=\"${ID}saxpy\".*} $1\$" text
}

@test "metrics (protobuf) has what the text has, and native histograms" {
	requires protoc python3
	traced saxpy
	wait_for 20 has_kernels "$(expect_key saxpy.out kernels)"
	curl -sS -f --max-time 10 -H "Accept: $WANTED" -D head -o document "$URL/metrics"
	grep -qiE '^content-type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited' head
	python3 "$TOP/tests/metrics/protobuf-text.py" "$TOP/tests/metrics/client_model.proto" <document >decoded
	diff <(of_program text) <(of_program decoded)
	[ "$(of_program text | wc -l)" -gt 40 ]
	# Families that are not the program's, too: names and how many samples.
	diff <(grep -v '^#' text | sed 's/[{ ].*//' | sort | uniq -c) <(grep -v _native decoded | sed 's/[{ ].*//' | sort | uniq -c)
	# Each bucket of the native histogram: as many as kernels; those of block sizes are exact powers.
	assert_equal "$(awk "/^cuda_kernel_duration_seconds_native{.*comm=\"${ID}saxpy\"/ { n += \$NF } END { print n }" decoded)" \
		"$(expect_key saxpy.out kernels)"
	assert_equal "$(awk "/^cuda_kernel_threads_per_block_native{.*comm=\"${ID}saxpy\"/ { n += \$NF } END { print n }" decoded)" \
		"$(expect_key saxpy.out launches)"
}

@test "metrics (Accept) answers in the format that the client prefers, text without a wish" {
	local accept
	type_of() {
		curl -sS -f --max-time 10 -o /dev/null -w '%{content_type}' -H "Accept: $1" "$URL/metrics"
	}
	for accept in '' '*/*' 'text/plain;version=0.0.4' 'application/vnd.google.protobuf' \
		"${WANTED/delimited/text};q=1,text/plain;q=0.1" "$WANTED;q=0.2,text/plain;q=0.5" "$WANTED;q=0"; do
		run type_of "$accept"
		assert_output 'text/plain; version=0.0.4; charset=utf-8'
	done
	run type_of "application/openmetrics-text;version=1.0.0,$WANTED;q=0.5,text/plain;q=0.1"
	assert_output --partial 'application/openmetrics-text; version=1.0.0'
	run type_of "$WANTED,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
	assert_output --partial 'application/vnd.google.protobuf'
	# Compressed, too.
	curl -sS -f -H "Accept: $WANTED" -H 'Accept-Encoding: gzip' "$URL/metrics" | gunzip >packed
	grep -q cuda_trace_build_info packed
}

ask() {
	curl -sS -f --max-time 5 "http://127.0.0.1:$PORT/api/v1/query" --data-urlencode "query=$1" |
		jq -r '.data.result | if length == 1 then .[0].value[1] else "\(length) answers" end'
}

answers() {
	[ "$(ask "$2")" = "$1" ]
}

# consumer: Prometheus | itself | native histograms of kernels
@test "prometheus (--enable-feature=native-histograms) has native histograms of kernels, whose count is theirs" {
	requires prometheus jq
	PORT=$((20000 + $$ % 10000 + BATS_TEST_NUMBER))
	traced saxpy
	wait_for 20 has_kernels "$(expect_key saxpy.out kernels)"
	cat >prometheus.yml <<-END
	global: {scrape_interval: 500ms, scrape_timeout: 500ms}
	scrape_configs:
	  - job_name: cuda
	    static_configs: [{targets: ["${URL#http://}"]}]
	END
	start server prometheus --config.file prometheus.yml --storage.tsdb.path data \
		--web.listen-address "127.0.0.1:$PORT" --enable-feature=native-histograms
	wait_for 20 curl -sf -o /dev/null "http://127.0.0.1:$PORT/-/ready"
	wait_for 20 answers "$(expect_key saxpy.out kernels)" "histogram_count(cuda_kernel_duration_seconds{comm=\"${ID}saxpy\"})"
	# Classic ones are in the document, too, and counters are what they are in text.
	assert_equal "$(ask "cuda_kernel_launches_total{comm=\"${ID}saxpy\"}")" "$(expect_key saxpy.out launches)"
	local mean median
	mean=$(ask "histogram_sum(cuda_kernel_duration_seconds{comm=\"${ID}saxpy\"}) / histogram_count(cuda_kernel_duration_seconds{comm=\"${ID}saxpy\"})")
	median=$(ask "histogram_quantile(0.5, cuda_kernel_duration_seconds{comm=\"${ID}saxpy\"})")
	# Kernels of this program take about the same time each.
	awk "BEGIN { exit !($median > $mean / 2.2 && $median < $mean * 2) }" || fail "median $median, mean $mean"
}
