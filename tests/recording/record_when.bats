#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record --when: the file is written when a step is slow, a call fails or a rank is late, with what was before.

load ../lib/helpers

setup() {
	requires root bpf sim sqlite3
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sql FILE SELECT
sql() {
	sqlite3 "$1" "$2"
}

# meta FILE NAME: of META_DATA_CAPTURE.
meta() {
	sql "$1" "SELECT value FROM META_DATA_CAPTURE WHERE name = '$2'"
}

# watches OPTION... -- PROGRAM...: it fires or it does not, and the program ends as it would have; its output is in `out`,
# the recorder's messages are in `err`.
watches() {
	ct record -q -o r.db "$@" >out 2>err || fail "$(cat err)"
}

# nothing: no file of any kind is left.
nothing() {
	local left=(r.db*)
	[ "${left[*]}" = 'r.db*' ] || fail "left: ${left[*]}"
}

@test "record --when 'step > 10x' (one step of 100 is slow) has it, what was before, and a short time after" {
	watches --when 'step > 10x' --last 5s --after 500ms -- "$SIM" "$WORKLOADS/training" -n 100 -m 20 -s 40 -u 600
	assert_equal "$(expect_key out steps)" 100
	grep -qE "^cuda-trace record: [0-9:]{8}\.[0-9]{3}: step 40 \('ProfilerStep#40'\) of training \(pid [0-9]+\) took [67][0-9.]+ ms, usually [23][0-9.]+ ms \(--when 'step > 10x'\)$" err ||
		fail "$(cat err)"
	assert_equal "$(wc -l <err)" 1
	assert_equal "$(meta r.db TRIGGER_CONDITION)" 'step > 10x'
	grep -qF ": $(meta r.db TRIGGER) (--when" err
	assert_equal "$(meta r.db TRIGGER_NS)" "$(sql r.db "SELECT end FROM NVTX_EVENTS WHERE text = 'ProfilerStep#40'")"
	# By the wall clock, that is now.
	local age=$(($(date +%s) - $(meta r.db TRIGGER_UTC_NS) / 1000000000))
	((age >= 0 && age < 60)) || fail "$age s ago"
	assert_equal "$(sql r.db "SELECT count(*) FROM NVTX_EVENTS WHERE text IN ('ProfilerStep#1', 'ProfilerStep#39', 'ProfilerStep#41')")" 3
	assert_equal "$(sql r.db "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'ProfilerStep#100'")" 0
	assert_equal "$(sql r.db 'SELECT coalesce(sum(count), 0) FROM CUDA_TRACE_LOST')" 0
	ct report r.db >report.txt
	grep -qF "Recorded because $(meta r.db TRIGGER)" report.txt
	ct report --json r.db >report.json
	assert_equal "$(jq -r '.trigger.condition, .trigger.text' report.json)" "$(meta r.db TRIGGER_CONDITION; meta r.db TRIGGER)"
}

@test "record --when (no condition becomes true) says what was seen, and writes no file" {
	watches --when 'step > 100x' --when error -- "$SIM" "$WORKLOADS/training" -n 30 -m 5
	grep -qE "^cuda-trace record: --when 'step > 100x, error' never became true: 30 steps, usually [5-9][0-9.]* ms: no file is written$" err ||
		fail "$(cat err)"
	nothing
	watches --when step -- "$SIM" "$WORKLOADS/training" -n 14 -m 2
	grep -q 'never became true: 14 steps, of each process 15 are needed: no file' err || fail "$(cat err)"
	# Halves of steps are ranges of the name, too.
	watches --when 'step > 100x' -- "$SIM" "$WORKLOADS/training" -n 30 -m 5 --inner
	grep -q 'never became true: 30 steps, usually' err || fail "$(cat err)"
	watches --when 'step > 2x' --step-range 'epoch *' -- "$SIM" "$WORKLOADS/training" -n 2 -m 2
	grep -qF "no NVTX range 'epoch *' was seen (--step-range names another one; others: 'ProfilerStep#1', 'ProfilerStep#2'): no file" err || fail "$(cat err)"
	watches --when 'step > 2x' --when late -- "$SIM" "$WORKLOADS/saxpy"
	grep -q 'never became true: no NVTX range was seen at all; no communicator of NCCL was seen: no file' err || fail "$(cat err)"
	# The exit status is that of the program.
	run -3 --separate-stderr ct record --when error -o r.db -- "$SIM" bash -c '"$0" -n 2 >/dev/null; exit 3' "$WORKLOADS/training"
	nothing
}

@test "record --when (the same step is short for one condition, and too long for another) is any of them" {
	watches --when 'step > 500x,step > 300ms' -- "$SIM" "$WORKLOADS/training" -n 30 -m 5 -s 10 -u 400
	# It is one of those by which nothing is usual yet.
	grep -qE "step 10 \('ProfilerStep#10'\) of training \(pid [0-9]+\) took 4[0-9.]+ ms \(--when 'step > 300ms'\)$" err || fail "$(cat err)"
	assert_equal "$(meta r.db TRIGGER_CONDITION)" 'step > 300ms'
}

@test "record --when 'step > 10x' (a step that never ends) does not wait for its end" {
	start record "$CUDA_TRACE" record --when 'step > 10x' --after 300ms -o r.db -- "$SIM" "$WORKLOADS/training" -n 30 -m 20 -s 30 -u 60000 --open
	wait_for 30 test -e r.db
	# The program still runs.
	kill -0 "$record_PID"
	wait_for 5 grep -q 'cuda-trace report shows them' record.err
	grep -qE "step 30 \('ProfilerStep#30'\) of training \(pid [0-9]+\) has taken 1\.[0-9]+ s and goes on, usually [23][0-9.]+ ms" record.err ||
		fail "$(cat record.err)"
	assert_equal "$(sql r.db "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'ProfilerStep#29'")" 1
}

@test "record --when (a step that ends after it was found to be too long) has its duration" {
	watches --when 'step > 10x' --after 4s -- "$SIM" "$WORKLOADS/training" -n 40 -m 20 -s 30 -u 4000
	grep -qE 'step 30 .* has taken 1\.[0-9]+ s and goes on' err || fail "$(cat err)"
	assert_equal "$(wc -l <err)" 1
	[[ $(meta r.db TRIGGER) == "step 30 ('ProfilerStep#30') of training (pid "*") took 4.0"*" s, usually 2"* ]] || fail "$(meta r.db TRIGGER)"
	assert [ "$(meta r.db TRIGGER_NS)" -lt "$(sql r.db "SELECT end FROM NVTX_EVENTS WHERE text = 'ProfilerStep#30'")" ]
}

@test "record --when error --last 2s --after 1s (6 s before it, 3 s after it) keeps so much of both" {
	watches --when error --last 2s --after 1s -- "$SIM" "$WORKLOADS/training" -n 450 -m 20 -e 300
	grep -qE ': cuMemAlloc_v2 of training \(pid [0-9]+\) failed: CUDA_ERROR_[A-Z_]+ \([0-9]+\) \(--when '"'error'"'\)$' err || fail "$(cat err)"
	local before after
	read -r before after <<<"$(sql r.db "SELECT (($(meta r.db TRIGGER_NS) - min(start)) / 1000000) || ' ' || ((max(start) - $(meta r.db TRIGGER_NS)) / 1000000)
		FROM CUPTI_ACTIVITY_KIND_KERNEL")"
	# Blocks of the ring are a quarter of a second long, and more where the machine is busy.
	((before >= 1900 && before < 3700 && after >= 900 && after < 2500)) || fail "$before ms before, $after ms after"
	assert_equal "$(sql r.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE returnValue <> 0')" 1
}

@test "record --when (a step that is longer than --last) says that its beginning is missing" {
	watches --when 'step > 10x' --last 300ms --after 100ms -- "$SIM" "$WORKLOADS/training" -n 30 -m 20 -s 25 -u 900
	grep -qE 'step 25 .* took 9[0-9.]+ ms' err || fail "$(cat err)"
	grep -qF 'cuda-trace record: that is longer than what is kept before it (300.0 ms, --last): its beginning is missing' err ||
		grep -qE 'longer than what is kept before it \(300[0-9.]* ms, --last\): its beginning is missing' err || fail "$(cat err)"
	assert [ -s r.db ]
}

@test "record -a --when (interrupted: before it, and in the time after it) writes the file if it has fired" {
	CUDA_INJECTION64_PATH=$AGENT start training "$SIM" "$WORKLOADS/training" -n 5000 -m 10 -e 20 -g go
	wait_for 30 grep -qx ready training.out
	start recorder "$CUDA_TRACE" record -a --when error --after 1h -o r.db
	wait_for 30 test -e r.db.part
	wait_for 30 grep -q cupti-usdt /proc/"$training_PID"/maps
	sleep 1
	kill -INT "$recorder_PID"
	finished "$recorder_PID"
	assert_equal "$status" 0
	grep -q 'never became true: no file is written' recorder.err || fail "$(cat recorder.err)"
	nothing
	start recorder "$CUDA_TRACE" record -a --when error --after 1h -o r.db
	wait_for 30 test -e r.db.part
	sleep 1
	: >go
	wait_for 30 grep -q "(--when 'error')" recorder.err
	kill -INT "$recorder_PID"
	finished "$recorder_PID"
	assert_equal "$status" 0
	assert_equal "$(meta r.db TRIGGER_CONDITION)" error
}

@test "record --when late (two ranks, one is late) names it and the communicator" {
	watches --when late --after 200ms -- "$SIM" "$WORKLOADS/ranks" -n 2 -s 4000 -c 500 -l 1 -u 3000
	grep -qE ': rank 1 \(pid [0-9]+\) came last to [0-9]+ of [0-9]+ collectives of communicator [0-9a-f]{16}, on average [0-9.]+ ms after the others' err ||
		fail "$(cat err)"
	assert_equal "$(meta r.db TRIGGER_CONDITION)" late
	watches --when late -f -- "$SIM" "$WORKLOADS/ranks" -n 2 -s 1000 -c 500
	grep -q 'never became true: no file is written' err || fail "$(cat err)"
}

@test "record --when (no condition, no number, options that do not fit) is wrong usage, on one line" {
	local text
	for text in stpe 'steps > 2x' '' 'error,' 'error > 2' latest 'slow step'; do
		run -2 --separate-stderr ct record --when "$text" -p 1
		assert_equal "${#stderr_lines[@]}" 1
		[[ $stderr == "cuda-trace record: --when: '"*"' is none of error, late, step > 1.2x, step > 500ms"* ]] || fail "$text: $stderr"
	done
	run -2 --separate-stderr ct record --when eror -p 1
	[[ $stderr == *"did you mean error?"* ]] || fail "$stderr"
	for text in 'step > 1x' 'step > 0.5x' 'step > 2' 'step >' 'step 2x' 'step > x' 'step > 0ms' 'step > -3x' 'step < 2x' 'step > 1e9x' 'step > 2kg'; do
		run -2 --separate-stderr ct record --when "$text" -p 1
		assert_equal "$stderr" "cuda-trace record: --when: '$text': a step is compared with a factor above 1 (step > 1.2x) or a time (step > 500ms) (see cuda-trace record --help)"
	done
	for text in '--when error --range x' '--when step --steps 3' '--when step --source driver' '--when late --sample 10ms/1s' '--after 2s' \
		'--step-range x' "$(printf -- '--when error %.0s' {1..9})"; do
		# shellcheck disable=SC2086 # several words
		run -2 --separate-stderr ct record $text -p 1
		assert_equal "${#stderr_lines[@]}" 1
	done
}

@test "step_times (ends before beginnings, ranges within others, losses, thousands of steps) has the median of the last 255" {
	cc -D_GNU_SOURCE -I"$TOP" -o times -x c - "$(tool_sources step_times)" <<'C'
#include <stdio.h>
#include "cuda-trace/trigger/step_times.h"
static struct step_times times;
static struct cuda_nvtx range(uint64_t start, uint64_t end, uint32_t tid)
{
	return (struct cuda_nvtx){.start = start, .end = end, .tid = tid};
}
static int begin(uint64_t start, uint32_t tid)
{
	struct cuda_nvtx open = range(start, start, tid);
	step_times__begin(&times, &open);
	return times.is_open;
}
static int end(uint64_t start, uint64_t end, uint32_t tid)
{
	struct cuda_nvtx ended = range(start, end, tid);
	int is_step = step_times__end(&times, &ended);
	if (is_step)
		step_times__add(&times, end - start);
	return is_step;
}
static void say(const char *word)
{
	printf("\n%s", word);
}
static void say_number(int number)
{
	printf(" %d", number);
}
int main(void)
{
	uint64_t now = 1000;
	say("order"), say_number(end(10, 20, 1)), say_number(begin(10, 1));
	say("within"), say_number(begin(30, 1)), say_number(end(32, 35, 1)), say_number(end(30, 40, 1));
	say("beside"), say_number(begin(50, 1)), say_number(begin(55, 2)), say_number(end(50, 60, 1));
	say_number(end(55, 70, 2)), say_number(begin(55, 2));
	say("backwards"), say_number(end(90, 80, 1));
	begin(100, 1);
	say("lost"), say_number(end(110, 120, 1));
	step_times__forget_open(&times);
	say_number(end(110, 120, 1)), say_number(times.steps);
	puts("");
	for (int i = 0; i < 14; i++, now += 100)
		begin(now, 1), end(now, now + (i == 3 ? 90 : 10), 1);
	printf("usual %llu of %u\n", (unsigned long long)step_times__usual(&times), times.count);
	for (int i = 0; i < 3000; i++, now += 100)
		begin(now, 1), end(now, now + 20 + i % 3, 1);
	printf("usual %llu of %u\n", (unsigned long long)step_times__usual(&times), times.count);
	for (uint32_t i = 1; i < times.count; i++)
		if (times.sorted[i] < times.sorted[i - 1])
			printf("not sorted\n");
}
C
	run -0 ./times
	assert_output "
order 1 0
within 1 0 1
beside 1 1 1 0 0
backwards 0
lost 0 1 4
usual 10 of 13
usual 21 of 255"
}
