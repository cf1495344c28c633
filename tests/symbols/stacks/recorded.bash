# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Recordings with stacks, and what is in them.

sql() {
	sqlite3 -readonly "$1" "$2"
}

# record_lingering MARK ARGS... [--call-graph HOW]: r.db of a program that does not end before the tool has looked at its
# files: MARK, a path, is in the spool then. What record said is in rec.err, the program's in rec.out. RECORD_OPTIONS: in
# place of -g.
record_lingering() {
	local mark=$1 how=dwarf; shift
	if [ "${*: -2:1}" = --call-graph ]; then
		how=${*: -1}
		set -- "${@:1:$#-2}"
	fi
	# shellcheck disable=SC2086 # several
	lingering "$mark" r.db.part record ${RECORD_OPTIONS:--g} --call-graph "$how" -o r.db -- "$SIM" "$@" --linger
}

# spool_has MARK GLOB
spool_has() {
	# shellcheck disable=SC2086 # a pattern
	grep -qaFs "$1" $2
}

# lingering MARK GLOB COMMAND ARGS...: runs the tool with a program that waits for the end of its input, which comes once
# MARK is in the spool of that name.
lingering() {
	local mark=$1 spool=$2; shift 2
	rm -f hold r.db*
	mkfifo hold
	exec 9<>hold
	setsid "$CUDA_TRACE" "$@" <hold >rec.out 2>rec.err 9>&- 3>&- &
	rec_PID=$!
	echo $rec_PID >>started
	wait_for 30 spool_has "$mark" "$spool"
	wait_for 30 grep -q '^expect ' rec.out
	exec 9>&-
	: >hold
	finished "$rec_PID" 40
	assert_equal "$status" 0
}

# call_stacks FILE: "FUNCTION;...;FUNCTION LAUNCHES", from the outermost one, of each call stack by its names.
call_stacks() {
	sql "$1" "WITH named AS (SELECT c.id, group_concat(value, ';') AS names FROM (SELECT id, symbol
		FROM CUDA_CALLCHAINS ORDER BY id, stackDepth DESC) AS c JOIN StringIds AS s ON s.id = c.symbol
		GROUP BY c.id) SELECT names || ' ' || count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME
		JOIN named ON named.id = callchainId GROUP BY names"
}

# launches_below FILE FUNCTION: in whose call stacks it stands
launches_below() {
	sql "$1" "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IN (SELECT c.id FROM
		CUDA_CALLCHAINS AS c JOIN StringIds AS s ON s.id = symbol WHERE value = '$2')"
}

# find_python: an interpreter that stacks have functions of, in $python
find_python() {
	python=$(command -v /usr/bin/python3 || command -v python3)
	"$python" -c 'import ctypes, sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 15))' ||
		skip "needs CPython 3.8 to 3.15"
}

# record_python ARGS...: r.db of Python with these arguments, a program that loads liboperators.so
record_python() {
	local python
	find_python
	record_lingering /workloads/liboperators.so "$python" "$@"
}

# record_step STEPS: r.db of tests/workloads/operators/train.py, whose lines are in rec.out
record_step() {
	record_python "$TOP/tests/workloads/operators/train.py" "$WORKLOADS/liboperators.so" "$1"
}
