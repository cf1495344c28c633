#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The packages: built in clean roots of Debian 12 and 13, checked, installed, upgraded, downgraded, removed and
# purged, the RPMs in a root of rpm's own, all of it cross-built for arm64. `make check-packages` runs this file.

load ../lib/helpers
load ../lib/roots
load debs

OLD=0.0.9
NEW=$(cat "$TOP/VERSION")
PACKAGES=$B/t/packages

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	# KEEP=1 leaves packages and last root for a look, and takes those that an earlier run left.
	[ -z "${KEEP-}" ] || [ ! -e "$PACKAGES/rpm-old" ] || return 0
	rm -rf "$PACKAGES"
	mkdir -p "$PACKAGES"
	cd "$TOP" || return 1
	# Both at once: what compilers leave of two processors, compression and debhelper use.
	mk/rpm "$PACKAGES/rpm" "$NEW" 3>&- &
	local rpm=$!
	built_debs || { wait $rpm; return 1; }
	ln -s "$DEBS" "$PACKAGES/new"
	wait $rpm || return 1
	tests/packaging/older debs "$PACKAGES/new" "$PACKAGES/old" "$NEW" "$OLD" &&
		tests/packaging/older rpms "$PACKAGES/rpm" "$PACKAGES/rpm-old" "$NEW" "$OLD"
}

setup() {
	requires root debootstrap dpkg-buildpackage rpmbuild
}

teardown_file() {
	[ -n "${KEEP-}" ] || rm -rf --one-file-system "$PACKAGES"/root*
}

# Lays a root with both generations of packages and a CUDA program on the simulated driver, none of them installed.
root_with_packages() {
	root=$PACKAGES/root-$1
	if [ -d "$root" ]; then
		in_root "$root" 'dpkg -P cuda-trace libcupti-usdt-dev libcupti-usdt >/dev/null 2>&1'
		return
	fi
	new_root "$1" "$root"
	mkdir -p "$root/deb/new" "$root/deb/old" "$root/opt/sim"
	cp "$PACKAGES"/new/*.deb "$root/deb/new"
	cp "$PACKAGES"/old/*.deb "$root/deb/old"
	cp -a "$B/simcuda/." "$B/workloads" "$root/opt/sim"
	cat >"$root/deb/functions" <<-'END'
		# have GENERATION: these packages, their dependencies from the mirror.
		have() {
			apt-get -qq install -y --no-install-recommends --allow-downgrades \
				/deb/$1/libcupti-usdt_*_amd64.deb /deb/$1/cuda-trace_*_amd64.deb >/dev/null
		}
		# "! command" does not end a script under set -e.
		not() { if "$@"; then echo "unexpected: $*"; return 1; fi; }
		# Right after each step, without an ldconfig of ours.
		cached() { ldconfig -p | grep -q 'libcupti-usdt\.so .*/usr/lib/[^/]*/cuda-trace/'; }
		version() { cuda-trace --version; }
		left() { find / -xdev \( -name '*cuda-trace*' -o -name '*cupti-usdt*' \) \
			-not -path '/deb/*' -not -path '/opt/sim/*' -not -path '/var/cache/*' | sort; }
	END
}

# store_of SUITE: it has a store of downloaded packages of its own, since apt locks it.
store_of() {
	ARCHIVES=$ROOTS/archives-$1
	mkdir -p "$ARCHIVES/partial"
}

# each_suite COMMAND: in a root of each, at the same time.
each_suite() {
	local suite failed=0
	local -A pids
	for suite in bookworm trixie; do
		(
			[ $suite = bookworm ] || store_of $suite
			root_with_packages $suite && "$@"
		) >"$BATS_TEST_TMPDIR/$suite.log" 2>&1 3>&- &
		pids[$suite]=$!
	done
	for suite in bookworm trixie; do
		wait "${pids[$suite]}" || failed=1
		echo "# $suite"
		cat "$BATS_TEST_TMPDIR/$suite.log"
	done
	return $failed
}

# consumer: lintian | itself | nothing to complain of
@test "debs (built on Debian 12) satisfy lintian at -EI --pedantic" {
	requires lintian
	# The version of the policy is one that only Debian 13's lintian knows.
	run -0 lintian -EI --pedantic --allow-root --suppress-tags newer-standards-version "$PACKAGES"/new/*.changes
	assert_output ""
	# One override, with its reason.
	assert_equal "$(cat "$TOP"/debian/*overrides "$TOP"/debian/source/*overrides 2>/dev/null | grep -vc '^#')" 1
	grep -q '^# ' "$TOP"/debian/libcupti-usdt.lintian-overrides
}

@test "debs (contents) are what the documentation says, and split as it says" {
	local triplet
	triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
	contents() {
		dpkg-deb --fsys-tarfile "$PACKAGES/new/$1"_*.deb | tar -t | sed 's,^\.,,' >"$BATS_TEST_TMPDIR/$1"
	}
	has() {
		grep -qxF -- "$2" "$BATS_TEST_TMPDIR/$1" || fail "$1 lacks $2"
	}
	contents libcupti-usdt
	has libcupti-usdt "/usr/lib/$triplet/cuda-trace/libcupti-usdt.so"
	has libcupti-usdt "/etc/ld.so.conf.d/cuda-trace-$triplet.conf"
	run -0 dpkg-deb -f "$PACKAGES"/new/libcupti-usdt_*.deb Multi-Arch
	assert_output same
	contents libcupti-usdt-dev
	has libcupti-usdt-dev /usr/include/cuda-trace/probes.h
	contents cuda-trace
	for file in /usr/bin/cuda-trace /usr/share/man/man1/cuda-trace.1.gz /usr/share/man/man1/cuda-trace-doctor.1.gz \
		/usr/share/bash-completion/completions/cuda-trace /usr/share/zsh/vendor-completions/_cuda-trace \
		/usr/share/fish/vendor_completions.d/cuda-trace.fish /etc/profile.d/cuda-trace.sh \
		/etc/csh/login.d/cuda-trace.csh /etc/default/cuda-trace /lib/systemd/system/cuda-trace-metrics.service \
		/usr/share/cuda-trace/metrics-sys-admin.conf /usr/share/cuda-trace/metrics-counters.conf \
		/usr/share/cuda-trace/metrics-attach.conf; do
		has cuda-trace "$file"
	done
}

@test "debs (built twice, another folder, umask, locale and time zone) are byte-identical" {
	cd "$PACKAGES/new"
	[ "$(ls ./*.deb | wc -l)" -ge 3 ]
	for deb in *.deb *.dsc *.tar.*; do
		cmp "$deb" "again/$deb"
	done
}

@test "debs (control) depend on nothing of NVIDIA's, Build-Depends name all of mk/deps.list" {
	for deb in "$PACKAGES"/new/*.deb; do
		run -0 dpkg-deb -f "$deb" Depends
		refute_output --regexp 'nvidia|cuda[0-9]|libcupti[0-9]|libcupti-dev'
	done
	run -0 dpkg-deb -f "$PACKAGES"/new/libcupti-usdt_*.deb Suggests
	assert_output --partial libcupti
	for package in $(awk '$2 == "build" && $1 !~ /^(gcc|g\+\+|libc6-dev|linux-libc-dev)$/ { print $1 }' "$TOP/mk/deps.list"); do
		grep -qE "^ ${package//+/\\+}(:native)?[ ,]" "$TOP/debian/control" || fail "Build-Depends lacks $package"
	done
	for package in $(awk '$2 == "build" && $3 != "-" { print $3 }' "$TOP/mk/deps.list"); do
		sed -n 's/^BuildRequires: *//p' "$TOP/rpm/cuda-trace.spec" | cut -d' ' -f1 | grep -qxF -- "$package" || fail "spec lacks $package"
	done
}

life_of_debs() {
	in_root "$root" '
		. /deb/functions
		have old && cached && version | grep -q "$1"
		test ! -e /etc/cuda-trace
		echo "# mine" >>/etc/default/cuda-trace
		have new && cached && version | grep -q "$2"
		tail -n 1 /etc/default/cuda-trace | grep -q mine
		have old && cached && version | grep -q "$1"
		have new && cached
		apt-get -qq remove -y cuda-trace libcupti-usdt >/dev/null
		not cached
		test -e /etc/ld.so.conf.d/cuda-trace-x86_64-linux-gnu.conf
		test -e /etc/profile.d/cuda-trace.sh && sh -euc ". /etc/profile.d/cuda-trace.sh"
		test ! -e /usr/lib/x86_64-linux-gnu/cuda-trace
		have new && cached
		apt-get -qq purge -y cuda-trace libcupti-usdt >/dev/null
		not cached
		test -z "$(left)" || { left; exit 1; }
		have new && cached && version | grep -q "$2"
		apt-get -qq install -y /deb/new/libcupti-usdt-dev_*.deb >/dev/null
		test -r /usr/include/cuda-trace/probes.h
	' "$OLD" "$NEW"
}

@test "debs (Debian 12 and 13) install, upgrade, downgrade, remove, purge and leave nothing behind" {
	each_suite life_of_debs
}

# The program runs on the simulated driver, opted in by the real profile script, while its library
# is replaced and then removed under it.
program_survives() {
	in_root "$root" '
		. /deb/functions
		have old
		cuda-trace enable --system >/dev/null
		. /etc/profile.d/cuda-trace.sh
		test "$CUDA_INJECTION64_PATH" = libcupti-usdt.so
		export LD_LIBRARY_PATH=/opt/sim
		/opt/sim/workloads/launch-storm --seconds "$1" --pause 200 >/tmp/out 2>/tmp/err &
		program=$!
		unset LD_LIBRARY_PATH CUDA_INJECTION64_PATH
		for i in $(seq 50); do
			grep -q "libcupti-usdt.so$" /proc/$program/maps && break
			sleep 0.1
		done
		grep -q "libcupti-usdt.so$" /proc/$program/maps
		dpkg -i /deb/new/libcupti-usdt_*_amd64.deb /deb/new/cuda-trace_*_amd64.deb >/dev/null
		grep -q "libcupti-usdt.so.*(deleted)" /proc/$program/maps
		dpkg -P cuda-trace libcupti-usdt >/dev/null
		test -z "$(left)" || { left; exit 1; }
		kill -0 $program
		wait $program || { echo "status $?"; cat /tmp/out /tmp/err; exit 1; }
		test ! -s /tmp/err
		tail -n 1 /tmp/out | grep "^expect launches="
	' 20
}

@test "debs (upgraded and purged under a running CUDA program) leave it undisturbed" {
	each_suite program_survives
}

@test "debs (built on Debian 13) satisfy its lintian, and the project's own tests run against them (autopkgtest)" {
	root=$PACKAGES/root-13
	new_root trixie "$root"
	mkdir "$root/src"
	"$TOP/mk/export" "$root/src"
	store_of trixie
	in_root "$root" '
		cd /src
		apt-get -qq install -y --no-install-recommends lintian make >/dev/null
		# A new compiler may warn of more.
		WERROR=1 make deb >/tmp/log 2>&1 || { tail -n 40 /tmp/log; exit 1; }
		test -z "$(lintian -EI --pedantic --allow-root build/deb/*.changes | tee /proc/self/fd/2)"
		# What these files of tests need; the others are for a whole run of autopkgtest.
		apt-get -qq install -y --no-install-recommends bats bats-assert bats-support binutils bpftool bpftrace \
			fish jq libcap2-bin procps python3-yaml tcsh zsh /src/build/deb/libcupti-usdt_*.deb \
			/src/build/deb/cuda-trace_*.deb >/dev/null
		# .ci/run gives what compiles the lowest priority.
		chrt --other -p 0 $$
		installed() { AUTOPKGTEST_TMP=/tmp/adt bash debian/tests/installed >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }; }
		export TESTS FILTER
		TESTS="tests/cli/help.bats tests/optin/optin.bats tests/cli/list.bats tests/agent/bpftrace.bats tests/trace/trace.bats"
		installed
		TESTS="tests/stat/stat.bats tests/cli/cli.bats tests/doctor/doctor.bats tests/report/report.bats"
		FILTER="saxpy|every workload|late|two tools|mount namespace|only CAP|story|hunt|makes a probe|foretells"
		installed
		# Skipped tests would prove nothing.
		grep -q "^[1-9][0-9]* passed, 0 failed, 0 skipped" /tmp/log
	'
}

# consumer: rpmlint | itself | nothing but the exceptions that are named
@test "rpms (built here) satisfy rpmlint but for its named exceptions" {
	requires rpmlint
	cd "$TOP"
	run -0 rpmlint -r rpm/rpmlintrc "$PACKAGES"/rpm/*.rpm rpm/cuda-trace.spec
	assert_output --partial "0 errors, 0 warnings"
}

@test "spec (read for both architectures, with Fedora's macros and without) leaves none unexpanded" {
	requires rpmspec
	cd "$TOP"
	for target in x86_64 aarch64; do
		for fedora in "" "--define=_unitdir /usr/lib/systemd/system"; do
			run -0 --separate-stderr rpmspec -P --target $target ${fedora:+"$fedora" \
				"--define=systemd_post() systemctl preset %{?*}" \
				"--define=systemd_preun() systemctl disable %{?*}" \
				"--define=systemd_postun_with_restart() systemctl try-restart %{?*}"} rpm/cuda-trace.spec
			assert_equal "$stderr" ""
			refute_line --regexp '^[^#]*%[{?]'
			assert_line /usr/bin/cuda-trace
			assert_line /usr/lib/systemd/system/cuda-trace-metrics.service
		done
		assert_output --partial "systemctl try-restart cuda-trace-metrics.service"
	done
}

@test "rpms (a root of rpm's own) install, upgrade, downgrade, erase and leave nothing behind" {
	root=$PACKAGES/root
	new_root bookworm "$root"
	rpm="rpm --root $root --dbpath /var/lib/rpm-test --nodeps"
	cached() { chroot "$root" ldconfig -p | grep -q 'libcupti-usdt\.so .*/usr/lib64/cuda-trace/'; }
	arch=$(uname -m)
	new=("$PACKAGES"/rpm/{libcupti-usdt,cuda-trace}-"$NEW"-*."$arch".rpm)
	old=("$PACKAGES"/rpm-old/{libcupti-usdt,cuda-trace}-"$OLD"-*."$arch".rpm)

	$rpm -i "${old[@]}"
	cached
	echo "# mine" >>"$root/etc/sysconfig/cuda-trace"
	$rpm -U "${new[@]}"
	cached
	grep -q mine "$root/etc/sysconfig/cuda-trace"
	$rpm -V cuda-trace libcupti-usdt | grep -v ' c /etc/' && fail "files differ from the package"
	$rpm -U --oldpackage "${old[@]}"
	cached
	$rpm -U "${new[@]}"
	chroot "$root" sh -euc 'mkdir -p /root/.config/cuda-trace; touch /root/.config/cuda-trace/enabled; export HOME=/root
		. /etc/profile.d/cuda-trace.sh; [ "$CUDA_INJECTION64_PATH" = libcupti-usdt.so ]; rm -r /root/.config'
	$rpm -e cuda-trace libcupti-usdt
	run cached
	assert_failure
	rm "$root"/etc/sysconfig/cuda-trace.rpmsave
	run -0 find "$root" -xdev \( -name '*cuda-trace*' -o -name '*cupti-usdt*' \)
	assert_output ""
}

@test "packages (cross-built for arm64) are complete, share files with amd64's, and start under qemu" {
	requires qemu-aarch64-static
	[ "$(uname -m)" = x86_64 ] || skip "crosses from x86-64"
	root=$PACKAGES/root
	new_root "$(cross_root)" "$root"
	"$TOP/mk/export" "$root/src"
	cp "$(command -v qemu-aarch64-static)" "$root/usr/bin/"
	cp "$PACKAGES"/new/libcupti-usdt_*_amd64.deb "$root/"
	in_root "$root" '
		cd /src
		apt-get -qq build-dep -y --no-install-recommends -aarm64 ./ >/dev/null
		DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b -aarm64 >/log 2>&1 ||
			{ tail -n 30 /log; exit 1; }
		cd /
		test "$(ls cuda-trace_*_arm64.deb libcupti-usdt_*_arm64.deb libcupti-usdt-dev_*_all.deb | wc -l)" = 3
		# Both architectures of the library at once: Multi-Arch: same.
		apt-get -qq install -y --no-install-recommends ./libcupti-usdt_*_amd64.deb ./libcupti-usdt_*_arm64.deb >/dev/null
		ldconfig -p | grep -q "libcupti-usdt\.so .*/usr/lib/x86_64-linux-gnu/cuda-trace/"
		readelf -h /usr/lib/aarch64-linux-gnu/cuda-trace/libcupti-usdt.so | grep -q AArch64
		dpkg-deb -x cuda-trace_*_arm64.deb /arm64
		readelf -h /arm64/usr/bin/cuda-trace | grep -q AArch64
		qemu-aarch64-static -L / /arm64/usr/bin/cuda-trace --version | grep "$1"
	' "$NEW"
}
