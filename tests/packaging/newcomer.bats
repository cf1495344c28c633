#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The first hour of somebody new, in bare roots of Debian 12: packages are built in one that has git and make,
# and installed in another; then everything is typed that README.md and docs/guide/first-steps.md say, as it
# is written there. `make check-packages` runs this file.

load ../lib/helpers
load ../lib/roots
load debs

NEW=$B/t/newcomer

# README's commands: the packages are built in a root of their own, so that what that installs cannot help.
setup_file() {
	[ -z "${KEEP-}" ] || [ ! -e "$NEW/root/root/look" ] || return 0
	[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || return 0
	cd "$TOP" || return 1
	rm -rf --one-file-system "$NEW"
	mkdir -p "$NEW"
	built_debs || return 1
	bare "$NEW/root"
	mkdir -p "$NEW/root/root/cuda-trace/build/deb" "$NEW/root/opt/sim"
	cp "$DEBS"/*.* "$NEW/root/root/cuda-trace/build/deb/"
	# A driver, and the user's program.
	cp -a "$B/simcuda/." "$NEW/root/opt/sim"
	cp "$WORKLOADS/idle/each-sync" "$NEW/root/root/train"
	cp "$WORKLOADS/launch-storm" "$NEW/root/root/serve"
	sh_block README.md 'Install it' | sed 1d >"$NEW/root/root/install"
	sh_block README.md 'cuda-trace' >"$NEW/root/root/first"
	sh_block docs/guide/first-steps.md '4. Programs' >"$NEW/root/root/opt-in"
	sh_block docs/guide/first-steps.md '4. Programs' 2 >"$NEW/root/root/look"
}

setup() {
	requires root bpf debootstrap
}

teardown_file() {
	[ -n "${KEEP-}" ] || rm -rf --one-file-system "$NEW"
}

newcomer() {
	in_root "$NEW/root" "cd; $1"
}

@test "README.md (Install it, in a bare root) installs, and doctor finds nothing wrong but the missing driver and GPU" {
	run -0 newcomer 'cd cuda-trace
		. /root/install >/root/install.out 2>/root/install.err || [ $? = 1 ]
		grep -v "apt does not have a stable CLI interface\|^debconf: delaying package" /root/install.err | grep . >&2 || true
		sed -n "/^cuda-trace doctor:/,\$p" /root/install.out'
	assert_line --index 0 --regexp '^cuda-trace doctor: [0-9]+ problems?, [0-9]+ notes?$'
	for line in "${lines[@]:1}"; do
		case $line in
		"ok       "* | "note     "*) ;;
		"problem  no NVIDIA driver: "* | "problem  no NVIDIA GPU "* | "problem  no usable libcupti "*) ;;
		*) fail "unexpected: $line" ;;
		esac
	done
	assert_line --partial 'live test: a probe fired in another process and arrived here'
}

@test "README.md (its first command, a program on a driver) prints the answer in seconds and warns of nothing" {
	run -0 newcomer 'export LD_LIBRARY_PATH=/opt/sim
		python3() { /root/train; }
		command=$(head -n 1 first | sed "s/python3 train.py/.\/train/")
		[[ $command == "cuda-trace stat -- ./train "* ]]
		SECONDS=0
		eval "$command" 2>&1 >/dev/null
		[ $SECONDS -le 10 ] || echo "it took $SECONDS s"'
	refute_line --regexp '^(cuda-trace:|it took)'
	assert_line --regexp '^ 100\.0% .* 500 .* spin$'
	assert_line --partial 'Waiting for nothing: the GPU was idle'
	assert_line 'nothing was lost'
	# Stacks, which read the debug information that build/deb/*.deb has brought along.
	run -0 newcomer 'export LD_LIBRARY_PATH=/opt/sim
		cuda-trace record -g -- ./train 2>&1 >/dev/null && cuda-trace report --html page.html && test -s page.html
		cuda-trace report --folded -'
	refute_line --partial 'cuda-trace:'
	assert_line --regexp '^train;_start;.*;main;.*;cuLaunchKernel;.*;spin [0-9]+$'
}

@test "first-steps (commands as written, in a bare root) print what the installed page says" {
	mkdir -p "$NEW/root/root/t/tests/guide" "$NEW/root/root/w"
	cp "$TOP/tests/guide/pages.py" "$NEW/root/root/t/tests/guide/"
	cp -a "$WORKLOADS/idle" "$NEW/root/root/w/"
	# Python only now: the tool needs none.
	newcomer '! command -v python3
		apt-get -qq install --no-install-recommends python3 >/dev/null 2>&1
		ln -sfn /opt/sim simcuda
		export B=/root WORKLOADS=/root/w CUDA_TRACE_UNDER_TEST=/usr/bin/cuda-trace LC_ALL=C.UTF-8
		python3 t/tests/guide/pages.py check /usr/share/doc/cuda-trace/docs/guide/first-steps.md'
}

@test "first-steps (opting in, as written) shows a program that somebody else starts, with GPU times" {
	newcomer 'cat opt-in look >both && sed -i "s/^\.\/train .*/.\/serve --seconds 20 --pause 200 >\/dev\/null \& sleep 1/" both && grep -q serve both
		set +u
		LD_LIBRARY_PATH=/opt/sim
		export LD_LIBRARY_PATH
		. ./both >out 2>&1
		kill $!
		grep -q "^Programs started from here load the library\.$" out || { cat out; exit 1; }
		grep "serve .* dormant .*cupti" out
		grep "serve .* [mu]s cupti  active$" out || { cat out; exit 1; }'
	# A new login needs no more than that.
	newcomer 'bash -lc "cuda-trace status | tail -n 1" | grep "^Programs started from here load the library\.$"
		cuda-trace disable | grep "unset CUDA_INJECTION64_PATH"
		bash -lc env | grep CUDA_ && exit 1 || true'
}

@test "cuda-trace help TOPIC (each), --help of each command and each manual page that they name are there" {
	newcomer 'topics=$(cuda-trace help --complete)
		test "$(wc -w <<<"$topics")" -ge 15
		for topic in $topics; do
			text=$(cuda-trace help $topic </dev/null)
			case $text in "# "* | "Usage: cuda-trace $topic "*) ;; *) echo "help $topic"; exit 1 ;; esac
		done
		apt-get -qq install --no-install-recommends man-db >/dev/null 2>&1
		commands=$(cuda-trace --help | sed -n "/^Commands:/,/^$/s/^  \([a-z]*\)  *.*/\1/p")
		test "$(wc -w <<<"$commands")" -ge 12
		for command in "" $commands; do
			page=$(cuda-trace $command --help | sed -n "s/^Manual page: \(.*\)(1)$/\1/p")
			text=$(man $page 2>&1)
			case $text in *"EXAMPLES"*"SEE ALSO"*) ;; *) echo "man $page"; exit 1 ;; esac
		done
		man libcupti-usdt >/dev/null'
}
