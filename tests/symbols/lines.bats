#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# record -g: source lines of native frames, by .debug_line, against addr2line.

load ../lib/helpers
load stacks/recorded

setup() {
	requires bpf sim sqlite3 addr2line
	[ "$(uname -m)" = x86_64 ] || skip "stacks are unwound on x86-64 only"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	exec 9>&-
	stop_started
}

# library OPTIONS...: libframeless.so, compiled with them.
library() {
	cc -shared -fPIC -O2 -fomit-frame-pointer -std=gnu11 -D_GNU_SOURCE -I"$TOP" -Wl,--build-id "$@" -o libframeless.so "$TOP/tests/workloads/frameless/library.c"
}

# frames: "ADDRESS FILE:LINE" of each frame in libframeless.so.
frames() {
	sql r.db "SELECT DISTINCT printf('0x%x %s:%s', moduleAddress, f.value, sourceLine) FROM CUDA_CALLCHAINS AS c
		JOIN StringIds AS m ON m.id = c.module LEFT JOIN StringIds AS f ON f.id = c.sourceFile WHERE m.value LIKE '%/libframeless.so' ORDER BY 1"
}

# same_as_addr2line FILE: each frame has the line that addr2line finds in that file.
same_as_addr2line() {
	local address line
	frames >seen
	[ "$(wc -l <seen)" -ge 2 ]
	while read -r address line; do
		assert_equal "$address $line" "$address $(addr2line -e "$1" "$address" | sed 's/ (discriminator .*//')"
	done <seen
	refute grep -q ' :' seen
}

@test "record -g (debug information of DWARF 2 to 5, compressed or not) has the lines that addr2line has" {
	local options
	for options in -gdwarf-5 -gdwarf-4 -gdwarf-3 "-gdwarf-2 -gstrict-dwarf" "-g -gz=zlib" "-gdwarf-4 -gz=zlib"; do
		# shellcheck disable=SC2086 # words
		library $options
		record_lingering libframeless "$WORKLOADS/frameless" -n 2 --library ./libframeless.so
		# Before DWARF 5 a folder of the unit's own is elsewhere: the names are relative then.
		same_as_addr2line ./libframeless.so
	done
}

@test "record -g (stripped library, debug information in /usr/lib/debug by build-id) has its lines; another build's are not taken" {
	requires root unshare
	local build_id path
	library -g
	build_id=$(readelf -n libframeless.so | sed -n 's/.*Build ID: //p')
	path=/usr/lib/debug/.build-id/${build_id:0:2}
	[ ! -e "$path/${build_id:2}.debug" ]
	mkdir -p "$path"
	mv libframeless.so whole.so
	objcopy --only-keep-debug whole.so "$path/${build_id:2}.debug"
	strip -s -o libframeless.so whole.so
	record_lingering libframeless "$WORKLOADS/frameless" -n 2 --library ./libframeless.so || true
	same_as_addr2line ./whole.so || { rm -f "$path/${build_id:2}.debug"; false; }
	# Its lines are those of another file.
	sed 's/^/\n/' "$TOP/tests/workloads/frameless/library.c" >other.c
	cc -shared -fPIC -O2 -g -std=gnu11 -D_GNU_SOURCE -I"$TOP" -Wl,--build-id -o other.so other.c
	objcopy --only-keep-debug other.so "$path/${build_id:2}.debug"
	record_lingering libframeless "$WORKLOADS/frameless" -n 2 --library ./libframeless.so || true
	rm -f "$path/${build_id:2}.debug"
	rmdir --ignore-fail-on-non-empty "$path" /usr/lib/debug/.build-id /usr/lib/debug
	frames >seen
	refute grep -q '\.c:' seen
}

@test "record -g (a line table that is damaged in many ways, or a bomb) has no lines or some, and goes on" {
	requires python3
	local offset size
	library -g
	cp libframeless.so whole.so
	read -r offset size < <(readelf -SW whole.so | sed -n 's/.* \.debug_line  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\)  *\([0-9a-f]*\) .*/\1 \2/p')
	for way in ones noise; do
		python3 - "$way" "$((16#$offset))" "$((16#$size))" <<-'EOF'
			import random, sys
			way, offset, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
			data = bytearray(open("whole.so", "rb").read())
			random.seed(1)
			for i in range(size):
			    if way == "ones":
			        data[offset + i] = 255
			    elif i > 30 and random.random() < 0.2:
			        data[offset + i] = random.randrange(256)
			open("libframeless.so", "wb").write(data)
		EOF
		record_lingering libframeless "$WORKLOADS/frameless" -n 2 --library ./libframeless.so
		[ "$(launches_below r.db library_outer)" = 2 ] || [ "$(frames | wc -l)" -ge 2 ]
	done
}

# decoded: p.pb.gz as "FUNCTION FILE LINE".
decoded() {
	gzip -dc p.pb.gz | protoc --proto_path="$TOP/cuda-trace/export" --decode=cuda_trace.Profile profile.proto >p.txt
	python3 - <<-'EOF'
		import re
		text = open("p.txt").read()
		strings = [eval(s) for s in re.findall(r'^string_table: (".*")$', text, re.M)]
		functions = {}
		for body in re.findall(r'^function \{\n(.*?)^\}', text, re.M | re.S):
		    field = dict(re.findall(r'(\w+): (\d+)', body))
		    functions[field["id"]] = (strings[int(field.get("name", 0))], strings[int(field.get("filename", 0))])
		for function, line in re.findall(r'line \{\n\s+function_id: (\d+)\n\s+line: (\d+)', text):
		    print(functions[function][0], functions[function][1].split("/")[-1], line)
	EOF
}

line_of() {
	grep -n "$1" "$TOP/tests/workloads/$2" | head -n 1 | cut -d: -f1
}

@test "report --by line (a launch as nvcc makes it) has the line that launches, not the kernel's or a stub's" {
	requires bpf sim
	record_lingering /workloads/nvcc-stubs "$WORKLOADS/nvcc-stubs" -n 5 --call-graph fp
	ct report --folded f.txt r.db
	grep -q ';main;launching;spin(unsigned long);__device_stub__Z4spinm(unsigned long);cuLaunchKernel;' f.txt || fail "$(cat f.txt)"
	ct report --by line --json r.db >by.json
	json by.json ".line == \"nvcc-stubs.c:$(sed -n 's/^expect line=//p' rec.out) launching\""
}

@test "report --pprof, --by line, stat --by line (a native program) have its lines" {
	requires protoc python3
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 5 --call-graph fp
	ct report --pprof p.pb.gz r.db
	decoded >lines
	# One line for each of the two calls.
	assert_equal "$(grep '^train_step ' lines | sort)" "train_step stacks.c $(line_of '^	forward();' stacks.c)
train_step stacks.c $(line_of '^	backward();' stacks.c)"
	# The flame graph is as it was.
	ct report --folded f.txt r.db
	assert_equal "$(grep -c ';main;train_step;backward;' f.txt)" 1
	ct report --by line --json r.db >by.json
	json by.json ".file | endswith(\"tests/workloads/program.c\")"
	json by.json ".line == \"program.c:$(line_of '(cuLaunchKernel(kernel, s->grid' program.c) counted__launch\""
	# The same without a recording of one's own.
	mkfifo again
	exec 9<>again
	setsid "$CUDA_TRACE" stat --by line -g --json -o s.json -- "$SIM" "$WORKLOADS/stacks" -n 5 --linger <again >out 2>err 9>&- 3>&- &
	echo $! >>started
	stat_PID=$!
	wait_for 30 grep -q '^expect ' out
	exec 9>&-
	: >again
	finished "$stat_PID" 40
	json s.json ".by.rows[0].name == \"program.c:$(line_of '(cuLaunchKernel(kernel, s->grid' program.c) counted__launch\""
}
