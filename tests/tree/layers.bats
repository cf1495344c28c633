#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Who may use whom (mk/layers.list), by includes and by symbols, how the folders are filled, and
# that each header stands alone. Looks at the tree and its build.

load ../lib/helpers

sources() {
	(cd "$TOP" && find libcupti-usdt bpf cuda-trace -name '*.[ch]')
}

folders() {
	sed -n 's/^\([a-z][^:#]*\):.*/\1/p' "$TOP/mk/layers.list"
}

check_includes() {
	awk -v list="$TOP/mk/layers.list" -f "$TOP/mk/layers.awk" -f "$TOP/mk/check-layers.awk" "$@"
}

# check_symbols [-v modules=FOLDER] <nm's output
check_symbols() {
	awk -v list="$TOP/mk/layers.list" "$@" -f "$TOP/mk/layers.awk" -f "$TOP/mk/check-symbols.awk"
}

symbols() {
	requires nm
	(cd "$TOP" && find libcupti-usdt cuda-trace -name '*.c') | while IFS= read -r source; do
		for object in "$B"/{obj,pic}/"${source%.c}.o"; do
			[ ! -e "$object" ] || echo "$object"
		done
	done | xargs nm -A -P
}

@test "layers (by includes, in sources and as built) are respected" {
	requires awk
	cd "$TOP"
	sources | xargs awk -v list=mk/layers.list -f mk/layers.awk -f mk/check-layers.awk
	# Of sources that are there: build outputs may be left over from one that was moved.
	find "$B/obj" "$B/pic" -name '*.d' | while IFS= read -r dependencies; do
		object=${dependencies#"$B"/*/}
		[ ! -e "${object%.d}.c" ] || echo "$dependencies"
	done | xargs awk -v list=mk/layers.list -f mk/layers.awk -f mk/check-layers.awk
	awk -v list=mk/layers.list -f mk/layers.awk -f mk/check-layers.awk "$B"/bpf/*.d
}

@test "layers (by symbols, in objects) are respected" {
	symbols | check_symbols
}

@test "modules of libcupti-usdt (by symbols) do not depend on each other in a circle" {
	requires tsort
	symbols | check_symbols -v modules=libcupti-usdt >"$BATS_TEST_TMPDIR/pairs"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/pairs")" -gt 100 ]
	run -0 --separate-stderr tsort "$BATS_TEST_TMPDIR/pairs"
	assert_equal "$stderr" ""
}

@test "includes (planted violations) are found" {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"
	cp -r "$TOP/libcupti-usdt" "$TOP/bpf" "$TOP/cuda-trace" "$tree"
	cd "$tree"
	try() {
		mkdir -p obj
		printf '#include "%s"\n' "$2" >"$1"
		run -1 check_includes "$1"
		assert_line "$1 includes $2: ${1%/*}/ may not"
		cc -I. -I"$B" -D_GNU_SOURCE -MMD -MP -MF obj/planted.d -fsyntax-only "$1"
		run -1 check_includes obj/planted.d
		assert_line "$1 includes $2: ${1%/*}/ may not"
		rm "$1"
	}
	try libcupti-usdt/trace/planted.c bpf/event.h
	try libcupti-usdt/trace/planted.c libcupti-usdt/profile/launch_gate.h
	try libcupti-usdt/base/planted.c libcupti-usdt/emit/status.h
	try libcupti-usdt/control/planted.c cuda-trace/commands/commands.h
	try bpf/planted.c cuda-trace/commands/commands.h
	try bpf/planted.c libcupti-usdt/base/settings.h
	try cuda-trace/cli/planted.c libcupti-usdt/base/settings.h
	try cuda-trace/cli/planted.c cuda-trace/commands/commands.h
	try cuda-trace/base/planted.c cuda-trace/cli/options.h
	try cuda-trace/profile/code/planted.c cuda-trace/stat/stat_sections.h
	# What a folder may not use itself, but a folder that it uses may.
	echo '#include "cuda-trace/attach/attachments.h"' >cuda-trace/top/planted.c
	run -1 check_includes cuda-trace/top/planted.c
	cc -I. -I"$B" -D_GNU_SOURCE -MMD -MF obj/planted.d -fsyntax-only cuda-trace/top/planted.c
	run -0 check_includes obj/planted.d
	# A folder that is not listed.
	mkdir cuda-trace/planted
	echo '#include "cuda-trace/base/text.h"' >cuda-trace/planted/planted.c
	run -1 check_includes cuda-trace/planted/planted.c
}

@test "symbols (planted violations) are found" {
	cat >"$BATS_TEST_TMPDIR/nm.out" <<-'EOF'
	build/obj/cuda-trace/base/text.o: text__show T 0 10
	build/obj/cuda-trace/base/text.o: stat_planted U
	build/obj/cuda-trace/stat/stat_report.o: stat_planted T 0 10
	build/obj/cuda-trace/stat/stat_report.o: text__show U
	build/pic/libcupti-usdt/emit/rings.o: planted_data U
	build/pic/libcupti-usdt/control/control.o: planted_data D 0 10
	build/pic/libcupti-usdt/control/control.o: own t 0 10
	EOF
	run -1 check_symbols <"$BATS_TEST_TMPDIR/nm.out"
	assert_output "cuda-trace/base/text.c uses stat_planted of cuda-trace/stat/stat_report.c: cuda-trace/base/ may not
libcupti-usdt/emit/rings.c uses planted_data of libcupti-usdt/control/control.c: libcupti-usdt/emit/ may not"
}

@test "mk/layers.list (folders that name each other) is refused" {
	cd "$BATS_TEST_TMPDIR"
	mkdir mk
	printf '%s\n' 'cuda-trace:' 'cuda-trace/base:' 'cuda-trace/cli: proc' 'cuda-trace/proc: cli' >mk/list
	run -1 awk -v list=mk/list -f "$TOP/mk/layers.awk" /dev/null
	assert_line "check-layers: cuda-trace/cli names cuda-trace/proc, which is not listed before it"
}

@test "checks of layers (nothing to look at) fail" {
	run -1 check_includes /dev/null
	run -1 check_symbols </dev/null
	run -1 awk -v list=/nonexistent -f "$TOP/mk/layers.awk" /dev/null
}

@test "folders (each with sources) are in mk/layers.list and in CONTRIBUTING.md" {
	run -0 sources
	used=$(sed 's,/[^/]*$,,' <<<"$output" | sort -u)
	for folder in $used; do
		[ "$folder" = cuda-trace ] && folder=cuda-trace/.
		folders | grep -qxF "$folder" || fail "mk/layers.list lacks $folder"
	done
	for folder in $(folders); do
		[ -d "$TOP/$folder" ] || fail "mk/layers.list: there is no $folder"
		[ "$folder" = cuda-trace/. ] || grep -qF "| \`$folder/\` |" "$TOP/CONTRIBUTING.md" ||
			fail "CONTRIBUTING.md does not say what $folder/ is for"
	done
}

@test "folders (each) have at most 30 C files, and those of the tool have a name each" {
	cd "$TOP"
	run -0 bash -c 'find libcupti-usdt bpf cuda-trace -name "*.c" | sed "s,/[^/]*$,," | sort | uniq -c | awk "\$1 > 30"'
	assert_output ""
	run -0 bash -c 'find cuda-trace -name "*.c" | sed "s,.*/,," | sort | uniq -d'
	assert_output ""
	[ "$(find cuda-trace -name '*.c' | wc -l)" -gt 100 ]
}

@test "headers (each) compile alone" {
	cd "$TOP"
	run -0 make -s check-headers B="$B" CC="${CC:-cc}"
}

@test "companion for NVTX (built) exports its entries and its schemas only" {
	requires nm
	run -0 bash -c 'nm -D --defined-only "$1" | cut -d" " -f2-' - "${AGENT%.so}-nvtx.so"
	assert_output $'T InitializeInjectionNvtx2\nT InitializeInjectionNvtxExtension\nD cupti_usdt_nvtx_1'
}

@test "agent (built) needs the C library only and exports InitializeInjection only" {
	requires readelf nm
	run -0 nm -D --defined-only "$AGENT"
	assert_output --regexp '^[0-9a-f]+ T InitializeInjection$'
	run readelf -dW "$AGENT"
	[ "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$output" | grep -vE '^(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux.*)$')" = "" ]
	assert_output --partial NODELETE
	refute_output --regexp 'RUNPATH|RPATH|TEXTREL'
	[[ $output == *"[libcupti-usdt.so]"* ]]
}
