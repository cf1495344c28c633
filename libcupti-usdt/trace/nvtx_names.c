// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two tables of open addressing; a place that is taken stays. What finds none within a few places
 * has no name.
 */
#include "libcupti-usdt/trace/nvtx_names.h"

#include <errno.h>
#include <stdatomic.h>

#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"

#define WIDE   1024U /* bytes of UTF-8: on the program's stack, which may be small */
#define KNOWN  1024U /* of each table; power of 2 */
#define PROBES 16U

struct known {
	_Atomic(uint64_t) key; /* 0 = free */
	_Atomic(uint32_t) name;
};

static struct tables {
	struct known handles[KNOWN];
	struct known categories[KNOWN];
} * tables;

int nvtx_names__open(void)
{
	if (!tables)
		tables = memory__map(sizeof(*tables));
	return tables ? 0 : -ENOMEM;
}

/* What is no character becomes a question mark. */
static char *put_character(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = '?';
	if (c < 0x80) {
		*to++ = c;
		return to;
	}
	if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
	} else {
		if (c < 0x10000) {
			*to++ = 0xe0 | c >> 12;
		} else {
			*to++ = 0xf0 | c >> 18;
			*to++ = 0x80 | (c >> 12 & 0x3f);
		}
		*to++ = 0x80 | (c >> 6 & 0x3f);
	}
	*to++ = 0x80 | (c & 0x3f);
	return to;
}

uint32_t nvtx_names__wide(const wchar_t *text)
{
	char utf8[WIDE], *to = utf8;

	while (text && *text && to < utf8 + WIDE - 4)
		to = put_character(to, *text++);
	*to = 0;
	return interned_names__intern_text(utf8);
}

static void learn(struct known *table, uint64_t key, uint64_t place, uint32_t name)
{
	for (uint32_t i = 0; key && i < PROBES; i++) {
		struct known *known = &table[(place + i) & (KNOWN - 1)];
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&known->key, &none, key) || none == key) {
			atomic_store(&known->name, name);
			return;
		}
	}
}

static uint32_t name_of(struct known *table, uint64_t key, uint64_t place)
{
	for (uint32_t i = 0; key && i < PROBES; i++) {
		struct known *known = &table[(place + i) & (KNOWN - 1)];

		if (atomic_load(&known->key) == key)
			return atomic_load(&known->name);
	}
	return 0;
}

void nvtx_names__learn(uint64_t handle, uint32_t name)
{
	learn(tables->handles, handle, handle >> 4, name);
}

uint32_t nvtx_names__of(uint64_t handle)
{
	return name_of(tables->handles, handle, handle >> 4);
}

/* Addresses have 48 bits; those of other domains with the same lower ones are taken for each other
 * only if the mixed numbers are the same. */
static uint64_t category_key(uint64_t domain, uint32_t category)
{
	uint64_t key = (domain * 0x9e3779b97f4a7c15 ^ category) * 0xff51afd7ed558ccd;

	return key ? key : 1;
}

void nvtx_names__learn_category(uint64_t domain, uint32_t category, uint32_t name)
{
	uint64_t key = category_key(domain, category);

	learn(tables->categories, key, key >> 40, name);
}

uint32_t nvtx_names__category(uint64_t domain, uint32_t category)
{
	uint64_t key = category_key(domain, category);

	return category ? name_of(tables->categories, key, key >> 40) : 0;
}
