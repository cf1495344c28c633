#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is written where: no output replaces a recording or an input, and ranks write a file each.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Two different recordings: r.db and cuda-trace.db, which report takes without a FILE.
recordings() {
	"$FEEDER" -n 100 r.db >/dev/null
	"$FEEDER" -n 200 cuda-trace.db >/dev/null
	cp r.db r.copy
	cp cuda-trace.db cuda-trace.copy
}

assert_unharmed() {
	cmp r.db r.copy
	cmp cuda-trace.db cuda-trace.copy
}

@test "report (every option that writes, named a recording or the input) refuses and exits 2" {
	recordings
	local option
	for option in --html --timeline --flamegraph --folded --pprof --output; do
		run -2 --separate-stderr ct report $option r.db
		[[ $stderr == "cuda-trace report: r.db is a recording: it is not overwritten"* ]]
		[ "${#stderr_lines[@]}" = 1 ]
		assert_unharmed
		run -2 --separate-stderr ct report $option cuda-trace.db cuda-trace.db
		[[ $stderr == "cuda-trace report: cuda-trace.db is the input"* ]]
		assert_unharmed
		ln -sf r.db link
		run -2 ct report $option link r.db
		assert_unharmed
	done
}

@test "report (compressed recordings, spools, samples) are not overwritten, a profile for pprof is" {
	recordings
	gzip -k r.db
	"$FEEDER" -n 50 -x kill spool.db >/dev/null 2>&1 || true
	echo '{}' >samples.jsonl
	cp r.db.gz gz.copy
	cp spool.db.part part.copy
	run -2 ct report --html r.db.gz
	run -2 ct report --html spool.db.part r.db
	run -2 ct report --html samples.jsonl --device samples.jsonl r.db
	run -2 ct report --import spool.db.part --output r.db
	cmp r.db.gz gz.copy
	cmp spool.db.part part.copy
	assert_equal "$(cat samples.jsonl)" '{}'
	assert_unharmed
	ct report --pprof p.gz r.db
	ct report --pprof p.gz cuda-trace.db
	ct report --import spool.db.part --output new.db
	[ -s new.db ]
}

@test "report (two outputs of one name) refuses" {
	recordings
	run -2 ct report --html x --flamegraph x r.db
	assert_output --partial 'two outputs cannot both be x'
	assert [ ! -e x ]
}

@test "stat, trace, profile, metrics (an output that is a recording) refuse before anything runs" {
	recordings
	run -2 ct stat -o r.db -- touch ran
	run -2 ct trace -o r.db -- touch ran
	run -2 ct profile --pc -o r.db -- touch ran
	run -2 ct profile --pc --flamegraph r.db -- touch ran
	run -2 ct profile --pc --folded r.db -- touch ran
	run -2 ct profile --device -o r.db -- touch ran
	run -2 ct metrics --textfile r.db -d 1
	assert_unharmed
	assert [ ! -e ran ]
}

@test "stat -o (an older text) replaces it" {
	requires bpf
	seq 10000 >out.txt
	ct stat -o out.txt -- true
	run cat out.txt
	refute_line 10000
}

@test "record (an older recording) keeps it as .old" {
	requires bpf
	recordings
	ct record -q -o r.db -- true
	cmp r.db.old r.copy
	run cmp -s r.db r.copy
	assert_failure
	# The next one is the only one that is kept.
	cp r.db second
	ct record -q -o r.db -- true
	cmp r.db.old second
}

@test "record (something else where the older recording would be kept) refuses, and runs nothing" {
	requires bpf
	recordings
	echo 'chapter one' >r.db.old
	run -2 ct record -q -o r.db -- touch ran
	assert_output --partial 'r.db would be kept as r.db.old, which exists and is not a recording'
	assert_equal "$(cat r.db.old)" 'chapter one'
	assert [ ! -e ran ]
	assert_unharmed
}

@test "record (another recorder writes the file) names the patterns, and runs nothing" {
	: >r.db.part
	run -1 ct record -o r.db -- touch ran
	assert_output --partial "r.db.part exists: another recorder is writing it (several ranks: -o 'rank%r.db'"
	assert [ ! -e ran ]
}

@test "record, stat -o (%p, %h, %r, %c, %%) make names of process, host, rank, command, percent" {
	requires bpf
	run -0 env RANK=3 "$CUDA_TRACE" record -q -o '%c-%r-%h-100%%.db' -- true
	[ -s "true-3-$(uname -n)-100%.db" ]
	env OMPI_COMM_WORLD_RANK=7 RANK=3 "$CUDA_TRACE" stat -o 's%r' -- true
	[ -s s7 ]
	"$CUDA_TRACE" stat -o 's-%p' -- true &
	wait $!
	[ -s "s-$!" ]
}

@test "record -o (%r without a rank, an unknown pattern) refuses, and runs nothing" {
	run -2 env -u RANK -u SLURM_PROCID -u PMI_RANK -u PMIX_RANK "$CUDA_TRACE" record -o 'r%r.db' -- touch ran
	assert_output --partial 'no rank is in the environment'
	run -2 ct stat -o 'r%q' -- touch ran
	assert_output --partial "%p (process), %h (host), %r (rank), %c (command) and %% (a percent sign), not '%q'"
	assert [ ! -e ran ]
}

@test "record (two ranks, one -o with %r) records both" {
	requires bpf sim sqlite3
	local rank
	for rank in 0 1; do
		start "rank$rank" env RANK=$rank "$CUDA_TRACE" record -q -o 'rank%r.db' -- \
			"$SIM" "$WORKLOADS/saxpy" --repeat $((100 * (rank + 1)))
	done
	finished "$rank0_PID"
	finished "$rank1_PID"
	assert_equal "$(sqlite3 rank0.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 100
	assert_equal "$(sqlite3 rank1.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" 200
}
