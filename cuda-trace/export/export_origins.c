// SPDX-License-Identifier: BSD-2-Clause
/*
 * What can go wrong: frames are those of any program, so a path is what is found, and nothing where
 * nothing is. The innermost operator is the one that launched the kernel: it is what PyTorch's
 * profiler links the kernel to.
 */
#include "cuda-trace/export/export_origins.h"
#include <stdio.h>
#include <string.h>
#include "cuda-trace/export/export_frames.h"

static const char *const names[] = {
	[REPORT_BY_NONE] = "",	   [REPORT_BY_OPERATOR] = "operator", [REPORT_BY_MODULE] = "module",
	[REPORT_BY_LINE] = "line", [REPORT_BY_RANGE] = "range",	      [REPORT_BY_KERNEL] = "kernel",
};

const char *export_origins__name(enum report_by by)
{
	return names[by];
}

enum report_by export_origins__parse(const char *name)
{
	for (size_t i = REPORT_BY_NONE + 1; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return i;
	return REPORT_BY_NONE;
}

/* Within the outermost one before: recursion and redispatches are one. */
static void add_name(struct origin_path *path, const char *name, size_t length)
{
	char *to;

	if (path->count && strlen(path->names[path->count - 1]) == length &&
	    !memcmp(path->names[path->count - 1], name, length))
		return;
	if (path->count == ORIGIN_DEPTH) {
		memmove(path->names[0], path->names[1], sizeof(path->names) - ORIGIN_NAME);
		path->count--;
	}
	to = path->names[path->count++];
	snprintf(to, ORIGIN_NAME, "%.*s", (int)length, name);
}

/*
 * The frame whose line is the program's own. Text that was executed ("<string>") is the program
 * (python -c) where no package called it: packages make functions of text, too (Triton). A program
 * may itself be an installed package (vllm serve): then the line is of the package that the
 * outermost frame belongs to. Otherwise it is the innermost line. SIZE_MAX = no frame has a line.
 */
static size_t own_frame(const char *const *frames, const struct chain_place *places, size_t count)
{
	const char *package = NULL;
	size_t package_length = 0, innermost = SIZE_MAX, of_package = SIZE_MAX, of_text = SIZE_MAX;
	struct python_frame python;

	for (size_t i = 0; i < count; i++) {
		if (!export_frames__python(frames[i], places[i].module, &python) || !python.line)
			continue;
		if (!strcmp(places[i].module, "<string>")) {
			of_text = of_text == SIZE_MAX ? i : of_text;
			continue;
		}
		if (!export_frames__is_library(places[i].module))
			return i;
		if (innermost == SIZE_MAX)
			innermost = i;
		if (export_frames__package(places[i].module)) {
			package = places[i].module;
			package_length = export_frames__package(package);
			of_text = SIZE_MAX;
		}
	}
	if (of_text != SIZE_MAX)
		return of_text;
	for (size_t i = 0; package && i < count && of_package == SIZE_MAX; i++)
		if (export_frames__python(frames[i], places[i].module, &python) && python.line &&
		    !strncmp(places[i].module, package, package_length))
			of_package = i;
	return of_package != SIZE_MAX ? of_package : innermost;
}

/*
 * How many frames from i on belong to what nvcc makes of a launch: the stub in its temporary file,
 * and around it the function that has the kernel's name, whose line is that of the kernel.
 */
static size_t count_stubs(const char *const *frames, size_t count, size_t i)
{
	static const char stub[] = "__device_stub_";
	char name[ORIGIN_NAME];
	const char *begin;
	size_t length;

	if (strncmp(frames[i], stub, sizeof(stub) - 1) != 0)
		return 0;
	if (i + 1 == count)
		return 1;
	/* The name without its scope, result and arguments is a part of the mangled one. */
	length = strcspn(frames[i + 1], "(<");
	for (begin = frames[i + 1] + length;
	     begin > frames[i + 1] && begin[-1] != ':' && begin[-1] != ' ';)
		begin--;
	length -= begin - frames[i + 1];
	snprintf(name, sizeof(name), "%.*s", (int)length, begin);
	return length && length < sizeof(name) && strstr(frames[i], name) ? 2 : 1;
}

/* Of a program without Python: the innermost whose line is not of a header of the system. */
static void find_native_line(const char *const *frames, const struct chain_place *places,
			     size_t count, struct origin_path *path)
{
	size_t own = SIZE_MAX;
	char text[ORIGIN_NAME];
	const char *slash;
	int length;

	for (size_t i = 0; i < count; i++) {
		bool system = places[i].source && !strncmp(places[i].source, "/usr/", 5);
		size_t stubs = count_stubs(frames, count, i);

		if (stubs) {
			i += stubs - 1;
			continue;
		}
		if (!places[i].native || !places[i].source || (system && own != SIZE_MAX))
			continue;
		own = i;
		if (!system)
			break;
	}
	if (own == SIZE_MAX)
		return;
	slash = strrchr(places[own].source, '/');
	/* A line is one row, whether its function was inlined or not. */
	length = snprintf(text, sizeof(text), "%s:%u %.*s", slash ? slash + 1 : places[own].source,
			  places[own].line, (int)export_frames__unmarked(frames[own]), frames[own]);
	add_name(path, text, length < ORIGIN_NAME ? (size_t)length : ORIGIN_NAME - 1);
	path->file = places[own].source;
}

static void find_line(const char *const *frames, const struct chain_place *places, size_t count,
		      struct origin_path *path)
{
	size_t own = own_frame(frames, places, count);

	if (own == SIZE_MAX) {
		find_native_line(frames, places, count, path);
		return;
	}
	add_name(path, frames[own], strlen(frames[own]));
	path->file = places[own].module;
}

/* Without PyTorch, what called the library that launches (Triton, CuPy, JAX, Numba) stands for the
 * operator. */
static void find_caller(const char *const *frames, const struct chain_place *places, size_t count,
			struct origin_path *path)
{
	size_t own = own_frame(frames, places, count);
	struct python_frame python;
	char text[ORIGIN_NAME];
	int length;

	if (own == SIZE_MAX || !export_frames__python(frames[own], places[own].module, &python))
		return;
	length = snprintf(text, sizeof(text), "%s (%.*s)", python.function,
			  (int)strcspn(frames[own], ":"), frames[own]);
	add_name(path, text, length < ORIGIN_NAME ? (size_t)length : ORIGIN_NAME - 1);
}

static void find_operators(const char *const *frames, const struct chain_place *places,
			   size_t count, struct origin_path *path)
{
	char name[ORIGIN_NAME];

	for (size_t i = count; i-- > 0;)
		if (export_frames__operator(frames[i], name, sizeof(name)))
			add_name(path, name, strlen(name));
	if (!path->count)
		find_caller(frames, places, count, path);
}

/* Llama.forward is the module Llama; before Python 3.11 a function's name lacks its class. */
static void find_modules(const char *const *frames, const struct chain_place *places, size_t count,
			 struct origin_path *path)
{
	static const char method[] = ".forward";
	struct python_frame python;
	char text[ORIGIN_NAME];

	for (size_t i = count; i-- > 0;) {
		size_t length;

		if (!export_frames__python(frames[i], places[i].module, &python))
			continue;
		length = strlen(python.function);
		if (!strcmp(python.function, method + 1)) {
			length = snprintf(text, sizeof(text), "%.*s", (int)strcspn(frames[i], ": "),
					  frames[i]);
			add_name(path, text, strnlen(text, sizeof(text) - 1));
		} else if (length > strlen(method) &&
			   !strcmp(python.function + length - strlen(method), method)) {
			add_name(path, python.function, length - strlen(method));
		}
	}
}

void export_origins__of_frames(enum report_by by, const char *const *frames,
			       const struct chain_place *places, size_t count,
			       struct origin_path *path)
{
	path->count = 0;
	path->file = NULL;
	if (by == REPORT_BY_OPERATOR)
		find_operators(frames, places, count, path);
	else if (by == REPORT_BY_MODULE)
		find_modules(frames, places, count, path);
	else if (by == REPORT_BY_LINE)
		find_line(frames, places, count, path);
}

const char *export_origins__text(const struct origin_path *path, enum report_by by,
				 char out[ORIGIN_TEXT])
{
	size_t n = 0, first = by == REPORT_BY_MODULE || !path->count ? 0 : path->count - 1;

	*out = '\0';
	for (size_t i = first; i < path->count; i++)
		n += snprintf(out + n, ORIGIN_TEXT - n, "%s%s", n ? " > " : "", path->names[i]);
	return out;
}
