// SPDX-License-Identifier: BSD-2-Clause
/*
 * PyTorch generates a structure in at::_ops for each operator and overload, through which all calls
 * go: at::_ops::add__Tensor::call is aten::add_.Tensor. The name alone does not say where the
 * overload begins, so that is found by the habits of PyTorch's list of operators.
 */
#include "cuda-trace/export/export_frames.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/recording/store_callstacks.h"

bool export_frames__python(const char *name, const char *module, struct python_frame *frame)
{
	const char *file = module ? strrchr(module, '/') : NULL;
	size_t length;
	char *end;

	file = file ? file + 1 : module;
	length = file ? strlen(file) : 0;
	if (!length || strncmp(name, file, length) != 0)
		return false;
	frame->line = 0;
	if (name[length] == ':') {
		frame->line = strtoll(name + length + 1, &end, 10);
		if (frame->line <= 0)
			return false;
	} else {
		end = (char *)name + length;
	}
	frame->function = end + 1;
	return *end == ' ' && end[1];
}

size_t export_frames__unmarked(const char *name)
{
	size_t length = strlen(name), mark = strlen(INLINED_MARK);

	return length > mark && !strcmp(name + length - mark, INLINED_MARK) ? length - mark
									    : length;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool export_frames__is_standard(const char *module)
{
	const char *python = strstr(module, "/python3");

	if (begins(module, "<frozen ") || begins(module, "<eval_with_key>") ||
	    begins(module, "<__array_function__") || strstr(module, "/torchinductor_"))
		return true;
	if (export_frames__package(module))
		return false;
	/* /usr/lib/python3.11/threading.py */
	return python && (strstr(module, "/lib/python3") || strstr(module, "/lib64/python3"));
}

size_t export_frames__package(const char *module)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *at = strstr(module, folders[i]);

		if (at) {
			at += strlen(folders[i]);
			return at + strcspn(at, "/") - module;
		}
	}
	return 0;
}

/* A script that pip made: /usr/bin/torchrun, without a suffix. */
static bool is_starter(const char *module)
{
	const char *slash = strrchr(module, '/');

	return slash && slash - module >= 4 && begins(slash - 4, "/bin/") && !strchr(slash, '.');
}

bool export_frames__is_library(const char *module)
{
	return export_frames__is_standard(module) || export_frames__package(module) ||
	       is_starter(module);
}

static bool is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The identifier at *at, which is moved behind it; its length, 0 = there is none. */
static size_t read_identifier(const char **at, bool mangled, const char **identifier)
{
	size_t length = 0;

	if (mangled) {
		/* <length><identifier> */
		while (**at >= '0' && **at <= '9' && length < 1000)
			length = length * 10 + (*(*at)++ - '0');
		*identifier = *at;
		if (strnlen(*at, length) < length)
			return 0;
		*at += length;
		return length;
	}
	*identifier = *at;
	while (is_identifier(**at)) {
		(*at)++;
		length++;
	}
	if (begins(*at, "::"))
		*at += 2;
	return length;
}

static bool is_identified(const char *identifier, size_t length, const char *as)
{
	return length == strlen(as) && !memcmp(identifier, as, length);
}

static bool ends(const char *text, size_t length, const char *with)
{
	size_t n = strlen(with);

	return length > n && !memcmp(text + length - n, with, n);
}

/* Operators whose own names end as overloads do. */
static bool is_whole(const char *name, size_t length)
{
	static const char *const names[] = {"unique_dim", "sparse_dim", "dense_dim"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_identified(name, length, names[i]))
			return true;
	return false;
}

/* How long an operator's name is without its overload's. */
static size_t without_overload(const char *name, size_t length)
{
	static const char *const overloads[] = {
		"_dtype_layout", "_unary_out",	"_low_generator", "_start_step", "_dim_max",
		"_dim_min",	 "_out",	"_int",		  "_float",	 "_dim",
		"_dims",	 "_dtype",	"_other",	  "_names",	 "_start",
		"_generator",	 "_correction", "_stable",	  "_values",	 "_value",
		"_vec",		 "_self",	"_src",		  "_low"};
	/* __and__ is all name. */
	size_t first = begins(name, "__") ? 2 : 1;

	for (size_t i = first; i + 1 < length; i++) {
		/* add_Tensor: operators are in lower case. */
		if (name[i] == '_' && name[i + 1] >= 'A' && name[i + 1] <= 'Z') {
			length = i;
			break;
		}
	}
	/* random__from: the operator is random_, in place. */
	for (size_t i = 1; first == 1 && i + 2 < length; i++)
		if (name[i] == '_' && name[i + 1] == '_')
			return i + 1;
	/* arange_start_out: one after the other. */
	for (size_t i = 0; i < sizeof(overloads) / sizeof(overloads[0]);) {
		if (ends(name, length, overloads[i]) && !is_whole(name, length)) {
			length -= strlen(overloads[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return length;
}

static bool read_aten(const char *at, bool mangled, char *out, size_t size)
{
	const char *name, *method;
	size_t name_length = read_identifier(&at, mangled, &name);
	size_t method_length = read_identifier(&at, mangled, &method);

	if (!name_length || (!is_identified(method, method_length, "call") &&
			     !is_identified(method, method_length, "redispatch")))
		return false;
	snprintf(out, size, "aten::%.*s", (int)without_overload(name, name_length), name);
	return true;
}

static bool read_node(const char *at, bool mangled, char *out, size_t size)
{
	const char *name, *method;
	size_t name_length = read_identifier(&at, mangled, &name), method_length;

	if (is_identified(name, name_length, "generated"))
		name_length = read_identifier(&at, mangled, &name);
	method_length = read_identifier(&at, mangled, &method);
	/* Those of autograd.Function are Python's: its frames say more. */
	if (!name_length || !is_identified(method, method_length, "apply") ||
	    is_identified(name, name_length, "PyNode") || is_identified(name, name_length, "Node"))
		return false;
	snprintf(out, size, "%.*s", (int)name_length, name);
	return true;
}

bool export_frames__operator(const char *name, char *out, size_t size)
{
	static const char aten[] = "at::_ops::", aten_mangled[] = "_ZN2at4_ops";
	static const char node[] = "torch::autograd::", node_mangled[] = "_ZN5torch8autograd";

	if (begins(name, aten))
		return read_aten(name + strlen(aten), false, out, size);
	if (begins(name, aten_mangled))
		return read_aten(name + strlen(aten_mangled), true, out, size);
	if (begins(name, node))
		return read_node(name + strlen(node), false, out, size);
	if (begins(name, node_mangled))
		return read_node(name + strlen(node_mangled), true, out, size);
	return false;
}
