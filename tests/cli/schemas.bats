#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/reference/schema/: a JSON Schema for each output of --json. Whatever ct and sim write with --json is validated after
# each file of tests (teardown_file in lib/helpers.bash); here, that none is missing, and that the schemas find what is wrong.

load ../lib/helpers

SCHEMAS=$TOP/docs/reference/schema

setup() {
	requires python3 jq
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3-jsonschema"
	cd "$BATS_TEST_TMPDIR" || return 1
}

commands() {
	ct --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# options COMMAND HEADING: its options below this heading of --help.
options() {
	ct "$1" --help | sed -n "/^$2/,/^\$/s/^ \{2,6\}\(-[a-zA-Z0-9], \)\?--\([a-z-]*\).*/\2/p"
}

@test "--json (each command, each mode of profile, each kind of report) has a schema, and no schema is of nothing" {
	local command mode found=''
	for command in $(commands); do
		ct "$command" --help | grep -q -- '--json' || continue
		case $command in
		profile)
			for mode in $(options profile 'What to look at' | grep -vxE 'bursts|max-overhead|disassemble|flamegraph|folded|record|stacks|call-graph'); do
				found+=" $("$TOP/tests/lib/schemas" --name profile "--$mode" --json)"
			done
			;;
		report)
			found+=" report"
			for mode in compare merge sql steps; do
				found+=" $("$TOP/tests/lib/schemas" --name report "--$mode" --json)"
			done
			;;
		*) found+=" $("$TOP/tests/lib/schemas" --name "$command" --json)" ;;
		esac
	done
	assert_equal "$(printf '%s.json\n' $found | sort)" "$(cd "$SCHEMAS" && ls)"
	# Each table of report.
	for mode in $(options report Tables | grep -vxE 'all|by'); do
		[ "$mode" != losses ] || continue
		jq -e --arg mode "$mode" '.["$defs"] | has($mode)' "$SCHEMAS/report.json" >has || fail "no table $mode in report.json"
	done
	for mode in $(ct report --complete --by); do
		jq -e --arg mode "by_$mode" '.["$defs"] | has($mode)' "$SCHEMAS/report.json" >has || fail "no table by_$mode in report.json"
	done
}

@test "docs/reference/schema (each file) is a schema that allows no key that it does not name" {
	run -0 "$TOP/tests/lib/schemas" --check
	assert_output ''
}

# wrong FILE COMMAND...: what the command wrote is right, and the schema finds a key that is new, and one that is missing, in
# each kind of object in it.
wrong() {
	local folder=$1.kept count
	mkdir -p "$folder/right" "$folder/wrong"
	cp "$1" "$folder/right/1"
	command jq -cs 'unique_by([.event, .table, .type])[] | . + {undocumented: 1}, del(.[keys_unsorted[0]])' "$1" >"$folder/wrong/1"
	printf '%s\0' cuda-trace "${@:2}" | tee "$folder/right/1.args" >"$folder/wrong/1.args"
	echo 0 | tee "$folder/right/1.status" >"$folder/wrong/1.status"
	run -0 "$TOP/tests/lib/schemas" "$folder/right"
	assert_output ''
	count=$(wc -l <"$folder/wrong/1")
	[ "$count" -gt 0 ] || fail "$1 has no objects"
	run -1 "$TOP/tests/lib/schemas" "$folder/wrong"
	assert_equal "$(grep -o '^[^:]*: object [0-9]*' <<<"$output" | sort -u | wc -l)" "$count"
	assert_equal "$(grep "'undocumented' was unexpected" <<<"$output" | grep -o 'object [0-9]*' | sort -u | wc -l)" $((count / 2))
}

@test "--json (list, status, doctor) is as its schema says, and what is not is found" {
	ct status --json >status.out
	wrong status.out status --json
	ct doctor --json >doctor.out || true
	wrong doctor.out doctor --json
	requires bpf sim
	start storm "$SIM" "$WORKLOADS/launch-storm" -n 1000000 -p 1000
	wait_for 20 eval 'ct list --json >list.out; [ -s list.out ]'
	wrong list.out list --json
}

@test "--json (stat, trace, record and report, top) is as its schema says, and what is not is found" {
	requires bpf sim
	ct stat --json -o stat.out -- "$SIM" "$WORKLOADS/saxpy" >program
	wrong stat.out stat --json
	# Also in an object within it.
	jq -c '.totals.undocumented = 1' stat.out >inner.out
	mkdir inner && cp inner.out inner/1 && echo 0 >inner/1.status && printf '%s\0' cuda-trace stat --json >inner/1.args
	run -1 "$TOP/tests/lib/schemas" inner
	assert_output --partial ': /totals: '
	ct trace --json -e kernels,copies,memory,sync,graphs,objects,overhead -o trace.out -- "$SIM" "$WORKLOADS/graphs" >program
	wrong trace.out trace --json
	ct record -q -o r.db -- "$SIM" "$WORKLOADS/saxpy" >program
	ct report --json r.db >whole.out
	wrong whole.out report --json
	ct report --all --json r.db >report.out
	wrong report.out report --json
	ct report --compare --json r.db r.db >compare.out
	wrong compare.out report --compare --json
	start storm "$SIM" "$WORKLOADS/launch-storm" -n 1000000 -p 1000
	ct top --once --json >top.out
	wrong top.out top --json
}

@test "--json (each mode of profile) is as its schema says, and what is not is found" {
	requires bpf sim
	sim "$CUDA_TRACE" profile --json -o counters.out --counters quick -- "$WORKLOADS/saxpy" >program
	wrong counters.out profile --counters quick --json
	sim "$CUDA_TRACE" profile --json -o sass.out --sass -- "$WORKLOADS/saxpy" >program
	wrong sass.out profile --sass --json
	sim "$CUDA_TRACE" profile --json -o pc.out --pc --bursts 20ms/100ms -- "$WORKLOADS/launch-storm" -p 1000 -s 1 >program
	wrong pc.out profile --pc --json
	sim "$CUDA_TRACE" profile --json -o device.out --device -d 0.4 --interval 100ms
	wrong device.out profile --device --json
	sim "$CUDA_TRACE" profile --json --list-metrics=^dram__bytes_read >metrics.out
	wrong metrics.out profile --list-metrics --json
}
