#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The commands on another kernel, in QEMU: `make check-kernels`. $KERNEL is a suite of Debian, arm64:SUITE, or a
# file. It is booted once, before the first test; what is compared there is in the file `checks`.

load ../lib/helpers

# What the kernel and the checks said is kept here.
setup_file() {
	local kept=$B/kernels kernel=$KERNEL
	mkdir -p "$kept"
	export ARCHITECTURE=amd64 SYSROOT=
	export SAID=$BATS_FILE_TMPDIR/said
	for program in qemu-system-x86_64 busybox cpio curl jq; do
		command -v $program >/dev/null || { echo "needs $program" >"$SAID.skip"; return; }
	done
	if [[ $KERNEL = arm64:* ]]; then
		ARCHITECTURE=arm64 kernel=${KERNEL#arm64:}
		# One tree for all of its kernels: `make check-kernels` removes what an earlier one has left.
		[ -e "$B/t/arm64/src/build/root" ] || "$TOP/tests/kernels/arm64" "$B/t/arm64" 2>"$SAID.skip" || return 0
		SYSROOT=$B/t/arm64/sysroot
	fi
	if [[ $kernel != */* ]]; then
		kernel=$("$TOP/tests/kernels/packages" "$kernel" "$kept" $ARCHITECTURE 2>"$SAID.skip") || return 0
	fi
	rm -f "$SAID.skip"
	export CONSOLE=$kept/${kernel##*/}.console
	if [ $ARCHITECTURE = arm64 ]; then
		B=$B/t/arm64/src/build "$TOP/tests/kernels/initramfs" "$BATS_FILE_TMPDIR/initramfs"
	else
		"$TOP/tests/kernels/initramfs" "$BATS_FILE_TMPDIR/initramfs"
	fi
	# Once more where no check began: now and then a kernel panics while it starts in the emulation.
	for _ in 1 2; do
		"$TOP/tests/kernels/boot" "$kernel" "$BATS_FILE_TMPDIR/initramfs" "$SAID" "$CONSOLE" \
			2>>"$CONSOLE" || echo "# QEMU ended with status $?" >>"$SAID"
		! grep -q '^# Linux ' "$SAID" || break
	done
	tr -d '\r' <"$SAID" >"$SAID.lines"
	sed -n '/^# Linux /p' "$SAID.lines" >&3
	cp "$SAID.lines" "$kept/${kernel##*/}.checks"
}

setup() {
	[ ! -e "$SAID.skip" ] || skip "$(tail -n 1 "$SAID.skip")"
}

# checked NAME: well; else what was said of it, or where the machine stopped.
checked() {
	! grep -qx "ok $1" "$SAID.lines" || return 0
	if grep -qx "not ok $1" "$SAID.lines"; then
		awk -v name="not ok $1" '/^[^#]/ { on = $0 == name } on' "$SAID.lines"
	else
		echo "the virtual machine did not come to it:"
		tail -n 3 "$SAID.lines"
		tr -d '\r' <"$CONSOLE" | tail -n 20
	fi
	return 1
}

@test "stat --errors --api (another kernel) counts what the programs counted" {
	checked stat
}

@test "trace (another kernel) shows each kernel and copy" {
	checked trace
}

@test "record, report (another kernel) hold what the program counted" {
	checked record
}

@test "record -g (another kernel) has each launch's chain" {
	checked stacks
}

@test "metrics (another kernel) has the program's counts in a scrape" {
	checked metrics
}

@test "attach (another kernel) has the kernels of a program that was not prepared, which ends as it does alone" {
	checked attach
}

@test "top (another kernel) counts what the program counted, and --once prints one object" {
	checked top
}

@test "stat --source driver (another kernel) counts what the program counted; before 6.6 is refused in one line" {
	checked driver
}

@test "profile --pc (another kernel) has the samples of the script" {
	checked samples
}

@test "virtual machine (another kernel) came to the end of the checks" {
	grep -qx end "$SAID.lines" || { tail -n 3 "$SAID.lines"; tr -d '\r' <"$CONSOLE" | tail -n 20; return 1; }
}
