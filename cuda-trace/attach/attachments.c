// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links between programs and probes. Called by the session on the tool's one thread.
 */
#include "cuda-trace/attach/attachments.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/attach/hello_numbers.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/attach/sandboxed.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/stack_probes.h"

enum sort { SORT_OTHER, SORT_BATCH, SORT_STACK, SORT_HELLO };

struct attached {
	struct probe_link *probes; /* or NULL */
	struct bpf_link *link;	   /* of a program that is at no probe, or NULL */
	enum sort sort;
	uint32_t period; /* of stacks */
	uint64_t number; /* of its place */
	char *path;	 /* of the file, or NULL */
};

/* A file, in all processes or in one. */
struct place {
	struct probe_place at; /* with a path of its own */
	uint64_t number;       /* of the process; 0 = all */
};

struct attachments {
	struct bpf_object *object;
	uint32_t groups;
	bool verbose;
	bool ranges_at_once; /* NVTX ranges */
	struct attached *links;
	int count;
	int capacity;
	struct place *places;
	int place_count;
	struct hello_numbers hellos;
	unsigned int hello;	  /* the number that was taken last */
	uint64_t ready;		  /* ns, when all but the answer was there for the last process */
	uint64_t dropped;	  /* number of the process that is being released */
	const char *dropped_path; /* of the file that is */
	uint64_t failures;	  /* places that were not attached to, in whole or in part */
	uint32_t period;	  /* one in so many launches gives its stack; 0 = none */
};

static const char *const batch_probes[] = {
#define BATCH_PROBE(name, probe, text) #probe,
	CUDA_GROUPS(BATCH_PROBE)
#undef BATCH_PROBE
};

void attachments__prepare(struct bpf_object *object, uint32_t groups)
{
	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		if (!(groups >> group & 1))
			bpf_program__set_autoload(
				bpf_object__find_program_by_name(object, batch_probes[group]),
				false);
}

struct attachments *attachments__new(struct bpf_object *object, uint32_t groups, bool verbose)
{
	struct attachments *attachments = calloc(1, sizeof(*attachments));

	if (!attachments)
		return NULL;
	attachments->object = object;
	attachments->groups = groups;
	attachments->verbose = verbose;
	hello_numbers__init(&attachments->hellos);
	attachments->hello = hello_numbers__take(&attachments->hellos);
	return attachments;
}

static void drop(struct attachments *attachments,
		 bool (*is_over)(const struct attachments *, const struct attached *))
{
	int kept = 0;

	for (int i = 0; i < attachments->count; i++) {
		struct attached *attached = &attachments->links[i];

		if (!is_over(attachments, attached)) {
			attachments->links[kept++] = *attached;
			continue;
		}
		probe_link__free(attached->probes);
		bpf_link__destroy(attached->link);
		free(attached->path);
	}
	attachments->count = kept;
}

static bool costs_launches(const struct attachments *attachments, const struct attached *attached)
{
	return attached->sort == SORT_BATCH || attached->sort == SORT_STACK;
}

static bool is_old_period(const struct attachments *attachments, const struct attached *attached)
{
	return attached->sort == SORT_STACK && attached->period != attachments->period;
}

static bool is_of_dropped(const struct attachments *attachments, const struct attached *attached)
{
	return attached->number == attachments->dropped;
}

static bool is_another_hello(const struct attachments *attachments, const struct attached *attached)
{
	return attached->sort == SORT_HELLO;
}

static bool is_of_file(const struct attachments *attachments, const struct attached *attached)
{
	return attached->path && !strcmp(attached->path, attachments->dropped_path);
}

static bool is_any(const struct attachments *attachments, const struct attached *attached)
{
	return true;
}

void attachments__drop_batches(struct attachments *attachments)
{
	if (attachments)
		drop(attachments, costs_launches);
}

void attachments__free(struct attachments *attachments)
{
	if (!attachments)
		return;
	drop(attachments, is_any);
	for (int i = 0; i < attachments->place_count; i++)
		free((char *)attachments->places[i].at.path);
	hello_numbers__free(&attachments->hellos);
	free(attachments->places);
	free(attachments->links);
	free(attachments);
}

static int keep(struct attachments *attachments, struct attached attached)
{
	if (!array_grow__for_one(attachments->links, attachments->capacity, attachments->count)) {
		probe_link__free(attached.probes);
		bpf_link__destroy(attached.link);
		free(attached.path);
		return -ENOMEM;
	}
	attachments->links[attachments->count++] = attached;
	return 0;
}

static int attach(struct attachments *attachments, const struct place *place, const char *provider,
		  const struct probe_wish *wishes, int count, enum sort sort, uint64_t *missing)
{
	struct attached attached = {
		.sort = sort, .period = wishes[0].value, .number = place->number};
	int err = probe_link__new(&attached.probes, attachments->object, &place->at, provider,
				  wishes, count, missing);

	if (err)
		return err;
	attached.path = strdup(place->at.path);
	return keep(attachments, attached);
}

void attachments__say_hello(struct attachments *attachments)
{
	char probe[16];
	const struct probe_wish hello = {"hello", probe, 0};
	uint64_t missing;

	attachments->hello = hello_numbers__take(&attachments->hellos);
	snprintf(probe, sizeof(probe), "hello_%u", attachments->hello);
	for (int i = 0; i < attachments->place_count; i++)
		attach(attachments, &attachments->places[i], CUDA_PROVIDER, &hello, 1, SORT_HELLO,
		       &missing);
}

int attachments__request_flush(struct attachments *attachments)
{
	const struct probe_wish wish = {"hello", "flush", 0};
	int err = 0;

	/* By how many of them are up an agent knows whether others listen. */
	drop(attachments, is_another_hello);
	for (int i = 0; i < attachments->place_count; i++) {
		uint64_t missing = 0;
		int failed = attach(attachments, &attachments->places[i], CUDA_PROVIDER, &wish, 1,
				    SORT_OTHER, &missing);

		if (!failed && missing)
			failed = -ENOENT;
		/* The process may have ended meanwhile. */
		if (failed && failed != -ESRCH)
			err = failed;
	}
	return err;
}

/* Older libraries have no such probe: there are no stacks of their processes then. */
static void attach_stacks(struct attachments *attachments, const struct place *place)
{
	char probe[24], shown[256];
	const struct probe_wish wish = {"stack", probe, attachments->period};
	uint64_t missing;
	int err;

	if (!attachments->period)
		return;
	snprintf(probe, sizeof(probe), "stack_%u", attachments->period);
	err = attach(attachments, place, CUDA_PROVIDER, &wish, 1, SORT_STACK, &missing);
	if (!err && missing)
		err = -ENOENT;
	if (err && err != -ESRCH)
		fprintf(stderr, "cuda-trace: no stacks: no %s:%s in %s (%s): an older library?\n",
			CUDA_PROVIDER, probe,
			foreign_file__show(place->at.path, shown, sizeof(shown)), strerror(-err));
}

void attachments__set_stack_period(struct attachments *attachments, uint32_t period)
{
	if (period == attachments->period)
		return;
	attachments->period = period;
	for (int i = 0; i < attachments->place_count; i++)
		attach_stacks(attachments, &attachments->places[i]);
	drop(attachments, is_old_period);
}

void attachments__send_ranges_at_once(struct attachments *attachments)
{
	attachments->ranges_at_once = true;
}

/* Before the batches, or the first ranges would not be sent at once. */
static void attach_at_once(struct attachments *attachments, const struct place *place,
			   const char *shown)
{
	const struct probe_wish wish = {"hello", "nvtx_open", 0};
	uint64_t missing = 0;
	int err;

	if (!attachments->ranges_at_once)
		return;
	err = attach(attachments, place, CUDA_PROVIDER, &wish, 1, SORT_BATCH, &missing);
	if (!err && missing)
		err = -ENOENT;
	if (err && err != -ESRCH)
		fprintf(stderr,
			"cuda-trace: no windows by NVTX range: no %s:nvtx_open in %s (%s): an "
			"older "
			"library?\n",
			CUDA_PROVIDER, shown, strerror(-err));
}

static struct place *new_place(struct attachments *attachments, const struct probe_place *at,
			       uint64_t number)
{
	struct place *place;

	if (!array_grow__counted(attachments->places, attachments->place_count))
		return NULL;
	place = &attachments->places[attachments->place_count];
	*place = (struct place){*at, number};
	place->at.path = strdup(at->path);
	return place->at.path ? place : NULL;
}

/* Names and states; without them nothing else is worth anything. */
static int attach_always(struct attachments *attachments, const struct place *place,
			 const char *shown)
{
	char hello[16];
	const struct probe_wish wishes[] = {
		{"name", "name", 0},   {"status", "status", 0}, {"lost", "lost", 0},
		{"error", "error", 0}, {"hello", hello, 0},
	};
	uint64_t missing;
	int err;

	snprintf(hello, sizeof(hello), "hello_%u", attachments->hello);
	err = attach(attachments, place, CUDA_PROVIDER, wishes, 5, SORT_OTHER, &missing);
	if (!err && missing & 0xf)
		err = -ENOENT;
	/* The process by which the file was reached may have ended meanwhile: no word of that. */
	if (err && err != -ESRCH && !access(place->at.path, F_OK)) {
		attachments->failures++;
		fprintf(stderr, "cuda-trace: cannot attach to the probes of %s: %s\n", shown,
			err == -EBADMSG ? "their arguments are not where this cuda-trace expects "
					  "them; install the libcupti-usdt of the same version"
					: strerror(-err));
	}
	return err;
}

static void attach_batches(struct attachments *attachments, const struct place *place,
			   const char *shown)
{
	struct probe_wish wishes[CUDA_GROUP_COUNT];
	uint64_t missing;
	int count = 0, err;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		if (attachments->groups >> group & 1)
			wishes[count++] =
				(struct probe_wish){batch_probes[group], batch_probes[group], 0};
	if (!count)
		return;
	err = attach(attachments, place, CUDA_PROVIDER, wishes, count, SORT_BATCH, &missing);
	if (err && err != -ESRCH) {
		attachments->failures++;
		fprintf(stderr, "cuda-trace: cannot attach to the batches of %s: %s\n", shown,
			strerror(-err));
	}
	for (int i = 0; !err && i < count; i++)
		if (missing >> i & 1)
			fprintf(stderr, "cuda-trace: no %s:%s in %s: an older library?\n",
				CUDA_PROVIDER, wishes[i].probe, shown);
}

/* The answer to cuda:start, when all else is there. */
static void attach_watched(struct attachments *attachments, const struct place *place)
{
	const struct probe_wish wish = {"hello", "watched", 0};
	uint64_t missing;

	attachments->ready = monotonic__ns();
	attach(attachments, place, CUDA_PROVIDER, &wish, 1, SORT_OTHER, &missing);
}

static void say_where(const struct place *place, const char *shown)
{
	if (place->number)
		fprintf(stderr, "cuda-trace: watching %s in process %u\n", shown, place->at.pid);
	else
		fprintf(stderr, "cuda-trace: watching %s\n", shown);
}

struct spared {
	struct attachments *attachments;
	const struct place *place;
};

/* Before any other semaphore: the agent looks at this one after it has looked at the others. */
static void spare(void *context, uint32_t pid)
{
	const struct spared *spared = context;
	const struct probe_wish wish = {"hello", "sandboxed", 0};
	struct place place = *spared->place;
	uint64_t missing;
	int err;

	place.at.pid = pid;
	place.at.whose = 0;
	err = multi_link__supported() ? attach(spared->attachments, &place, CUDA_PROVIDER, &wish, 1,
					       SORT_OTHER, &missing)
				      : -EOPNOTSUPP;
	if (err && err != -ESRCH)
		fprintf(stderr,
			"cuda-trace: process %u has restricted its own system calls (seccomp), and "
			"tracing may get it killed: %s\n",
			pid, strerror(-err));
}

int attachments__add(struct attachments *attachments, const struct probe_place *at, uint64_t number)
{
	struct place *place = new_place(attachments, at, number);
	char shown[256];
	int err;

	if (!place)
		return -ENOMEM;
	foreign_file__show(at->path, shown, sizeof(shown));
	sandboxed__each(at->path, at->pid, spare, &(struct spared){attachments, place});
	err = attach_always(attachments, place, shown);
	if (err) {
		free((char *)place->at.path);
		return err;
	}
	attachments->place_count++;
	attach_at_once(attachments, place, shown);
	attach_batches(attachments, place, shown);
	attach_stacks(attachments, place);
	if (number)
		attach_watched(attachments, place);
	if (attachments->verbose)
		say_where(place, shown);
	return 0;
}

void attachments__drop_process(struct attachments *attachments, uint64_t number)
{
	int kept = 0;

	attachments->dropped = number;
	drop(attachments, is_of_dropped);
	for (int i = 0; i < attachments->place_count; i++)
		if (attachments->places[i].number == number)
			free((char *)attachments->places[i].at.path);
		else
			attachments->places[kept++] = attachments->places[i];
	attachments->place_count = kept;
}

void attachments__drop_file(struct attachments *attachments, const char *path)
{
	int kept = 0;

	attachments->dropped_path = path;
	drop(attachments, is_of_file);
	for (int i = 0; i < attachments->place_count; i++)
		if (!strcmp(attachments->places[i].at.path, path))
			free((char *)attachments->places[i].at.path);
		else
			attachments->places[kept++] = attachments->places[i];
	attachments->place_count = kept;
}

int attachments__add_starts(struct attachments *attachments, const char *path)
{
	const struct place place = {.at.path = path};
	const struct probe_wish wishes[] = {{"start", "start", 0},
					    {"start", "cupti_wanted", PROBE_CUPTI_WANTED}};
	uint64_t missing;
	int err = attach(attachments, &place, CUDA_PROVIDER, wishes, 2, SORT_OTHER, &missing);

	return err ? err : missing & 1 ? -ENOENT : 0;
}

int attachments__add_program(struct attachments *attachments, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(attachments->object, name);
	struct bpf_link *link = program ? bpf_program__attach(program) : NULL;

	if (!link) {
		int err = program ? -errno : -ENOENT;

		fprintf(stderr, "cuda-trace: cannot attach %s: %s\n", name, strerror(-err));
		return err;
	}
	return keep(attachments, (struct attached){.link = link});
}

int attachments__add_selftest(struct attachments *attachments, uint32_t pid)
{
	const struct place place = {.at = {.path = "/proc/self/exe", .pid = pid}};
	const struct probe_wish wish = {"selftest", "selftest", 0};
	uint64_t missing;
	int err = attach(attachments, &place, "cuda_trace", &wish, 1, SORT_OTHER, &missing);

	return err ? err : missing ? -ENOENT : 0;
}

uint64_t attachments__ready(const struct attachments *attachments)
{
	return attachments->ready;
}

uint64_t attachments__failures(const struct attachments *attachments)
{
	return attachments->failures;
}

int attachments__places(const struct attachments *attachments)
{
	return attachments->place_count;
}
