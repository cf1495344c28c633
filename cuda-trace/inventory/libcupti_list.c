// SPDX-License-Identifier: BSD-2-Clause
/*
 * The list of libcupti files. libcupti_paths.c says where to look, libcupti_check.c what each is
 * worth. One thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/inventory/packages.h"

static const char *const source_keys[] = {
#define KEY(name, key, text) key,
	LIBRARY_SOURCES(KEY)
#undef KEY
};
static const char *const source_texts[] = {
#define TEXT(name, key, text) text,
	LIBRARY_SOURCES(TEXT)
#undef TEXT
};
static const char *const verdict_keys[] = {
#define KEY(name, key, text) key,
	LIBRARY_VERDICTS(KEY)
#undef KEY
};
static const char *const verdict_texts[] = {
#define TEXT(name, key, text) text,
	LIBRARY_VERDICTS(TEXT)
#undef TEXT
};

const char *library__source_key(enum library_source source)
{
	return source_keys[source];
}

const char *library__source_text(enum library_source source)
{
	return source_texts[source];
}

const char *library__verdict_key(enum library_verdict verdict)
{
	return verdict_keys[verdict];
}

const char *library__verdict_text(enum library_verdict verdict)
{
	return verdict_texts[verdict];
}

const char *library__cuda(const struct library *library, char out[16])
{
	if (!library->cuda_major)
		snprintf(out, 16, "unknown");
	else if (library->minor_known)
		snprintf(out, 16, "%u.%u", library->cuda_major % 1000, library->cuda_minor % 1000);
	else
		snprintf(out, 16, "%u", library->cuda_major % 1000);
	return out;
}

/* More than any real machine has: a hostile tree must not make the doctor slow or big. */
#define LIBRARIES_MAX 4096
#define NAMES_MAX     64

static int append(char ***list, size_t *count, const char *text)
{
	size_t i;

	if (*count >= NAMES_MAX)
		return -E2BIG;
	for (i = 0; i < *count; i++)
		if (!strcmp((*list)[i], text))
			return 0;
	if (!array_grow__counted(*list, *count))
		return -ENOMEM;
	(*list)[*count] = strdup(text);
	*count += (*list)[*count] != NULL;
	return 0;
}

void libraries__add_header(struct libraries *libraries, const char *path)
{
	char real[FILETREE_PATH_MAX];

	if (!filetree__resolve(libraries->tree, path, real, sizeof(real)))
		append(&libraries->headers, &libraries->header_count, real);
}

struct library *libraries__by_file(const struct libraries *libraries, uint64_t dev, uint64_t ino)
{
	size_t i;

	for (i = 0; i < libraries->count; i++)
		if (ino && libraries->list[i]->ino == ino && libraries->list[i]->dev == dev)
			return libraries->list[i];
	return NULL;
}

static struct library *by_path(const struct libraries *libraries, const char *path)
{
	struct library *library;
	size_t i, k;

	for (i = 0; i < libraries->count; i++) {
		library = libraries->list[i];
		if (!strcmp(library->path, path))
			return library;
		for (k = 0; k < library->name_count; k++)
			if (!strcmp(library->names[k], path))
				return library;
	}
	return NULL;
}

static struct library *append_library(struct libraries *libraries, const char *path)
{
	struct library *library;

	if (libraries->count >= LIBRARIES_MAX) {
		libraries->crowded = true;
		return NULL;
	}
	if (!array_grow__counted(libraries->list, libraries->count))
		return NULL;
	library = calloc(1, sizeof(*library));
	if (!library)
		return NULL;
	library->path = strdup(path);
	if (!library->path) {
		free(library);
		return NULL;
	}
	libraries->list[libraries->count++] = library;
	return library;
}

struct library *libraries__add(struct libraries *libraries, const char *path,
			       enum library_source source)
{
	struct library *library = by_path(libraries, path);
	char real[FILETREE_PATH_MAX];
	struct stat st;
	int fd;

	if (library || filetree__exhausted(libraries->tree))
		return library;
	fd = filetree__file(libraries->tree, path, &st);
	if (fd >= 0) {
		library = libraries__by_file(libraries, st.st_dev, st.st_ino);
		if (library) {
			append(&library->names, &library->name_count, path);
			close(fd);
			return library;
		}
	}
	library = append_library(libraries, path);
	if (!library)
		goto out;
	library->source = source;
	if (fd < 0) {
		library__unopened(library, libraries, fd);
		return library;
	}
	if (!filetree__resolve(libraries->tree, path, real, sizeof(real)))
		library->real = strdup(real);
	library->dev = st.st_dev;
	library->ino = st.st_ino;
	library->size = st.st_size;
	library->uid = st.st_uid;
	library->mode = st.st_mode;
	library__inspect(library, libraries, fd);
out:
	if (fd >= 0)
		close(fd);
	return library;
}

struct library *libraries__at(struct libraries *libraries, const char *path)
{
	struct library *library;
	struct stat st;
	int fd;

	fd = filetree__path(libraries->tree, path, false);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	close(fd);
	library = libraries__by_file(libraries, st.st_dev, st.st_ino);
	if (!library)
		library = libraries__add(libraries, path, LIBRARY_SOURCE_OTHER);
	if (library && !library->checked)
		libcupti_check__run(library, libraries);
	return library;
}

void libraries__check(struct libraries *libraries)
{
	size_t i;

	for (i = 0; i < libraries->count; i++)
		if (!libraries->list[i]->checked)
			libcupti_check__run(libraries->list[i], libraries);
}

unsigned int libraries__usable(const struct libraries *libraries)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < libraries->count; i++)
		n += libraries->list[i]->verdict == LIBRARY_USABLE;
	return n;
}

void libraries__free(struct libraries *libraries)
{
	struct library *library;
	size_t i, k;

	for (i = 0; i < libraries->count; i++) {
		library = libraries->list[i];
		for (k = 0; k < library->name_count; k++)
			free(library->names[k]);
		free(library->names);
		free(library->path);
		free(library->real);
		free(library);
	}
	for (i = 0; i < libraries->header_count; i++)
		free(libraries->headers[i]);
	free(libraries->headers);
	packages__free(libraries->packages);
	free(libraries->list);
}
