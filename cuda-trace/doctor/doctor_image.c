// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads what an image is: its distribution, its CUDA and how much of it. Files decide, package
 * names only help: a COPY of another stage leaves no package behind. Called by cmd_doctor and
 * doctor_advice; one thread.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/doctor/doctor_image.h"
#include "cuda-trace/inventory/cuda_release.h"

struct finder {
	struct image *image;
	struct filetree *tree;
	uint16_t machine;
	bool found;
};

static void unquote(char *value)
{
	size_t n = strlen(value);

	if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
		memmove(value, value + 1, n - 2);
		value[n - 2] = '\0';
	}
}

static void read_release(const struct filetree *tree, struct image *image)
{
	struct {
		const char *key;
		char *value;
		size_t size;
	} fields[] = {
		{"ID=", image->id, sizeof(image->id)},
		{"VERSION_ID=", image->version, sizeof(image->version)},
		{"PRETTY_NAME=", image->name, sizeof(image->name)},
	};
	FILE *file = filetree__stream(tree, "/etc/os-release");
	char line[256];
	size_t i;

	file = file ?: filetree__stream(tree, "/usr/lib/os-release");
	while (file && filetree__line(file, line, sizeof(line))) {
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			if (strncmp(line, fields[i].key, strlen(fields[i].key)))
				continue;
			snprintf(fields[i].value, fields[i].size, "%s",
				 line + strlen(fields[i].key));
			unquote(fields[i].value);
		}
	}
	if (file)
		fclose(file);
}

static int found(void *context, const char *path)
{
	((struct finder *)context)->found = true;
	return 1;
}

static bool any(struct filetree *tree, const char *const patterns[], size_t count)
{
	struct finder finder = {.tree = tree};
	size_t i;

	for (i = 0; i < count && !finder.found; i++)
		filetree__glob(tree, patterns[i], found, &finder);
	return finder.found;
}

/* The highest release of the toolkits that are there. */
static int note_toolkit(void *context, const char *path)
{
	struct finder *finder = context;
	struct image *image = finder->image;
	unsigned int major, minor;

	if (!release__after(path, "/cuda-", '.', &major, &minor) || major < image->cuda_major ||
	    (major == image->cuda_major && minor <= image->cuda_minor && image->minor_known))
		return 0;
	image->cuda_major = major;
	image->cuda_minor = minor;
	image->minor_known = true;
	snprintf(image->cudart, sizeof(image->cudart), "%s", path);
	return 0;
}

static int note_cudart(void *context, const char *path)
{
	struct finder *finder = context;
	struct image *image = finder->image;
	unsigned int major = choice__major(path, "libcudart");

	if (!major || image->cuda_major)
		return 0;
	image->cuda_major = major;
	image->wheel = strstr(path, "-packages/") != NULL;
	snprintf(image->cudart, sizeof(image->cudart), "%s", path);
	return 1;
}

static void find_cudart(struct filetree *tree, struct image *image)
{
	static const char *const toolkits[] = {
		"/usr/local/cuda-*/targets/*/lib/libcudart.so.*",
		"/usr/local/cuda-*/lib64/libcudart.so.*",
		"/opt/cuda-*/lib64/libcudart.so.*",
	};
	static const char *const others[] = {
		"/usr/local/cuda/lib64/libcudart.so.*",
		"/opt/cuda/lib64/libcudart.so.*",
		"/usr/lib/*-linux-gnu*/libcudart.so.*",
		"/usr/lib64/libcudart.so.*",
		"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcudart.so.*",
		"/usr/lib/python3*/*-packages/nvidia/*/lib/libcudart.so.*",
		"/opt/*/lib/python3*/site-packages/nvidia/*/lib/libcudart.so.*",
		"/*/lib/python3*/site-packages/nvidia/*/lib/libcudart.so.*",
		"/*/*/lib/python3*/site-packages/nvidia/*/lib/libcudart.so.*",
		"/opt/conda/lib/libcudart.so.*",
	};
	struct finder finder = {.image = image, .tree = tree};
	size_t i;

	for (i = 0; i < sizeof(toolkits) / sizeof(toolkits[0]); i++)
		filetree__glob(tree, toolkits[i], note_toolkit, &finder);
	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !image->cuda_major; i++)
		filetree__glob(tree, others[i], note_cudart, &finder);
}

/* "cuda" : { "name" : "CUDA SDK", "version" : "12.4.1" } */
static void read_full_version(const struct filetree *tree, struct image *image)
{
	char path[96], text[8192], *at;

	snprintf(path, sizeof(path), "/usr/local/cuda-%u.%u/version.json", image->cuda_major % 1000,
		 image->cuda_minor % 1000);
	if (filetree__read(tree, path, text, sizeof(text)) <= 0)
		return;
	at = strstr(text, "\"cuda\"");
	at = at ? strstr(at, "\"version\"") : NULL;
	at = at ? strchr(at + strlen("\"version\""), '"') : NULL;
	if (at && strspn(at + 1, "0123456789.") < sizeof(image->cuda_full))
		snprintf(image->cuda_full, sizeof(image->cuda_full), "%.*s",
			 (int)strspn(at + 1, "0123456789."), at + 1);
}

static enum flavour find_flavour(struct filetree *tree, const struct image *image)
{
	static const char *const devel[] = {"/usr/local/cuda*/bin/nvcc", "/usr/bin/nvcc",
					    "/opt/cuda*/bin/nvcc"};
	static const char *const runtime[] = {
		"/usr/local/cuda*/targets/*/lib/libcublas.so.*",
		"/usr/local/cuda*/lib64/libcublas.so.*",
		"/usr/lib/*-linux-gnu*/libcublas.so.*",
		"/usr/local/cuda*/targets/*/lib/libnpp*.so.*",
		"/usr/lib64/libcublas.so.*",
	};

	if (any(tree, devel, sizeof(devel) / sizeof(devel[0])))
		return FLAVOUR_DEVEL;
	if (any(tree, runtime, sizeof(runtime) / sizeof(runtime[0])))
		return FLAVOUR_RUNTIME;
	return *image->cudart ? FLAVOUR_BASE : FLAVOUR_NONE;
}

void image__read(struct filetree *tree, struct image *image)
{
	static const char *const musl[] = {"/lib/ld-musl-*.so.1"};
	static const char *const torch[] = {
		"/usr/local/lib/python3*/*-packages/torch/__init__.py",
		"/usr/lib/python3*/*-packages/torch/__init__.py",
		"/opt/*/lib/python3*/site-packages/torch/__init__.py",
		"/*/lib/python3*/site-packages/torch/__init__.py",
		"/*/*/lib/python3*/site-packages/torch/__init__.py",
	};

	memset(image, 0, sizeof(*image));
	read_release(tree, image);
	image->musl = any(tree, musl, 1) &&
		      !filetree__exists(tree, "/lib64/ld-linux-x86-64.so.2") &&
		      !filetree__exists(tree, "/lib/ld-linux-aarch64.so.1");
	image->redhat = filetree__exists(tree, "/usr/bin/dnf") ||
			filetree__exists(tree, "/usr/bin/yum") ||
			filetree__exists(tree, "/usr/bin/microdnf");
	find_cudart(tree, image);
	read_full_version(tree, image);
	image->flavour = find_flavour(tree, image);
	image->torch = any(tree, torch, sizeof(torch) / sizeof(torch[0]));
}

static int note_machine(void *context, const char *path)
{
	struct finder *finder = context;
	struct elf_facts facts;
	int fd = filetree__file(finder->tree, path, NULL);

	if (fd < 0)
		return 0;
	elf__inspect(fd, NULL, 0, &facts);
	close(fd);
	finder->machine = facts.machine;
	return facts.machine != EM_NONE;
}

uint16_t image__machine(struct filetree *tree)
{
	/* The loader, the C library, a shell: what any image has, links included. */
	static const char *const files[] = {
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/ld-linux-aarch64.so.1",
		"/usr/lib/*-linux-gnu/libc.so.6",
		"/lib/ld-musl-*.so.1",
		"/bin/sh",
		"/usr/bin/env",
	};
	struct finder finder = {.tree = tree};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !finder.machine; i++)
		filetree__glob(tree, files[i], note_machine, &finder);
	return finder.machine;
}
