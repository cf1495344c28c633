#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics --collectives: for which rank the others wait, of ranks on one host; and of ranks on two, by a real
# Prometheus that scrapes an exporter for each and evaluates the shipped rules.

load ../lib/helpers

setup() {
	requires root bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
	RANKS=$WORKLOADS/ranks
	export CUDA_INJECTION64_PATH=$AGENT
}

# exporter NAME OPTION...: its address is in $URL then.
exporter() {
	start "$1" "$CUDA_TRACE" metrics --collectives -v --listen 127.0.0.1:0 "${@:2}"
	wait_for 15 grep -q 'listening on' "$1.err"
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' "$1.err")
}

scrape() {
	curl -sS -f --max-time 10 -o scrape "$@" "$URL/metrics"
}

# value SAMPLE [LABEL...]: the sum of the samples of known communicators that have these labels; "none" if there are none.
value() {
	awk -v name="$1{" -v labels="${*:2}" 'index($0, name) == 1 && !index($0, "unknown") {
			n = split(labels, label, " ")
			for (i = 1; i <= n; i++)
				if (!index($0, label[i]))
					next
			sum += $NF; any = 1
		} END { print any ? sum : "none" }' scrape
}

# shows VALUE SAMPLE [LABEL...]: by now.
shows() {
	scrape
	[ "$(value "${@:2}")" = "$1" ]
}

# ranks NAME OPTION...: in the background. A communicator has an identity if NCCL's file is observed before it is made:
# between both, real programs take seconds.
ranks() {
	rm -f go
	start "$1" "${PROMPT[@]}" "$SIM" "$RANKS" --gate go "${@:2}"
	wait_for 20 grep -q 'collectives are observed' exporter.err
	: >go
}

@test "metrics --collectives (three ranks, one late for a while) counts for whom the others wait, and names it while it is so" {
	exporter exporter
	: >late
	ranks ranks -n 3 -s 4000 -c 500 -l 1 -u 3000 -w late
	wait_for 20 shows 1 cuda_collective_late_rank 'size="3"'
	# Sums of the same waits: of those who wait, on average; of one of them; and from the first to the last.
	run awk -v last="$(value cuda_collective_last_total 'rank="1"')" -v all="$(value cuda_collective_last_total)" \
		-v late="$(value cuda_collective_late_seconds_total 'rank="1"')" \
		-v others="$(value cuda_collective_kernel_seconds_total 'rank="0"')" \
		-v own="$(value cuda_collective_kernel_seconds_total 'rank="1"')" \
		-v skew="$(value cuda_collective_skew_seconds_sum)" \
		'BEGIN { print last, all, late, others, own, skew
			exit !(last > 0.6 * all && late > 0.0015 * last && others - own > 0.0015 * last && skew >= late) }'
	assert_success
	rm late
	wait_for 30 shows none cuda_collective_late_rank 'size="3"'
	finished "$ranks_PID" 60
	wait_for 10 shows 12000 cuda_collective_kernels_total 'size="3"'
	for rank in 0 1 2; do
		assert_equal "$(value cuda_collective_kernels_total 'size="3"' "rank=\"$rank\"")" 4000
		assert_equal "$(value cuda_collective_compared_total 'size="3"' "rank=\"$rank\"")" 4000
	done
	assert_equal "$(value cuda_collective_skew_seconds_count 'size="3"')" 4000
	assert_equal "$(value cuda_trace_collectives_left_out_total)" 0
}

@test "metrics --collectives (two ranks whose collectives a graph replays, one late) counts each replay, and names the late one" {
	exporter exporter
	ranks ranks -n 2 -s 1500 -c 500 -l 1 -u 3000 --replayed
	wait_for 20 shows 1 cuda_collective_late_rank 'size="2"'
	finished "$ranks_PID" 60
	wait_for 10 shows 3000 cuda_collective_kernels_total 'size="2"'
	assert_equal "$(value cuda_collective_compared_total 'size="2"' 'rank="0"')" 1500
}

@test "metrics --collectives (both formats) satisfies promtool" {
	requires promtool
	exporter exporter
	ranks ranks -s 100 -l 1
	wait_for 10 shows 200 cuda_collective_kernels_total
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	scrape -H 'Accept: application/openmetrics-text'
	grep -q '^# TYPE cuda_collective_skew_seconds histogram' scrape
	assert_equal "$(grep -v '^#' scrape | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
}

@test "metrics --collectives (more ranks than label sets; all have ended) counts what is left out, and forgets" {
	exporter exporter --label-sets 4 --forget 2s
	ranks ranks -n 5 -s 50
	wait_for 10 shows 200 cuda_collective_kernels_total 'size="5"'
	assert_equal "$(grep -c '^cuda_collective_kernels_total{' scrape)" 4
	assert_equal "$(value cuda_trace_collectives_left_out_total 'what="ranks"')" 1
	wait_for 20 shows none cuda_collective_kernels_total
	# Their places are others' now.
	ranks ranks -n 3 -s 50
	wait_for 10 shows 150 cuda_collective_kernels_total 'size="3"'
}

# firing: the late ranks that the server knows.
firing() {
	curl -sS --max-time 5 "http://127.0.0.1:$PORT/api/v1/alerts" >alerts
	jq -r '[.data.alerts[] | select(.state == "firing" and .labels.alertname == "CudaCollectiveRankLate")
		| "rank \(.labels.rank) of \(.labels.size) at \(.labels.instance)"] | join(" ")' alerts
}

fires() {
	[ "$(firing)" = "$1" ]
}

@test "metrics --collectives (two exporters, each sees one rank; Prometheus with the shipped rules) names the late rank in 15 s" {
	requires prometheus jq
	local rank urls=()
	for rank in 0 1; do
		start "rank$rank" env SIMNCCL_ID="/simnccl-$$" RANK=$rank WORLD_SIZE=2 "${PROMPT[@]}" "$SIM" "$RANKS" \
			--gate go -s 1000000 -c 2000 -l 1 -u 20000 -w late
	done
	for rank in 0 1; do
		local pid="rank${rank}_PID"
		exporter "exporter$rank" -p "${!pid}"
		urls[rank]=${URL#http://}
		wait_for 20 grep -q 'collectives are observed' "exporter$rank.err"
	done
	PORT=$((20000 + $$ % 10000 + 30 + BATS_TEST_NUMBER))
	cat >prometheus.yml <<-END
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: ['$TOP/etc/share/cuda-trace.rules.yml']
	scrape_configs:
	  - job_name: cuda
	    static_configs: [{targets: ["${urls[0]}", "${urls[1]}"]}]
	END
	start server prometheus --config.file prometheus.yml --storage.tsdb.path data --web.listen-address "127.0.0.1:$PORT"
	wait_for 20 curl -sf -o /dev/null "http://127.0.0.1:$PORT/-/ready"
	: >go
	for rank in 0 1; do
		URL=http://${urls[rank]}
		both() { scrape && [ "$(value cuda_collective_kernels_total "rank=\"$rank\"" 'size="2"')" != none ]; }
		wait_for 20 both
		# The other one is at another host, as far as this exporter sees.
		assert_equal "$(grep -c '^cuda_collective_kernels_total{' scrape)" 1
		assert_equal "$(value cuda_collective_compared_total)" 0
		refute grep -q '^cuda_collective_skew_seconds' scrape
	done
	assert_equal "$(firing)" ""
	: >late
	wait_for 15 fires "rank 1 of 2 at ${urls[1]}"
	run -0 jq -r '.data.alerts[].annotations.description' alerts
	assert_output --regexp "^Rank 1 of 2 \(GPU 0 on ${urls[1]}\) comes last to the collectives of communicator [0-9a-f]{16}: the others wait for it [0-9.]+% of the time.$"
}

@test "metrics (without --collectives) has none of it" {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
	"${PROMPT[@]}" "$SIM" "$RANKS" -s 20 >out
	scrape
	refute grep -q collective scrape
}

@test "metrics --collectives (without what it needs) is refused" {
	run -2 ct metrics --collectives --sample 10ms/1s
	assert_output --partial 'not with --sample'
	run -2 ct metrics --collectives --max-overhead 2%
	assert_output --partial 'not with --sample or --max-overhead'
}

@test "metrics -p (a process that is not there) says so" {
	run -1 ct metrics -p 4000000
	assert_output --partial 'there is no process 4000000'
}

@test "metrics --collectives (processes that call NCCL at random and launch little) keeps what is within the limits" {
	local sources
	mapfile -t sources < <(tool_sources collectives comm_alignment comm_meetings graph_collectives kernel_halves key_index nccl_comms nccl_calls array_grow clock)
	cc -std=gnu11 -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -I"$TOP" -I"$B" -o unit \
		"$TOP/tests/metrics/unit_comm_limits.c" "${sources[@]}" -lz
	run -0 ./unit
	assert_output "$(printf '%s\n' 'waiting 0' 'left out: communicators ranks calls')"
}
