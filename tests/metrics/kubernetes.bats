#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What /usr/share/cuda-trace has for Kubernetes: the DaemonSet, the Helm chart, the Containerfile. Where no helm is, what
# it made of the chart is checked: chart.yml, which `tests/metrics/render-chart` writes.

load ../lib/helpers

CHART=$TOP/etc/helm/cuda-trace
RENDERED=$TOP/tests/metrics/chart.yml

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# documents FILE: the YAML documents as JSON, one a line.
documents() {
	/usr/bin/python3 -c 'import json, sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1], encoding="utf8")):
    print(json.dumps(document))' "$1"
}

# valid FILE: by Kubernetes' and the Prometheus operator's schemas.
valid() {
	documents "$1" | node "$TOP/tests/metrics/kubernetes-schemas.mjs" "$B/npm/node_modules"
}

with_yaml() {
	/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "needs python3-yaml"
}

with_schemas() {
	requires node
	with_yaml
	[ -d "$B/npm/node_modules/@kubernetes-models/prometheus-operator" ] || skip "needs kubernetes-models (mk/npm-packages)"
}

@test "the DaemonSet and the rendered chart are valid by their schemas" {
	with_schemas
	run -0 valid "$TOP/etc/share/daemonset.yml"
	assert_output 'valid DaemonSet cuda-trace-metrics'
	run -0 valid "$RENDERED"
	assert_output - <<-'END'
	valid NetworkPolicy cuda-trace
	valid Service cuda-trace
	valid DaemonSet cuda-trace
	valid PodMonitor cuda-trace
	valid ServiceMonitor cuda-trace
	END
	# As a check: what is wrong is found.
	sed 's/hostPID: true/hostPID: "yes"/; s/interval: 15s/interval: 15/' "$RENDERED" >wrong.yml
	run -1 valid wrong.yml
	assert_output --partial 'hostPID must be boolean'
	assert_output --partial 'interval must be string'
}

@test "the rendered chart is that of the chart's files" {
	assert_equal "$(sed -n 's/^# Of the files with the checksum //p' "$RENDERED")" \
		"$(cd "$CHART" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-64)"
}

@test "the chart (helm) is without mistakes, and gives what is rendered" {
	requires helm
	run -0 helm lint "$CHART"
	"$TOP/tests/metrics/render-chart" >now.yml
	diff "$RENDERED" now.yml
	run helm template x "$CHART" --set port=no
	assert_failure
	helm template x "$CHART" --set networkPolicy.enabled=false,runtimeFolders=null >least.yml
	run ! grep -qE 'kind: (NetworkPolicy|Service|PodMonitor)|volume' least.yml
	grep -q 'prometheus.io/port: "12832"' least.yml
}

@test "the chart and the DaemonSet run the same, and select the same pods" {
	with_yaml
	documents "$RENDERED" >chart
	documents "$TOP/etc/share/daemonset.yml" >set
	assert_equal "$(jq -cS 'select(.kind == "DaemonSet") | .spec.template.spec' chart)" "$(jq -cS .spec.template.spec set)"
	# Each selector matches the pods, each port has a name that they have.
	jq -c 'select(.kind == "DaemonSet") | .spec.template.metadata.labels' chart >labels
	assert_equal "$(jq -c '(.spec.podSelector // .spec.selector | .matchLabels // .) as $l | select(.kind != "x") | $l' chart | sort -u)" "$(cat labels)"
	assert_equal "$(jq -r '(.spec.podMetricsEndpoints // .spec.endpoints // [] | .[].port), (.spec.ingress // [] | .[].ports[].port),
		(select(.kind == "Service") | .spec.ports[] | .name, .targetPort)' chart | sort -u)" metrics
}

@test "the Containerfile installs the packages that there are, and runs a command that exists" {
	local package
	grep '^COPY' "$TOP/etc/share/Containerfile" | grep -o '[a-z-]*_\*\.deb' | sed 's/_.*//' >packages
	assert_equal "$(wc -l <packages)" 2
	while read -r package; do
		grep -qx "Package: $package" "$TOP/debian/control"
	done <packages
	assert_equal "$(sed -n 's/^ENTRYPOINT //p; s/^CMD //p' "$TOP/etc/share/Containerfile" | jq -cs 'add')" '["cuda-trace","metrics","--listen",":12832"]'
	ct metrics --help | grep -q -- --listen
}

@test "list (with the DaemonSet's capabilities alone) sees processes of all users" {
	requires bpf sim setpriv
	with_yaml
	local capability wanted=-all
	# Linux 6.16 and newer want SYS_ADMIN for uprobes, as the file says.
	for capability in sys_admin $(documents "$TOP/etc/share/daemonset.yml" |
		jq -r '.spec.template.spec.containers[0].securityContext.capabilities.add[] | ascii_downcase'); do
		wanted+=,+$capability
	done
	start storm setpriv --reuid 65534 --regid 65534 --clear-groups "$SIM" \
		env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 30 -p 1000
	ready storm
	setpriv --bounding-set "$wanted" --inh-caps -all "$CUDA_TRACE" list --json | jq -c "select(.pid == $storm_PID)" >row
	json row '.guest and .state == "active" or .state == "dormant"'
	setpriv --bounding-set "$wanted" --inh-caps -all "$CUDA_TRACE" doctor >doctor.out 2>doctor.err || [ $? = 1 ]
	assert_equal "$(cat doctor.err)" ""
	[ -s doctor.out ]
}
