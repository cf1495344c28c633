// SPDX-License-Identifier: BSD-2-Clause
// idle_path.c on timelines made by hand: which cause each moment gets. Prints the sums in ms, for
// tests/stat/idle.bats.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "cuda-trace/capture/process.h"
#include "cuda-trace/idle/idle_path.h"

#define MS 1000000ull

static const char *const keys[] = {
#define KEY(name, key, text) key,
	IDLE_CAUSES(KEY)
#undef KEY
};

const char *process__pretty_name(struct process *process, uint32_t id)
{
	return id == 7 ? "cuCtxSynchronize" : "cuMemAlloc_v2";
}

static struct idle_timeline *timeline;
static struct idle_known known;

static struct idle_wait wait_of(int call, uint64_t from, uint64_t to)
{
	return (struct idle_wait){
		.kind = IDLE_WAIT,
		.pid = 1,
		.tid = 1,
		.syscall = call,
		.file = -1,
		.state = IDLE_BLOCKED,
		.start = from * MS,
		.end = to * MS,
		.off_ns = (to - from) * MS,
		.count = 1,
	};
}

static struct idle_line *line_of(void)
{
	struct idle_host *host = idle_timeline__host(timeline, 1);

	host->process = (void *)1;
	return idle_timeline__line(timeline, host, 1, true);
}

static void begin(void)
{
	timeline = idle_timeline__new();
	memset(&known, 0, sizeof(known));
	known.timeline = timeline;
	known.scheduler = true;
}

static void add(struct idle_wait wait)
{
	idle_timeline__wait(timeline, &wait, 0);
}

static void call(uint64_t from, uint64_t to, uint32_t name)
{
	idle_timeline__call(timeline, line_of(),
			    &(struct idle_call){from * MS, to * MS, (uint32_t)from, name});
}

static void print(const char *what, uint64_t from, uint64_t to)
{
	struct idle_path path = {};
	struct idle_weight *longest;

	idle_timeline__prepare(timeline);
	idle_path__walk(&path, &known, line_of(), from * MS, to * MS);
	printf("%s:", what);
	for (uint32_t i = 0; i < path.count; i++)
		printf(" %s(%s)=%llu", keys[path.weights[i].cause], path.weights[i].text,
		       (unsigned long long)(path.weights[i].ns / MS));
	longest = idle_path__longest(&path);
	printf(" -> %s, dropped %llu\n", longest ? keys[longest->cause] : "none",
	       (unsigned long long)idle_timeline__dropped(timeline));
	idle_timeline__free(timeline);
}

static void calls_and_waits(void)
{
	struct idle_wait wait = wait_of(SYS_clock_nanosleep, 110, 120);

	begin();
	add(wait_of(SYS_futex, 100, 108));
	add(wait); /* inside of the call: that is the cause */
	call(109, 122, 7);
	call(110, 121, 8); /* nested */
	call(122, 123, IDLE_LAUNCH_CALL);
	print("calls and waits", 100, 125);
}

static void preempted(void)
{
	struct idle_wait wait = wait_of(SYS_futex, 100, 110), off = wait_of(-1, 112, 130);

	begin();
	wait.delay_ns = 6 * MS;
	strcpy(wait.rival.comm, "hog");
	add(wait);
	off.state = IDLE_RUNNABLE;
	off.delay_ns = off.off_ns;
	strcpy(off.other.comm, "hog");
	add(off);
	call(105, 125, 7); /* preempted in it, too */
	print("preempted", 100, 130);
}

static void joined(void)
{
	struct idle_wait wait = wait_of(SYS_futex, 100, 120);

	begin();
	wait.off_ns = 5 * MS;
	add(wait);
	print("joined", 100, 120);
}

static void files(void)
{
	static const mode_t modes[] = {S_IFIFO, S_IFSOCK, S_IFREG, 0};
	struct idle_wait wait;

	begin();
	for (unsigned int i = 0; i < 4; i++) {
		wait = wait_of(SYS_read, 100 + 10 * i, 110 + 10 * i);
		wait.file = 3;
		wait.mode = modes[i];
		strcpy(wait.name, "data\033.bin");
		add(wait);
	}
	add(wait_of(-1, 140, 150));
	wait = wait_of(SYS_ioctl, 150, 160);
	add(wait);
	wait.state = IDLE_DISK;
	wait.start = 160 * MS;
	wait.end = 170 * MS;
	add(wait);
	add(wait_of(SYS_epoll_pwait, 170, 180));
	add(wait_of(499, 180, 190));
	print("files", 100, 190);
}

static void not_known(void)
{
	begin();
	known.scheduler = false;
	call(110, 115, 7);
	print("no scheduler", 100, 120);
	begin();
	known.lossy_count = 1;
	known.lossy[0].from = 90 * MS;
	known.lossy[0].to = 112 * MS;
	add(wait_of(SYS_futex, 100, 105));
	add(wait_of(SYS_futex, 115, 118));
	print("lost waits", 100, 120);
	begin();
	add(wait_of(SYS_futex, 500, 505));
	print("not seen before", 100, 120);
	begin();
	known.threads_left_out = true;
	print("no place for the thread", 100, 120);
}

/* Its number is used again, or its clock is nonsense. */
static void impossible(void)
{
	begin();
	add(wait_of(SYS_futex, 100, 110));
	add(wait_of(SYS_futex, 105, 120));
	add(wait_of(SYS_futex, 130, 125));
	print("impossible", 100, 120);
}

int main(void)
{
	calls_and_waits();
	preempted();
	joined();
	files();
	not_known();
	impossible();
	return 0;
}
