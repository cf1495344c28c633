#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace profile: which mode is requested; --pc against the script that the simulated GPU plays.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The samples of one window: in two functions, of three and one instructions.
script() {
	cat >script <<-END
		saxpy 70 long_scoreboard 600
		saxpy 70 long_scoreboard_not_issued 500
		saxpy 70 wait 100
		saxpy 90 wait 200
		saxpy 1a0 selected 100
		_Z5otherPfi 10 barrier 1000
		dropped 7
		other 3
	END
	export SIMCUDA_PC_SCRIPT=$PWD/script
}

# pc OPTIONS -- PROGRAM...: ten windows a second.
pc() {
	ct profile --pc --bursts 10ms/100ms "$@"
}

storm() {
	echo "$SIM $WORKLOADS/launch-storm -p 1000 -s ${1:-1}"
}

@test "profile (no mode) says which there are and exits 2" {
	run -2 --separate-stderr ct profile -- true
	assert_output ""
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"--pc"* ]]
}

@test "profile --pc (nobody named) asks whom to watch and exits 2" {
	run -2 --separate-stderr ct profile --pc
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"nothing to watch"* ]]
}

@test "profile --pc --bursts (not a cycle) says which there are and exits 2" {
	for cycle in 20ms 0.5ms/1s 2s/10s 1s/20ms 20ms/3s x/y; do
		run -2 --separate-stderr ct profile --pc --bursts "$cycle" -- true
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == *"--bursts ON/PERIOD"* ]]
	done
}

@test "profile --pc --bursts 30ms/1s has windows of 30 ms; of a length that nobody has, the nearest, and says so" {
	requires bpf sim
	# shellcheck disable=SC2046 # words
	ct profile --pc --bursts 30ms/1s --json -o out.json -- $(storm 6) >out 2>err
	# The last may be cut by the program's end; each is as late to begin as to end. Of 20 ms, six are 120.
	json out.json '.windows >= 5 and .period_ms == 1000 and .window_ns >= (.windows - 1) * 27e6 and .window_ns / .windows < 80e6'
	run ! grep nearest err
	for cycle in 40ms/1s=50 25ms/1s=30 3ms/100ms=2 99ms/100ms=100 999ms/1s=1000; do
		run --separate-stderr ct profile --pc --bursts "${cycle%=*}" -- true
		grep -qx "cuda-trace profile: --bursts: the nearest possible window is ${cycle#*=} ms" <<<"$stderr"
	done
}

@test "profile --pc (script) reports each window's samples, by function, instruction and reason" {
	requires bpf sim
	script
	# shellcheck disable=SC2046 # words
	pc --json -o out.json -- $(storm) >out
	json out.json '.lost.total == 0 and .samples.unplaced == 0 and .samples.no_room == 0'
	json out.json '.samples.placed > 0 and .samples.placed % 2000 == 0'
	json out.json '(.samples.placed / 2000) as $n | .windows >= $n and
		.samples.dropped == 7 * $n and .samples.other == 3 * $n and .samples.total == 2010 * $n'
	json out.json '[.functions[].name] == ["saxpy", "other(float*, int)"] or
		[.functions[].name] == ["other(float*, int)", "saxpy"]'
	json out.json '.functions | all(.share == 0.5)'
	json out.json '.functions[] | select(.name == "saxpy") | [.instructions[] | [.offset, .share]] ==
		[[112, 0.35], [144, 0.1], [416, 0.05]]'
	json out.json '(.samples.placed / 2000) as $n | .functions[] | select(.name == "saxpy").instructions[0] |
		.reasons == {"long_scoreboard": (600 * $n), "wait": (100 * $n)} and .not_issued == 500 * $n'
	json out.json '[.reasons[] | select(.reason == "barrier").share] == [0.5]'
	json out.json '.processes | length == 1 and .[0].state == "ended" and .[0].trouble == null'
	grep -q '^expect launches' out
}

@test "profile --pc (text) names functions, instructions, reasons, and accounts for all samples" {
	requires bpf sim
	script
	# shellcheck disable=SC2046
	pc -o out.txt -- $(storm) >out
	run cat out.txt
	assert_line --regexp '^  50\.0% .* long_scoreboard 60%, wait 30%, selected 10% +saxpy$'
	assert_line --regexp '^  35\.0% .* long_scoreboard 86%, wait 14% +\+0x70$'
	assert_line --regexp '^  50\.0% .* barrier 100% +other\(float\*, int\)$'
	assert_line --regexp '^  50\.0% .* barrier +the other warps of its block, at a barrier$'
	assert_line --regexp '^[0-9]+ windows, together .*; [0-9,]+ samples, one in 4,096 cycles$'
	assert_line --regexp '^[0-9]+ dropped by the GPU, [0-9]+ of kernels that are not the program.s$'
	assert_line 'nothing was lost'
}

@test "profile --pc (modules with line information) names the source, sums up by line" {
	requires bpf sim
	cat >script <<-END
		saxpy 70 wait 100 saxpy.cu 12
		saxpy 80 wait 300 saxpy.cu 12
		saxpy 90 wait 200 /abs/other.h 7
		saxpy a0 wait 400
	END
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc --json -o out.json -- $(storm) >out
	json out.json '[.functions[0].instructions[] | [.offset, .file, .line, .share]] == [[160, null, null, 0.4],
		[128, "/src/saxpy.cu", 12, 0.3], [144, "/abs/other.h", 7, 0.2], [112, "/src/saxpy.cu", 12, 0.1]]'
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc -o out.txt -- $(storm) >out
	run cat out.txt
	assert_line --regexp '^  40\.0% .* wait 100% +saxpy\.cu:12  \+0x80$'
	assert_line --regexp '^  20\.0% .* wait 100% +other\.h:7  \+0x90$'
	assert_line --regexp '^  40\.0% .* wait 100% +\+0xa0$'
}

@test "profile --pc (inlined functions) says through which an instruction is reached" {
	requires bpf sim
	${CC:-cc} -c -o inlined.o "$TOP/tests/profile/inlined.s"
	cat >script <<-END
		outer b0 wait 100 inlined.cu 3
		outer 10 wait 50 inlined.cu 12
		outer c0 wait 30 inlined.cu 15
		outer d0 wait 20 inlined.cu 15
	END
	export SIMCUDA_PC_SCRIPT=$PWD/script SIMCUDA_PC_CUBIN=$PWD/inlined.o
	# shellcheck disable=SC2046
	pc --json -o out.json --folded f.txt -- $(storm) >out
	json out.json '[.functions[0].instructions[] | [.offset, .line, .inlined]] == [[176, 3, [
		{"function": "deepest(float)", "file": "inlined.cu", "line": 7},
		{"function": "middle(float)", "file": "inlined.cu", "line": 14}]],
		[16, 12, []], [192, 15, []], [208, 15, []]]'
	grep -Eq '^launch-storm \([0-9]+\);outer;inlined.cu:14;middle\(float\);inlined.cu:7;deepest\(float\);inlined.cu:3;wait [0-9]+$' f.txt
	# shellcheck disable=SC2046
	pc -o out.txt -- $(storm) >out
	grep -Eq ' inlined\.cu:3  \+0xb0  in deepest\(float\) < middle\(float\)$' out.txt
	grep -Eq ' inlined\.cu:12  \+0x10$' out.txt
}

@test "profile --pc (line tables, damaged in 20,000 ways) reads them without a fault" {
	${CC:-cc} -c -o inlined.o "$TOP/tests/profile/inlined.s"
	${CC:-cc} -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE -I"$TOP" \
		-o fuzz "$TOP/tests/profile/fuzz.c" $(tool_sources code_lines array_grow) 2>cc.err || skip "no sanitizers: $(head -n1 cc.err)"
	run -0 ./fuzz inlined.o 20000
	# Many of everything: it gives up before it is looked for in vain 10^11 times.
	"$TOP/tests/profile/crowded.py" 400000 >crowded.o
	run timeout 20 ./fuzz crowded.o 1
	assert_equal "$output" 0
}

# shares FILE: "FRAME;...;FRAME PERCENT" of folded stacks.
shares() {
	awk '{ n[NR] = $NF; sum += $NF; sub(" [0-9]+$", ""); line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) printf "%s %.1f\n", line[i], 100 * n[i] / sum }' "$1"
}

@test "profile --pc --folded, --flamegraph (script) have kernel, line and reason" {
	requires bpf sim
	script
	echo 'saxpy 80 wait 2000 saxpy.cu 12' >>script
	# shellcheck disable=SC2046
	pc --folded f.txt --flamegraph f.svg --json -o out.json -- $(storm) >out
	run shares f.txt
	assert_line --regexp '^launch-storm \([0-9]+\);saxpy;\+0x70;long_scoreboard 15\.0$'
	assert_line --regexp '^launch-storm \([0-9]+\);saxpy;\+0x70;wait 2\.5$'
	assert_line --regexp '^launch-storm \([0-9]+\);saxpy;saxpy\.cu:12;wait 50\.0$'
	assert_line --regexp '^launch-storm \([0-9]+\);other\(float\*, int\);\+0x10;barrier 25\.0$'
	assert_equal "$(awk '{ sum += $NF } END { print sum }' f.txt)" "$(jq .samples.placed out.json)"
	grep -q "Inside kernels: $(jq .samples.placed out.json | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') samples" f.svg
	run -0 xmllint --noout f.svg
}

# parted PROGRAM ARGS: the shares of its call stacks in $output, of samples as `script` says them; it lingers until they have come.
parted() {
	mkfifo hold
	exec 8<>hold
	# shellcheck disable=SC2086 # several
	SIMCUDA_PC_SCRIPT=$PWD/script setsid "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -g ${PROFILE_OPTIONS-} --folded f.txt \
		--flamegraph f.svg --json -o out.json -- "$SIM" "$@" --linger <hold >out 2>err 8>&- 3>&- &
	rec_PID=$!
	echo $rec_PID >>started
	wait_for 30 grep -q '^expect ' out
	sleep 1
	exec 8>&-
	: >hold
	finished "$rec_PID" 40
	assert_equal "$status" 0
	run shares f.txt
}

@test "profile --pc -g (known chain of functions) parts a kernel's samples as its launches are" {
	requires bpf sim
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' 'lonely 10 barrier 500' >script
	parted "$WORKLOADS/stacks" -n 100
	assert_line --regexp '^stacks \([0-9]+\);.*main;train_step;forward;layer;spin;counted__launch;cuLaunchKernel;spin;spin\.cu:7;wait 50\.0$'
	assert_line --regexp '^stacks \([0-9]+\);.*main;train_step;backward;spin;counted__launch;cuLaunchKernel;spin;spin\.cu:7;wait 16\.7$'
	# Nobody saw it launched under that name.
	assert_line --regexp '^stacks \([0-9]+\);\[no stack\];lonely;\+0x10;barrier 33\.3$'
	assert_equal "$(awk '{ sum += $NF } END { print sum }' f.txt)" "$(jq .samples.placed out.json)"
	grep -q "functions of the host: shares of the launches of a kernel" f.svg
}

@test "profile --pc -g (without a file for it, odd N) says what it wants and exits 2" {
	run -2 --separate-stderr ct profile --pc -g -- true
	[[ $stderr == *"-g is for --flamegraph, --folded and --record"* ]]
	run -2 --separate-stderr ct profile --pc -g=7 --folded f -- true
	[[ $stderr == *"-g takes 1, 10, 100"* ]]
}

@test "profile --pc --folded (a folder that is not there) says so, shows the table, and fails" {
	requires bpf sim
	# shellcheck disable=SC2046
	run -1 --separate-stderr ct profile --pc --bursts 10ms/100ms --folded no/such/file -o out.txt -- $(storm)
	[[ $stderr == *"no/such/file: No such file or directory"* ]]
	grep -q 'nothing was lost' out.txt
}

# recorded: samples with hostile names among them in r.db, and as folded stacks in f.txt.
recorded() {
	printf '%s\n' 'saxpy 80 wait 2000 saxpy.cu 12' 'saxpy 80 selected 500 saxpy.cu 12' 'saxpy a0 wait 100' \
		$'_Z\e[31m<script>alert(1)</script> 10 barrier 300 <b>evil</b>.cu 3' 'dropped 7' 'other 3' >script
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc --record r.db --folded f.txt --json -o out.json -- $(storm) >out
}

@test "profile --pc --record, report (table, folded, flame graph) say what profile said" {
	requires bpf sim
	recorded
	local n=$(($(jq .samples.placed out.json) / 2900))
	((n > 0))
	ct report --stalls --json r.db >stalls.json
	assert_equal "$(jq -cs 'map([.function, .place, .reason, .samples, .percent])[:3]' stalls.json)" \
		"[[\"saxpy\",\"/src/saxpy.cu:12\",\"wait\",$((2000 * n)),68.97],[\"saxpy\",\"/src/saxpy.cu:12\",\"selected\",$((500 * n)),17.24],[\"saxpy\",\"+0xa0\",\"wait\",$((100 * n)),3.45]]"
	ct report r.db >report.txt
	grep -q 'What warps waited for (PC samples)' report.txt
	grep -q 'samples that the GPU dropped' report.txt
	# Nothing of a terminal's language gets out.
	run ! grep -q $'\e' report.txt
	ct report --folded - r.db | sort >again.txt
	diff <(sort f.txt) again.txt
	ct report --flamegraph f.svg r.db
	run -0 xmllint --noout f.svg
	run -1 ct report --pprof p.gz r.db
	assert_output --partial 'samples have no times for pprof'
	rm -f out.json
	# shellcheck disable=SC2046
	run -1 pc --record no/such/r.db --json -o out.json -- $(storm)
	json out.json '.samples.placed > 0'
}

@test "report (stacks of samples that are damaged in ten ways) refuses them" {
	requires bpf sim
	recorded
	for harm in 'parentId = id' 'parentId = id + 1' 'parentId = -1' 'id = 1' 'id = id * 4000000000' 'samples = -1' \
		"samples = 'x'" 'samples = 9223372036854775807' 'nameId = -5' 'parentId = 1e300'; do
		cp r.db h.db
		# What all rows share is a default of the table, and no cell of them.
		python3 - "$harm" <<-'END'
			import sqlite3, sys
			db = sqlite3.connect("h.db")
			rows = db.execute("SELECT id, parentId, nameId, samples FROM CUDA_TRACE_PC_STACKS ORDER BY id").fetchall()
			db.execute("DROP TABLE CUDA_TRACE_PC_STACKS")
			db.execute("CREATE TABLE CUDA_TRACE_PC_STACKS (id, parentId, nameId, samples)")
			db.executemany("INSERT INTO CUDA_TRACE_PC_STACKS VALUES (?,?,?,?)", rows)
			db.execute("UPDATE CUDA_TRACE_PC_STACKS SET " + sys.argv[1] + " WHERE id >= 3")
			db.commit()
		END
		run ct report --folded h.txt h.db
		((status == 0 || status == 1)) || fail "$harm: status $status"
		[[ $harm == nameId* || $harm == *\'x\' || $status == 1 ]] || fail "$harm: taken"
		run ! grep -q 'Sanitizer\|Segmentation' <<<"$output"
	done
	# As deep as a hostile file may like.
	python3 - <<-'END'
		import sqlite3
		db = sqlite3.connect("h.db")
		db.execute("DELETE FROM CUDA_TRACE_PC_STACKS")
		db.executemany("INSERT INTO CUDA_TRACE_PC_STACKS VALUES (?,?,?,?)", [(i, i - 1, 1, 1) for i in range(1, 200000)])
		db.commit()
	END
	run -1 ct report --html h.html h.db
	assert_output --partial 'the stacks of samples are damaged'
}

@test "profile --pc (nearly all samples are of other kernels) says why, and what helps" {
	requires bpf sim
	printf 'saxpy 70 wait 100\nother 1000\ndropped 400\n' >script
	export SIMCUDA_PC_SCRIPT=$PWD/script
	# shellcheck disable=SC2046 # words
	pc --json -o out.json -- $(storm) >out
	json out.json '.note | test("other processes use the GPU.* before its first window.* graph.* traced.*start it with cuda-trace profile --pc")'
	# shellcheck disable=SC2046
	pc -o out.txt -- $(storm) >out
	grep -q '^nearly all samples are of kernels that CUPTI does not attribute to' out.txt
	# Half of them: the GPU is shared, and there is something to be seen.
	printf 'saxpy 70 wait 100\nother 100\n' >script
	# shellcheck disable=SC2046
	pc --json -o out.json -- $(storm) >out
	json out.json '.samples.other > 0 and has("note") and .note == null'
}

@test "profile --pc -k (one function) shows that, and counts the others' samples" {
	requires bpf sim
	script
	# shellcheck disable=SC2046
	pc -k '^sax' --json -o out.json -- $(storm) >out
	json out.json '[.functions[].name] == ["saxpy"] and .samples.filtered == .samples.placed'
}

@test "profile --pc (all the time) is fetched ten times a second" {
	requires bpf sim
	script
	# shellcheck disable=SC2046
	ct profile --pc --bursts 1s/1s --json -o out.json -- $(storm) >out
	json out.json '.windows >= 5 and .window_ns > 500000000 and .samples.placed >= 5 * 2000'
}

@test "profile --pc (more instructions than one call brings) reports all of them" {
	requires bpf sim
	for i in $(seq 500); do printf 'f%d %x wait %d\n' $((i % 7)) $((i * 16)) "$i"; done >script
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc --json -o out.json -- $(storm) >out
	json out.json '[.functions[].instructions[]] | length == 500'
	json out.json '.samples.placed > 0 and .samples.unplaced == 0 and
		(.samples.placed / (500 * 501 / 2) | . >= 1 and . == floor)'
	json out.json '.windows <= .samples.placed / (500 * 501 / 2) + 3'
}

@test "profile --pc -p (a program that runs) samples, and leaves nothing on" {
	requires bpf sim
	script
	export SIMCUDA_LOG=$PWD/log
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 6 -p 1000
	ready storm
	pc -p "$storm_PID" -d 2 --json -o out.json
	json out.json '.samples.placed > 0 and .lost.total == 0'
	wait_for 5 grep -q 'pc_sampling disable 0' log
	finished "$storm_PID"
	assert_equal "$status" 0
	[ "$(grep -c 'pc_sampling start 0' log)" = "$(grep -c 'pc_sampling stop 0' log)" ]
	[ "$(grep 'pc_sampling' log | tail -n 1 | cut -d' ' -f3-)" = "pc_sampling disable 0" ]
}

@test "profile --pc (no permission) says how to fix it, and leaves the program alone" {
	requires bpf sim
	# shellcheck disable=SC2046
	SIMCUDA_PC_SAMPLING=35 pc --json -o out.json -- $(storm) >out 2>err
	[ "$(grep -c ERR_NVGPUCTRPERM err)" = 1 ]
	grep -q 'NVreg_RestrictProfilingToAdminUsers=0' err
	grep -q 'cap-add SYS_ADMIN' err
	[ "$(grep -c cuptiPCSamplingEnable err)" = 1 ]
	json out.json '.windows == 0 and .samples.total == 0 and .processes[0].trouble != null'
	grep -q '^expect launches' out
}

@test "profile --pc (libcupti lacks it) says so, and leaves the program alone" {
	requires bpf sim
	# shellcheck disable=SC2046
	SIMCUDA_CUPTI_VERSION=12.4 pc -o out.txt -- $(storm) >out 2>err
	grep -q 'PC sampling needs libcupti 12.6 or newer' err
	grep -q 'no samples: PC sampling needs libcupti 12.6 or newer' out.txt
	grep -q '^expect launches' out
	# shellcheck disable=SC2046
	SIMCUDA_MISSING_SYMBOL=cuptiPCSamplingStart pc -o out.txt -- $(storm) >out 2>err
	grep -q 'no samples: PC sampling needs' out.txt
}

@test "profile --pc (PROGRAMs that end after 75 and 322 ms, or their context after one launch) samples the first kernel" {
	requires bpf sim
	local program
	script
	for program in saxpy "launch-storm -n 250 -p 1000" "resets 1"; do
		# shellcheck disable=SC2086
		SIMCUDA_LOG=$PWD/log ct profile --pc --json -o out.json -- "$SIM" $WORKLOADS/$program >out
		# The simulated CUPTI has samples of each window, whatever runs in it.
		[ "$(grep -o 'launches before: .*' log | head -n 1)" = "launches before: 0" ]
		rm log
		json out.json '.windows >= 1 and .samples.placed >= 2000 and .samples.placed % 2000 == 0'
		json out.json '.duration_ns < 1e9 and .lost.total == 0 and .processes[0].trouble == null'
	done
	# It opens at the first launch, however late that comes, and has its usual length from there on.
	start late "$CUDA_TRACE" profile --pc --bursts 20ms/20s --json -o "$PWD/out.json" -- \
		"$SIM" sh -c "(sleep 1.5; echo) | $WORKLOADS/launch-storm -w -n 60 -p 1000"
	finished "$late_PID" 40
	json out.json '.windows == 1 and .samples.placed == 2000 and .window_ns > 19e6 and .window_ns < 1e9'
}

@test "profile --pc (the program launches nothing) says that it had no window" {
	requires bpf sim
	ct profile --pc --bursts 1ms/20s -o out.txt -- "$SIM" "$WORKLOADS/memory" >out
	grep -q 'no samples: it had no sampling window: one of 1 ms opens every 20000 ms (--bursts)' out.txt
}

@test "profile --pc (hostile names) shows no control character" {
	requires bpf sim
	printf 'evil\033[31m\001 10 wait 5\n' >script
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc -o out.txt -- $(storm) >out
	grep -qF 'evil\x1b[31m\x01' out.txt
	LC_ALL=C run ! grep -q '[[:cntrl:]]' out.txt
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc --json -o out.json -- $(storm) >out
	json out.json '.functions[0].name == "evil\u001b[31m\u0001"'
	# shellcheck disable=SC2046
	SIMCUDA_PC_SCRIPT=$PWD/script pc --folded f.txt --flamegraph f.svg -o out.txt -- $(storm) >out
	LC_ALL=C run ! grep -q '[[:cntrl:]]' f.txt
	run -0 xmllint --noout f.svg
}

@test "profile --pc (contexts that are reset) goes on" {
	requires bpf sim
	script
	SIMCUDA_LOG=$PWD/log ct profile --pc --bursts 100ms/100ms --json -o out.json -- "$SIM" "$WORKLOADS/resets" 3000 >out 2>err
	json out.json '.lost.total == 0 and .processes[0].exit_status == 0'
	run ! grep 'injection library in' err
	grep -q '^expect launches' out
}

@test "profile --pc (8 threads launch without a pause) holds them while CUPTI switches, and only then" {
	requires bpf sim
	script
	ct profile --pc --bursts 10ms/100ms --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -t 8 -s 2 >out
	# A window has 2000 or none; how many there are depends on what else the machine does.
	json out.json '.samples.placed >= 2000 and .samples.placed % 2000 == 0 and .samples.unplaced == 0 and
		.processes[0].trouble == null'
	grep -q '^expect launches' out
	# The same to threads that launch already, whose listener comes and goes.
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" SIMCUDA_LOG="$PWD/log" \
		"$WORKLOADS/launch-storm" -t 8 -s 15
	for _ in 1 2 3; do
		# On a busy machine CUPTI may need more than two seconds for the first window.
		ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 2 --json -o out.json
		jq -e '.samples.placed > 0' out.json ||
			ct profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 4 --json -o out.json
		json out.json '.samples.placed > 0 and .processes[0].trouble == null'
	done
	kill -USR1 "$storm_PID"
	finished "$storm_PID"
	assert_equal "$status" 0
	run ! grep -q 'locked up' log
	grep -q 'pc_sampling disable 0' log
}

@test "profile --pc (copies and memsets beside) holds memsets, too" {
	requires bpf sim
	script
	start copies env SIMCUDA_LOG="$PWD/log" "$CUDA_TRACE" profile --pc --bursts 10ms/100ms --json -o "$PWD/out.json" -- \
		"$SIM" "$WORKLOADS/copies" 15000 4096
	finished "$copies_PID" 40
	assert_equal "$status" 0
	run ! grep -q 'locked up' log
	json out.json '.samples.placed >= 2000'
}

@test "profile --pc -p (graphs are captured all the time) leaves at no capture's cost" {
	requires bpf sim
	script
	export SIMCUDA_LOG=$PWD/log
	start captures "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/captures" 8 80
	ready captures
	for _ in 1 2 3; do
		pc -p "$captures_PID" -d 1 --json -o out.json
		json out.json '.samples.placed >= 2000'
		wait_for 5 grep -q 'pc_sampling disable 0' log
		: >log
	done
	finished "$captures_PID"
	assert_equal "$status" 0
	grep -q '^expect launches' captures.out
	run ! grep 'fault' <(grep -v 'faults=0' log)
}

@test "profile --pc -p (a capture that never ends) holds up others for a limited time" {
	requires bpf sim
	local graphs
	script
	export SIMCUDA_LOG=$PWD/log
	start captures "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/captures" 14 20 left sampled
	ready captures
	start first "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -p "$captures_PID" -d 2 --json -o "$PWD/out.json"
	wait_for 10 grep -q 'pc_sampling enable' log
	touch sampled
	finished "$first_PID"
	assert_equal "$status" 0
	json out.json '.samples.placed >= 2000'
	# A second one gets nothing, and hears why.
	pc -p "$captures_PID" -d 3 --json -o second.json 2>err
	json second.json '.samples.total == 0 and (.processes[0].trouble | contains("a graph is being captured"))'
	grep -q 'a graph is being captured, which CUPTI would break: until that ends nobody else gets samples' err
	finished "$captures_PID"
	assert_equal "$status" 0
	# CUPTI would have broken it.
	run ! grep 'pc_sampling disable' log
	# Of some 500. Those that are held up wait for 0.3 s each: all after the detach, and it is some 110.
	graphs=$(expect_key captures.out graphs)
	[ "$graphs" -gt 180 ] || fail "$graphs captures"
}

@test "profile --pc --max-overhead (little, all) puts windows so far apart that holding launches takes no more" {
	requires bpf sim
	script
	# The simulated CUPTI takes 2 ms to start, and 2 to stop.
	# shellcheck disable=SC2046
	pc --max-overhead 1% -v --json -o out.json -- $(storm 5) >out 2>err
	json out.json '.period_ms >= 500 and .held_ns > 8000000 and .samples.placed >= 4 * 2000'
	grep -Eq 'from now on, one window every (500|1000|2000) ms' err
	# shellcheck disable=SC2046
	pc --max-overhead 100% --json -o out.json -- $(storm 2) >out
	json out.json '.period_ms == 100 and .held_ns > 4000000'
	for limit in 0 x 101%; do
		run -2 --separate-stderr ct profile --pc --max-overhead $limit -- true
		[[ $stderr == *"--max-overhead wants a percentage"* ]]
	done
	run -2 --separate-stderr ct profile --pc --bursts 1s/1s --max-overhead 1% -- true
	[[ $stderr == *"needs --bursts with a pause"* ]]
}

@test "profile --pc (CUPTI hangs) says so, lets the program go on after 3 s, and others are served" {
	requires bpf sim
	export SIMCUDA_PC_SAMPLING=hang
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 12 -p 500
	start pc "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 8 -o "$PWD/out.txt"
	wait_for 10 grep -q 'CUPTI does not come back' pc.err
	ct stat -p "$storm_PID" -d 1 -e launches --json -o stat.json
	json stat.json '.totals.launches > 100 and .lost.total == 0'
	finished "$pc_PID"
	# What it last reported: another tool may be refused kernels meanwhile.
	grep -q 'no samples: ' out.txt
	finished "$storm_PID"
	assert_equal "$status" 0
	grep -q '^expect launches' storm.out
}

# traced_storm SECONDS: a workload that runs already, whose kernels are traced; $storm_PID, and CUPTI's calls in log.
traced_storm() {
	script
	export SIMCUDA_LOG=$PWD/log
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s "$1" -p 500
	ready storm
}

windows_begun() {
	grep -c 'pc_sampling start 0' log
}

more_windows_than() {
	[ "$(windows_begun)" -gt "$1" ]
}

kernels_on() {
	tail -n 1 <(grep -o 'kinds=[0-9,]*' log) | grep -Eq '[=,]10(,|$)'
}

unfaulted() {
	finished "$storm_PID"
	assert_equal "$status" 0
	run ! grep 'fault' <(grep -v 'faults=0' log)
}

@test "profile --pc (stat is there, stat comes later) has kernels give way, which is counted, and come back" {
	requires bpf sim
	local windows
	traced_storm 20
	start stat "$CUDA_TRACE" stat -p "$storm_PID" -d 5 --json -o "$PWD/stat.json"
	wait_for 10 kernels_on
	pc -p "$storm_PID" -d 1.5 --json -o out.json
	json out.json '.samples.placed > 0 and .lost.total == 0'
	wait_for 5 kernels_on
	finished "$stat_PID"
	# Every launch has its times or is counted, but for those under way at a switch or as stat ends.
	json stat.json '.totals.launches - .totals.kernels - .lost.profiled | . > -20 and . < 100'
	json stat.json '.lost.profiled > 500 and .totals.kernels > 500 and .lost.total == .lost.profiled'
	# The other way round; and nobody who does not want times learns that some are missing.
	windows=$(windows_begun)
	start pc "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -p "$storm_PID" --json -o "$PWD/out.json"
	wait_for 20 more_windows_than "$windows"
	ct stat -p "$storm_PID" -d 0.7 --json -o stat.json
	json stat.json '.totals.launches > 100 and .totals.kernels == 0 and .lost.profiled > 100'
	json stat.json '.processes[0].state == "profiled" and (.processes[0].trouble | contains("profile --pc"))'
	ct stat -p "$storm_PID" -d 0.7 -e launches --json -o stat.json
	json stat.json '.totals.launches > 100 and .lost.total == 0'
	kill -INT "$pc_PID"
	finished "$pc_PID"
	json out.json '.samples.placed > 0 and .lost.total == 0'
	unfaulted
}

@test "profile --pc (metrics watches everything, the profiler is killed) has the kernels of that process only, and gives them back" {
	requires bpf sim curl
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' metrics.err
	traced_storm 20
	wait_for 10 kernels_on
	start pc "$CUDA_TRACE" profile --pc --bursts 10ms/100ms -p "$storm_PID" -d 60
	wait_for 10 grep -q 'pc_sampling start 0' log
	run ! kernels_on
	# Who has just come has perhaps not heard of it.
	seen() { ct top --once --json -p "$storm_PID" >top.json && jq -e '.processes | length == 1' top.json; }
	wait_for 20 seen
	json top.json '.processes[0] | .profiled and .gpu_percent == null and .launches_per_second > 100'
	kill -KILL "$pc_PID"
	wait_for 5 kernels_on
	sleep 0.3
	curl -sS -o scrape "$(sed -n 's/.*listening on \(.*\)$/\1/p' metrics.err)"
	grep -Eq '^cuda_trace_lost_records_total\{reason="profiled"\} [1-9]' scrape
	ct stat -p "$storm_PID" -d 1 --json -o stat.json
	json stat.json '.totals.kernels > .totals.launches / 2 and .lost.total == 0'
	unfaulted
}

@test "profile --pc (metrics watches everything, PROGRAM starts) takes samples from the start" {
	requires bpf sim
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' metrics.err
	script
	export SIMCUDA_LOG=$PWD/log
	# shellcheck disable=SC2046
	pc --json -o out.json -- $(storm) >out
	json out.json '.samples.placed > 0 and .lost.total == 0'
	run ! grep -Eq 'kinds=([0-9]+,)*10[, ]' log
	run ! grep 'fault' <(grep -v 'faults=0' log)
}

@test "profile --pc (another process samples the GPU) says so" {
	requires bpf sim
	# shellcheck disable=SC2046
	SIMCUDA_PC_SAMPLING=busy pc -o out.txt -- $(storm) >out 2>err
	grep -q 'the GPU is sampled already, by another process' err
	grep -q 'no samples: the GPU is sampled already' out.txt
	[ "$(grep -c 'is sampled already' err)" = 1 ]
	# In one window only: the next ones have samples.
	script
	# shellcheck disable=SC2046
	SIMCUDA_PC_SAMPLING=busy-once pc --json -o out.json -- $(storm) >out 2>err
	json out.json '.samples.placed >= 2000'
	[ "$(grep -c 'is sampled already' err)" = 1 ]
}

@test "profile --pc (a kernel that never ends) samples, comes back, and the program runs on" {
	requires bpf sim
	echo 'spin 10 wait 5' >script
	SIMCUDA_PC_SCRIPT=$PWD/script LIMIT=30 pc --json -o out.json -- "$SIM" "$WORKLOADS/early-exit" endless 10 >out
	json out.json '.samples.placed > 0 and .functions[0].name == "spin" and .lost.total == 0'
	grep -q '^expect launches=211 ' out
}

@test "profile --pc -g (kernels in graphs) parts a kernel's samples as launches and launches of graphs had it run" {
	requires bpf sim
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' >script
	parted "$WORKLOADS/graph-origins" -n 50 --nodes 7 --eager 400 --copies
	# 100, 50, 350, 50 (in a child graph) and 400 launches of 950.
	assert_line --regexp ';main;run;make_captured;embed;captured;cuLaunchKernel;spin;spin\.cu:7;wait 10\.[56]$'
	assert_line --regexp ';main;run;make_captured;head;captured;cuLaunchKernel;spin;spin\.cu:7;wait 5\.[23]$'
	assert_line --regexp ';main;run;make_built;build;cuGraphAddKernelNode_v2;spin;spin\.cu:7;wait 36\.[89]$'
	assert_line --regexp ';main;run;plain;counted__launch;cuLaunchKernel;spin;spin\.cu:7;wait 42\.[12]$'
	assert_line --regexp ';main;run;run_copies;copied;captured;cuLaunchKernel;spin;spin\.cu:7;wait 5\.[23]$'
	run ! grep -- '-g does not know' err
}

@test "profile --pc -g --range (graphs that were captured outside) parts a kernel's samples among what put it there" {
	requires bpf sim
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' >script
	PROFILE_OPTIONS="--range replays" parted "$WORKLOADS/graph-origins" -n 50 --nodes 7 --eager 400 --hold 500
	# 100, 50 and 350 launches of 500; those of plain() are outside.
	assert_line --regexp ';main;run;make_captured;embed;captured;cuLaunchKernel;spin;spin\.cu:7;wait (19\.9|20\.[01])$'
	assert_line --regexp ';main;run;make_captured;head;captured;cuLaunchKernel;spin;spin\.cu:7;wait (9\.9|10\.[01])$'
	assert_line --regexp ';main;run;make_built;build;cuGraphAddKernelNode_v2;spin;spin\.cu:7;wait (69\.9|70\.[01])$'
	refute_output --partial ';plain;'
	run ! grep -- '-g does not know' err
}

@test "profile --pc -g (graphs that are changed) parts a kernel's samples among what put it there, before and after" {
	requires bpf sim
	local line
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' 'increment 30 wait 1000 spin.cu 9' >script
	parted "$WORKLOADS/graph-changes" -n 50
	# As often as each ran: three times 50 launches of one, and of kept() three more, with another kernel between them.
	for line in 'run_updates;capture;first 1' 'run_updates;capture;second 1' 'run_updates;capture;third 1' 'run_parameters;capture;kept 3'; do
		assert_equal "$line: $(printf '%s\n' "${lines[@]}" | awk -v of=";${line% *};" -v times="${line##* }" '
			/;spin;spin.cu:7;wait / { if (index($0, ";run_updates;capture;first;")) one += $NF; if (index($0, of)) this += $NF }
			END { ratio = one ? this / one / times : 0; print (ratio > 0.98 && ratio < 1.02) ? "right" : ratio }')" "$line: right"
	done
	# The node that had another kernel for a while, and the one whose kernel was replaced in the graph that two were made of.
	assert_line --regexp ';run_parameters;replace;cuGraphExecKernelNodeSetParams_v2;increment;spin\.cu:9;wait 16\.[67]$'
	assert_line --regexp ';run_rewritten;rewrite;cuGraphKernelNodeSetParams_v2;increment;spin\.cu:9;wait 33\.[34]$'
	run ! grep -- '-g does not know' err
}

@test "profile --pc -g -p (a graph that was created before) says that nobody knows who put its kernels there" {
	requires bpf sim
	printf '%s\n' 'spin 70 wait 1000 spin.cu 7' >script
	mkfifo go
	exec 9<>go
	SIMCUDA_PC_SCRIPT=$PWD/script setsid "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/graph-origins" -n 5 --early --linger <go >p.out 2>p.err 9>&- 3>&- &
	program_PID=$!
	echo $program_PID >>started
	wait_for 30 grep -qx ready p.out
	start prof "$CUDA_TRACE" profile --pc -v --bursts 10ms/100ms -g --folded f.txt -o out.txt -p "$program_PID"
	wait_for 30 grep -q 'woke the injection library' prof.err
	sleep 1
	echo >&9
	wait_for 30 grep -q '^expect ' p.out
	sleep 1
	kill -INT "$prof_PID"
	finished "$prof_PID" 40
	grep -q '^cuda-trace profile: 5 launches were of graphs that were created before tracing began: ' prof.err
}
