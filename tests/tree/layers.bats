#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom, and that each header stands alone. Looks at the tree and its build.

load ../lib/helpers

dependencies() {
	find "$1/obj" "$1/pic" "$1/bpf" -name '*.d'
}

@test "includes (as built) respect the layers" {
	requires awk
	dependencies "$B" | xargs awk -f "$TOP/mk/check-layers.awk"
}

@test "includes (planted violations) are found" {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"
	cp -r "$TOP/libcupti-usdt" "$TOP/bpf" "$TOP/cuda-trace" "$tree"
	cd "$tree"
	try() {
		mkdir -p obj
		printf '#include "%s"\n' "$2" >"$1"
		cc -I. -I"$B" -D_GNU_SOURCE -MMD -MP -MF obj/planted.d -fsyntax-only "$1"
		run -1 awk -f "$TOP/mk/check-layers.awk" obj/planted.d
		assert_line "$1 includes $2: ${1%%/*}/ may not"
		rm "$1"
	}
	try libcupti-usdt/planted.c bpf/event.h
	try libcupti-usdt/planted.c cuda-trace/commands/commands.h
	try bpf/planted.c cuda-trace/commands/commands.h
	try bpf/planted.c libcupti-usdt/base/settings.h
	try cuda-trace/planted.c libcupti-usdt/base/settings.h
}

@test "check-layers (nothing to look at) fails" {
	run -1 awk -f "$TOP/mk/check-layers.awk" /dev/null
}

@test "headers (each) compile alone" {
	cd "$TOP"
	run -0 make -s check-headers B="$B" CC="${CC:-cc}"
}

@test "companion for NVTX (built) exports its entry only" {
	requires nm
	run -0 nm -D --defined-only "${GUEST%.so}-nvtx.so"
	assert_output --regexp '^[0-9a-f]+ T InitializeInjectionNvtx2$'
}

@test "guest (built) needs the C library only and exports InitializeInjection only" {
	requires readelf nm
	run -0 nm -D --defined-only "$GUEST"
	assert_output --regexp '^[0-9a-f]+ T InitializeInjection$'
	run readelf -dW "$GUEST"
	[ "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$output" | grep -vE '^(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux.*)$')" = "" ]
	assert_output --partial NODELETE
	refute_output --regexp 'RUNPATH|RPATH|TEXTREL'
	[[ $output == *"[libcupti-usdt.so]"* ]]
}
