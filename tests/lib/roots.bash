# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Clean Debian roots for tests/packaging/*.bats and .ci/run: made once by debootstrap, kept below $B/t/roots, copied
# for each use, with one store of downloaded packages. Needs root and a Debian mirror: $DEBIAN_MIRROR, or the one
# that this machine's apt uses, with apt's proxies.

ROOTS=${ROOTS:-$B/t/roots}
export ARCHIVES=${ARCHIVES:-$ROOTS/archives}
[ "$(id -u)" != 0 ] || mkdir -p "$ARCHIVES/partial"
debian_mirror() {
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null |
		awk '!/security/ { if (!any || $1 == "Debian") any = $NF } $1 == "Debian" && !/security/ { exit } END { print any }'
}
DEBIAN_MIRROR=${DEBIAN_MIRROR:-$(debian_mirror)}

# apt_proxies: those of this machine, as configuration for the apt of a root.
apt_proxies() {
	apt-config dump | grep -i '^Acquire::https\?::Proxy' || true
	[ -z "${http_proxy-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
	[ -z "${https_proxy-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
}

# clean_root SUITE: its folder; never to be changed.
clean_root() {
	local dir=$ROOTS/$1 lock
	mkdir -p "$ROOTS"
	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -e "$dir.done" ]; then
		rm -rf "$dir"
		debootstrap --variant=minbase "$1" "$dir" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$dir.log" 2>&1 ||
			{ tail -n 5 "$dir.log" >&2; return 1; }
		# These roots live for minutes: no fsync for each file that dpkg unpacks.
		echo force-unsafe-io >"$dir/etc/dpkg/dpkg.cfg.d/unsafe-io"
		apt_proxies >"$dir/etc/apt/apt.conf.d/proxy"
		# Once for all copies; what they install is downloaded once, too: see in_root.
		in_root "$dir" "apt-get -qq update" >>"$dir.log" 2>&1 || { tail -n 5 "$dir.log" >&2; return 1; }
		touch "$dir.done"
	fi
	exec {lock}>&-
	echo "$dir"
}

# cross_root: Debian 12 with what builds for arm64; never to be changed.
cross_root() {
	local dir=$ROOTS/cross lock
	mkdir -p "$ROOTS"
	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -e "$dir.done" ]; then
		new_root bookworm "$dir"
		in_root "$dir" '
			dpkg --add-architecture arm64
			apt-get -qq update
			apt-get -qq install -y --no-install-recommends build-essential \
				crossbuild-essential-arm64 libc6-dev:arm64 libstdc++-12-dev:arm64 >/dev/null
		' >&2
		touch "$dir.done"
	fi
	exec {lock}>&-
	echo "$dir"
}

# new_root BASE DIR: a copy of a root (a suite's name or a folder), to be changed.
new_root() {
	local base=$1
	[[ $base == /* ]] || base=$(clean_root "$base")
	rm -rf --one-file-system "$2"
	cp -a "$base" "$2"
}

# What both ways of starting something in a root see of the machine: its kernel's files, a few devices.
# $0 is the root; afterwards it is "/", with nothing of the machine's own files left.
# shellcheck disable=SC2016 # expanded inside
enter_root='
	set -e
	mount --make-rprivate /
	mount --bind "$0" "$0"
	cd "$0"
	mount -t proc proc proc
	mount --rbind /sys sys
	mount -t tmpfs tmpfs dev
	mkdir dev/shm dev/pts
	for node in null zero full random urandom tty; do
		touch dev/$node
		mount --bind "/dev/$node" "dev/$node"
	done
	mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	mount --bind "$ARCHIVES" var/cache/apt/archives
	for share in ${SHARE-}; do
		mkdir -p "$0${share#*:}"
		mount --bind "${share%%:*}" "$0${share#*:}"
	done
	[ -z "$BOOT" ] || mount -t cgroup2 cgroup2 sys/fs/cgroup
	[ -z "$BOOT" ] || mount -t tmpfs tmpfs run
	pivot_root . .
	umount -l .
	cd /
	if [ -n "$BOOT" ]; then
		exec env -i container=cuda-trace-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			/lib/systemd/systemd --system --unit=multi-user.target
	fi
	exec env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root SHELL=/bin/sh \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$@"
'

# in_root DIR SCRIPT [ARGS...]: a bash script inside, with namespaces of its own, so that no mount
# and no process outlives it. $1... are the ARGS. SHARE="FROM:TO..." shows folders of the machine inside.
in_root() {
	local dir=$1 script=$2
	shift 2
	BOOT='' unshare --mount --pid --ipc --uts --fork --kill-child bash -c "$enter_root" \
		"$dir" "$script" in_root "$@" </dev/null
}

# boot_root DIR: systemd as the first process of a root, with a network and control groups of its own,
# until end_root. Says why not and fails where it cannot be.
boot_root() {
	local groups
	groups=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	BOOTED_GROUP=$groups/cuda-trace-test-$$
	BOOTED_DIR=$1
	if [ -z "$groups" ] || ! mkdir "$BOOTED_GROUP" 2>/dev/null; then
		echo "no control groups (version 2) can be made here"
		return 1
	fi
	# shellcheck disable=SC2016 # expanded inside
	BOOT=1 setsid sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$BOOTED_GROUP" \
		unshare --mount --pid --ipc --uts --cgroup --net --fork --kill-child \
		bash -c "$enter_root" "$1" >"$1.boot" 2>&1 </dev/null 3>&- &
	BOOTED_UNSHARE=$!
	export BOOTED_GROUP BOOTED_DIR BOOTED_UNSHARE
	for _ in $(seq 300); do
		BOOTED=$(pgrep -P "$BOOTED_UNSHARE" || true)
		export BOOTED
		# "degraded": some unit of the distribution's cannot run in a container; the tests query ours.
		case $([ -z "$BOOTED" ] || in_booted 'systemctl is-system-running || true' 2>/dev/null) in
		running | degraded) return 0 ;;
		esac
		kill -0 "$BOOTED_UNSHARE" 2>/dev/null || break
		sleep 0.2
	done
	echo "systemd does not come up here: $(tail -n 1 "$1.boot")"
	end_root
	return 1
}

# in_booted SCRIPT [ARGS...]: a bash script inside of what boot_root started.
in_booted() {
	local script=$1
	shift
	nsenter --target "$BOOTED" --mount --pid --ipc --uts --cgroup --net --root --wd \
		env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root SHELL=/bin/sh \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$script" in_booted "$@" </dev/null
}

end_root() {
	[ -n "${BOOTED_UNSHARE-}" ] || return 0
	# The first process of a process namespace takes all others along.
	kill -KILL "$BOOTED_UNSHARE" 2>/dev/null || true
	for _ in $(seq 100); do
		find "$BOOTED_GROUP" -depth -type d -exec rmdir {} + 2>/dev/null || true
		[ -d "$BOOTED_GROUP" ] || break
		sleep 0.1
	done
	unset BOOTED BOOTED_UNSHARE
}
