// SPDX-License-Identifier: BSD-2-Clause
/*
 * A link a file for the window and one for the period. A new window is attached before the old one
 * is released, so that agents never see none: of two they take the longer.
 */
#include "cuda-trace/attach/sample_switches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/base/array_grow.h"
#include "libcupti-usdt/probes.h"

struct file {
	char *path;
	uint32_t pid;
	uint64_t number; /* of the process; 0 = of every one that maps the file */
	struct probe_link *window, *period;
};

struct switches {
	struct bpf_object *object;
	uint32_t on_ms, every_ms;
	struct file *files;
	int count;
};

struct switches *sample_switches__new(struct bpf_object *object, uint32_t on_ms, uint32_t every_ms)
{
	struct switches *switches = calloc(1, sizeof(*switches));

	if (!switches)
		return NULL;
	switches->object = object;
	switches->on_ms = on_ms;
	switches->every_ms = every_ms;
	return switches;
}

static void drop(struct file *file)
{
	probe_link__free(file->window);
	probe_link__free(file->period);
	free(file->path);
}

void sample_switches__free(struct switches *switches)
{
	if (!switches)
		return;
	for (int i = 0; i < switches->count; i++)
		drop(&switches->files[i]);
	free(switches->files);
	free(switches);
}

static int attach(struct switches *switches, const struct file *file, const char *kind, uint32_t ms,
		  struct probe_link **link)
{
	char probe[32];
	const struct probe_wish wish = {.program = "hello", .probe = probe};
	const struct probe_place place = {.path = file->path, .pid = file->pid};
	uint64_t missing = 0;
	int err;

	snprintf(probe, sizeof(probe), "sample_%s_%u", kind, ms);
	err = probe_link__new(link, switches->object, &place, CUDA_PROVIDER, &wish, 1, &missing);
	if (err || !missing)
		return err;
	probe_link__free(*link);
	*link = NULL;
	return -ENOENT;
}

int sample_switches__add(struct switches *switches, const char *path, uint32_t pid, uint64_t number)
{
	struct file file = {.pid = pid, .number = number};
	int err = -ENOMEM;

	if (!array_grow__counted(switches->files, switches->count))
		return -ENOMEM;
	file.path = strdup(path);
	if (file.path)
		err = attach(switches, &file, "on", switches->on_ms, &file.window);
	if (!err)
		err = attach(switches, &file, "every", switches->every_ms, &file.period);
	if (!err) {
		switches->files[switches->count++] = file;
		return 0;
	}
	probe_link__free(file.window);
	free(file.path);
	return err;
}

void sample_switches__drop_process(struct switches *switches, uint64_t number)
{
	int kept = 0;

	for (int i = 0; i < switches->count; i++)
		if (switches->files[i].number == number)
			drop(&switches->files[i]);
		else
			switches->files[kept++] = switches->files[i];
	switches->count = kept;
}

void sample_switches__drop_file(struct switches *switches, const char *path)
{
	int kept = 0;

	for (int i = 0; i < switches->count; i++)
		if (!strcmp(switches->files[i].path, path))
			drop(&switches->files[i]);
		else
			switches->files[kept++] = switches->files[i];
	switches->count = kept;
}

/* Of a file that went with its process, or of a process that has gone, nobody needs to know. */
static int replace(struct switches *switches, struct file *file, const char *kind, uint32_t ms,
		   struct probe_link **link)
{
	struct probe_link *other;
	int err = attach(switches, file, kind, ms, &other);

	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err;
	probe_link__free(*link);
	*link = other;
	return 0;
}

int sample_switches__set(struct switches *switches, uint32_t on_ms, uint32_t every_ms)
{
	int err = 0;

	for (int i = 0; i < switches->count && !err; i++) {
		struct file *file = &switches->files[i];

		if (on_ms)
			err = replace(switches, file, "on", on_ms, &file->window);
		if (every_ms && !err)
			err = replace(switches, file, "every", every_ms, &file->period);
	}
	if (err)
		return err;
	switches->on_ms = on_ms ? on_ms : switches->on_ms;
	switches->every_ms = every_ms ? every_ms : switches->every_ms;
	return 0;
}
