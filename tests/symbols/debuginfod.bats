#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# record -g: debug information from a debuginfod server, by elfutils' client.

load ../lib/helpers
load stacks/recorded

setup() {
	requires bpf sim sqlite3 addr2line python3 curl
	[ "$(uname -m)" = x86_64 ] || skip "stacks are unwound on x86-64 only"
	ldconfig -p | grep -q 'libdebuginfod\.so\.1 ' || skip "needs libdebuginfod1"
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir served
	export DEBUGINFOD_CACHE_PATH=$PWD/cache
}

teardown() {
	exec 9>&-
	stop_started
}

# serve: a server of the folder served, in DEBUGINFOD_URLS
serve() {
	python3 "$TOP/tests/symbols/debuginfod-server.py" served 3>&- &
	echo $! >>started
	wait_for 10 test -s served/port
	export DEBUGINFOD_URLS=http://127.0.0.1:$(cat served/port)
}

# stripped SOURCE: libframeless.so without debug information, which is in whole.so; its build in $build_id
stripped() {
	gcc -shared -fPIC -O2 -g -Wl,--build-id -I"$TOP/tests/symbols/inlined" -o whole.so "$1"
	build_id=$(readelf -n whole.so | sed -n 's/.*Build ID: //p')
	strip -s -o libframeless.so whole.so
}

record_library() {
	record_lingering libframeless "$WORKLOADS/frameless" -n 2 --library ./libframeless.so
}

# frames: "INLINED FUNCTION FILE:LINE" of each frame in libframeless.so
frames() {
	sql r.db "SELECT DISTINCT printf('%d %s %s:%s', inlined, s.value, f.value, sourceLine)
		FROM CUDA_CALLCHAINS AS c JOIN StringIds AS m ON m.id = c.module JOIN StringIds AS s ON s.id = c.symbol
		LEFT JOIN StringIds AS f ON f.id = c.sourceFile WHERE m.value LIKE '%/libframeless.so' ORDER BY c.id, stackDepth"
}

@test "record -g (DEBUGINFOD_URLS) has names, lines and inlined functions of a stripped library; each build is requested once" {
	local build_id
	stripped "$TOP/tests/symbols/inlined/library.c"
	objcopy --only-keep-debug whole.so "served/$build_id.debug"
	serve
	record_library
	frames >seen
	grep -q '^1 inlined_twice .*/library.c:[0-9]' seen
	grep -q '^0 library_inner .*/library.c:[0-9]' seen
	assert_equal "$(sort served/log | uniq -d)" ""
	assert_equal "$(grep -c "^/buildid/$build_id/debuginfo$" served/log)" 1
	grep -q '^cuda-trace: requesting debug information, for 30 s at most (not without DEBUGINFOD_URLS)$' rec.err
	grep -q '^cuda-trace: the servers have debug information of 1 in [0-9]* files$' rec.err
}

@test "record -g (a server that sends another build, or cannot be reached) has no lines of it, and goes on" {
	local build_id
	stripped "$TOP/tests/symbols/inlined/library.c"
	sed 's/^/\n/' "$TOP/tests/symbols/inlined/library.c" >other.c
	gcc -shared -fPIC -O2 -g -Wl,--build-id -I"$TOP/tests/symbols/inlined" -o other.so other.c
	objcopy --only-keep-debug other.so "served/$build_id.debug"
	serve
	record_library
	frames >seen
	refute grep -q '\.c:' seen
	grep -q "$build_id" served/log
	export DEBUGINFOD_URLS=http://127.0.0.1:1 DEBUGINFOD_CACHE_PATH=$PWD/again
	record_library
	frames >seen
	refute grep -q '\.c:' seen
	grep -q '^cuda-trace: the servers have debug information of 0 in [0-9]* files$' rec.err
}

@test "record -g (without DEBUGINFOD_URLS; debug information in the file) requests nothing" {
	local build_id
	stripped "$TOP/tests/symbols/inlined/library.c"
	serve
	unset DEBUGINFOD_URLS
	record_library
	[ ! -e served/log ]
	refute grep -q 'debug information' rec.err
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat served/port)
	export DEBUGINFOD_URLS
	cp whole.so libframeless.so
	record_library
	refute grep -q "$build_id" served/log
}
