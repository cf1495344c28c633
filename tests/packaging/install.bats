#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# make as a packager uses it: the tarball, without a network and git; build folders, quietness, no needless work, install
# below DESTDIR. Builds once.

load ../lib/helpers

setup_file() {
	export TREE=$B/t/install
	rm -rf "$TREE"
	mkdir -p "$TREE/tree"
	cd "$TOP" || return 1
	# Exported: with other settings than here, the tests' own make would build everything again.
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s dist B="$TREE/b" >"$TREE/dist.log" 2>&1 || { cat "$TREE/dist.log"; return 1; }
	tar -xzf "$TREE"/b/dist/*.tar.gz --strip-components=1 -C "$TREE/tree"
	cd "$TREE/tree" || return 1
	# The makefiles are what is tested, and that clang warns of nothing; without optimisation, a build takes half as long.
	export CFLAGS=-O0 CXXFLAGS=-O0 CC=clang CXX=clang++ WERROR=1
	# Another network namespace has not even a loopback device that is up.
	local alone=()
	[ "$(id -u)" != 0 ] || alone=(unshare --net)
	GIT_DIR=/nonexistent "${alone[@]}" make -s -j2 B=build shipped workloads >"$TREE/build.log" 2>&1 ||
		{ cat "$TREE/build.log"; return 1; }
}

teardown_file() {
	rm -rf "$TREE"
}

setup() {
	cd "$TREE/tree" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

ours() {
	make --no-print-directory B=build "$@"
}

@test "make (nothing changed) builds nothing" {
	run -0 ours shipped workloads
	refute_output --regexp '^  [A-Z]+ '
	run -0 ours -q shipped workloads
}

@test "make -s prints nothing, V=1 prints commands" {
	touch build/paths
	run -0 ours -s shipped
	assert_output ""
	rm build/cuda-trace
	run -0 ours V=1 shipped
	assert_output --partial ' -o '
	refute_output --regexp '^  LD '
}

@test "make (a header changed) builds again what includes it, and only that" {
	copy=$BATS_TEST_TMPDIR/tree
	mk/export "$copy"
	cd "$copy"
	# clang takes long to begin.
	unset CC CXX
	make -s -j2 B=b agent
	touch libcupti-usdt/base/settings.h
	run -0 make B=b agent
	assert_output --partial settings.o
	assert_output --partial "LD "
	# The companion for NVTX is a goal of its own.
	rm -r libcupti-usdt/nvtx-entry/*.c
	including=$(grep -l '"libcupti-usdt/base/settings.h"' libcupti-usdt/*/*.c | wc -l)
	[ "$(grep -c '^  CC ' <<<"$output")" -ge "$including" ]
	[ "$(grep -c '^  CC ' <<<"$output")" -lt "$(ls libcupti-usdt/*/*.c | wc -l)" ]
	[ ! -e build ]
}

@test "make install DESTDIR=D prefix=P writes below D only, and what a package needs" {
	root=$BATS_TEST_TMPDIR/root
	touch "$BATS_TEST_TMPDIR/before"
	run -0 ours -s install DESTDIR="$root" prefix=/opt/ct libdir=/opt/ct/lib64 sysconfdir=/opt/ct/etc
	[ -x "$root/opt/ct/bin/cuda-trace" ]
	[ -e "$root/opt/ct/lib64/cuda-trace/libcupti-usdt.so" ]
	[ -e "$root/opt/ct/include/cuda-trace/probes.h" ]
	[ "$(ls "$root")" = opt ]
	[ "$(ls "$root/opt")" = ct ]
	# The loader reads no ld.so.conf.d outside /etc: so the whole path.
	grep -q 'CUDA_INJECTION64_PATH=/opt/ct/lib64/cuda-trace/libcupti-usdt.so' "$root/opt/ct/etc/profile.d/cuda-trace.sh"
	[ -e "$root/opt/ct/share/doc/cuda-trace/docs/guide/first-steps.md" ]
	run -0 env -u CUDA_TRACE_AGENT "$root/opt/ct/bin/cuda-trace" --version
	# Its own sources and the system's files are as they were.
	[ -z "$(find . -path ./build -prune -o -newer "$BATS_TEST_TMPDIR/before" -type f -print)" ]
}

@test "make install (twice) makes the same tree" {
	for n in 1 2; do
		ours -s install DESTDIR="$BATS_TEST_TMPDIR/$n" prefix=/usr
	done
	diff -r --no-dereference "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
}

@test "make CC=clang (the tarball, no network, no git) builds without warnings" {
	assert_equal "$(cat "$TREE/build.log")" ""
	grep -q '^clang ' build/flags
	run -0 build/cuda-trace --version
	assert_output "cuda-trace $(cat "$TOP/VERSION")"
}

@test "make (as another user, read-only sources) builds" {
	requires root setpriv
	copy=$BATS_TEST_TMPDIR/tree
	chmod 711 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
	mk/export "$copy"
	chmod -R a-w "$copy"
	mkdir -m 777 "$BATS_TEST_TMPDIR/out"
	cd "$copy"
	setpriv --reuid 65534 --regid 65534 --clear-groups env -u CC -u CXX HOME=/nonexistent make -s -j2 B="$BATS_TEST_TMPDIR/out/b" agent
	[ -e "$BATS_TEST_TMPDIR/out/b/libcupti-usdt.so" ]
}

@test "make help names every goal that the makefiles declare" {
	run -0 ours help
	for goal in all check check-packages check-sanitize demo bench install deb rpm deps format clean; do
		assert_output --regexp "\\b$goal\\b"
	done
}

@test "mk/deps (--missing) names what is not installed, without root or network" {
	printf '%s\n' 'no-such-package-xyz build nothing # for the test' >"$BATS_TEST_TMPDIR/deps.list"
	cp mk/deps "$BATS_TEST_TMPDIR/"
	requires dpkg-query
	run -0 "$BATS_TEST_TMPDIR/deps" --missing build
	assert_output no-such-package-xyz
	run -0 "$BATS_TEST_TMPDIR/deps" --missing test
	assert_output ""
	if [ "$(id -u)" = 0 ]; then
		chmod 711 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
		run -1 setpriv --reuid 65534 --regid 65534 --clear-groups "$BATS_TEST_TMPDIR/deps" build
		assert_output --partial "apt-get install -y --no-install-recommends no-such-package-xyz"
	fi
}

@test "mk/deps.list (each kind) is sorted and commented" {
	for kind in build test deb rpm package kernels; do
		awk -v k=$kind '$1 !~ /^#/ && $2 == k' mk/deps.list >"$BATS_TEST_TMPDIR/$kind"
		awk '{ print $1 }' "$BATS_TEST_TMPDIR/$kind" | LC_ALL=C sort -c
		[ "$(grep -vc '#' "$BATS_TEST_TMPDIR/$kind")" = 0 ]
	done
}
