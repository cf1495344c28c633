#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics with a real Prometheus: what its HTTP API answers equals what the programs
# counted, also to the dashboard's and the rules' expressions; alert rules and their tests; the
# service's unit.

load ../lib/helpers

DASHBOARD=$TOP/etc/share/grafana-dashboard.json
ID=$(printf '%03d' $((RANDOM % 1000)))

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

free_port() {
	# Nobody else chooses below the ephemeral range at the same moment.
	echo $((20000 + $$ % 10000 + BATS_TEST_NUMBER))
}

# traced NAME ARGS...: a workload with the agent, on the simulated driver, under a name that no
# other process of this machine has: the exporter sees them all.
traced() {
	cp "$WORKLOADS/$1" "./$ID$1"
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "./$ID$1" "${@:2}" >"$1.out"
}

# ask QUERY: the value of an instant query with one answer.
ask() {
	curl -sS -f --max-time 5 "http://127.0.0.1:$PORT/api/v1/query" --data-urlencode "query=$1" \
		>answer
	jq -r '.data.result | if length == 1 then .[0].value[1] else "\(length) answers" end' answer
}

# answers COUNT QUERY: does the server answer so by now?
answers() {
	[ "$(ask "$2")" = "$1" ]
}

# scraped MS [LINE...]: starts the server, which asks the started exporter so often; its configuration
# has these lines, too.
scraped() {
	wait_for 15 grep -q 'listening on' exporter.err
	PORT=$(free_port)
	cat >prometheus.yml <<-END
	global: {scrape_interval: $1ms, scrape_timeout: $1ms, evaluation_interval: 1s}
	scrape_configs:
	  - job_name: cuda
	    static_configs: [{targets: ["$(sed -n 's/.*http:\/\/\(.*\)\/metrics$/\1/p' exporter.err)"]}]
	END
	printf '%s\n' "${@:2}" >>prometheus.yml
	start server prometheus --config.file prometheus.yml --storage.tsdb.path data \
		--web.listen-address "127.0.0.1:$PORT"
	wait_for 20 curl -sf -o /dev/null "http://127.0.0.1:$PORT/-/ready"
}

# consumer: Prometheus | itself | what programs counted
@test "prometheus (real server, several programs) answers what they counted" {
	requires bpf sim curl prometheus
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 --by-kernel 10
	scraped 500
	for w in saxpy copies memory failures graphs; do traced $w; done
	traced launch-storm -n 60000 -t 3
	# The last program's last figure: then all others are there, too.
	wait_for 10 answers "$(expect_key launch-storm.out kernels)" \
		'sum(cuda_kernel_duration_seconds_count{comm="'$ID'launch-storm"})'
	assert_equal "$(ask 'up{job="cuda"}')" 1
	assert_equal "$(ask 'sum(cuda_kernel_launches_total{comm="'$ID'launch-storm"})')" \
		"$(expect_key launch-storm.out launches)"
	assert_equal "$(ask 'sum(cuda_kernel_launches_total{comm="'$ID'saxpy"})')" "$(expect_key saxpy.out launches)"
	assert_equal "$(ask 'sum(cuda_kernel_name_executions_total{comm="'$ID'saxpy",kernel="saxpy"})')" \
		"$(expect_key saxpy.out kernels)"
	assert_equal "$(ask 'sum(cuda_memcpy_bytes_total{comm="'$ID'copies"})')" "$(expect_key copies.out memcpy_bytes)"
	assert_equal "$(ask 'sum(cuda_memory_allocations_total{comm="'$ID'memory",kind!~".*_static"})')" "$(expect_key memory.out allocs)"
	assert_equal "$(ask 'sum(cuda_kernel_launch_errors_total{comm="'$ID'failures"})')" \
		"$(expect_key failures.out launch_errors)"
	assert_equal "$(ask 'sum(cuda_graph_launches_total{comm="'$ID'graphs"})')" \
		"$(expect_key graphs.out graph_launches)"
	# Should programs of others run here, what was lost may be theirs.
	if [ "$(ask 'count(cuda_kernel_launches_total{comm!~"'$ID'.*"})')" = "0 answers" ]; then
		assert_equal "$(ask 'sum(cuda_trace_lost_records_total)')" 0
	fi
	# The server scraped OpenMetrics, and took every sample.
	assert_equal "$(ask 'scrape_samples_scraped{job="cuda"} - scrape_samples_post_metric_relabeling{job="cuda"}')" 0
	assert_equal "$(ask 'count(cuda_kernel_launches_created{comm="'$ID'saxpy"})')" 1
}

# expressions INSTANCE MS: each of the dashboard's, as Grafana sends it for these nodes and an interval
# of MS, into queries/PANEL-LETTER.query; what its lines are called, into .legend.
expressions() {
	local key
	mkdir -p queries
	jq --arg instance "$1" --arg interval "$2ms" '[.panels[] | (., .panels[]?) | .id as $id | .targets[]? | {
		key: "\($id)-\(.refId)", legend: .legendFormat,
		query: (.expr | gsub("\\$instance"; $instance) | gsub("\\$__rate_interval"; $interval))}]' "$DASHBOARD" >expressions
	for key in $(jq -r '.[].key' expressions); do
		jq -r --arg key "$key" '.[] | select(.key == $key) | .query' expressions >"queries/$key.query"
		jq -r --arg key "$key" '.[] | select(.key == $key) | .legend' expressions >"queries/$key.legend"
		run ! grep '\$' "queries/$key.query"
	done
}

# answer FILE QUERY: what the server says to it, of the moment $NOW; no error and no warning.
answer() {
	curl -sS --max-time 5 "http://127.0.0.1:$PORT/api/v1/query" --data-urlencode "query=$2" \
		--data-urlencode "time=$NOW" >"$1"
	json "$1" '.status == "success" and .warnings == null and .data.resultType == "vector"' >/dev/null
}

# value KEY FILTER: the sum of what the answer to the expression KEY says of these series.
value() {
	jq -r "[.data.result[] | select(.metric | $2) | .value[1] | tonumber] | add // \"nothing\"" "queries/$1.json"
}

# grown KEY FILTER: the same of a rate, times the interval that it is of.
grown() {
	jq -r "[.data.result[] | select(.metric | $2) | .value[1] | tonumber * $INTERVAL / 1000] | add // \"nothing\"" "queries/$1.json"
}

# Between what grew in the interval and what Prometheus makes of it, as no scrape is just at its ends.
equal() {
	awk -v what="$1" -v said="$2" -v truth="$3" -v most="$CARRIED" 'BEGIN {
		if (said == "nothing" || said < truth * 0.9999 || said > truth * most) {
			print what ": the server says " said ", the program " truth; exit 1 } }'
}

# seen MS: has the server a scrape of after then? On a busy machine scrapes fail for a second.
seen() {
	awk -v at="$(ask 'timestamp(cuda_trace_build_info)')" -v after="$1" 'BEGIN { exit !(at * 1000 > after) }'
}

@test "prometheus (dashboard and rules, through the real server) are answered without error, and with the truth" {
	requires bpf sim curl prometheus jq
	local w from count instance name key label static
	# Panels that have nothing to show in this run: none.
	local empty=""
	export SIMCUDA_KERNEL_NS=16384 SIMCUDA_LATENCY_NS=2000000 SIMCUDA_COPY_MBPS=1024
	export SIMCUDA_PM_SCRIPT=$PWD/script
	printf '* 0 %s\n' 'gr__cycles_active.sum.pct_of_peak_sustained_elapsed 50' \
		'pcie__read_bytes.sum.per_second 12345678901' >script
	start exporter "$SIM" "$CUDA_TRACE" metrics --listen 127.0.0.1:0 --by-kernel 10 --counters device --idle \
		--collectives --events kernels,copies,memory,sync,errors -v
	start ranks env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/ranks" -s 1000000 -c 2000 -l 1 -u 10000 --gate go
	wait_for 20 grep -q 'collectives are observed' exporter.err
	: >go
	scraped 250 "rule_files: ['$TOP/etc/share/cuda-trace.rules.yml']"
	# Once, so that their series are there; what they do the second time is what grows in the interval.
	traced launch-storm -n 1000
	for w in copies syncs failures graphs; do traced $w; done
	wait_for 10 answers "$(expect_key graphs.out graph_launches)" 'sum(cuda_graph_launches_total{comm="'$ID'graphs"})'
	sleep 0.6
	from=$(date +%s%3N)
	# What grows before the interval's first scrape is not in it.
	wait_for 10 seen "$from"
	cp "$WORKLOADS/failures" fresh
	WORKLOADS=$PWD traced fresh
	count=$(expect_key graphs.out graph_launches)
	cp "$WORKLOADS/memory" "./${ID}memory"
	mkfifo gate
	start memory env PROGRAM_LAST_GATE=gate CUDA_INJECTION64_PATH="$AGENT" "$SIM" "./${ID}memory" 10 1048576
	wait_for 20 grep -q ^expect memory.out
	traced launch-storm -n 8000 -p 100
	for w in copies syncs failures graphs; do traced $w; done
	wait_for 10 answers "$((count + $(expect_key graphs.out graph_launches)))" \
		'sum(cuda_graph_launches_total{comm="'$ID'graphs"})'
	sleep 0.6
	wait_for 30 seen $((from + 12000))
	NOW=$(date +%s%3N)
	INTERVAL=$((NOW - from))
	NOW=${NOW%???}.${NOW: -3}
	# A rate is carried on to both ends of its interval, by 1.1 times the mean distance of scrapes at most.
	answer count "count_over_time(cuda_trace_build_info[${INTERVAL}ms])"
	CARRIED=$(jq -r '.data.result[0].value[1] | 1 + 2.2 / (tonumber - 1)' count)
	echo "carried on by $CARRIED at most"

	# The node's name is queried as Grafana does for label_values().
	assert_equal "$(jq -r '.templating.list[] | select(.type == "query") | "\(.name) \(.query.query)"' "$DASHBOARD")" \
		"instance label_values(cuda_processes, instance)"
	curl -sS --max-time 5 -G "http://127.0.0.1:$PORT/api/v1/label/instance/values" \
		--data-urlencode 'match[]=cuda_processes' >instances
	json instances '.status == "success" and (.data | length == 1)'
	# A chosen node, with what a regular expression would take for its own; then all of them.
	for instance in "$(jq -r '.data[0] | gsub("\\."; "\\\\.")' instances)" "$(jq -r '.templating.list[] | .allValue // empty' "$DASHBOARD")"; do
		expressions "$instance" "$INTERVAL"
		assert_equal "$(jq '[.. | .expr? | strings] | length' "$DASHBOARD")" "$(jq length expressions)"
		for name in queries/*.query; do
			key=${name#queries/}; key=${key%.query}
			answer "queries/$key.json" "$(cat "$name")"
			[[ " $empty " == *" $key "* ]] || json "queries/$key.json" '.data.result | length > 0' >/dev/null
			# Nothing runs in a container or a pod, and perhaps not in a control group.
			for label in $(grep -o '{{[a-z0-9_]*}}' "queries/$key.legend" | tr -d '{}' | grep -vx 'container_id\|cgroup\|k8s_.*'); do
				json "queries/$key.json" "any(.data.result[]; .metric | has(\"$label\"))" >/dev/null
			done
		done
	done
	comm() { echo ".comm == \"$ID$1\""; }
	equal "busy" "$(grown 1-A "$(comm launch-storm)")" "$(awk "BEGIN { print $(expect_key launch-storm.out kernels) * 16384e-9 }")"
	for w in launch-storm graphs; do
		equal "$w launches" "$(grown 2-A "$(comm $w)")" "$(expect_key $w.out launches)"
	done
	equal "failures launches" "$(grown 2-A "$(comm failures)")" \
		"$(($(expect_key failures.out launches) - $(expect_key failures.out launch_errors)))"
	# All kernels took what is the upper bound of a bucket, whose lower one is a fourth.
	equal "median" "$(value 3-A "$(comm launch-storm)")" 1.024e-05
	equal "99th percentile" "$(value 3-B "$(comm launch-storm)")" 1.626112e-05
	# No kernel starts within 2 ms of its launch: it is in the bucket from 1 to 4 ms at least.
	awk -v delay="$(value 4-A "$(comm launch-storm)")" 'BEGIN { exit !(delay > 1.048576e-3) }' || fail "$(cat queries/4-A.json)"
	equal "copies" "$(grown 5-A "$(comm copies)")" "$(expect_key copies.out memcpy_bytes)"
	for key in h2d d2h d2d; do
		equal "copies $key" "$(grown 5-A "$(comm copies) and .direction == \"$key\"")" "$(($(expect_key copies.out $key) * 1048576))"
	done
	equal "busy with copies" "$(grown 6-A "$(comm copies)")" "$(awk "BEGIN { print $(expect_key copies.out memcpys) * 1.025e-3 }")"
	static=$(ask 'sum(cuda_memory_allocated_bytes_total{comm="'$ID'memory",kind=~".*_static"})')
	assert_equal "$(value 7-A "$(comm memory)")" $((1048576 + static))
	# As in metrics.bats: the program's own figure has the calls' way in and out, and not its first wait.
	awk -v said="$(grown 8-A "$(comm syncs)")" -v waited="$(expect_key syncs.out waited_ns)" -v most="$CARRIED" \
		'BEGIN { exit !(said > 0.9e-9 * waited && said < most * (1.1e-9 * waited + 0.01)) }' ||
		fail "waits: the server says $(grown 8-A "$(comm syncs)") s, the program $(expect_key syncs.out waited_ns) ns"
	equal "graphs" "$(grown 9-A "$(comm graphs)")" "$(expect_key graphs.out graph_launches)"
	# Also where the series begins with the first of them.
	for w in failures fresh; do
		equal "errors of $w" "$(value 10-A "$(comm $w)")" "$(expect_key $w.out api_errors)"
		equal "failed launches of $w" "$(value 10-B "$(comm $w)")" "$(expect_key $w.out launch_errors)"
	done
	equal "kernel" "$(grown 11-A "$(comm launch-storm) and .kernel == \"empty\"")" \
		"$(awk "BEGIN { print $(expect_key launch-storm.out kernels) * 16384e-9 }")"
	assert_equal "$(value 12-A '.reason')" 0
	awk -v part="$(value 12-B true)" 'BEGIN { exit !(part > 0) }' || fail "$(cat queries/12-B.json)"
	assert_equal "$(value 13-A '.part == "busy"')" 0.5
	# It grows all the time, in steps: a part of one may be before the interval or after it.
	awk -v rate="$(value 14-A '.path == "pcie_read_bytes"')" 'BEGIN { exit !(rate / 12345678901 > 0.95 && rate / 12345678901 < 1.05) }' ||
		fail "$(cat queries/14-A.json)"
	# In each step, rank 0 waits 10 ms for rank 1.
	awk -v rank="$(value 16-A '.rank == "1"')" 'BEGIN { exit !(rank > 0.2 && rank < 1) }' || fail "$(cat queries/16-A.json)"
	assert_equal "$(value 16-A '.rank == "0"')" 0
	awk -v skew="$(value 17-A true)" 'BEGIN { exit !(skew > 0.004 && skew < 0.1) }' || fail "$(cat queries/17-A.json)"

	# The rules as the server itself evaluates them, and their expressions.
	curl -sS --max-time 5 "http://127.0.0.1:$PORT/api/v1/rules" >rules
	assert_equal "$(jq '[.data.groups[].rules[] | select(.health == "ok" and .lastError == null)] | length' rules)" \
		"$(grep -c '^ *- \(alert\|record\):' "$TOP/etc/share/cuda-trace.rules.yml")"
	for name in $(jq -r '.data.groups[].rules[].name' rules); do
		answer "$name.json" "$(jq -r --arg name "$name" '.data.groups[].rules[] | select(.name == $name) | .query' rules)"
		echo "$name $(jq -r '.data.groups[].rules[] | select(.name == "'"$name"'") | .state' rules)" >>states
	done
	grep -x 'CudaLaunchErrors pending' states
	grep -x 'CudaOutOfMemory firing' states
	grep -x 'CudaTraceLosesRecords inactive' states
	grep -x 'CudaCollectiveRankLate firing' states
	: >gate
	finished "$memory_PID"
}

# consumer: promtool | itself | alert rules that fire as they should
@test "prometheus (alert rules) are valid and fire as they should" {
	requires promtool
	run promtool check rules "$TOP/etc/share/cuda-trace.rules.yml"
	assert_success
	run promtool test rules "$TOP/tests/metrics/alerts.test.yml"
	assert_success
}

@test "prometheus (dashboard and rules) ask for metrics that exist" {
	requires jq
	jq -e '.panels | length > 5' "$TOP/etc/share/grafana-dashboard.json"
	cat "$TOP/etc/share/cuda-trace.rules.yml" "$TOP/etc/share/grafana-dashboard.json" |
		grep -o 'cuda_[a-z0-9_]*' | sort -u >used
	sed -n 's/.*METRIC_[A-Z]*, "\(cuda_[a-z0-9_]*\)".*/\1/p' "$TOP"/cuda-trace/metrics/metrics_*.c | sort -u >families
	test -s families
	while read -r name; do
		base=$(sed -E 's/_(total|bucket|count|sum|info|created)$//' <<<"$name")
		grep -qxF -e "$name" -e "$base" families || fail "no such metric: $name"
	done <used
}

@test "cuda-trace-metrics.service (offline) is exposed 2.0 at most" {
	requires systemd-analyze
	cp "$B/etc/systemd/cuda-trace-metrics.service" .
	run systemd-analyze security --offline=true --no-pager cuda-trace-metrics.service
	assert_output --regexp 'Overall exposure level for cuda-trace-metrics.service: (0|1)\.[0-9]|: 2\.0'
}

# How much the drop-ins say that they cost, and that they are ones.
@test "cuda-trace-metrics.service (offline, with a shipped drop-in) is exposed as much as the manual page says" {
	requires systemd-analyze
	local name exposure
	mkdir cuda-trace-metrics.service.d
	sed 's,^ExecStart=[^ ]*,ExecStart=/bin/true,' "$B/etc/systemd/cuda-trace-metrics.service" >cuda-trace-metrics.service
	exposed() { systemd-analyze security --offline=true --no-pager ./cuda-trace-metrics.service |
		sed -n 's/.*Overall exposure level for cuda-trace-metrics.service: \([0-9.]*\) .*/\1/p'; }
	exposure=$(exposed)
	for name in sys-admin counters; do
		cp "$TOP/etc/share/metrics-$name.conf" cuda-trace-metrics.service.d/
		run -0 systemd-analyze verify --man=no ./cuda-trace-metrics.service
		assert_output ""
		grep -qF "metrics-$name.conf: $(exposed)" <(tr -d '\\_' <"$TOP/man/cuda-trace-metrics.1.scd") ||
			fail "$name: $exposure becomes $(exposed)"
		rm cuda-trace-metrics.service.d/*
	done
}

@test "metrics (started by a service manager) says when it is ready and that it ends" {
	requires bpf socat
	socat -u UNIX-RECV:notify - >notified 3>&- &
	wait_for 5 test -S notify
	NOTIFY_SOCKET=$PWD/notify ct metrics --listen 127.0.0.1:0 -d 1s
	run cat notified
	assert_output --regexp 'READY=1.*WATCHDOG=1.*STOPPING=1'
	kill %1
}

@test "prometheus (DaemonSet) runs a command that exists, with the service's rights" {
	python3 -c 'import yaml' 2>/dev/null || skip "needs python3-yaml"
	python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)' \
		<"$TOP/etc/share/daemonset.yml" >set.json
	json set.json '.apiVersion == "apps/v1" and .kind == "DaemonSet"'
	json set.json '.spec.selector.matchLabels == .spec.template.metadata.labels'
	json set.json '.spec.template.spec | .hostPID and .containers[0].securityContext.readOnlyRootFilesystem'
	json set.json '.spec.template.spec.containers[0] | .ports[0].name as $name
		| .readinessProbe.httpGet == {path: "/healthz", port: $name}'
	json set.json '.spec.template | .metadata.annotations["prometheus.io/port"] as $port
		| .spec.containers[0] | (.ports[0].containerPort | tostring) == $port and (.command | index(":" + $port))'
	# The service's capabilities, and the one that other containers' files need.
	assert_equal "$(jq -r '.spec.template.spec.containers[0].securityContext.capabilities.add[] | "CAP_" + .' set.json | sort | tr '\n' ' ')" \
		"$(sed -n 's/^AmbientCapabilities=//p' "$TOP/etc/systemd/cuda-trace-metrics.service.in") CAP_SYS_PTRACE "
	for option in $(jq -r '.spec.template.spec.containers[0].command[] | select(startswith("--"))' set.json); do
		ct metrics --help | grep -q -- "$option"
	done
}
