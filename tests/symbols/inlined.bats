#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# record -g: functions that a compiler inlined, by .debug_info, against addr2line.

load ../lib/helpers
load stacks/recorded

setup() {
	requires bpf sim sqlite3 addr2line
	[ "$(uname -m)" = x86_64 ] || skip "stacks are unwound on x86-64 only"
	cd "$BATS_TEST_TMPDIR" || return 1
	SOURCES=$TOP/tests/symbols/inlined
}

teardown() {
	exec 9>&-
	stop_started
}

# library COMPILER SOURCE OPTIONS...: libframeless.so
library() {
	local compiler=$1 source=$2
	shift 2
	"$compiler" -shared -fPIC -O2 -Wl,--build-id "$@" -o libframeless.so "$SOURCES/$source"
}

record_library() {
	record_lingering libframeless "${PROGRAM:-$WORKLOADS/frameless}" -n 2 --library ./libframeless.so
}

# frames: "ADDRESS INLINED FUNCTION FILE:LINE" of each frame in libframeless.so, by stack and depth, the innermost first.
frames() {
	sql r.db "SELECT DISTINCT printf('0x%x %d %s %s:%s', moduleAddress, inlined, s.value, f.value, sourceLine)
		FROM CUDA_CALLCHAINS AS c JOIN StringIds AS m ON m.id = c.module JOIN StringIds AS s ON s.id = c.symbol
		LEFT JOIN StringIds AS f ON f.id = c.sourceFile WHERE m.value LIKE '%/libframeless.so'
		ORDER BY c.id, stackDepth"
}

# expected FILE: the same of these addresses by addr2line, which lists the function itself last
expected() {
	local address
	for address in $(cut -d' ' -f1 seen | uniq); do
		addr2line -i -f -C -e "$1" "$address" | sed 's/ (discriminator .*//' | paste -d' ' - - |
			sed "\$!s/^/$address 1 /; \$s/^/$address 0 /"
	done
}

# same_as_addr2line FILE INLINED: so many frames are inlined ones
same_as_addr2line() {
	frames >seen
	expected "$1" >wanted
	assert_equal "$(cat seen)" "$(cat wanted)"
	assert_equal "$(grep -c '^[^ ]* 1 ' seen)" "$2"
}

@test "record -g (C: DWARF 2 to 5, compressed, by gcc) has the inlined functions that addr2line has" {
	local options
	for options in -gdwarf-5 -gdwarf-4 -gdwarf-3 -gdwarf-2 "-g -gz=zlib" "-g -ffunction-sections"; do
		# shellcheck disable=SC2086 # words
		library gcc library.c $options
		record_library
		# inlined_twice, inlined_block and inlined_header in library_inner; inlined_twice in library_outer.
		same_as_addr2line ./libframeless.so 4
		grep -q "^[^ ]* 1 inlined_twice .*/library.c:$(grep -n 'sum = call()' "$SOURCES/library.c" | cut -d: -f1)$" seen
	done
	# This one addr2line (2.40) cannot read.
	library gcc library.c -g -gdwarf64
	record_library
	sed 's/ .* / /' seen >before
	frames >seen
	assert_equal "$(sed 's/ .* / /' seen)" "$(cat before)"
	assert_equal "$(grep -c '^[^ ]* 1 ' seen)" 4
}

@test "record -g (C: DWARF 4, 5, by clang) has the inlined functions that addr2line has" {
	requires clang
	local options
	for options in -gdwarf-5 -gdwarf-4 "-gdwarf-5 -ffunction-sections"; do
		# shellcheck disable=SC2086 # words
		library clang library.c $options
		record_library
		same_as_addr2line ./libframeless.so 4
	done
}

@test "record -g (C++: methods, templates, lambdas) has their names, demangled" {
	local compiler
	for compiler in g++ clang++; do
		command -v $compiler || continue
		library $compiler library.cc -g
		record_library
		frames >seen
		expected ./libframeless.so >wanted
		# For the innermost function, addr2line has the symbol's name.
		assert_equal "$(sed 's/ .* / /' seen)" "$(sed 's/ .* / /' wanted)"
		assert_equal "$(grep -c '^[^ ]* 1 ' seen)" 3
		grep -q '^[^ ]* 1 .*inlined_method' seen
		grep -q '^[^ ]* 1 .*inlined_template<' seen
	done
}

@test "record -g (link-time optimisation: functions of other units) has the inlined functions that addr2line has" {
	library gcc library.c -g -flto 2>cc.err || skip "no LTO: $(head -n 1 cc.err)"
	record_library
	same_as_addr2line ./libframeless.so 4
}

@test "record -g (stripped library, debug information in /usr/lib/debug by build-id) has its inlined functions" {
	requires root unshare
	local build_id path
	library gcc library.c -g
	build_id=$(readelf -n libframeless.so | sed -n 's/.*Build ID: //p')
	path=/usr/lib/debug/.build-id/${build_id:0:2}
	[ ! -e "$path/${build_id:2}.debug" ]
	mkdir -p "$path"
	mv libframeless.so whole.so
	objcopy --only-keep-debug whole.so "$path/${build_id:2}.debug"
	strip -s -o libframeless.so whole.so
	record_library || true
	rm -f "$path/${build_id:2}.debug"
	rmdir --ignore-fail-on-non-empty "$path" /usr/lib/debug/.build-id /usr/lib/debug
	same_as_addr2line ./whole.so 4
}

@test "record -g (split DWARF) says why inlined functions are missing" {
	library gcc library.c -g -gsplit-dwarf
	record_library
	frames >seen
	refute grep -q '^[^ ]* 1 ' seen
	grep -q 'inlined functions of .*/libframeless.so are missing: its debug information is in .dwo files$' rec.err
}

@test "record -g (names in a file that dwz made) says why inlined functions are missing" {
	requires dwz
	library gcc library.c -gdwarf-4
	cp libframeless.so other.so
	dwz -m shared.dwz libframeless.so other.so
	record_library
	grep -q 'inlined functions of .*/libframeless.so are missing: their names are in a file that it shares with others (dwz)$' rec.err
}

@test "record -g (debug information in circles, in 600 blocks) ends, without inlined functions or with those that make sense" {
	local hostile=(gcc -shared -fPIC -O2 -g1 "-Wl,--build-id" -o libframeless.so "$SOURCES/hostile.s" "$SOURCES/library.c")
	"${hostile[@]}" -Wa,--defsym,CIRCLES=1
	record_library
	assert_equal "$(launches_below r.db library_outer)" 4
	frames >seen
	refute grep -q '^[^ ]* 1 ' seen
	# After a few steps, and not when all that one file may cost has been spent.
	refute grep -q 'are missing' rec.err
	"${hostile[@]}" -Wa,--defsym,BLOCKS=1
	record_library
	frames >seen
	refute grep -q '^[^ ]* 1 ' seen
	grep -q 'inlined functions of .*/libframeless.so are missing: its debug information is nested too deeply$' rec.err
	# The same without anything that is wrong.
	"${hostile[@]}"
	record_library
	frames >seen
	grep -q '^[^ ]* 1 named ' seen
}

@test "record -g (debug information that is damaged in many ways) has inlined functions or not, and goes on" {
	requires python3
	local section way
	library gcc library.c -gdwarf-5
	mv libframeless.so whole.so
	for section in .debug_info .debug_abbrev .debug_rnglists .debug_str .debug_line_str; do
		for way in ones noise; do
			objcopy --dump-section $section=bytes whole.so ignored.so
			python3 - $way <<-'EOF'
				import random, sys
				data = bytearray(open("bytes", "rb").read())
				random.seed(1)
				for i in range(len(data)):
				    if sys.argv[1] == "ones":
				        data[i] = 255
				    elif i > 30 and random.random() < 0.1:
				        data[i] = random.randrange(256)
				open("bytes", "wb").write(data)
			EOF
			objcopy --update-section $section=bytes whole.so libframeless.so
			record_library
			assert_equal "$section $way $(launches_below r.db library_outer)" "$section $way 4"
		done
	done
}

@test "report (inlined functions) marks them in --folded, --flamegraph, --timeline; in --pprof they share a location" {
	requires protoc python3
	local stack
	library gcc library.c -g
	record_library
	ct report --folded f.txt --flamegraph f.svg --timeline t.json r.db
	stack="step;library_outer;library_inner;inlined_header (inlined);inlined_block (inlined);inlined_twice (inlined);back"
	grep -q ";$stack;" f.txt
	grep -q 'inlined_block (inlined)' f.svg
	grep -q 'inlined_block (inlined)' t.json
	# Lines of one name are one row, whether it was inlined or not.
	ct report --by line --json r.db >by.json
	refute grep -q '(inlined)' by.json
	ct report --pprof p.pb.gz r.db
	locations p.pb.gz >locations
	frames >seen
	line() { sed -n "s/^[^ ]* $1 $2 .*:\([0-9]*\)$/\1/p" seen | sed -n "$3p"; }
	grep -qx "inlined_twice:$(line 1 inlined_twice 1) inlined_block:$(line 1 inlined_block 1) inlined_header:$(line 1 inlined_header 1) library_inner:$(line 0 library_inner 1)" locations
	# Each sample has the whole stack all the same.
	python3 "$TOP/tests/export/read_pprof.py" p.txt >stacks
	grep -q ";${stack// (inlined)/};" stacks
}

# locations FILE.pb.gz: "FUNCTION:LINE..." of each location that has a line, the innermost first; what it has them of is in p.txt
locations() {
	gzip -dc "$1" | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >p.txt
	python3 - <<-'EOF'
		import re
		text = open("p.txt").read()
		strings = [eval(s) for s in re.findall(r'^string_table: (".*")$', text, re.M)]
		functions = {}
		for body in re.findall(r'^function \{\n(.*?)^\}', text, re.M | re.S):
		    field = dict(re.findall(r'(\w+): (\d+)', body))
		    functions[field["id"]] = strings[int(field.get("name", 0))]
		for body in re.findall(r'^location \{\n(.*?)^\}', text, re.M | re.S):
		    lines = re.findall(r'line \{\n\s+function_id: (\d+)(?:\n\s+line: (\d+))?', body)
		    print(" ".join(functions[f] + ":" + line for f, line in lines))
	EOF
}

@test "report --symbols (recorded without debug information) has the inlined functions and lines that it would have had" {
	requires protoc python3
	local build_id program_id options PROGRAM=./program
	program_id=$(readelf -n "$WORKLOADS/frameless" | sed -n 's/.*Build ID: //p')
	for options in -gdwarf-5 "-gdwarf-4 -gz=zlib"; do
		rm -rf debug
		# shellcheck disable=SC2086 # words
		library gcc library.c $options
		build_id=$(readelf -n libframeless.so | sed -n 's/.*Build ID: //p')
		cp "$WORKLOADS/frameless" program
		record_library
		reported() {
			ct report --folded "$1.folded" --flamegraph "$1.svg" --timeline "$1.json" --pprof "$1.pb.gz" "${@:2}" r.db
			locations "$1.pb.gz" | sort >"$1.locations"
			ct report --by line --json "${@:2}" r.db >"$1.by"
		}
		reported whole
		mv libframeless.so whole.so
		strip -s -o libframeless.so whole.so
		strip -s program
		record_library
		ct report --folded bare.folded r.db
		refute grep -q 'inlined_twice\|;main;' bare.folded
		# The files of Debian's packages of symbols: no code, only what a debugger needs.
		mkdir -p "debug/.build-id/${build_id:0:2}" "debug/.build-id/${program_id:0:2}"
		objcopy --only-keep-debug whole.so "debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
		objcopy --only-keep-debug "$WORKLOADS/frameless" "debug/.build-id/${program_id:0:2}/${program_id:2}.debug"
		rm libframeless.so whole.so program
		reported later --symbols debug
		assert_equal "$(cat later.folded)" "$(cat whole.folded)"
		assert_equal "$(cat later.locations)" "$(cat whole.locations)"
		grep -q '"line":"program.c:[1-9][0-9]* counted__launch"' whole.by
		assert_equal "$(cat later.by)" "$(cat whole.by)"
		grep -q ';library_outer;library_inner;inlined_header (inlined);inlined_block (inlined);inlined_twice (inlined);back;' later.folded
		grep -q "^inlined_twice:[1-9][0-9]* inlined_block:[1-9][0-9]* inlined_header:[1-9][0-9]* library_inner:[1-9]" later.locations
		grep -q 'inlined_block (inlined)' later.svg
		grep -q 'inlined_block (inlined)' later.json
	done
	# The file that is stripped stands first in the same folder: the lines are in the next one.
	mkdir -p debug/usr/lib/debug/.build-id
	mv "debug/.build-id/${build_id:0:2}" debug/usr/lib/debug/.build-id/
	mkdir -p "debug/.build-id/${build_id:0:2}"
	strip -g -o "debug/.build-id/${build_id:0:2}/${build_id:2}" "debug/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	reported next --symbols debug
	assert_equal "$(cat next.folded)" "$(cat whole.folded)"
	# Another build has other lines: none are taken.
	library gcc library.c -g
	cp libframeless.so "debug/.build-id/${build_id:0:2}/${build_id:2}"
	cp libframeless.so "debug/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	ct report --folded other.folded --symbols debug r.db
	refute grep -q inlined_twice other.folded
	grep -q ';main;step;library_outer;libframeless.so+0x[0-9a-f]*;back;' other.folded
}

@test "report --symbols (recorded with names and no lines, or with lines) adds what is missing, and nothing twice" {
	local build_id
	library gcc library.c -g
	build_id=$(readelf -n libframeless.so | sed -n 's/.*Build ID: //p')
	mkdir -p "debug/.build-id/${build_id:0:2}"
	cp libframeless.so "debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	record_library
	ct report --folded whole.folded r.db
	ct report --folded again.folded --symbols debug r.db
	assert_equal "$(cat again.folded)" "$(cat whole.folded)"
	strip -g libframeless.so
	record_library
	ct report --folded bare.folded r.db
	grep -q ';library_inner;back;' bare.folded
	ct report --folded later.folded --symbols debug r.db
	assert_equal "$(cat later.folded)" "$(cat whole.folded)"
}

@test "profile --pc -g (inlined functions) marks them in --folded" {
	library gcc library.c -g
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' >script
	mkfifo again
	exec 9<>again
	SIMCUDA_PC_SCRIPT=$PWD/script setsid "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -g --folded f.txt -- \
		"$SIM" "$WORKLOADS/frameless" -n 100 --library ./libframeless.so --linger <again >out 2>err 9>&- 3>&- &
	rec_PID=$!
	echo $rec_PID >>started
	wait_for 30 grep -q '^expect ' out
	sleep 1
	exec 9>&-
	: >again
	finished "$rec_PID" 40
	assert_equal "$status" 0
	grep -q ';library_outer;library_inner;inlined_header (inlined);inlined_block (inlined);inlined_twice (inlined);back;' f.txt ||
		fail "$(cat f.txt err)"
}
