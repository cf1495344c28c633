// SPDX-License-Identifier: BSD-2-Clause
// A program that profiles itself in sessions through CUPTI, as torch.profiler and jax.profiler do,
// and prints how many of its kernels it saw. It knows nothing of libcupti-usdt: its CUPTI is what
// dlopen() finds. Like those, it allocates its buffers and frees what is handed back to it.
#include <dlfcn.h>
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/simcuda/cupti.h"
#include "tests/workloads/program.h"

static const char help[] =
	"usage: profiler-client [OPTION...]\n"
	"Says \"ready\", then profiles itself in sessions and launches kernels in and between "
	"them.\n"
	"  -s, --sessions N   sessions (3)\n"
	"  -n, --launches N   launches in each session (100)\n"
	"  -o, --outside N    launches between two sessions (0)\n"
	"  -g, --gap MS       rest between two sessions (0)\n"
	"  -w, --until MS     wait after each session until another client has subscribed, so long "
	"at most (0)\n"
	"  -d, --during MS    rest in a session, after its launches (0)\n"
	"  -m, --mode MODE    unsubscribe: subscribes for each session (default)\n"
	"                     keep: subscribes once and never unsubscribes\n"
	"                     activity: uses the activity API without subscribing\n"
	"                     none: launches only\n"
	"  -b, --before MS    launches all the time, for so long, before the first session (0)\n"
	"  -a, --after MS     the same after the last session (0)\n"
	"  -l, --last US      each kernel of the time before takes so long (0)\n"
	"  -c, --copy PATH    the libcupti to use (libcupti.so.13)\n";

static struct {
	uint64_t sessions, launches, outside, gap, during, until_ms, before, after, last;
	const char *mode, *copy;
} settings = {.sessions = 3, .launches = 100, .mode = "unsubscribe", .copy = "libcupti.so.13"};

#define X(name) static __typeof__(&cupti##name) name;
#define FUNCTIONS(X)                 \
	X(Subscribe)                 \
	X(Unsubscribe)               \
	X(EnableCallback)            \
	X(ActivityRegisterCallbacks) \
	X(ActivityEnable) X(ActivityDisable) X(ActivityFlushAll) X(ActivityGetNextRecord)
FUNCTIONS(X)
#undef X
static __typeof__(&simcuptiIsSubscribed) is_subscribed;

#define BUFFERS	     1024
#define BUFFER_BYTES (64 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffers[BUFFERS];
static _Atomic uint64_t seen, foreign, refused, callbacks, slowest;
static struct program program;
static CUfunction empty, spin;
static CUpti_SubscriberHandle subscriber;

static void new_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*records = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUFFERS; i++)
		if (!buffers[i]) {
			buffers[i] = *buffer;
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* A real client would free memory of others here. */
static bool is_mine(const uint8_t *buffer)
{
	bool mine = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUFFERS && !mine; i++)
		if (buffers[i] == buffer) {
			buffers[i] = NULL;
			mine = true;
		}
	pthread_mutex_unlock(&lock);
	return mine;
}

static void return_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			  size_t valid)
{
	CUpti_Activity *record = NULL;

	if (!is_mine(buffer)) {
		foreign++;
		return;
	}
	while (!ActivityGetNextRecord(buffer, valid, &record))
		if (record->kind == CUPTI_KIND_CONCURRENT_KERNEL)
			seen++;
	free(buffer);
}

static void on_callback(void *data, int domain, uint32_t cbid, const void *about)
{
	callbacks++;
}

static void open_cupti(void)
{
	void *library = dlopen(settings.copy, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		program__fail("%s", dlerror());
#define X(name)                                                 \
	name = (__typeof__(name))dlsym(library, "cupti" #name); \
	if (!name)                                              \
		program__fail("no cupti" #name);
	FUNCTIONS(X)
#undef X
	is_subscribed = (__typeof__(is_subscribed))dlsym(library, "simcuptiIsSubscribed");
}

static void rest(uint64_t ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void launch(uint64_t count)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};

	while (count--)
		program__check(counted__launch(empty, &shape, NULL, NULL), "cuLaunchKernel");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
}

/* The last kernel is under way when it returns. */
static void launch_for(uint64_t ms)
{
	static const struct shape shape = {{1, 1, 1}, {1, 1, 1}, 0};
	uint64_t until = program__now() + ms * 1000000, ns = settings.last * 1000;
	void *parameters[] = {&ns};

	while (program__now() < until) {
		if (settings.last)
			program__check(counted__launch(spin, &shape, NULL, parameters), "spin");
		else
			program__check(counted__launch(empty, &shape, NULL, NULL), "empty");
		rest(1);
	}
}

static void wait_for_another(void)
{
	for (uint64_t ms = 0; ms < settings.until_ms && is_subscribed && !is_subscribed(); ms += 10)
		rest(10);
}

static bool is_mode(const char *mode)
{
	return !strcmp(settings.mode, mode);
}

static void note(CUptiResult result)
{
	if (result)
		refused++;
}

static void begin(void)
{
	uint64_t before = program__now();

	if (is_mode("unsubscribe") || (is_mode("keep") && !subscriber)) {
		note(Subscribe(&subscriber, on_callback, NULL));
		if (subscriber)
			note(EnableCallback(1, subscriber, 1, 307));
	}
	note(ActivityRegisterCallbacks(new_buffer, return_buffer));
	note(ActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL));
	before = program__now() - before;
	if (before > slowest)
		slowest = before;
}

static void end(void)
{
	note(ActivityDisable(CUPTI_KIND_CONCURRENT_KERNEL));
	note(ActivityFlushAll(1));
	if (is_mode("unsubscribe") && subscriber) {
		note(Unsubscribe(subscriber));
		subscriber = NULL;
	}
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"sessions", 1, NULL, 's'}, {"launches", 1, NULL, 'n'}, {"outside", 1, NULL, 'o'},
		{"gap", 1, NULL, 'g'},	    {"during", 1, NULL, 'd'},	{"mode", 1, NULL, 'm'},
		{"before", 1, NULL, 'b'},   {"after", 1, NULL, 'a'},	{"last", 1, NULL, 'l'},
		{"copy", 1, NULL, 'c'},	    {"until", 1, NULL, 'w'},	{NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "s:n:o:g:d:m:b:a:l:c:w:", options, NULL)) >= 0) {
		uint64_t *number = option == 's'   ? &settings.sessions
				   : option == 'n' ? &settings.launches
				   : option == 'o' ? &settings.outside
				   : option == 'g' ? &settings.gap
				   : option == 'd' ? &settings.during
				   : option == 'w' ? &settings.until_ms
				   : option == 'b' ? &settings.before
				   : option == 'a' ? &settings.after
				   : option == 'l' ? &settings.last
						   : NULL;

		if (number)
			*number = program__number(optarg, "option");
		else if (option == 'm')
			settings.mode = optarg;
		else if (option == 'c')
			settings.copy = optarg;
		else
			fputs(help, stderr), exit(2);
	}
}

int main(int argc, char **argv)
{
	uint64_t inside = 0;

	parse(argc, argv);
	program__start(&program);
	empty = program__kernel(&program, "empty");
	spin = program__kernel(&program, "spin");
	open_cupti();
	launch(1);
	puts("ready");
	fflush(stdout);
	launch_for(settings.before);
	for (uint64_t i = 0; i < settings.sessions && !is_mode("none"); i++) {
		begin();
		launch(settings.launches);
		inside += settings.launches;
		rest(settings.during);
		end();
		launch(settings.outside);
		rest(settings.gap);
		wait_for_another();
	}
	launch_for(settings.after);
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__also("sessions", settings.sessions);
	program__also("profiled", inside);
	program__also("seen", seen);
	program__also("callbacks", callbacks);
	program__also("refused", refused);
	program__also("foreign", foreign);
	program__also("slowest_us", slowest / 1000);
	program__expect();
	return 0;
}
