#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace top: figures against what programs say, screens through a real terminal (tmux).

load ../lib/helpers

CROWD=$B/tests/capture/crowd/crowd

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	TMUX_TMPDIR=$BATS_TEST_TMPDIR
	export TMUX_TMPDIR
	unset TMUX
}

teardown() {
	local socket
	for socket in "$BATS_TEST_TMPDIR"/tmux-*/*; do tmux -S "$socket" kill-server 2>/dev/null || true; done
	stop_started
	[ -z "${GROUP:-}" ] || wait_for 10 rmdir "$GROUP" 2>/dev/null
}

# A program that goes on for a while: 200 launches a second of five kernels, 1 to 16 us each.
slow_crowd() {
	start crowd env CUDA_TRACE_AGENT= "$CROWD" --launches 12000 --rate 200 --names 5 --wait-ms 5000
}

# contained_crowd ARGS...: the same in a control group as a container's, which teardown removes.
contained_crowd() {
	local mount
	mount=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	[ -w "$mount" ] || skip "needs a writable cgroup version 2"
	GROUP=$mount/docker-0123456789ab$(printf %052d $$).scope
	mkdir "$GROUP"
	start crowd sh -c "echo \$\$ >'$GROUP/cgroup.procs'; exec env CUDA_TRACE_AGENT= '$CROWD' --wait-ms 5000 $*"
}

# A server of tmux's own for each: one that is just ending takes no new session.
next_terminal() {
	export TMUX_TMPDIR=$BATS_TEST_TMPDIR
	TERMINAL=top-$((TERMINALS += 1))
}

# screen COLUMNS LINES ARGS...: top in a terminal of that size, with the path of its agent in the environment.
screen() {
	local columns=$1 lines=$2; shift 2
	next_terminal
	tmux -L "$TERMINAL" -f /dev/null new-session -d -x "$columns" -y "$lines" \
		"env CUDA_TRACE_AGENT=$CUDA_TRACE_AGENT LC_ALL=C.UTF-8 $CUDA_TRACE top $* 2>$PWD/top.err"
}

shown() {
	tmux -L "$TERMINAL" capture-pane -p >screen
	grep -qE -- "$1" screen
}

# shows REGEX: within ten seconds.
shows() {
	wait_for 10 shown "$1" || { cat screen top.err; return 1; }
}

press() {
	tmux -L "$TERMINAL" send-keys "$@"
}

# like NAME: is the screen as tests/top/screens/NAME.txt? A number with its unit is a "#" where it ends,
# so that columns count and figures do not; a bar is drawn empty, a histogram as "#".
like() {
	tmux -L "$TERMINAL" capture-pane -p | PYTHONUTF8=1 python3 -c '
import re, sys
text = re.sub(r"(?m)^[0-9]+(?= crowd \()", "#", sys.stdin.read())
text = re.sub(r" *[0-9][0-9.,]*( [mun]?s\b|[kMGTPE%])?", lambda m: "#".rjust(len(m[0])), text)
bar = lambda m: "\u2591" * 20 if len(m[0]) == 20 else "#" * len(m[0])
print(re.sub(r"[\u2581-\u2588\u2591]+", bar, text), end="")' >"screen.$1"
	diff -u "$TOP/tests/top/screens/$1.txt" "screen.$1" >difference
}

# looks_like NAME: within ten seconds. Where the page is meant to differ, copy screen.NAME.
looks_like() {
	wait_for 10 like "$1" 2>/dev/null || { cat difference top.err; fail "the screen differs from tests/top/screens/$1.txt"; }
}

@test "top (--json) counts what the program counted" {
	export CUDA_TRACE_AGENT=$CROWD
	start top "$CUDA_TRACE" top --json -c crowd
	"$CROWD" --launches 20000 --failures 10 --names 5 --wait-ms 20000 --hold-ms 1500 >crowd.out
	ended() { jq -s '[.[].processes[] | select(.process == "crowd")] | last' top.out >last 2>/dev/null && grep -q '"ended": true' last; }
	wait_for 20 ended
	kill -TERM "$top_PID"
	finished "$top_PID"
	assert_equal "$status" 0
	assert_equal "$(jq .totals.launches last)" "$(expect_key crowd.out launches)"
	assert_equal "$(jq .totals.kernels last)" "$(expect_key crowd.out kernels)"
	assert_equal "$(jq .totals.gpu_ns last)" "$(expect_key crowd.out gpu_ns)"
	assert_equal "$(jq .totals.launch_errors last)" "$(expect_key crowd.out launch_errors)"
	assert_equal "$(jq '[.kernels[].count] | add' last)" "$(expect_key crowd.out kernels)"
	assert_equal "$(jq '.kernels | length' last)" 5
	# Half of the kernels take 8 us or less, and none more than 16.
	json last '.kernels[] | .p50_ns > 4096 and .p50_ns <= 16384 and .p99_ns <= 16384 and .max_ns <= 16000'
	assert_equal "$(jq -s 'map(.lost) | max' top.out)" 0
}

# By turns they call it 0 and 1. Alone each is busy for 42 %: together, too, and not for 126 %.
@test "top (three processes on one GPU at the same times, numbered differently) counts what overlaps once" {
	export CUDA_TRACE_AGENT=$CROWD
	start top "$CUDA_TRACE" top --json -d 500ms -c crowd
	# What comes before the first interval is in none.
	wait_for 20 test -s top.out
	"$CROWD" --processes 3 --at-once --launches 16000 --wait-ms 20000 --hold-ms 1500 >crowd.out
	seen() { jq -s '[.[].processes[] | select(.process == "crowd" and .totals.kernels == 16000) | .pid] | unique | length == 3' top.out | grep -q true; }
	wait_for 20 seen
	kill -TERM "$top_PID"
	finished "$top_PID"
	jq -s --argjson one $(($(expect_key crowd.out busy_ns) / 3)) '{one: $one, gpus: [.[].devices[].uuid] | unique,
		union: ([.[] | .interval_s * 1e7 * (.devices | map(.gpu_percent) | add // 0)] | add),
		most: ([.[].devices[].gpu_percent] | max),
		sum: ([.[] | .interval_s * 1e7 * (.processes | map(.gpu_percent // 0) | add // 0)] | add)}' top.out >busy
	json busy '(.gpus | length) == 1 and (.sum / .one - 3 | fabs) < 0.1 and (.union / .one - 1 | fabs) < 0.05'
}

# A workload at its gate, see PROGRAM_GATE in tests/workloads/program.h.
gated() {
	mkfifo "gate.$1"
	start "$1" env PROGRAM_GATE="gate.$1" "${@:2}" "$SIM" "./$ID"
	local pid=${1}_PID
	wait_for 20 grep -q libcuda "/proc/${!pid}/maps"
}

@test "top (one program with the agent, one without, one that is opted out) distinguishes them" {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	local one pid
	ID=who$((RANDOM % 100000))
	cp "$WORKLOADS/saxpy" "./$ID"
	gated with CUDA_INJECTION64_PATH="$AGENT"
	gated without
	gated off CUDA_INJECTION64_PATH="$AGENT" CUDA_TRACE=off
	start top "$CUDA_TRACE" top --json -c "$ID" -d 300ms
	sources_are() { [ "$(tail -n 1 top.out | jq ".sources == $1" 2>/dev/null)" = true ]; }
	wait_for 20 sources_are '{cupti: 1, driver: 1, none: 1}'
	for one in with without off; do
		: >"gate.$one"
		pid=${one}_PID
		finished "${!pid}"
	done
	done_by() { [ "$(jq -s "[.[].processes[] | select(.pid == $1)] | last | $2" top.out 2>/dev/null)" = true ]; }
	wait_for 20 done_by "$with_PID" '.source == "cupti" and .totals.launches == 10 and .totals.kernels == 10'
	wait_for 20 done_by "$without_PID" '.source == "driver" and .totals.launches == 10 and .totals.kernels == null
		and .totals.gpu_ns == null and .gpu_percent == null and .kernels == []'
	run jq -s "[.[].processes[] | select(.pid == $off_PID)] | length" top.out
	assert_output 0
	wait_for 20 sources_are '{cupti: 0, driver: 0, none: 0}'
}

# looked_at WORKLOAD ARGS...: runs it while one top writes JSON (looks.out) and one pages (pages.out),
# both from before its first call until after its last; its truth is in work.out.
looked_at() {
	local top=(-d 500ms -e kernels,copies,memory,sync,errors)
	rm -f gate last
	mkfifo gate last
	start work env PROGRAM_GATE=gate PROGRAM_LAST_GATE=last CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/$1" "${@:2}"
	wait_for 20 grep -q libcuda "/proc/$work_PID/maps"
	start looks "$CUDA_TRACE" top --json "${top[@]}" -p "$work_PID"
	start pages "$CUDA_TRACE" top -b "${top[@]}" -p "$work_PID"
	wait_for 20 test -s looks.out
	wait_for 20 test -s pages.out
	: >gate
	wait_for 20 grep -q '^expect' work.out
	# The agent sends its last records within 100 ms, and two looks more are then over.
	sleep 1.5
	kill -TERM "$looks_PID" "$pages_PID"
	finished "$looks_PID"
	finished "$pages_PID"
	: >last
	finished "$work_PID"
}

# looks FILTER: jq's answer over all looks at the program, each with its interval in .s; the devices
# are in .devices.
looks() {
	jq -sr "[.[] | . as \$look | .processes[] | select(.pid == $work_PID) | .s = \$look.interval_s | .devices = \$look.devices] | $1" looks.out
}

# near WHAT IS WANTED SHARE: no further from it than that share of it.
near() {
	awk -v is="$2" -v wanted="$3" -v share="$4" 'BEGIN { d = is - wanted; exit !((d < 0 ? -d : d) <= share * wanted && wanted > 0) }' ||
		fail "$1: $2 instead of $3"
}

# pages COLUMN: of the program's line in each page, times its interval, summed up; 1.2k is 1200.
pages() {
	awk -v pid="$work_PID" -v column="$1" '
		/^cuda-trace top/ { seconds = $4 }
		$1 == pid {
			scale = index("kMGT", substr($column, length($column)))
			sum += $column * 1000 ^ scale * seconds
		}
		END { print sum + 0 }' pages.out
}

# last_page COLUMNS: those of the program's line in the last page.
last_page() {
	grep -E "^ *$work_PID " pages.out | tail -n 1 | tr -s ' ' | sed 's/^ //' | cut -d ' ' -f "$1"
}

@test "top (copies, memory, waits, graphs, failures) shows the figures that the programs tell" {
	looked_at copies
	assert_equal "$(looks 'last.totals.memcpys')" "$(expect_key work.out memcpys)"
	assert_equal "$(looks 'last.totals.memcpy_bytes')" "$(expect_key work.out memcpy_bytes)"
	near COPY "$(looks 'map(.copy_bytes_per_second * .s) | add')" "$(expect_key work.out memcpy_bytes)" 0.01
	near COPY/s "$(pages 6)" "$(expect_key work.out memcpy_bytes)" 0.1
	assert_equal "$(looks '[map(.copy_percent), map(.devices[0].copy_percent)] | map(max > 0) | all')" true
	# The GPU's line: copies ran on it.
	grep -qE '^  0 .* [1-9][0-9]*% +[0-9.]+[kM]? +0$' pages.out || { cat pages.out; false; }
	# On the device: what was left, and the 64 KiB of a module's variables; no pinned memory.
	looked_at memory 10 3145728
	assert_equal "$(looks 'last | [.live_bytes, .devices[0].live_bytes] | join(",")')" 3211264,3211264
	assert_equal "$(looks 'last.totals.api_errors')" "$(expect_key work.out api_errors)"
	assert_equal "$(last_page 7,9)" "3.1M $(expect_key work.out api_errors)"
	looked_at syncs 100
	near wait_percent "$(looks 'map(.wait_percent * .s * 1e7) | add')" "$(expect_key work.out waited_ns)" 0.15
	near WAIT "$(awk -v shown="$(pages 8)" 'BEGIN { print shown * 1e9 }')" "$(expect_key work.out waited_ns)" 0.2
	looked_at graphs
	assert_equal "$(looks 'last.totals.graph_launches')" "$(expect_key work.out graph_launches)"
	near graph_launches_per_second "$(looks 'map(.graph_launches_per_second * .s) | add')" "$(expect_key work.out graph_launches)" 0.02
	looked_at failures
	assert_equal "$(looks 'last.totals | [.launch_errors, .api_errors] | join(",")')" \
		"$(expect_key work.out launch_errors),$(expect_key work.out api_errors)"
	assert_equal "$(last_page 9)" "$(expect_key work.out api_errors)"
}

@test "top (g, 80 x 24) shows how many graphs are launched a second" {
	requires tmux
	start work env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/graphs" 100000000
	wait_for 20 grep -q libcuda "/proc/$work_PID/maps"
	screen 80 24 -p "$work_PID"
	shows "^ +$work_PID graphs +root "
	press g
	shows 'GRAPH/s'
	shows "^ +$work_PID graphs +root +[0-9.]+ +[1-9][0-9.]*[kM]? "
	# Who launches kernels, and no graphs, has none.
	tmux -L "$TERMINAL" kill-server
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	screen 80 24 -c crowd
	shows '^ +[0-9]+ crowd +root +[0-9.]+ +[1-9][0-9.]* '
	press g
	shows '^ +[0-9]+ crowd +root +[0-9.]+ +0 '
}

@test "top (-b) prints the same tables as text" {
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	run ct top -b -n 2 -c crowd
	assert_success
	assert_line --regexp '^cuda-trace top  [0-9:]{8}  [1-9][0-9]*\.[0-9] s  processes: [0-9]+ cupti'
	assert_line --regexp '^GPU  NAME +BUSY +COPY MEMORY +LAUNCH/s$'
	assert_line --regexp '^ +[0-9]+ crowd +root +0\.[0-9] +[1-9][0-9.k]* +0 +0 +0\.00 +0 cupti'
}

@test "top (80 x 24) shows devices, processes, and a process's kernels" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	screen 80 24 -c crowd
	shows '^ +[0-9]+ crowd +root +[0-9.]+ +[1-9][0-9.k]* '
	shows '^ q quit  Enter kernels'
	assert [ "$(LC_ALL=C.UTF-8 wc -L <screen)" -le 80 ]
	press Enter
	shows '^ *[0-9]+ crowd \(root\)  kernels since'
	shows '^ *[0-9.]+% +[0-9.]+ [mu]s +[0-9,]+ +[0-9.]+ us .* 0 kernel_5$'
	assert_equal "$(grep -c ' kernel_[1-5]$' screen)" 5
	press q
	shows '^ +[0-9]+ crowd +root'
	press q
	wait_for 5 eval '! tmux -L "$TERMINAL" has-session 2>/dev/null'
}

@test "top (keys) sorts, filters, pauses, helps" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	screen 100 30 -c crowd
	shows '^ +[0-9]+ crowd +root'
	for key in L:launches C:copy M:memory W:wait E:errors P:pid N:name G:gpu M:memory; do
		press "${key%:*}"
		shows "sort: ${key#*:}"
	done
	press '>'
	shows 'sort: wait'
	press '/'; press -l nothing; press Enter
	shows 'no CUDA process that matches the filter has been active'
	press '/'; press BSpace BSpace BSpace BSpace BSpace BSpace BSpace; press -l row; press Enter
	shows '^ +[0-9]+ crowd +root'
	press p
	shows '\[paused\]'
	press p
	shows 'sort: wait  filter: row'
	press g
	shows 'GRAPH/s'
	press '?'
	shows '^ +Enter +its kernels'
	press x
	shows '^ +[0-9]+ crowd +root'
}

@test "top (80 x 24 and 120 x 30) draws the processes, the kernels and the help as kept in tests/top/screens" {
	requires tmux python3 findmnt
	export CUDA_TRACE_AGENT=$CROWD
	contained_crowd --processes 3 --launches 12000 --rate 200 --names 5
	screen 80 24 -c crowd -s pid
	for size in 80x24 120x30; do
		tmux -L "$TERMINAL" resize-window -x "${size%x*}" -y "${size#*x}"
		shows 'processes: 3 cupti'
		looks_like "processes-$size"
		press '?'
		looks_like "help-$size"
		press x
		looks_like "processes-$size"
		press Enter
		looks_like "kernels-$size"
		press q
	done
}

@test "top --idle (80 x 24, a program that sleeps) shows the main cause as a column, and all of them on a screen (i)" {
	requires tmux python3
	screen 80 24 -c python3 -s pid --idle
	shows 'no CUDA process has been active'
	# What a GPU did before its first operation was seen is not explained.
	CUDA_INJECTION64_PATH=$AGENT start program "$SIM" python3 "$TOP/tests/workloads/idle/lasts.py" wake end
	shows ' sleep +[0-9]+%$'
	looks_like idle-80x24
	press i
	looks_like causes-80x24
	# The list of processes is as it was.
	press i
	looks_like idle-80x24
	press i
	looks_like causes-80x24
	press q
	looks_like idle-80x24
	touch wake end
	finished "$program_PID"
}

@test "top --idle --json (a sleep in each step) gives causes of the last seconds, the main one first" {
	start top "$CUDA_TRACE" top --idle --json -c sleeps -d 1s
	wait_for 20 test -s top.out
	CUDA_INJECTION64_PATH=$AGENT start program "$SIM" "$WORKLOADS/idle/sleeps" 100000
	slept() { tail -n 1 top.out | jq -e '.devices[0].idle | .observed_ns > 4e9 and .observed_ns < 7.5e9' >/dev/null 2>&1; }
	wait_for 30 slept
	# Six seconds later it is still of the last seconds only.
	count=$(wc -l <top.out)
	more() { [ "$(wc -l <top.out)" -ge $((count + 7)) ]; }
	wait_for 30 more
	kill -TERM "$top_PID"
	finished "$top_PID"
	tail -n 3 top.out | head -n 2 | jq -s 'last' >last
	json last '.devices[0].idle | .observed_ns < 7.5e9 and .idle_ns < .observed_ns and (.causes[0] | .cause == "sleep" and .share > 0.8
		and (.place | startswith("clock_nanosleep()"))) and ([.causes[].ns] | add) == .idle_ns'
	json last '.idle == {reduced: null, lost: 0, left_out: 0, late: .idle.late}'
}

# eBPF knows where the interpreter is when the agent reports itself.
@test "top --idle --json (a thread of Python holds the GIL) blames the GIL, from the first gap on" {
	requires python3
	# most CAUSE: ms in the object that has the most of it.
	most() { jq -s "[.[].devices[0].idle.causes[]? | select(.cause == \"$1\").ns] | (max // 0) / 1e6 | floor" top.out; }
	blamed() { [ "$(most gil)" -gt 80 ]; }
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" gil-holder
	start top "$CUDA_TRACE" top --idle --json -c gil-holder -d 500ms
	wait_for 20 test -s top.out
	for _ in 1 2 3 4; do
		CUDA_INJECTION64_PATH=$AGENT "$SIM" ./gil-holder "$TOP/tests/workloads/idle/gil.py" 6 >out
	done
	wait_for 20 blamed
	kill -TERM "$top_PID"
	finished "$top_PID"
	echo "gil $(most gil) ms, lock $(most lock) ms"
	[ "$(most lock)" -lt 15 ]
}

@test "top --idle (no scheduler events) says that it is reduced; without --idle there is none of it" {
	requires tmux python3
	CUDA_TRACE_SCHEDULER=off ct top --idle --once --json -d 200ms -c nothing >reduced.json
	json reduced.json '.idle.reduced | type == "string"'
	ct top --once --json -d 200ms -c nothing >without.json
	json without.json '.idle == null'
	screen 80 24 -c nothing
	shows 'no CUDA process has been active'
	press i
	shows 'top --idle shows why the GPUs were idle'
	run grep 'WHY IDLE' screen
	assert_failure
}

# first_is PID: the first line of the list.
first_is() {
	tmux -L "$TERMINAL" capture-pane -p >screen
	[ "$(awk 'seen { print $1; exit } $1 == "PID" { seen = 1 }' screen)" = "$1" ]
}

# ends_with PID: the row above the keys is its, and selected (drawn in reverse).
ends_with() {
	tmux -L "$TERMINAL" capture-pane -p -e >screen
	sed -n 23p screen | grep -qE $'\e\\[[0-9;]*7m.* *'"$1 crowd "
}

@test "top --sample (80 x 24, a list longer than the screen) shows the row that is selected" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	start crowd env CUDA_TRACE_AGENT= "$CROWD" --processes 30 --launches 60000 --rate 1000 --wait-ms 5000
	screen 80 24 -c crowd -s pid --no-colour --sample 100ms/200ms
	shows '^GPU times are taken for 100 ms in every 200 ms'
	shows 'processes: 30 cupti'
	press End
	wait_for 10 ends_with "$(pgrep -g "$crowd_PID" -x crowd | sort -n | tail -n 1)" || { cat screen; false; }
}

@test "top (80 x 24, paused, filtered, in a container) shows all of it" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	contained_crowd --processes 12 --launches 20000 --rate 500
	screen 80 24 -c crowd -s launches
	shows 'processes: 12 cupti, 0 none'
	press '/'; press -l crow; press Enter
	press p
	shows '^cuda-trace top  [0-9:]{8}  [0-9.]+ s \[paused\]  processes: 12 cupti, 0 none$'
	assert_equal "$(sed -n 2p screen)" 'sort: launches  filter: crow'
	press Enter
	shows '^[0-9]+ crowd \(root, container 0123456789ab\)  kernels since it was first seen$'
	tmux -L "$TERMINAL" kill-server
	screen 120 30 -c crowd
	shows '^ +[0-9]+ crowd +root .* cupti +0123456789ab$'
}

@test "top (sorted, reversed, moved in) keeps the order of what it shows" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	start often env CUDA_TRACE_AGENT= "$CROWD" --launches 60000 --rate 1000 --wait-ms 20000
	start seldom env CUDA_TRACE_AGENT= "$CROWD" --launches 3000 --rate 50 --wait-ms 20000
	screen 80 24 -c crowd -s launches
	wait_for 20 first_is "$often_PID"
	press r
	wait_for 20 first_is "$seldom_PID"
	press r
	wait_for 20 first_is "$often_PID"
	press j
	press Enter
	shows "^ *$seldom_PID crowd .*kernels since"
	press Escape
	wait_for 20 first_is "$often_PID"
}

@test "top (terminal grows and shrinks) follows" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	screen 120 30 -c crowd
	shows 'SRC +ORIGIN'
	tmux -L "$TERMINAL" resize-window -x 80 -y 12
	shows '^ q quit'
	shows '^ +[0-9]+ crowd +root'
	assert_equal "$(wc -l <screen)" 12
	run grep ORIGIN screen
	assert_failure
	tmux -L "$TERMINAL" resize-window -x 20 -y 4
	fits() { tmux -L "$TERMINAL" capture-pane -p >screen && [ "$(wc -l <screen)" = 4 ] && grep -q '^cuda-trace top' screen; }
	wait_for 10 fits
	tmux -L "$TERMINAL" resize-window -x 120 -y 40
	shows 'SRC +ORIGIN'
}

@test "top (w) writes the page into a file, but not over one" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	screen 100 30 -c crowd
	shows '^ +[0-9]+ crowd +root'
	press w; press -l .1; press Enter
	shows 'written'
	grep -q '^GPU  NAME' cuda-trace-top.txt.1
	press w; press -l .1; press Enter
	shows 'File exists'
}

# coloured: does what is on the screen have any colour?
coloured() {
	tmux -L "$TERMINAL" capture-pane -e -p | grep -qE $'\e\\[([0-9]+;)*(3[0-7]|4[0-7])(;[0-9]+)*m'
}

@test "top (--no-colour, NO_COLOR, a terminal without colours) draws none" {
	requires tmux
	export CUDA_TRACE_AGENT=$CROWD
	screen 80 24
	shows '^ q quit'
	wait_for 10 coloured
	tmux -L "$TERMINAL" kill-server
	for without in '--no-colour' 'NO_COLOR' 'TERM'; do
		case $without in
		--no-colour) screen 80 24 --no-colour ;;
		NO_COLOR) NO_COLOR=1 screen 80 24 ;;
		TERM) next_terminal
			tmux -L "$TERMINAL" -f /dev/null new-session -d -x 80 -y 24 \
			"env TERM=vt100 CUDA_TRACE_AGENT=$CUDA_TRACE_AGENT LC_ALL=C $CUDA_TRACE top 2>$PWD/top.err" ;;
		esac
		shows '^ q quit'
		# Titles and rows are there before it is looked for colours.
		shows '^cuda-trace top '
		run ! coloured
		press q
		wait_for 20 eval '! tmux -L "$TERMINAL" has-session 2>/dev/null'
	done
}

@test "top --once --json (one look) prints one object" {
	export CUDA_TRACE_AGENT=$CROWD
	slow_crowd
	ct top --once --json -c crowd >out.json
	assert_equal "$(wc -l <out.json)" 1
	[ "$(jq '.processes | length == 1 and (.[0].process == "crowd")' out.json)" = true ]
}

@test "top (no terminal, bad input) says so" {
	requires tmux
	run --separate-stderr ct top </dev/null
	assert_failure 1
	[[ $stderr == *"not a terminal: use -b"* ]]
	run --separate-stderr ct top -b -s nonsense
	assert_failure 2
	run --separate-stderr ct top -b -d 1ms
	assert_failure 2
	run --separate-stderr ct top -b -p 4194303
	assert_failure 1
	TERM=nonsense run --separate-stderr timeout 20 script -qec "$CUDA_TRACE top" /dev/null
	assert_failure
}

@test "top (reader that goes away) ends quietly" {
	run bash -c "timeout 20 '$CUDA_TRACE' top -b -d 200ms 2>err | head -n 1 >/dev/null; cat err"
	assert_output ""
}
