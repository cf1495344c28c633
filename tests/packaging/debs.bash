# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The Debian packages as somebody new builds them: in a bare root of Debian 12 with git and make, by README.md's first
# command. Then once more, elsewhere, for whoever compares. Again only if a source has changed. Needs ../lib/roots.

# sh_block FILE HEADING [N]: the N-th block of shell commands below the heading of that text.
sh_block() {
	awk -v heading="$2" -v wanted="${3:-1}" '
		/^#+ / { below = index($0, heading) > 0 }
		/^```/ && inside { exit }
		inside { print }
		/^```sh/ && below { inside = ++count == wanted }
	' "$1" | grep . || { echo "$1: no commands below '$2'" >&2; return 1; }
}

# bare DIR: a root in which apt does not ask, with the tree where its user cloned it.
bare() {
	new_root bookworm "$1"
	echo 'APT::Get::Assume-Yes "true";' >"$1/etc/apt/apt.conf.d/yes"
	mkdir -p "$1/root/cuda-trace"
}

DEBS=$B/t/debs

# up_to_date: has no source changed since they were built?
up_to_date() {
	[ -e "$DEBS/began" ] && [ -z "$(find "$TOP" -path "$TOP/.git" -prune -o -path "$B" -prune -o \
		-type f -newer "$DEBS/began" -print -quit)" ]
}

# built_debs: fills DEBS with the packages, and its folder "again" with what the second time gave.
built_debs() {
	local builder=$B/t/builder command
	! up_to_date || return 0
	rm -rf "$DEBS"
	mkdir -p "$B/t"
	: >"$builder.began"
	command=$(sh_block "$TOP/README.md" 'Install it' | sed -n '1s/ *#.*//p')
	[ "$command" = "make deb" ] || { echo "README.md begins with: $command" >&2; return 1; }
	bare "$builder"
	"$TOP/mk/export" "$builder/root/cuda-trace"
	in_root "$builder" '
		cd
		apt-get -qq install git make >/dev/null
		cd cuda-trace
		$1
		(umask 027; TZ=Asia/Tokyo LC_ALL=C.UTF-8 mk/deb /srv/again/deeper)
	' "$command" >"$builder.log" 2>&1 || { tail -n 20 "$builder.log" >&2; return 1; }
	mv "$builder/root/cuda-trace/build/deb" "$DEBS"
	mv "$builder/srv/again/deeper" "$DEBS/again"
	rm -rf --one-file-system "$builder"
	mv "$builder.began" "$DEBS/began"
}
