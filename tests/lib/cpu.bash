# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# cpu_seconds: whole seconds of CPU time that the children of this shell have used, those of their children included.
cpu_seconds() {
	times | awk -F'[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }'
}
