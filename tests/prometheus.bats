#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics with a real Prometheus: what its HTTP API answers equals what the programs
# counted; alert rules and their tests; the service's unit.

load helpers

ID=$(printf '%03d' $((RANDOM % 1000)))

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

free_port() {
	# Nobody else chooses below the ephemeral range at the same moment.
	echo $((20000 + $$ % 10000 + BATS_TEST_NUMBER))
}

# traced NAME ARGS...: a workload with the guest, on the simulated driver, under a name that no
# other process of this machine has: the exporter sees them all.
traced() {
	cp "$WORKLOADS/$1" "./$ID$1"
	CUDA_INJECTION64_PATH=$GUEST "$SIM" "./$ID$1" "${@:2}" >"$1.out"
}

# ask QUERY: the value of an instant query with one answer.
ask() {
	curl -sS -f --max-time 5 "http://127.0.0.1:$PORT/api/v1/query" --data-urlencode "query=$1" \
		>answer
	jq -r '.data.result | if length == 1 then .[0].value[1] else "\(length) answers" end' answer
}

# asked COUNT QUERY: does the server answer so by now?
asked() {
	[ "$(ask "$2")" = "$1" ]
}

@test "prometheus (real server, several programs) answers what they counted" {
	requires bpf sim curl prometheus
	PORT=$(free_port)
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 --by-kernel 10
	wait_for 15 grep -q 'listening on' exporter.err
	cat >prometheus.yml <<-END
	global: {scrape_interval: 500ms, scrape_timeout: 400ms}
	scrape_configs:
	  - job_name: cuda
	    static_configs: [{targets: ["$(sed -n 's/.*http:\/\/\(.*\)\/metrics$/\1/p' exporter.err)"]}]
	END
	start server prometheus --config.file prometheus.yml --storage.tsdb.path data \
		--web.listen-address "127.0.0.1:$PORT"
	wait_for 20 curl -sf -o /dev/null "http://127.0.0.1:$PORT/-/ready"
	for w in saxpy copies memory failures graphs; do traced $w; done
	traced launch-storm -n 60000 -t 3
	# The last program's last figure: then all others are there, too.
	wait_for 10 asked "$(expect_key launch-storm.out kernels)" \
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

@test "prometheus (alert rules) are valid and fire as they should" {
	requires promtool
	run promtool check rules "$TOP/etc/share/cuda-trace.rules.yml"
	assert_success
	run promtool test rules "$TOP/tests/alerts.test.yml"
	assert_success
}

@test "prometheus (dashboard and rules) ask for metrics that exist" {
	requires jq
	jq -e '.panels | length > 5' "$TOP/etc/share/grafana-dashboard.json"
	cat "$TOP/etc/share/cuda-trace.rules.yml" "$TOP/etc/share/grafana-dashboard.json" |
		grep -o 'cuda_[a-z0-9_]*' | sort -u >asked
	sed -n 's/.*METRIC_[A-Z]*, "\(cuda_[a-z0-9_]*\)".*/\1/p' "$TOP"/cuda-trace/metrics_*.c | sort -u >families
	test -s families
	while read -r name; do
		base=$(sed -E 's/_(total|bucket|count|sum|info|created)$//' <<<"$name")
		grep -qxF -e "$name" -e "$base" families || fail "no such metric: $name"
	done <asked
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
	socat -u UNIX-RECV:notify - >told 3>&- &
	wait_for 5 test -S notify
	NOTIFY_SOCKET=$PWD/notify ct metrics --listen 127.0.0.1:0 -d 1s
	run cat told
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
