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

struct attached {
	struct bpf_link *link;
	bool batch;
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

static void drop(struct attachments *attachments, bool batches_only)
{
	int kept = 0;

	for (int i = 0; i < attachments->count; i++) {
		struct attached *attached = &attachments->links[i];

		if (batches_only && !attached->batch)
			attachments->links[kept++] = *attached;
		else
			bpf_link__destroy(attached->link);
	}
	attachments->count = kept;
}

void attachments__drop_batches(struct attachments *attachments)
{
	drop(attachments, true);
}

void attachments__free(struct attachments *attachments)
{
	if (!attachments)
		return;
	drop(attachments, false);
	for (int i = 0; i < attachments->file_count; i++)
		free(attachments->files[i]);
	free(attachments->files);
	free(attachments->links);
	free(attachments);
}

static int keep(struct attachments *attachments, struct bpf_link *link, bool batch)
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
	attachments->links[attachments->count++] = (struct attached){link, batch};
	return 0;
}

static int attach(struct attachments *attachments, const char *name, const char *path,
		  const char *provider, const char *probe, bool batch)
{
	struct bpf_program *program = bpf_object__find_program_by_name(attachments->object, name);
	struct bpf_link *link;

	if (!program)
		return -ENOENT;
	link = bpf_program__attach_usdt(program, -1, path, provider, probe, NULL);
	if (!link)
		return -errno;
	return keep(attachments, link, batch);
}

void attachments__say_hello(struct attachments *attachments)
{
	char probe[16];

	snprintf(probe, sizeof(probe), "hello_%u", attachments->hello++ % CUDA_HELLOS);
	for (int i = 0; i < attachments->file_count; i++)
		attach(attachments, "hello", attachments->files[i], CUDA_PROVIDER, probe, false);
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
		err = attach(attachments, always[i], path, CUDA_PROVIDER, always[i], false);
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
			     true);
		if (err)
			fprintf(stderr, "cuda-trace: no %s:%s in %s (%s): an older library?\n",
				CUDA_PROVIDER, batches[group], shown, strerror(-err));
	}
	snprintf(hello, sizeof(hello), "hello_%u", attachments->hello % CUDA_HELLOS);
	attach(attachments, "hello", path, CUDA_PROVIDER, hello, false);
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
	return keep(attachments, link, false);
}

int attachments__add_selftest(struct attachments *attachments)
{
	return attach(attachments, "selftest", "/proc/self/exe", "cuda_trace", "selftest", false);
}

int attachments__files(const struct attachments *attachments)
{
	return attachments->file_count;
}
