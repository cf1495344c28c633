#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What NVTX events carry beside a text: payloads of all kinds, categories with names, the two threads of a range.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Of struct operation of the workload, as JSON without blanks.
OPERATION='{"communicator":18364758544493064720,"rank":-3,"operation":"product","value":0.1,"label":"a \"label\"\u000a",'
OPERATION+='"fixed":"fixed","pairs":[{"first":1,"second;{%}":2},{"first":3,"second;{%}":65535}],"reals":[1.5,-2,1e+10],'
OPERATION+='"flags":"read|write","half":1.5,"address":"0xabc"}'
MESSAGE='{"message":"said by its payload","step":42}'

# payloads JSON: "EVENT NAME PAYLOAD" of each event that has one, blanks after colons and commas left out, which jq would not
# do without rounding numbers.
payloads() {
	sed -nE 's/^\{"event":"(mark|range)".*"name":"([^"]*)".*"payload":(.*),"kernel":null\}$/\1 \2 \3/p' "$1" | sed 's/": /":/g; s/, /,/g'
}

@test "trace -e nvtx (payloads that are numbers) shows each as what it is" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	run bash -c 'sed -n "/^mark \(unsigned\|signed\|double\|float\|minus\|none\)/p"' <<<"$(payloads out.json)"
	assert_output - <<-'EOF'
		mark unsigned long 18446744073709551615
		mark signed long -5
		mark double 2.5
		mark unsigned 7
		mark signed -7
		mark float 0.5
		mark minus zero -0
	EOF
	ct trace -e nvtx -o out.txt -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	grep -q '\[mark\] signed long, domain payloads, payload -5$' out.txt
}

@test "trace -e nvtx (payloads of the extension, with schemas) shows them as JSON, and counts what is too large or of no schema" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	payloads out.json | grep '[[{]' >seen
	assert_equal "$(grep -v '^mark large ' seen)" "range pushed $OPERATION
mark two [$OPERATION,$MESSAGE]
mark said by its payload $MESSAGE
range one operation [$OPERATION,$MESSAGE]
range said by its payload [$MESSAGE,$MESSAGE]"
	# Of 1000 bytes there are 512.
	assert_equal "$(sed -n 's/^mark large {"bytes":"0x\(.*\)"}$/\1/p' seen | tr -d '\n' | wc -c)" 1024
	assert_equal "$(jq 'select(.name == "unknown") | has("payload")' out.json)" false
	assert_equal "$(tail -n 1 out.json | jq .lost.nvtx_payloads)" "$(expect_key out payloads_lost)"
	assert_equal "$(tail -n 1 out.json | jq .lost.total)" 0
}

@test "trace -e nvtx (payloads, windows by range) has them too" {
	ct trace -e nvtx --json -o all.json -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	ct record -q -e nvtx --range 'pushed' -o r.db -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	assert_equal "$(sqlite3 r.db "SELECT text, replace(replace(jsonText, '\": ', '\":'), ', ', ',') FROM NVTX_EVENTS WHERE eventType = 59")" \
		"pushed|$OPERATION"
}

@test "trace -e nvtx (categories with names, of a domain and of all) shows the names" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	run jq -r 'select(.name == "in a category" or .name == "in another" or .name == "double") | "\(.name) \(.category) \(.category_name)"' out.json
	assert_output - <<-'EOF'
		double 7 null
		in a category 7 of the domäne
		in another 7 of all
	EOF
}

@test "trace -e nvtx (a range that another thread ends) says both threads" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	assert_equal "$(jq -r 'select(.name == "across threads") | "\(.tid) \(.end_tid)"' out.json)" \
		"$(expect_key out start_tid) $(expect_key out end_tid)"
}

@test "record -e nvtx (payloads, categories, threads) fills the columns that Nsight Systems has for them" {
	ct record -q -e nvtx -o r.db -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	run sqlite3 r.db "SELECT text, uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue FROM NVTX_EVENTS
		WHERE coalesce(uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue) IS NOT NULL ORDER BY start"
	assert_output - <<-'EOF'
		unsigned long|-1|||||
		signed long||-5||||
		double|||2.5|||
		unsigned||||7||
		signed|||||-7|
		float||||||0.5
		minus zero|||0.0|||
	EOF
	assert_equal "$(sqlite3 r.db "SELECT replace(replace(jsonText, '\": ', '\":'), ', ', ',') FROM NVTX_EVENTS WHERE text = 'pushed'")" "$OPERATION"
	assert_equal "$(sqlite3 r.db "SELECT globalTid & 0xffffff, endGlobalTid & 0xffffff FROM NVTX_EVENTS WHERE text = 'across threads'")" \
		"$(expect_key out start_tid)|$(expect_key out end_tid)"
	assert_equal "$(sqlite3 r.db 'SELECT c.text, s.value, category FROM NVTX_EVENTS AS c LEFT JOIN StringIds AS s ON s.id = c.domainId
		AND s.id <> 0 WHERE eventType = 33 ORDER BY 1')" $'of all||7\nof the domäne|payloads|7'
}

@test "report --nvtx, --timeline, --perfetto (payloads and categories) have them" {
	ct record -q -e nvtx -o r.db -- "$SIM" "$WORKLOADS/nvtx-payloads" >out
	ct report --nvtx --json r.db >out.json
	assert_equal "$(jq -c 'select(.range == "pushed") | [.domain, .category, .payloads]' out.json)" '["payloads","of the domäne",1]'
	ct report --timeline=t.json r.db
	assert_equal "$(jq -c '.traceEvents[] | select(.name == "pushed") | [.args.category, (.args.payload | fromjson | .rank)]' t.json)" \
		'["of the domäne",-3]'
	assert_equal "$(jq -c '.traceEvents[] | select(.name == "across threads") | .args.end_tid' t.json)" "$(expect_key out end_tid)"
	ct report --perfetto=t.pftrace r.db
	grep -aqF '"operation": "product"' t.pftrace
}

@test "trace -e nvtx (a program that registers schemas for ever) keeps the first 256, and counts the others" {
	ct trace -e nvtx --json -o out.json -- "$SIM" "$WORKLOADS/nvtx-payloads" schemas 300 >out
	assert_equal "$(payloads out.json)" 'mark after many {"value 255":7}'
	assert_equal "$(tail -n 1 out.json | jq .lost.nvtx_payloads)" 44
}
