#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The packages under a running systemd: a Debian root boots in namespaces, with control groups and a
# network of its own; services of users (enable --service) and ours (cuda-trace-metrics.service).
# And the latter without systemd, by its init script. `make check-packages` runs this file.

load ../lib/helpers
load ../lib/roots
load debs

setup_file() {
	[ "$(id -u)" = 0 ] && command -v debootstrap dpkg-buildpackage >/dev/null || return 0
	built_debs || return 1
	local root=$BATS_FILE_TMPDIR/root
	new_root bookworm "$root"
	mkdir -p "$root/deb" "$root/opt/sim"
	cp "$DEBS"/{cuda-trace,libcupti-usdt}_*.deb "$root/deb"
	cp -a "$B/simcuda/." "$root/opt/sim"
	cp "$WORKLOADS/launch-storm" "$root/opt/sim/"
	in_root "$root" '
		apt-get -qq install -y --no-install-recommends systemd-sysv dbus curl /deb/cuda-trace_*.deb \
			/deb/libcupti-usdt_*.deb >/dev/null
	' || return 1
	# A service of a user, which starts a CUDA program.
	cat >"$root/etc/systemd/system/train.service" <<-'END'
		[Service]
		Environment=LD_LIBRARY_PATH=/opt/sim
		ExecStart=/opt/sim/launch-storm --seconds 600 --pause 1000
	END
	boot_root "$root" >"$BATS_FILE_TMPDIR/why" || true
	export BOOTED=${BOOTED-}
}

teardown_file() {
	end_root
}

setup() {
	requires root bpf debootstrap dpkg-buildpackage nsenter
}

booted() {
	[ -n "$BOOTED" ] || skip "$(cat "$BATS_FILE_TMPDIR/why")"
}

# Common words of the scripts inside.
words='
	# "! command" does not end a script under set -e.
	not() { if "$@"; then echo "unexpected: $*"; return 1; fi; }
	pid() { systemctl show --property=MainPID --value "$1"; }
	has_variable() { tr "\0" "\n" <"/proc/$(pid train)/environ" | grep -q "^CUDA_INJECTION64_PATH="; }
	until_true() { for i in $(seq 200); do "$@" && return; sleep 0.1; done; echo "never: $*"; return 1; }
	maps_agent() { grep -q "cuda-trace/libcupti-usdt.so$" "/proc/$(pid train)/maps"; }
	metrics() { curl -sS --fail --max-time 20 http://127.0.0.1:12832/metrics; }
	# Of the points of systemd-analyze security, less is better.
	exposed_at_most() {
		points=$(systemd-analyze security --no-pager cuda-trace-metrics | sed -n "s/.* exposure level for [^:]*: \([0-9.]*\) .*/\1/p")
		echo "exposure: $points"
		awk "BEGIN { exit !($points <= $1) }"
	}
	scrapes() { grep -q "^cuda_kernel_launches_total.*launch-storm.* [1-9]" <<<"$(metrics)"; }
'

@test "package (installed, systemd running) starts and enables nothing" {
	booted
	in_booted '
		test "$(systemctl is-active cuda-trace-metrics || true)" = inactive
		test "$(systemctl is-enabled cuda-trace-metrics || true)" = disabled
		test -z "$(find /etc/systemd /etc/rc*.d -name "S*cuda-trace*" -o -path "*.wants/cuda-trace*")"
		systemd-analyze verify --man=no cuda-trace-metrics.service
	'
}

@test "enable --service (running unit) reaches the service when it restarts, disable takes it back" {
	booted
	in_booted "$words"'
		systemctl start train
		not has_variable
		said=$(cuda-trace enable --service train)
		grep -q "systemctl restart train.service" <<<"$said"
		# Reloaded already; the running process is left alone.
		systemctl show --property=Environment train | grep -q CUDA_INJECTION64_PATH=libcupti-usdt.so
		test "$(systemctl show --property=NeedDaemonReload --value train)" = no
		not has_variable
		systemctl restart train
		has_variable
		until_true maps_agent
		cuda-trace status --json | grep -q "train.service"

		cuda-trace disable --service train.service
		systemctl restart train
		not has_variable
		not ls /etc/systemd/system/train.service.d
		systemctl stop train
	'
}

@test "enable --service (no such unit, or one with another tool's injection) leaves all as it was" {
	booted
	in_booted "$words"'
		not cuda-trace enable --service nowhere 2>/tmp/err
		grep -q "there is no unit nowhere.service" /tmp/err
		printf "[Service]\nExecStart=/bin/sleep 9\nEnvironment=CUDA_INJECTION64_PATH=/opt/nsight/lib.so\n" \
			>/etc/systemd/system/profiled.service
		systemctl daemon-reload
		not cuda-trace enable --service profiled 2>/tmp/err
		grep -q "has CUDA_INJECTION64_PATH=/opt/nsight/lib.so already" /tmp/err
		not ls -d /etc/systemd/system/*.d/cuda-trace.conf
	'
}

# Where the kernel wants CAP_SYS_ADMIN for uprobes, the service says so, and the shipped drop-in
# fixes it; elsewhere it runs with the two small capabilities alone.
@test "cuda-trace-metrics.service (started) serves what programs do, as the user and with the rights it says" {
	booted
	in_booted "$words"'
		capabilities=000000c000000000
		if ! systemctl start cuda-trace-metrics; then
			journalctl --unit=cuda-trace-metrics --output=cat | tee /tmp/journal
			grep -q "this kernel lets only CAP_SYS_ADMIN set uprobes" /tmp/journal
			systemctl stop cuda-trace-metrics	# it would be tried again
			sh -euc "$(sed -n "/^#   install/,/^#   systemctl daemon-reload/s/^# *//p" \
				/usr/share/cuda-trace/metrics-sys-admin.conf)"
			systemctl start cuda-trace-metrics
			capabilities=000000c000200000
		fi
		# Type=notify: "active" means that it said READY=1 itself.
		test "$(systemctl is-active cuda-trace-metrics)" = active
		test "$(systemctl show --property=Type --value cuda-trace-metrics)" = notify
		status=/proc/$(pid cuda-trace-metrics)/status
		for set in CapPrm CapEff CapBnd CapAmb; do
			grep -q "^$set:.$capabilities$" $status || { grep ^Cap $status; exit 1; }
		done
		exposed_at_most 2.0
		grep -q "^NoNewPrivs:.1$" $status
		grep -q "^Seccomp:.2$" $status
		user=$(stat -c %u /proc/$(pid cuda-trace-metrics))
		test "$user" -ge 61184 && test "$user" -le 65519	# systemd.exec(5): dynamic users

		cuda-trace enable --service train >/dev/null
		systemctl start train
		until_true scrapes
	'
}

@test "cuda-trace-metrics.service (metrics-attach.conf) has GPU times of a program that began without the library" {
	booted
	in_booted "$words"'
		timed() { grep -q "^cuda_kernel_duration_seconds_sum.*launch-storm.* 0*\.*0*[1-9]" <<<"$(metrics)"; }
		cuda-trace disable --service train >/dev/null
		# Like a program in a container, it belongs to somebody else and has a filter of system calls.
		mkdir -p /etc/systemd/system/train.service.d
		printf "[Service]\\nUser=games\\nSystemCallFilter=~kexec_load\\n" >/etc/systemd/system/train.service.d/container.conf
		systemctl daemon-reload
		systemctl restart train cuda-trace-metrics
		sleep 1
		not maps_agent
		grep -q "^Seccomp:.2$" "/proc/$(pid train)/status"
		cp /etc/default/cuda-trace /tmp/before
		sh -euc "$(sed -n "/^#   install/,/^#   systemctl restart/s/^# *//p" /usr/share/cuda-trace/metrics-attach.conf)"
		until_true maps_agent
		until_true timed
		# The drop-in takes away all options that make filters, those of later versions of systemd, too.
		grep -q "^Seccomp:.0$" "/proc/$(pid cuda-trace-metrics)/status"
		exposed_at_most 6.9
		rm -r /etc/systemd/system/cuda-trace-metrics.service.d/attach.conf /etc/systemd/system/train.service.d/container.conf
		mv /tmp/before /etc/default/cuda-trace
		cuda-trace enable --service train >/dev/null
		systemctl daemon-reload
		# Without the drop-in, it sees what starts after it.
		systemctl restart cuda-trace-metrics
		systemctl restart train
		until_true scrapes
	'
}

@test "cuda-trace-metrics.service (daemon-reload, crash, upgrade, removal) goes on, comes back, ends" {
	booted
	in_booted "$words"'
		systemctl is-active train cuda-trace-metrics
		before=$(pid cuda-trace-metrics)
		systemctl daemon-reload
		systemctl daemon-reexec
		test "$(pid cuda-trace-metrics)" = "$before"
		scrapes

		kill -SEGV "$before"
		restarted() { test "$(systemctl show --property=NRestarts --value cuda-trace-metrics)" -gt 0; }
		until_true restarted
		until_true scrapes

		# A new version of the package: the service is its.
		before=$(pid cuda-trace-metrics)
		dpkg -i /deb/*.deb >/dev/null 2>&1
		changed() { test "$(systemctl is-active cuda-trace-metrics)" = active && test "$(pid cuda-trace-metrics)" != "$before"; }
		until_true changed
		# The program still has the library of before, which is no file any more.
		systemctl restart train
		until_true scrapes

		training=$(pid train)
		dpkg -P cuda-trace libcupti-usdt >/dev/null
		test "$(systemctl is-active cuda-trace-metrics || true)" = inactive
		not metrics 2>/dev/null
		# A program of a user goes on without them, and starts without them.
		test "$(pid train)" = "$training"
		systemctl daemon-reload
		systemctl restart train
		not has_variable
		test -z "$(systemctl --failed --plain --no-legend)"
	'
}

@test "cuda-trace-metrics (init script, no systemd) starts when it serves, and stops" {
	root=$BATS_TEST_TMPDIR/root
	new_root bookworm "$root"
	mkdir "$root/deb"
	cp "$DEBS"/{cuda-trace,libcupti-usdt}_*.deb "$root/deb"
	PORT=$((20000 + BATS_ROOT_PID % 10000))
	in_root "$root" "$words"'
		apt-get -qq install -y --no-install-recommends curl /deb/cuda-trace_*.deb /deb/libcupti-usdt_*.deb >/dev/null
		not ls /etc/rc?.d/S*cuda-trace*
		echo "CUDA_TRACE_METRICS_OPTIONS=\"--listen 127.0.0.1:$1\"" >>/etc/default/cuda-trace
		if ! service cuda-trace-metrics start; then
			# Where the kernel wants more for uprobes, see above.
			not service cuda-trace-metrics status
			echo CUDA_TRACE_METRICS_CAPABILITIES=+bpf,+perfmon,+sys_admin >>/etc/default/cuda-trace
			service cuda-trace-metrics start
		fi
		service cuda-trace-metrics status
		curl -sS --fail --max-time 20 http://127.0.0.1:$1/metrics | grep "^cuda_trace_" >/dev/null
		test "$(stat -c %u /proc/$(cat /run/cuda-trace-metrics.pid))" = 65534
		service cuda-trace-metrics start
		service cuda-trace-metrics stop
		not service cuda-trace-metrics status
		service cuda-trace-metrics start
		# In a root that did not boot, invoke-rc.d needs a policy that allows it.
		printf "#!/bin/sh\nexit 0\n" >/usr/sbin/policy-rc.d
		chmod +x /usr/sbin/policy-rc.d
		dpkg -P cuda-trace >/dev/null
		sleep 0.1; not grep -qx cuda-trace /proc/[0-9]*/comm
		not ls /etc/init.d/cuda-trace-metrics /etc/rc?.d/*cuda-trace* 2>/dev/null
	' "$PORT"
}
