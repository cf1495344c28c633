// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links between programs and probes. Called by the session on the tool's one thread.
 */
#include "cuda-trace/attachments.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/text.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/stack_probes.h"

enum sort { SORT_OTHER, SORT_BATCH, SORT_STACK };

struct attached {
	struct bpf_link *link;
	enum sort sort;
	uint32_t period; /* of stacks */
};

struct attachments {
	struct bpf_object *object;
	uint32_t groups;
	bool verbose;
	struct attached *links;
	int count;
	int room;
	char **files;
	int file_count;
	unsigned int hello; /* which of the bells is next */
	uint32_t period;    /* one in so many launches gives its stack; 0 = none */
};

static const char *const always[] = {"name", "status", "lost", "error"};

static const char *const batches[] = {
#define BATCH_PROBE(name, probe, text) #probe,
	CUDA_GROUPS(BATCH_PROBE)
#undef BATCH_PROBE
};

struct attachments *attachments__new(struct bpf_object *object, uint32_t groups, bool verbose)
{
	struct attachments *attachments = calloc(1, sizeof(*attachments));

	if (!attachments)
		return NULL;
	attachments->object = object;
	attachments->groups = groups;
	attachments->verbose = verbose;
	/* Tools that run at the same time should not pull the same one. */
	attachments->hello = getpid();
	return attachments;
}

static void drop(struct attachments *attachments,
		 bool (*is_over)(const struct attachments *, const struct attached *))
{
	int kept = 0;

	for (int i = 0; i < attachments->count; i++) {
		struct attached *attached = &attachments->links[i];

		if (is_over(attachments, attached))
			bpf_link__destroy(attached->link);
		else
			attachments->links[kept++] = *attached;
	}
	attachments->count = kept;
}

static bool costs_launches(const struct attachments *attachments, const struct attached *attached)
{
	return attached->sort != SORT_OTHER;
}

static bool is_old_period(const struct attachments *attachments, const struct attached *attached)
{
	return attached->sort == SORT_STACK && attached->period != attachments->period;
}

static bool is_any(const struct attachments *attachments, const struct attached *attached)
{
	return true;
}

void attachments__drop_batches(struct attachments *attachments)
{
	drop(attachments, costs_launches);
}

void attachments__free(struct attachments *attachments)
{
	if (!attachments)
		return;
	drop(attachments, is_any);
	for (int i = 0; i < attachments->file_count; i++)
		free(attachments->files[i]);
	free(attachments->files);
	free(attachments->links);
	free(attachments);
}

static int keep(struct attachments *attachments, struct bpf_link *link, enum sort sort,
		uint32_t period)
{
	if (attachments->count == attachments->room) {
		int room = attachments->room ? attachments->room * 2 : 16;
		struct attached *larger = reallocarray(attachments->links, room, sizeof(*larger));

		if (!larger) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		attachments->links = larger;
		attachments->room = room;
	}
	attachments->links[attachments->count++] = (struct attached){link, sort, period};
	return 0;
}

static int attach(struct attachments *attachments, const char *name, const char *path,
		  const char *provider, const char *probe, enum sort sort, uint32_t period)
{
	LIBBPF_OPTS(bpf_usdt_opts, options, .usdt_cookie = period);
	struct bpf_program *program = bpf_object__find_program_by_name(attachments->object, name);
	struct bpf_link *link;

	if (!program)
		return -ENOENT;
	link = bpf_program__attach_usdt(program, -1, path, provider, probe, &options);
	if (!link)
		return -errno;
	return keep(attachments, link, sort, period);
}

void attachments__say_hello(struct attachments *attachments)
{
	char probe[16];

	snprintf(probe, sizeof(probe), "hello_%u", attachments->hello++ % CUDA_HELLOS);
	for (int i = 0; i < attachments->file_count; i++)
		attach(attachments, "hello", attachments->files[i], CUDA_PROVIDER, probe,
		       SORT_OTHER, 0);
}

/* Older libraries have no such probe: there are no stacks of their processes then. */
static int attach_stacks(struct attachments *attachments, const char *path)
{
	char probe[24], shown[256];
	int err;

	if (!attachments->period)
		return 0;
	snprintf(probe, sizeof(probe), "stack_%u", attachments->period);
	err = attach(attachments, "stack", path, CUDA_PROVIDER, probe, SORT_STACK,
		     attachments->period);
	if (err)
		fprintf(stderr, "cuda-trace: no stacks: no %s:%s in %s (%s): an older library?\n",
			CUDA_PROVIDER, probe, text__show(shown, sizeof(shown), path, 200),
			strerror(-err));
	return err;
}

int attachments__take_stacks(struct attachments *attachments, uint32_t period)
{
	int err = 0;

	if (period == attachments->period)
		return 0;
	attachments->period = period;
	for (int i = 0; i < attachments->file_count && !err; i++)
		err = attach_stacks(attachments, attachments->files[i]);
	drop(attachments, is_old_period);
	return err;
}

static int remember_file(struct attachments *attachments, const char *path)
{
	char **larger = reallocarray(attachments->files, attachments->file_count + 1,
				     sizeof(*attachments->files));

	if (!larger)
		return -ENOMEM;
	attachments->files = larger;
	larger[attachments->file_count] = strdup(path);
	if (!larger[attachments->file_count])
		return -ENOMEM;
	attachments->file_count++;
	return 0;
}

int attachments__add_file(struct attachments *attachments, const char *path)
{
	char shown[256], hello[16];
	int err;

	text__show(shown, sizeof(shown), path, 200);
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		err = attach(attachments, always[i], path, CUDA_PROVIDER, always[i], SORT_OTHER, 0);
		if (err) {
			fprintf(stderr, "cuda-trace: cannot attach to %s:%s of %s: %s\n",
				CUDA_PROVIDER, always[i], shown, strerror(-err));
			return err;
		}
	}
	for (int group = 0; group < CUDA_GROUP_COUNT; group++) {
		if (!(attachments->groups >> group & 1))
			continue;
		err = attach(attachments, batches[group], path, CUDA_PROVIDER, batches[group],
			     SORT_BATCH, 0);
		if (err)
			fprintf(stderr, "cuda-trace: no %s:%s in %s (%s): an older library?\n",
				CUDA_PROVIDER, batches[group], shown, strerror(-err));
	}
	snprintf(hello, sizeof(hello), "hello_%u", attachments->hello % CUDA_HELLOS);
	attach(attachments, "hello", path, CUDA_PROVIDER, hello, SORT_OTHER, 0);
	attach_stacks(attachments, path);
	if (attachments->verbose)
		fprintf(stderr, "cuda-trace: watching %s\n", shown);
	return remember_file(attachments, path);
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
	return keep(attachments, link, SORT_OTHER, 0);
}

int attachments__add_selftest(struct attachments *attachments)
{
	return attach(attachments, "selftest", "/proc/self/exe", "cuda_trace", "selftest",
		      SORT_OTHER, 0);
}

int attachments__files(const struct attachments *attachments)
{
	return attachments->file_count;
}
