// SPDX-License-Identifier: BSD-2-Clause
/*
 * There is no demangler in the process: that of libstdc++ may not be there. The parts of a nested
 * name are enough to choose by. Names come from the program: every length is checked.
 */
#include "libcupti-usdt/profile/kernel_choice.h"

#include <regex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti-usdt/emit/interned_names.h"

#define NAME_MAX_LENGTH 512
#define DECISIONS	4096U /* power of 2 */

/* The one before stays for who is just comparing with it. */
static regex_t expressions[2], *regex = expressions;
static bool chosen;

/* By name id: id * 2 + whether it matches. */
static _Atomic(uint32_t) decisions[DECISIONS];

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* One <length><identifier>; the number of bytes it takes, 0 = there is none. */
static size_t copy_part(const char *at, char *name, size_t *used, size_t size)
{
	size_t length = 0, digits = 0;

	while (is_digit(at[digits]) && digits < 4)
		length = length * 10 + (size_t)(at[digits++] - '0');
	if (!digits || !length || strnlen(at + digits, length) < length)
		return 0;
	if (*used + length + 3 > size)
		return 0;
	if (*used) {
		memcpy(name + *used, "::", 2);
		*used += 2;
	}
	memcpy(name + *used, at + digits, length);
	*used += length;
	name[*used] = '\0';
	return digits + length;
}

void kernel_choice__plain_name(const char *mangled, char *name, size_t size)
{
	const char *at = mangled;
	size_t used = 0, step;
	bool nested;

	name[0] = '\0';
	if (!strncmp(at, "_Z", 2)) {
		at += 2;
		nested = *at == 'N';
		at += nested;
		while (nested && strchr("rVKRO", *at) && *at)
			at++;
		while ((step = copy_part(at, name, &used, size))) {
			at += step;
			if (!nested)
				break;
		}
	}
	if (!used) {
		strncpy(name, mangled, size - 1);
		name[size - 1] = '\0';
	}
}

bool kernel_choice__compile(const char *expression)
{
	static bool used[2];
	bool *is_used;

	for (uint32_t i = 0; i < DECISIONS; i++)
		atomic_store_explicit(&decisions[i], 0, memory_order_relaxed);
	chosen = expression != NULL;
	if (!chosen)
		return true;
	regex = regex == expressions ? expressions + 1 : expressions;
	is_used = &used[regex - expressions];
	if (*is_used)
		regfree(regex);
	*is_used = !regcomp(regex, expression, REG_EXTENDED | REG_NOSUB);
	return *is_used;
}

bool kernel_choice__matches(const char *mangled)
{
	char name[NAME_MAX_LENGTH];

	if (!chosen)
		return true;
	kernel_choice__plain_name(mangled, name, sizeof(name));
	return !regexec(regex, name, 0, NULL, 0) || !regexec(regex, mangled, 0, NULL, 0);
}

bool kernel_choice__takes(const char *symbol)
{
	uint32_t id = interned_names__intern(symbol), known, decision;

	if (!symbol)
		return kernel_choice__matches("");
	known = atomic_load_explicit(&decisions[id % DECISIONS], memory_order_relaxed);
	if (id && known / 2 == id && known)
		return known & 1;
	decision = id * 2 + kernel_choice__matches(symbol);
	atomic_store_explicit(&decisions[id % DECISIONS], decision, memory_order_relaxed);
	return decision & 1;
}
