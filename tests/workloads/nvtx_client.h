/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of NVTX version 3 written out: the library that NVTX_INJECTION64_PATH names gets a table
 * of pointers to fill at the first call, and every call goes through them. For one file a program.
 */
#ifndef TESTS_WORKLOADS_NVTX_CLIENT_H
#define TESTS_WORKLOADS_NVTX_CLIENT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>
#include "tests/workloads/program.h"

typedef void (*function)(void);
typedef const void *(*get_table)(uint32_t id);

struct attributes { /* nvtxEventAttributes_v2 */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		void *registered;
	} message;
};

/* Where the injected library puts its functions; numbered as NVTX numbers them. The real libcupti
 * refuses a client that lacks one of these modules, or has fewer functions in it. */
enum { CORE = 1, CUDA = 2, CUDART = 4, CORE2 = 5, SYNC = 6, MODULES };
static const unsigned int sizes[MODULES] = {
	[CORE] = 16, [CUDA] = 9, [CUDART] = 7, [CORE2] = 16, [SYNC] = 7,
};
static function functions[MODULES][16];
static function *slots[MODULES][16];
#define core  functions[CORE]
#define core2 functions[CORE2]

enum {
	MARK_EX = 1,
	MARK_A = 2,
	MARK_W = 3,
	RANGE_START_A = 5,
	RANGE_START_W = 6,
	RANGE_END = 7,
	RANGE_PUSH_A = 9,
	RANGE_PUSH_W = 10,
	RANGE_POP = 11,
	NAME_CATEGORY_A = 12
};
enum {
	DOMAIN_MARK_EX = 1,
	DOMAIN_PUSH_EX = 4,
	DOMAIN_POP = 5,
	DOMAIN_NAME_CATEGORY_W = 9,
	REGISTER_STRING_A = 10,
	REGISTER_STRING_W = 11,
	DOMAIN_CREATE_A = 12,
	DOMAIN_CREATE_W = 13,
	DOMAIN_DESTROY = 14
};

static inline int module_table(int module, function ***table, unsigned int *size)
{
	if (module < 0 || module >= MODULES || !sizes[module])
		return 0;
	*table = slots[module];
	*size = sizes[module];
	return 1;
}

static inline void set_version(uint32_t version)
{
}

static inline const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*module)(int module, function ***table, unsigned int *size);
	} callbacks = {sizeof(callbacks), module_table};
	static const struct {
		size_t size;
		uint32_t version, reserved;
		void (*set)(uint32_t version);
	} version = {sizeof(version), 3, 0, set_version};

	return id == 1 ? (const void *)&callbacks : id == 3 ? (const void *)&version : NULL;
}

static inline void initialize(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(get_table) = NULL;

	for (int module = 0; module < MODULES; module++)
		for (unsigned int i = 1; i < sizes[module]; i++)
			slots[module][i] = &functions[module][i];
	if (library)
		start = (int (*)(get_table))dlsym(library, "InitializeInjectionNvtx2");
	if (start && !start(export_table))
		program__fail("%s refused", path);
}

static inline void mark(const char *text)
{
	if (core[MARK_A])
		((void (*)(const char *))core[MARK_A])(text);
}

static inline void push(const char *text)
{
	if (core[RANGE_PUSH_A])
		((int (*)(const char *))core[RANGE_PUSH_A])(text);
}

static inline void pop(void)
{
	if (core[RANGE_POP])
		((int (*)(void))core[RANGE_POP])();
}

static inline uint64_t start(const char *text)
{
	return core[RANGE_START_A] ? ((uint64_t(*)(const char *))core[RANGE_START_A])(text) : 0;
}

static inline void end(uint64_t range)
{
	if (core[RANGE_END])
		((void (*)(uint64_t))core[RANGE_END])(range);
}

static inline void *domain_create(const char *name)
{
	return core2[DOMAIN_CREATE_A] ? ((void *(*)(const char *))core2[DOMAIN_CREATE_A])(name)
				      : NULL;
}

static inline void domain_destroy(void *domain)
{
	if (core2[DOMAIN_DESTROY])
		((void (*)(void *))core2[DOMAIN_DESTROY])(domain);
}

static inline void *register_string(void *domain, const char *text)
{
	return core2[REGISTER_STRING_A]
		       ? ((void *(*)(void *, const char *))core2[REGISTER_STRING_A])(domain, text)
		       : NULL;
}

static inline void domain_event(int number, void *domain, void *registered, const char *text)
{
	struct attributes attributes = {.version = 3,
					.size = 48,
					.category = 7,
					.color_type = 1,
					.color = 0xff00ff00,
					.message_type = registered ? 3 : 1};

	if (registered)
		attributes.message.registered = registered;
	else
		attributes.message.ascii = text;
	if (core2[number])
		((int (*)(void *, const struct attributes *))core2[number])(domain, &attributes);
}

static inline void domain_pop(void *domain)
{
	if (core2[DOMAIN_POP])
		((int (*)(void *))core2[DOMAIN_POP])(domain);
}

#endif
