#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# record -g: native stacks of code without frame pointers, by .eh_frame.

load ../lib/helpers
load stacks/recorded

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "stacks are unwound on x86-64 only"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	exec 9>&-
	stop_started
}

@test "record -g (program and library without frame pointers) reaches main" {
	requires bpf sim sqlite3
	record_lingering libframeless "$WORKLOADS/frameless" -n 7 --deep 20 --thread
	run call_stacks r.db
	assert_line --regexp '^_start;.*;main;step;library_outer;library_inner;back;launch;counted__launch;cuLaunchKernel 7$'
	assert_line --regexp ';main;(deep;){20}launch;counted__launch;cuLaunchKernel 1$'
	assert_line --regexp '^__?clone3?;start_thread;run_thread;on_thread;launch;counted__launch;cuLaunchKernel 1$'
	grep -q "stacks of $(expect_key rec.out launches) launches, .* 0 have no name$" rec.err || fail "$(cat rec.err)"
	# Frame pointers alone do not come through the library.
	record_lingering /workloads/frameless "$WORKLOADS/frameless" -n 7 --call-graph fp
	assert_equal "$(launches_below r.db cuLaunchKernel)" 7
	assert_equal "$(launches_below r.db library_outer)" 0
	assert_equal "$(launches_below r.db main)" 0
	run -2 ct record -g --call-graph lbr -- true
}

@test "record -g (another tool has probes at returns to the same functions) reaches main" {
	requires bpf sim sqlite3
	kernel_is 6.6 || skip "libcuda has no return probes before"
	lingering libframeless r.db.part trace --source driver -e launches --json -o other -- "$CUDA_TRACE" record -g \
		--call-graph dwarf -o r.db -- "$SIM" "$WORKLOADS/frameless" -n 7 --deep 20 --linger
	assert_equal "$(jq -s 'map(select(.event == "launch")) | length' other)" "$(expect_key rec.out launches)"
	run call_stacks r.db
	assert_line --regexp '^_start;.*;main;step;library_outer;library_inner;back;launch;counted__launch;cuLaunchKernel 7$'
	assert_line --regexp ';main;(deep;){20}launch;counted__launch;cuLaunchKernel 1$'
	grep -q "stacks of $(expect_key rec.out launches) launches, .* 0 have no name$" rec.err || fail "$(cat rec.err)"
}

@test "profile --pc -g (library without frame pointers) has the host's functions" {
	requires bpf sim
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' >script
	mkfifo hold
	exec 9<>hold
	SIMCUDA_PC_SCRIPT=$PWD/script setsid "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -g --folded f.txt \
		-- "$SIM" "$WORKLOADS/frameless" -n 100 --linger <hold >out 2>err 9>&- 3>&- &
	rec_PID=$!
	echo $rec_PID >>started
	wait_for 30 grep -q '^expect ' out
	sleep 1
	exec 9>&-
	: >hold
	finished "$rec_PID" 40
	assert_equal "$status" 0
	grep -q ';main;step;library_outer;library_inner;back;launch;counted__launch;cuLaunchKernel;spin;' f.txt ||
		fail "$(cat f.txt err)"
}

@test "record -g (signal handler; stack of the program's own) goes through both" {
	requires bpf sim sqlite3
	record_lingering libframeless "$WORKLOADS/frameless" -n 1 --signal --fiber
	run call_stacks r.db
	assert_line --regexp ';main;interrupted;.*;on_signal;launch;counted__launch;cuLaunchKernel 1$'
	assert_line --regexp '(^|;)on_fiber;launch;counted__launch;cuLaunchKernel 1$'
}

@test "record -g (code with frame pointers) has the same functions as by frame pointers" {
	requires bpf sim sqlite3
	for how in dwarf fp; do
		record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 20 --deep 110 --call-graph $how
		cp rec.err $how.err
		call_stacks r.db | sed 's/.*;main;/main;/' | sort >$how
	done
	assert_equal "$(wc -l <fp)" 3
	diff fp dwarf
	# The deep one is larger than a copy: frame pointers go on from there.
	grep -q 'stacks of 81 launches, .* 0 have no name; 1 are cut short$' dwarf.err || fail "$(cat dwarf.err)"
}

# As in cuBLAS and cuDNN: few frames, and large ones.
@test "record -g (100 KiB of stack) has all of it" {
	requires bpf sim sqlite3
	record_lingering /workloads/stacks "$WORKLOADS/stacks" -n 1 --deep 40
	assert_equal "$(call_stacks r.db | grep -o 'deep;' | wc -l)" 40
	refute grep -q 'cut short' rec.err
}

@test "record -g (1,000 and 3,000 frames deep) has each of 1,000, and says what is cut short" {
	requires bpf sim sqlite3
	local names
	record_lingering libframeless "$WORKLOADS/frameless" -n 1 --deep 1000
	names=$(call_stacks r.db | grep -F 'deep;deep;')
	[[ $names == *";main;deep;"*";deep;launch;counted__launch;cuLaunchKernel 1" ]] || fail "${names::200} ... ${names: -200}"
	assert_equal "$(grep -o ';deep' <<<"$names" | wc -l)" 1000
	refute grep -q 'cut short' rec.err
	record_lingering libframeless "$WORKLOADS/frameless" -n 1 --deep 3000
	names=$(call_stacks r.db | grep -F 'deep;deep;')
	[ "$(grep -o 'deep;' <<<"$names" | wc -l)" -gt 900 ]
	grep -q '; 1 are cut short' rec.err || fail "$(cat rec.err)"
}

@test "record -g (stripped library) goes through it; its build-id names it later" {
	requires bpf sim sqlite3 strip
	local build_id
	cp "$WORKLOADS/libframeless.so" .
	strip -s libframeless.so
	build_id=$(readelf -n libframeless.so | sed -n 's/.*Build ID: //p')
	[ -n "$build_id" ]
	record_lingering libframeless "$WORKLOADS/frameless" -n 4 --library ./libframeless.so
	run call_stacks r.db
	assert_line --regexp ';main;step;library_outer;libframeless\.so\+0x[0-9a-f]+;back;launch;counted__launch;cuLaunchKernel 4$'
	assert_equal "$(sql r.db "SELECT count(DISTINCT moduleAddress) FROM CUDA_CALLCHAINS AS c JOIN StringIds AS s ON s.id = buildId
		WHERE value = '$build_id'")" 2
}

@test "record -g (code made at run time, with and without frame pointer) goes on or says that it ends" {
	requires bpf sim sqlite3
	record_lingering '[anon]' "$WORKLOADS/stacks" -n 1 --jit
	run call_stacks r.db
	assert_line --regexp ';main;(run_jit;)?py::compiled_step:/srv/train.py;from_jit;spin;counted__launch;cuLaunchKernel 1$'
	refute grep -q 'no unwind table' rec.err
	record_lingering '[anon]' "$WORKLOADS/frameless" -n 1 --jit
	run call_stacks r.db
	assert_line --regexp '^\[anon\]\+0x[0-9a-f]+;from_jit;launch;counted__launch;cuLaunchKernel 1$'
	grep -q '; 1 end where no unwind table goes on$' rec.err || fail "$(cat rec.err)"
}

@test "record -g (process that ends at once) has each stack, in full or by addresses" {
	requires bpf sim sqlite3
	for _ in {1..5}; do
		rm -f r.db
		ct record -g -o r.db -- "$SIM" "$WORKLOADS/frameless" -n 3 --exit >out 2>err || { cat err; false; }
		assert_equal "$(expect_key out launches)" 3
		grep -q '^stacks of 3 launches' err || fail "$(cat err)"
		# Where the tool came too late, there are no names, and no wrong ones.
		[ "$(launches_below r.db library_outer)" = 3 ] || grep -q ', [1-9][0-9]* have no name' err || fail "$(cat err)"
	done
}

@test "record -g (damaged unwind tables) keeps each launch's stack, and its process" {
	requires bpf sim sqlite3 python3
	local seed
	for seed in hdr zero {1..6}; do
		cp "$WORKLOADS/libframeless.so" .
		python3 "$TOP/tests/symbols/stacks/damage.py" libframeless.so "$seed"
		record_lingering "$PWD/libframeless" "$WORKLOADS/frameless" -n 3 --library ./libframeless.so
		assert_equal "$seed $(launches_below r.db back)" "$seed 3"
		assert_equal "$(sql r.db 'SELECT count(*) FROM CUDA_TRACE_LOST')" 0
	done
}

@test "record (-g, -g=100, -g --buffer) has a ring buffer of 64 MiB, 16, and as large as was requested" {
	requires bpf
	local options want
	while read -r want options; do
		# shellcheck disable=SC2086
		start rec "$CUDA_TRACE" record $options -o r.db -- sleep 3
		wait_for 20 bash -c "grep -qsE '^max_entries:[[:space:]]*$((want << 20))$' /proc/$rec_PID/fdinfo/*"
		finished "$rec_PID" 20
	done <<-END
		64 -g
		16 -g=100
		32 -g --buffer 32
	END
}

@test "unwind tables (libc, libstdc++) mean what readelf says" {
	requires readelf
	cc -std=gnu11 -g -O1 -D_GNU_SOURCE -I"$TOP" -o rules "$TOP/tests/symbols/stacks/rules.c" \
		$(tool_sources eh_frame cfa_program dwarf_cursor text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat foreign_sandbox rooted_path clock array_grow)
	local file
	for file in libc.so.6 libstdc++.so.6; do
		file=$(ldconfig -p | sed -n "s/.*$file .*x86-64.* => //p" | head -n 1)
		[ -n "$file" ]
		./rules "$file" >ours
		readelf -wF "$file" 2>/dev/null | awk -f "$TOP/tests/symbols/stacks/rules.awk" >theirs
		# Where several rules follow each other that say the same, ours are one. DWARF expressions, and registers
		# that no call preserves, are not understood.
		run -0 awk 'NR == FNR { ours[$1] = $0; next }
			/exp/ || $2 !~ /^(rsp|rbp|rbx|r1[2-5])[+-]/ { next }
			{ all++; same += ours[$1] == $0 }
			$1 in ours && ours[$1] != "" && ours[$1] != $0 { other++; print > "/dev/stderr"; print ours[$1] > "/dev/stderr" }
			END { print all, same, other + 0 }' ours theirs
		echo "$file: $output"
		read -r all same other <<<"${lines[-1]}"
		[ "$all" -gt 10000 ] && [ "$((same * 1000))" -gt "$((all * 990))" ] && [ "$((other * 1000))" -lt "$all" ]
	done
}

@test "unwind tables (library of 150,000 functions, 500 of them on stacks) are read once where they are needed" {
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	cc -shared -o libmany.so "$TOP/tests/symbols/stacks/many.S"
	cc -std=gnu11 -O1 -D_GNU_SOURCE -I"$TOP" -o parts "$TOP/tests/symbols/stacks/parts.c" \
		$(tool_sources unwind_tables eh_frame cfa_program dwarf_cursor mappings symbols file_parser text foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat \
			foreign_sandbox rooted_path clock array_grow) -ldl
	run -0 ./parts ./libmany.so
	assert_line --partial "found=1000 right=1000 refused=0 "
	# What is likely to be needed next comes in the same answer.
	assert_line --partial " guessed=64"
	[ "$(sed -n 's/.*faster=\([0-9]*\).*/\1/p' <<<"$output")" -gt 20 ] || fail "the second time as slow as the first: $output"
}

@test "unwind tables and copies of stacks (damaged, hostile) end in no fault" {
	cc -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$TOP" -o tables \
		"$TOP/tests/symbols/stacks/tables.c" $(tool_sources unwind unwind_memo unwind_tables eh_frame cfa_program dwarf_cursor mappings symbols file_parser text \
			foreign_elf foreign_file foreign_lookup foreign_child foreign_mount foreign_job foreign_allowance process_stat foreign_sandbox rooted_path clock array_grow) 2>cc.err || skip "needs the sanitizers: $(head -n 1 cc.err)"
	LIMIT=120 run -0 ./tables 4000 "$WORKLOADS/libframeless.so"
	assert_output fine
}
