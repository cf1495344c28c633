# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# cpu_seconds: sets CPU to the whole seconds of CPU time that the children of this shell have used, those of their
# children included. Not in $(...), which is a shell without children.
cpu_seconds() {
	local stat
	read -ra stat <"/proc/$BASHPID/stat"
	# shellcheck disable=SC2034 # for the caller
	CPU=$(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}
