#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Files that hostile users map: the tool stays small, ends in time, sees the others, and says what it leaves out.

load ../lib/helpers
load ../lib/cost

NOBODY='setpriv --reuid=65534 --regid=65534 --clear-groups'

setup() {
	requires root bpf setpriv python3
	cd "$BATS_TEST_TMPDIR" || return 1
	chmod 777 . && chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	mapper=$BATS_FILE_TMPDIR/mapper
	[ -x "$mapper" ] || ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o "$mapper" "$TOP/tests/foreign/mapper.c"
	mkdir theirs && chmod 777 theirs
}

# mapped NAME COMMAND...: a user's process that maps something, and has done so.
mapped() {
	# shellcheck disable=SC2086 # words
	start "$1" $NOBODY "${@:2}"
	wait_for 30 grep -qx mapped "$1.out"
}

hostile() { # NAME, then arguments of sparse_elf.py
	python3 "$TOP/tests/foreign/sparse_elf.py" "theirs/$1" "${@:2}"
	chown -R nobody theirs
}

@test "stat -a (a library with 3 GB of notes) stays small, ends in time, and says so" {
	without "$CUDA_TRACE" stat -a -d 1 --json
	hostile libcupti-usdt.so section 7 .note.stapsdt 3e9
	mapped bad "$mapper" theirs/libcupti-usdt.so
	attacked "$CUDA_TRACE" stat -a -d 1 --json
	grep 'libcupti-usdt.so is not examined: its tables are larger than 64 MiB' err
	json out '.lost.files_left_out == 1 and (.left_out | any(.kind == "files" and .user == 65534))'
}

@test "stat -a (files with 10 million section headers) stays small and ends in time" {
	without "$CUDA_TRACE" stat -a -d 1 --json
	for name in libcupti-usdt.so libcuda.so.1; do
		hostile $name headers 10e6
		mapped bad "$mapper" theirs/$name
		attacked "$CUDA_TRACE" stat -a -d 1 --json
		stop_started
	done
	grep 'libcuda.so.1 is not examined: its tables are larger than 64 MiB' err
}

@test "stat -a (a libcuda with 100 GB of symbols) stays small and ends in time" {
	without "$CUDA_TRACE" stat -a -d 1 --json
	hostile libcuda.so.1 section 11 .dynsym 100e9
	mapped bad "$mapper" theirs/libcuda.so.1
	attacked "$CUDA_TRACE" stat -a -d 1 --json
	json out '.lost.drivers_left_out == 1'
}

@test "stat -a (files below and above the limit that are cut all the time) lives on" {
	without "$CUDA_TRACE" stat -a -d 3 --json
	hostile libcuda.so.1 section 11 .dynsym 12e9
	mapped bad "$mapper" theirs/libcuda.so.1
	# shellcheck disable=SC2016 # expanded inside
	start cutter bash -c 'while :; do sleep 0.5; truncate -s 16384 theirs/libcuda.so.1; truncate -s 12G theirs/libcuda.so.1; done'
	attacked "$CUDA_TRACE" stat -a -d 3 --json
}

@test "metrics (a libcuda with 100 GB of symbols) answers, and ends at SIGTERM" {
	requires curl
	hostile libcuda.so.1 section 11 .dynsym 100e9
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:19461
	wait_for 20 curl -sf -o scrape http://127.0.0.1:19461/metrics
	local before
	before=$(peak "$metrics_PID")
	without curl -sf -o scrape http://127.0.0.1:19461/metrics
	mapped bad "$mapper" theirs/libcuda.so.1
	wait_for 10 grep -q 'libcuda.so.1 is not examined' metrics.err
	for _ in 1 2 3 4; do
		attacked curl -sf -o scrape http://127.0.0.1:19461/metrics
		sleep 0.3
	done
	grep '^cuda_trace_left_out_total{kind="drivers",user="65534"} 1' scrape
	attacked_server "$metrics_PID" "$before"
	kill -TERM "$metrics_PID"
	finished "$metrics_PID" 3
	[ "$status" = 0 ]
}

@test "record -g (a program with 3 GB of symbols) stays small and ends in time" {
	requires sim
	without "$CUDA_TRACE" record -f -g -o good.sqlite -- "$SIM" "$WORKLOADS/stacks"
	python3 "$TOP/tests/foreign/sparse_elf.py" theirs/stacks symtab 3e9 "$WORKLOADS/stacks"
	attacked "$CUDA_TRACE" record -f -g -o bad.sqlite -- "$SIM" theirs/stacks
	grep 'stacks is not examined: its tables are larger than 64 MiB' err
}

@test "stat -a (520 files with the library's name) sees another user's process, and counts them" {
	requires sim
	mkdir container && cp "$AGENT" container/libcupti-usdt.so
	start storm env CUDA_INJECTION64_PATH="$PWD/container/libcupti-usdt.so" "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	without "$CUDA_TRACE" stat -a -d 3 --json -o out.json
	mapped bad "$mapper" -n theirs 520 libcupti-usdt.so
	attacked "$CUDA_TRACE" stat -a -d 3 --json -o out.json
	json out.json '.lost.files_left_out == 520 and ([.left_out[] | select(.user == 65534 and .kind == "files") | .count] | add) == 520'
	json out.json '.totals.launches > 0'
}

@test "stat -a (600 working copies of the library of one user) sees another user's process, and counts the rest" {
	requires sim
	mkdir container && cp "$AGENT" container/libcupti-usdt.so
	start storm env CUDA_INJECTION64_PATH="$PWD/container/libcupti-usdt.so" "$SIM" "$WORKLOADS/launch-storm" -s 90 -p 1000
	ready storm
	without "$CUDA_TRACE" stat -a -d 1 --json -o out.json
	mapped bad "$mapper" -n theirs 600 libcupti-usdt.so "$AGENT"
	# 512 files are attached to when it ends, by 2048 links, after 11 to 14 s.
	without_ms=$((without_ms + 14000))
	attacked "$CUDA_TRACE" stat -a -d 15 --json -o out.json
	json out.json '.totals.launches > 0'
	# Those that were not looked into in time, and what is beyond the limit.
	json out.json '[.left_out[] | select(.user == 65534 and .kind == "files") | .count] | add >= 88'
}

@test "stat -a (40 containers, each with filters and its own copy of the library) reads each process a few times, not 40" {
	requires sim python3 strace
	local i threads reads
	cat >filtered.py <<-'EOF'
		# usage: filtered.py PROGRAM...: runs it under a seccomp filter that allows everything, as root.
		import ctypes, os, struct, sys
		allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
		program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
		libc = ctypes.CDLL(None, use_errno=True)
		assert not libc.prctl(22, 2, program, 0, 0), os.strerror(ctypes.get_errno())
		os.execvp(sys.argv[1], sys.argv[1:])
	EOF
	for i in $(seq 40); do
		mkdir -p "c/$i" && cp "$AGENT" "c/$i/libcupti-usdt.so"
		start "c$i" env CUDA_INJECTION64_PATH="$PWD/c/$i/libcupti-usdt.so" \
			python3 filtered.py "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 250000
	done
	for i in $(seq 40); do
		ready "c$i"
	done
	threads=$(grep -l 'Seccomp_filters:.*[1-9]' /proc/[0-9]*/task/*/status | wc -l)
	timeout 60 strace -f -qq -e trace=openat -o calls "$CUDA_TRACE" stat -a -d 2 --json -o out.json
	json out.json '.processes | length == 40'
	reads=$(grep -c '/proc/[0-9]*/task/[0-9]*/status"' calls)
	[ "$threads" -ge 40 ]
	[ "$reads" -lt $((threads * 20)) ] || fail "$reads reads of $threads threads"
}

@test "stat -a (a program that is stopped meanwhile) does not wait for its answer" {
	requires sim
	CUDA_INJECTION64_PATH=$AGENT start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	# shellcheck disable=SC2016 # expanded inside
	local stopping='kill -CONT "$1"; (sleep 1.5; [ -n "$2" ] || kill -STOP "$1") & exec "$0" stat -a -d 2 --json -o out.json'
	# shellcheck disable=SC2154 # made by start
	without bash -c "$stopping" "$CUDA_TRACE" "$storm_PID" no
	attacked bash -c "$stopping" "$CUDA_TRACE" "$storm_PID" ''
	json out.json '.totals.launches > 0'
	kill -CONT "$storm_PID"
}

@test "stat -a (70 libcudas of one user) sees another user's process, and counts those that are left out" {
	requires sim
	start storm env CUDA_TRACE=off "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	without "$CUDA_TRACE" stat -a -d 6 --json -o out.json
	# shellcheck disable=SC2016,SC2086 # expanded inside; words
	start crowd $NOBODY bash -c 'for i in $(seq 70); do mkdir theirs/$i; "$0" -n theirs/$i 1 libcuda.so.1 "$1" & done; wait' "$mapper" \
		"$B/simcuda/libcuda.so.1"
	wait_for 30 bash -c '[ "$(grep -c mapped crowd.out)" = 70 ]'
	# 64 of them are read and probed, as they may be: 0.4 s, and three times as much where other tests have the CPUs.
	MORE_MS=3000 attacked "$CUDA_TRACE" stat -a -d 6 --json -o out.json
	json out.json '.processes | any(.process == "launch-storm" and .source == "driver" and .launches > 0)'
	json out.json '.lost.drivers_left_out == 6 and (.left_out | any(.user == 65534 and .kind == "drivers" and .count == 6))'
}

@test "metrics (300 processes of one user without the library) sees one more, of another user" {
	requires sim curl
	cp "$B/simcuda/libcuda.so.1" theirs
	start alone "$CUDA_TRACE" metrics --listen 127.0.0.1:19466
	wait_for 20 curl -sf -o scrape http://127.0.0.1:19466/metrics
	without curl -sf -o scrape http://127.0.0.1:19466/metrics
	local before
	before=$(peak "$alone_PID")
	kill "$alone_PID"
	# shellcheck disable=SC2016,SC2086 # expanded inside; words
	start crowd $NOBODY bash -c 'for i in $(seq 300); do "$0" theirs/libcuda.so.1 & done; wait' "$mapper"
	wait_for 30 bash -c '[ "$(grep -c mapped crowd.out)" = 300 ]'
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:19462
	wait_for 40 curl -sf -o scrape http://127.0.0.1:19462/metrics
	start storm env CUDA_TRACE=off "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 1000
	ready storm
	seen() {
		curl -sf -o scrape http://127.0.0.1:19462/metrics
		grep -q '^cuda_kernel_launches_total{.*launch-storm.*source="driver"' scrape
	}
	wait_for 20 seen
	attacked curl -sf -o scrape http://127.0.0.1:19462/metrics
	attacked_server "$metrics_PID" "$before"
}

@test "metrics (a file system with the library, whose last process ends) does not keep it busy" {
	requires sim curl
	mkdir mount && mount -t tmpfs none mount && cp "$AGENT" mount/libcupti-usdt.so
	cp "$B/simcuda/libcuda.so.1" mount
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:19463 -v
	wait_for 20 curl -sf -o scrape http://127.0.0.1:19463/metrics
	files() { find /proc/"$metrics_PID"/fd | wc -l; }
	# The links of the loader and of this libcuda stay until the session ends.
	CUDA_INJECTION64_PATH=$CUDA_TRACE_AGENT sim "$WORKLOADS/launch-storm" -n 1000 -p 1000 >/dev/null
	before=$(files)
	local mib
	mib=$(peak "$metrics_PID")
	without curl -sf -o scrape http://127.0.0.1:19463/metrics
	start storm env CUDA_INJECTION64_PATH="$PWD/mount/libcupti-usdt.so" "$SIM" "$WORKLOADS/launch-storm" -s 15 -p 1000
	start driver "$mapper" mount/libcuda.so.1
	seen() {
		curl -sf -o scrape http://127.0.0.1:19463/metrics
		grep -q '^cuda_kernel_launches_total{comm="launch-storm",device=.* [1-9]' scrape
	}
	wait_for 20 seen
	finished "$storm_PID"
	kill "$driver_PID"
	released() { umount mount 2>umount.err; }
	wait_for 20 released
	attacked curl -sf -o scrape http://127.0.0.1:19463/metrics
	attacked_server "$metrics_PID" "$mib"
	wait_for 10 bash -c "[ \"\$(find /proc/$metrics_PID/fd | wc -l)\" -le $before ]"
}

teardown() {
	stop_started
	umount -l "$BATS_TEST_TMPDIR/mount" 2>/dev/null || true
}

@test "stat -a (a mapped libcuda whose name became a link out of the container) opens nothing of ours" {
	requires strace unshare
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -o covered "$TOP/tests/foreign/covered.c"
	cp "$B/simcuda/libcuda.so.1" "$BATS_TEST_TMPDIR/secret.so" && chmod 600 secret.so
	mkdir theirs/folder
	without "$CUDA_TRACE" stat -a -d 2
	mapped bad unshare -Urm ./covered "$PWD/theirs/folder" "$B/simcuda/libcuda.so.1" "$PWD/secret.so"
	attacked "$CUDA_TRACE" stat -a -d 2
	LIMIT=60 timeout 60 strace -f -y -e trace=open,openat,openat2,bpf -o calls "$CUDA_TRACE" stat -a -d 2 >out 2>err
	[ "$(wc -l <calls)" -gt 20 ]
	run -1 grep secret.so calls
}

@test "metrics (once it is attached) keeps no capability that it does not need" {
	requires curl capsh
	start metrics "$CUDA_TRACE" metrics --listen 127.0.0.1:19464
	wait_for 20 curl -sf -o scrape http://127.0.0.1:19464/metrics
	for set in CapEff CapPrm; do
		run -0 capsh --decode="$(sed -n "s/^$set:[[:space:]]*//p" "/proc/$metrics_PID/status")"
		assert_output --partial cap_bpf
		refute_output --regexp 'cap_(net_admin|net_raw|sys_module|sys_rawio|sys_boot|mknod|chown|setpcap|setfcap|sys_chroot|mac_admin)'
	done
	# It still finds what starts later.
	requires sim
	start storm env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	seen() {
		curl -sf -o scrape http://127.0.0.1:19464/metrics
		grep -q '^cuda_kernel_launches_total{comm="launch-storm",device=.* [1-9]' scrape
	}
	wait_for 20 seen
}

@test "parsers (a child of the tool) have no privileges, and a faulty one is counted" {
	requires strace
	hostile libcuda.so.1 section 11 .dynsym 40e6
	mapped bad "$mapper" theirs/libcuda.so.1
	timeout 60 strace -f -qq -e trace=setresuid,capset,prctl,seccomp,mmap -o calls "$CUDA_TRACE" stat -a -d 1 >out 2>err
	child=$(sed -n 's/^\([0-9]*\) .*PR_SET_SECCOMP.*= 0$/\1/p' calls | head -n 1)
	[ -n "$child" ]
	grep -q "^$child .*setresuid(65534, 65534, 65534) *= 0" calls
	grep -q "^$child .*capset(.*permitted=0.* = 0" calls
	# Nothing after the filter maps a file.
	run -0 sed -n "/^$child .*PR_SET_SECCOMP/,\$ { /^$child .*mmap(.*, [0-9]*, 0)/p }" calls
	assert_output ""
}

@test "reading a foreign file (no processor, a read that blocks) takes bounded time, and load does not end it" {
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/foreign/unit_allowance.c" \
		$(tool_sources foreign_allowance process_stat clock)
	run -0 ./unit
}

# mute NAME ['' USER]: a process that has mapped a file of that name, of a file system that does not answer. The tool does
# not see its mount; or it does, and it is that user's. The folder is $PWD/mute.
mute() {
	[ -e /dev/fuse ] || skip "there is no FUSE here"
	[ -x server ] || ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o server "$TOP/tests/foreign/mute_server.c"
	mkdir -p mute
	# shellcheck disable=SC2086 # words
	start server ${2-unshare --mount} ./server mute "$1" "${3-0}"
	wait_for 30 grep -qx mapped server.out
}

@test "stat -a (a libcuda, a library on a file system that does not answer) ends in time, and says what is left out" {
	local name began
	for name in libcuda.so.1 libcupti-usdt.so; do
		mute $name
		began=$(date +%s%N)
		# Had it made a request, SIGTERM would not end it.
		timeout -s KILL 30 "$CUDA_TRACE" stat -a -d 1 --json >out 2>err
		[ $((($(date +%s%N) - began) / 1000000)) -lt 4000 ]
		grep -q 'left out: a .* of user 0 .*its file system may be one that a user serves (FUSE)' err
		json out '.left_out | length == 1 and .[0].user == 0'
		stop_started
	done
}

@test "stat -a (a libcuda of a user's file system that does not answer, named like root's) ends in time" {
	mute libcuda.so.1 '' 65534
	timeout -s KILL 20 "$CUDA_TRACE" stat -a -d 1 --json >out 2>err
	stop_started
	umount -l mute
	grep -q 'left out: a libcuda of user 0 .*its file system may be one that a user serves (FUSE)' err
}

@test "metrics (a libcuda on a file system that does not answer) sees other programs, answers, and ends" {
	requires sim curl
	mute libcuda.so.1
	start metrics timeout -s KILL 60 "$CUDA_TRACE" metrics --listen 127.0.0.1:19466
	wait_for 20 curl -sf -m 2 -o scrape http://127.0.0.1:19466/metrics
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "$WORKLOADS/launch-storm" --launches 100 >out
	seen() {
		curl -sf -m 2 -o scrape http://127.0.0.1:19466/metrics
		grep -q '^cuda_kernel_launches_total{.*launch-storm.*} 100$' scrape
	}
	wait_for 20 seen
	grep -q '^cuda_trace_left_out_total{kind="drivers",user="0"} 1$' scrape
	pkill -TERM -P "$metrics_PID"
	finished "$metrics_PID" 10
	[ "$status" != 137 ]
}

@test "paths (a folder that does not answer) are waited for, but not for long, nor often" {
	mute other
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/foreign/unit_lookup.c" \
		$(tool_sources foreign_file foreign_lookup foreign_child foreign_mount rooted_path text)
	run -0 timeout -s KILL 20 ./unit "$server_PID" "$PWD/mute"
	assert_output 'late late late late busy busy busy busy in time'
}

@test "paths (absolute links, FIFOs, devices in a process's root) stay inside and open regular files only" {
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I"$TOP" -o unit "$TOP/tests/foreign/unit_paths.c" \
		$(tool_sources foreign_file foreign_lookup foreign_child foreign_mount rooted_path text)
	run -0 ./unit "$PWD/theirs"
	assert_output 'all as expected'
}
