#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record -g, and what report makes of it: where launches came from.

load ../lib/helpers
load stacks/recorded

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	exec 9>&-
	stop_started
}

@test "record -g (known chain of functions) has each launch's chain" {
	requires bpf sim sqlite3
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 7
	assert_equal "$(launches_below r.db forward)" "$(expect_key rec.out forward)"
	assert_equal "$(launches_below r.db backward)" "$(expect_key rec.out backward)"
	assert_equal "$(launches_below r.db train_step)" "$(expect_key rec.out launches)"
	run call_stacks r.db
	assert_line --partial "main;train_step;forward;layer;spin;counted__launch;cuLaunchKernel 21"
	assert_line --partial "main;train_step;backward;spin;counted__launch;cuLaunchKernel 7"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_CALLCHAINS WHERE unresolved')" 0
	assert_equal "$(sql r.db "SELECT value FROM META_DATA_CAPTURE WHERE name = 'STACK_PERIOD'")" 1
	grep -q "stacks of $(expect_key rec.out launches) launches, .* 0 have no name" rec.err
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_TRACE_LOST')" 0
}

@test "record -g (another tool has probes at returns to these functions) has each launch's chain" {
	requires bpf sim sqlite3
	kernel_is 6.6 || skip "libcuda has no return probes before"
	lingering /workloads/stacks r.db.part trace --source driver -e launches --json -o other -- "$CUDA_TRACE" record -g \
		--call-graph fp -o r.db -- "$SIM" "$WORKLOADS/stacks" -n 7 --linger
	assert_equal "$(jq -s 'map(select(.event == "launch")) | length' other)" "$(expect_key rec.out launches)"
	run call_stacks r.db
	assert_line --partial "main;train_step;forward;layer;spin;counted__launch;cuLaunchKernel 21"
	assert_line --partial "main;train_step;backward;spin;counted__launch;cuLaunchKernel 7"
}

@test "report --folded (known chain of functions) weighs the host's functions by GPU time" {
	requires bpf sim sqlite3
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 4
	run -0 ct report --folded - r.db
	assert_line --regexp ';main;train_step;forward;layer;spin;counted__launch;cuLaunchKernel;GPU 0;stream [0-9]+;spin 360000$'
	assert_line --regexp ';main;train_step;backward;spin;counted__launch;cuLaunchKernel;GPU 0;stream [0-9]+;spin 40000$'
	ct report --timeline t.json r.db
	assert_equal "$(jq '[.traceEvents[] | select(.args["Call stack"] // "" | test("^cuLaunchKernel;.*;layer;forward;train_step;main"))] | length' t.json)" 12
	ct report --pprof p.pb.gz r.db
	zcat p.pb.gz | protoc --decode_raw >p.txt
	for name in train_step forward layer backward; do
		grep -q "\"$name\"" p.txt || fail "no $name in the profile"
	done
	ct report --html h.html r.db
	grep -q '"train_step"' h.html
}

@test "record -g=10 (two threads) takes one in ten launches of each, and no kernel's total changes" {
	requires bpf sim sqlite3
	ct record -g=10 -o r.db -- "$SIM" "$WORKLOADS/launch-storm" -n 20000 -t 2 -b 500 >out 2>err || { cat err; false; }
	run -0 sql r.db 'SELECT globalTid & 0xffffff, count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1'
	assert_equal "${#lines[@]}" 2
	for line in "${lines[@]}"; do
		# 2000 expected; the deviation is 26.
		[ "${line#*|}" -gt 1700 ] && [ "${line#*|}" -lt 2300 ] || fail "stacks of a thread: $line"
	done
	run -0 --separate-stderr ct report --folded - r.db
	assert_equal "$(awk '{ sum += $NF } END { printf "%d", sum }' <<<"$output")" \
		"$(sql r.db 'SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL')"
	[[ $stderr == *"one in 10 launches"*"estimates"* ]] || fail "not said: $stderr"
	refute_output --partial "[no stack]"
	ct report --flamegraph f.svg r.db 2>/dev/null
	grep -q 'estimated from one in 10 launches' f.svg
}

@test "record -g=10 and -g=100 (at once, of one program) each take one in as many" {
	requires bpf sim sqlite3
	local stacks
	cp "$WORKLOADS/launch-storm" "twice-$$"
	start rec "$CUDA_TRACE" record -v -g=100 -c "twice-$$" -o b.db
	wait_for 30 grep -q 'from now on, the stack of one launch in 100 is recorded' rec.err
	# It launches when both have found it, and not faster than stacks are read on a busy machine.
	{ sleep 2; echo; } |
		ct record -g=10 -o a.db -- "$SIM" "./twice-$$" -w -n 100000 -b 500 -p 1 >out 2>err || { cat err; false; }
	kill -INT "$rec_PID"
	finished "$rec_PID" 40
	# 10,000 and 1,000 expected; the deviations are 58 and 18.
	stacks=$(sql a.db 'SELECT count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME')
	[ "$stacks" -gt 9600 ] && [ "$stacks" -lt 10400 ] || fail "one in 10: $stacks"
	stacks=$(sql b.db 'SELECT count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME')
	[ "$stacks" -gt 880 ] && [ "$stacks" -lt 1120 ] || fail "one in 100: $stacks"
}

@test "record -g --max-overhead (much, next to nothing) takes as many stacks as that allows" {
	requires bpf sim
	start much "$CUDA_TRACE" record -v -g --max-overhead 100 -o m.db -- "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	wait_for 30 grep -q 'from now on, the stack of one launch in 1 is recorded' much.err
	stop_started
	rm -f started
	start little "$CUDA_TRACE" record -v -g --max-overhead 0.00001 -o l.db -- "$SIM" "$WORKLOADS/launch-storm" -s 60
	wait_for 30 grep -q 'from now on, the stack of one launch in 10000 is recorded' little.err
	run -2 ct record -g --max-overhead 0 -- true
	run -2 ct record --max-overhead 5 -g=10 -- true
}

@test "record -g=7 (no probe for that) is misuse" {
	run -2 --separate-stderr ct record -g=7 -o r.db -- true
	[[ $stderr == *"1, 10, 100, 1000 or 10000"* ]]
}

@test "record -g (each Python 3.11 to 3.15 that is installed, lock released, threads) shows functions and lines" {
	requires bpf sim sqlite3
	local python version any=
	for python in /usr/bin/python3 python3.{11..15}{,t} "$HOME"/.pyenv/versions/3.1[1-5]*/bin/python3; do
		version=$("$python" -c 'import ctypes, sys; print("%d.%d" % sys.version_info[:2] + getattr(sys, "abiflags", ""))' 2>/dev/null) || continue
		case " 3.11 3.12 3.13 3.14 3.15 " in *" ${version%t} "*) ;; *) continue ;; esac
		case "$any" in *" $version "*) continue ;; esac
		any+=" $version "
		rm -f r.db*
		ct record -g -o r.db -- "$SIM" "$python" "$TOP/tests/workloads/stacks.py" 3 --thread >out 2>err ||
			{ cat err; fail "$version"; }
		line() { awk -v name="$1" '$1 == "line" && $2 == name { print $3 }' out; }
		assert_equal "$version $(launches_below r.db "stacks.py:$(line layer) layer")" "$version 8"
		assert_equal "$version $(launches_below r.db "stacks.py:$(line forward) Model.forward")" "$version 8"
		assert_equal "$version $(launches_below r.db "stacks.py:$(line backward) größe")" "$version 4"
		run -0 ct report --folded - r.db
		assert_output --regexp "stacks.py:[0-9]+ <module>;stacks.py:[0-9]+ main;stacks.py:[0-9]+ step;stacks.py:$(line forward) Model.forward;stacks.py:$(line forward) Model.forward.<locals>.<lambda>;stacks.py:$(line layer) layer;stacks.py:[0-9]+ launch;.*cuLaunchKernel;GPU 0;stream [0-9]+;spin 180000"
		assert_output --regexp "threading.py:[0-9]+ Thread.run;stacks.py:[0-9]+ step;stacks.py:$(line backward) größe;.*;spin 10000"
	done
	[ -n "$any" ] || skip "needs CPython 3.11 to 3.15"
}

@test "record -g (Python 3.8, 3.9, 3.10 and free-threaded 3.14, as their headers have them) shows functions and lines" {
	requires bpf sim
	local minor
	for minor in 8 9 10 14; do
		cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic -DMINOR=$minor -I"$TOP" -o interpreter \
			"$TOP/tests/symbols/stacks/interpreter.c" "$WORKLOADS/libprogram.a" -L"$B/simcuda" -lcuda -lpthread -ldl
		ct record -g --call-graph fp -o r.db -- "$SIM" ./interpreter >out 2>err || fail "3.$minor: $(cat err)"
		run -0 ct report --folded - r.db
		assert_output --regexp "^interpreter;(.*;)?run;program.py:12 <module>;call;program.py:5 layer;counted__launch;cuLaunchKernel;GPU 0;stream [0-9]+;empty [0-9]+$"
		run ! grep 'whose frames are not known' err
	done
}

@test "record -g (an interpreter whose evaluation loop has no name) shows Python's functions where its code is" {
	requires bpf sim
	cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic -DMINOR=14 -D_PyEval_EvalFrameDefault=loop \
		-I"$TOP" -o python3.14 "$TOP/tests/symbols/stacks/interpreter.c" "$WORKLOADS/libprogram.a" \
		-L"$B/simcuda" -lcuda -lpthread -ldl
	ct record -g --call-graph fp -o r.db -- "$SIM" ./python3.14 >out 2>err || fail "$(cat err)"
	run -0 ct report --folded - r.db
	assert_output --regexp "^python3.14;(.*;)?start_thread;program.py:12 <module>;program.py:5 layer;cuLaunchKernel;GPU 0;stream [0-9]+;empty [0-9]+$"
}

@test "record -g, profile --pc -g (a Python whose frames are not known) say which one, and nothing where there is none" {
	requires bpf sim
	# What the agent and the tool see of CPython 3.7: the runtime, no version, and the name of the file.
	echo 'char _PyRuntime[4096];' | cc -shared -fPIC -x c -o libpython3.7m.so.1.0 -
	ct record -g --call-graph fp -o r.db -- env LD_PRELOAD="$PWD/libpython3.7m.so.1.0" "$SIM" "$WORKLOADS/stacks" -n 50 >out 2>err
	grep -qE '^cuda-trace: process [0-9]+ runs libpython3\.7m\.so\.1\.0, whose frames are not known: no Python functions are in its stacks' err ||
		fail "$(cat err)"
	assert_equal "$(grep -c 'whose frames are not known' err)" 1
	ct record -g --call-graph fp -o n.db -- "$SIM" "$WORKLOADS/stacks" -n 50 >out 2>err
	run ! grep 'whose frames are not known' err
	ct record -g --call-graph fp -o p.db -- "$SIM" python3 "$TOP/tests/workloads/stacks.py" 3 >out 2>err
	run ! grep 'whose frames are not known' err
}

@test "record -g (code without names) counts addresses, which --symbols names elsewhere" {
	requires bpf sim sqlite3 strip
	local build_id
	cp "$WORKLOADS/stacks" bare
	strip -s bare
	build_id=$(readelf -n "$WORKLOADS/stacks" | sed -n 's/.*Build ID: //p')
	[ -n "$build_id" ]
	record_lingering "$PWD/bare" ./bare -n 2
	run -0 ct report --folded - r.db
	refute_output --partial train_step
	assert_output --regexp ';bare\+0x[0-9a-f]+;.*;cuLaunchKernel;'
	assert_equal "$(sql r.db "SELECT count(*) > 4 FROM CUDA_CALLCHAINS JOIN StringIds AS s ON s.id = symbol
		WHERE unresolved AND value LIKE 'bare+0x%'")" 1
	refute grep -q ', 0 have no name' rec.err
	assert_equal "$(sql r.db "SELECT DISTINCT value FROM CUDA_CALLCHAINS JOIN StringIds AS s ON s.id = buildId
		WHERE unresolved AND value = '$build_id'")" "$build_id"
	# Another machine: neither program nor library is there, only what has the names.
	mkdir -p "debug/.build-id/${build_id:0:2}"
	cp "$WORKLOADS/stacks" "debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	rm bare
	run -0 ct report --folded - --symbols debug r.db
	assert_output --partial ';main;train_step;forward;layer;spin;counted__launch;cuLaunchKernel;'
	# A file of that name and another build.
	cp "$WORKLOADS/saxpy" "debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	run -0 ct report --folded - --symbols debug r.db
	assert_output --regexp ';bare\+0x[0-9a-f]+;'
	head -c 3000 "$WORKLOADS/stacks" >"debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
	run -0 ct report --folded - --symbols debug r.db
	assert_output --regexp ';bare\+0x[0-9a-f]+;'
}

@test "record -g (60 and 200 callers, frames of 16 bytes to 5 KiB) has each of the first 127" {
	requires bpf sim sqlite3
	local names
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 1 --deep 60
	names=$(call_stacks r.db | grep -F ';deep;')
	[[ $names == *"main;deep;"*";deep;spin;counted__launch;cuLaunchKernel 1" ]] || fail "$names"
	assert_equal "$(grep -o ';deep' <<<"$names" | wc -l)" 60
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 1 --deep 200
	names=$(call_stacks r.db | grep -F 'deep;deep;')
	[[ $names == "deep;deep;"*";deep;spin;counted__launch;cuLaunchKernel 1" ]] || fail "$names"
	[ "$(grep -o 'deep;' <<<"$names" | wc -l)" -gt 110 ]
	grep -q 'stacks of 5 launches' rec.err
}

@test "record -g (code made at run time) takes names from /tmp/perf-PID.map" {
	requires bpf sim sqlite3
	record_lingering '[anon]' "$WORKLOADS/stacks" -n 1 --jit
	assert_equal "$(launches_below r.db py::compiled_step:/srv/train.py)" 1
}

@test "report (functions with hostile names) writes nothing unescaped" {
	requires bpf sim sqlite3
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 1 --hostile
	assert_equal "$(sql r.db "SELECT count(*) FROM StringIds WHERE value LIKE '%' || char(27) || '%'")" 0
	run -0 ct report --folded - r.db
	assert_line --partial ';evil:<b>\x1b[31m;spin;'
	ct report --flamegraph f.svg --html h.html --timeline t.json r.db
	run ! grep -l $'\033' f.svg h.html t.json
	run ! grep -l 'evil;<b>' f.svg h.html
	jq -e . t.json >/dev/null
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' f.svg
}

@test "record -g (process gone before the tool looks; ring full) counts what it has not" {
	requires bpf sim sqlite3
	local stacks lost
	cp "$WORKLOADS/launch-storm" "gone-$$"
	start rec "$CUDA_TRACE" record -v -g --buffer 1 -c "gone-$$" -o r.db
	# That is after "watching": stopped in between, it would ask for no stacks.
	wait_for 30 grep -q 'from now on, the stack of one launch in 1 is recorded' rec.err
	kill -STOP "$rec_PID"
	wait_for 30 grep -q '^State:.T' "/proc/$rec_PID/status"
	CUDA_INJECTION64_PATH=$AGENT sim "./gone-$$" -n 5000 -b 500 >out
	kill -CONT "$rec_PID"
	# Once it reads again there is space: this one is seen, and whole.
	wait_for 30 grep -qa "gone-$$" r.db.part
	kill -INT "$rec_PID"
	finished "$rec_PID" 40
	stacks=$(sed -n 's/^stacks of \([0-9,]*\) launches.*/\1/p' rec.err | tr -d ,)
	lost=$(sql r.db "SELECT count FROM CUDA_TRACE_LOST WHERE reason = 'stacks'")
	[ "$lost" -gt 1000 ]
	assert_equal $((stacks + lost)) "$(expect_key out launches)"
	# No mappings: all of it addresses.
	refute grep -q ', 0 have no name' rec.err
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_CALLCHAINS WHERE NOT unresolved')" 0
}

@test "symbols and code objects (damaged) end in no fault" {
	local fuzz=$BATS_TEST_TMPDIR/fuzz
	cc -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$TOP" -o "$fuzz" \
		"$TOP/tests/symbols/stacks/fuzz.c" $(tool_sources symbols file_parser python_code eh_frame cfa_program dwarf_cursor intern text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat foreign_sandbox rooted_path clock array_grow) -lz 2>cc.err ||
		skip "needs the sanitizers: $(head -n 1 cc.err)"
	# Each file takes a process; reading symbols ends after 30 s.
	run -0 --separate-stderr "$fuzz" 800 "$WORKLOADS/stacks"
	# Both sorts were met.
	assert_output --regexp '^[1-9][0-9]{2,} fine, [1-9][0-9]{2,} not$'
}

# flood CFLAGS... -- ARGS...: tests/symbols/stacks/flood.c, a program that means harm to the recorder
flood() {
	local flags=()
	while [ "$1" != -- ]; do flags+=("$1"); shift; done
	shift
	# Once for the tests of this file.
	local flood=$BATS_FILE_TMPDIR/flood${#flags[@]}
	[ -e "$flood" ] ||
		cc -std=gnu11 -g -O1 "${flags[@]}" -D_GNU_SOURCE -I"$TOP" -o "$flood" "$TOP/tests/symbols/stacks/flood.c" \
		$(tool_sources callstacks python_name callstack_names callstack_lines stack_walks unwind unwind_memo unwind_tables eh_frame cfa_program dwarf_cursor demangle intern mappings perf_map python_code symbol_files debuginfod symbols file_parser debug_lines source_lines debug_inlines inlined_calls line_table dwarf_sections dwarf_abbrevs dwarf_unit dwarf_ranges text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance \
			process_stat foreign_sandbox rooted_path clock array_grow) \
		-lelf -lz -lzstd -lstdc++ 2>cc.err || skip "cannot build: $(head -n 1 cc.err)"
	run -0 "$flood" "$@"
	echo "$output"
}

SANITIZED=(-fsanitize=address,undefined -fno-sanitize-recover=all)

@test "record -g (more different frames than are kept) counts the stacks that did not fit" {
	flood "${SANITIZED[@]}" -- frames 3000
	assert_output --regexp '^samples=[1-9][0-9]* lost=[1-9][0-9]* '
}

@test "record -g (a million different frames, stacks) stays within its memory" {
	flood -- frames 10000
	assert_output --regexp ' lost=[1-9][0-9]* .*frames=2[0-9]{5} .* MiB=[1-5]?[0-9]$'
	flood -- stacks 200000
	assert_output --regexp ' lost=[1-9][0-9]* .*stacks=1[0-9]{5} .* MiB=[1-8]?[0-9]$'
}

@test "record -g (Python functions without end) stays within its memory" {
	flood -- codes 20000
	assert_output --regexp '^samples=20000 lost=0 .* nameless=1 MiB=1?[0-9]{1,2}$'
	flood -- names 60000
	assert_output --regexp '^samples=[1-9][0-9]{4} lost=[1-9][0-9]{4} .* MiB=1?[0-9]{1,2}$'
}

# maps ARGS...: tests/symbols/stacks/maps.c, a process with thousands of mappings
maps() {
	local maps=$BATS_FILE_TMPDIR/maps
	[ -e "$maps" ] ||
		cc -std=gnu11 -g -O1 -D_GNU_SOURCE -I"$TOP" -o "$maps" "$TOP/tests/symbols/stacks/maps.c" \
		$(tool_sources mappings symbols file_parser text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat foreign_sandbox rooted_path clock array_grow) 2>cc.err || skip "cannot build: $(head -n 1 cc.err)"
	run -0 "$maps" "$@"
}

@test "record -g (process ends while its mappings are read) keeps those that it knew" {
	maps dying 60
	assert_output "unknown=0"
}

@test "record -g (12 MiB of paths that are mapped) keeps 4 MiB of them" {
	local long deep=.
	long=$(printf 'a%.0s' {1..200})
	for _ in {1..18}; do deep+=/$long; done
	mkdir -p "$deep"
	cp "$(type -P true)" "$deep/file"
	maps texts "$deep/file"
	assert_output --regexp '^first=1 KiB=4[0-9]{3}$'
}

@test "record -g (/tmp/perf-PID.map that does not end) reads a part of it, once" {
	flood "${SANITIZED[@]}" -- map 100000
	assert_line --regexp '^samples=32 lost=0 .* nameless=0 MiB=[1-5]?[0-9]$'
	# The last line that fits counts; what is no line, or too long for one, does not.
	assert_line "all=3054 few=1000 old=10"
}

@test "names of functions (thousands that each take a second) cost no more than some" {
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o demangle "$TOP/tests/base/unit_demangle.c" "$TOP/cuda-trace/base/demangle.c" -lstdc++
	# p<p<...> > of 30 levels: each says "the one before, once more".
	awk 'BEGIN {
		digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		print "_Z4copyIfEvPT_S1_"
		for (n = 100; n < 3100; n++) {
			name = "_Z5f" n + 1000
			for (i = 0; i < 30; i++) name = name "1pI"
			name = name "1a"
			for (i = 29; i < 59; i++)
				name = name "S" (i < 36 ? "" : "1") substr(digits, i % 36 + 1, 1) "_E"
			print name
		}
		print "_Z5scalePfi"
	}' >names
	# Of the processor's time: how long it takes depends on what else the machine does.
	local TIMEFORMAT='%0U %0S' user system
	{ time ./demangle <names >shown; } 2>times
	read -r user system <times
	[ $((user + system)) -lt 10 ] || fail "$user s and $system s of the kernel"
	run -0 cat shown
	assert_line "void copy<float>(float*, float*)"
	assert_line "scale(float*, int)"
	assert_equal "$(grep -cx -- - <<<"$output")" 3000
}
