# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Clean Debian roots for tests/package.bats and tests/container.bats: made once by debootstrap,
# kept below $B/t/roots, copied for each test. Needs root and a Debian mirror: $DEBIAN_MIRROR, or the
# one that this machine's apt uses.

ROOTS=$B/t/roots
DEBIAN_MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
	'Created-By: Packages' 'Component: main' 2>/dev/null | grep -v security | head -n 1)}

# clean_root SUITE: its folder; never to be changed.
clean_root() {
	local dir=$ROOTS/$1
	if [ ! -e "$dir.done" ]; then
		mkdir -p "$ROOTS"
		rm -rf "$dir"
		debootstrap --variant=minbase "$1" "$dir" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$dir.log" 2>&1 ||
			{ tail -n 5 "$dir.log" >&2; return 1; }
		# These roots live for minutes: no fsync for each file that dpkg unpacks.
		echo force-unsafe-io >"$dir/etc/dpkg/dpkg.cfg.d/unsafe-io"
		touch "$dir.done"
	fi
	echo "$dir"
}

# new_root BASE DIR: a copy of a root (a suite's name or a folder), to be changed.
new_root() {
	local base=$1
	[[ $base == /* ]] || base=$(clean_root "$base")
	rm -rf --one-file-system "$2"
	cp -a "$base" "$2"
}

# in_root DIR SCRIPT [ARGS...]: a bash script inside, with namespaces of its own, so that no mount
# and no process outlives it. $1... are the ARGS.
in_root() {
	local dir=$1 script=$2
	shift 2
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --pid --ipc --uts --fork --kill-child bash -c '
		set -e
		mount -t proc proc "$0/proc"
		mount --rbind /sys "$0/sys"
		mount -t tmpfs tmpfs "$0/dev"
		mkdir "$0/dev/shm"
		for node in null zero full random urandom tty; do
			touch "$0/dev/$node"
			mount --bind "/dev/$node" "$0/dev/$node"
		done
		mkdir "$0/dev/pts"
		mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts"
		ln -s pts/ptmx "$0/dev/ptmx"
		ln -s /proc/self/fd "$0/dev/fd"
		exec env -i DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root SHELL=/bin/sh \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$0" bash -euo pipefail -c "$@"
	' "$dir" "$script" in_root "$@" </dev/null
}
