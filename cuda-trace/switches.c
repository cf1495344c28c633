// SPDX-License-Identifier: BSD-2-Clause
/*
 * A link a file for the window and one for the period. A new window is attached before the old one
 * is let go, so that guests never see none: of two they take the longer.
 */
#include "cuda-trace/switches.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "libcupti-usdt/probes.h"

struct file {
	char *path;
	struct bpf_link *window, *period;
};

struct switches {
	struct bpf_object *object;
	uint32_t on_ms, every_ms;
	struct file *files;
	int count;
};

struct switches *switches__new(struct bpf_object *object, uint32_t on_ms, uint32_t every_ms)
{
	struct switches *switches = calloc(1, sizeof(*switches));

	if (!switches)
		return NULL;
	switches->object = object;
	switches->on_ms = on_ms;
	switches->every_ms = every_ms;
	return switches;
}

void switches__free(struct switches *switches)
{
	if (!switches)
		return;
	for (int i = 0; i < switches->count; i++) {
		bpf_link__destroy(switches->files[i].window);
		bpf_link__destroy(switches->files[i].period);
		free(switches->files[i].path);
	}
	free(switches->files);
	free(switches);
}

static struct bpf_link *attach(struct switches *switches, const char *path, const char *kind,
			       uint32_t ms)
{
	char probe[32];

	snprintf(probe, sizeof(probe), "sample_%s_%u", kind, ms);
	return bpf_program__attach_usdt(bpf_object__find_program_by_name(switches->object, "hello"),
					-1, path, CUDA_PROVIDER, probe, NULL);
}

int switches__add_file(struct switches *switches, const char *path)
{
	struct file *larger = reallocarray(switches->files, switches->count + 1, sizeof(*larger));
	struct file file = {};

	if (!larger)
		return -ENOMEM;
	switches->files = larger;
	file.path = strdup(path);
	file.window = file.path ? attach(switches, path, "on", switches->on_ms) : NULL;
	file.period = file.window ? attach(switches, path, "every", switches->every_ms) : NULL;
	if (file.period) {
		larger[switches->count++] = file;
		return 0;
	}
	bpf_link__destroy(file.window);
	free(file.path);
	return errno ? -errno : -ENOENT;
}

int switches__set_window(struct switches *switches, uint32_t on_ms)
{
	for (int i = 0; i < switches->count; i++) {
		struct file *file = &switches->files[i];
		struct bpf_link *window = attach(switches, file->path, "on", on_ms);

		if (!window)
			return errno ? -errno : -ENOENT;
		bpf_link__destroy(file->window);
		file->window = window;
	}
	switches->on_ms = on_ms;
	return 0;
}
