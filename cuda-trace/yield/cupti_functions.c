// SPDX-License-Identifier: BSD-2-Clause
/* A process without rights reads the file. No state of its own; the tool's one thread. */
#include "cuda-trace/yield/cupti_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/yield.h"
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_job.h"

#define MAX_MS 800

static const struct known {
	const char *name;
	enum yield_call call;
	bool returns; /* as returns() in yield.bpf.c */
} known[] = {
	{"cuptiSubscribe", YIELD_SUBSCRIBE, true},
	{"cuptiSubscribe_v2", YIELD_SUBSCRIBE, true},
	{"cuptiUnsubscribe", YIELD_UNSUBSCRIBE, true},
	{"cuptiActivityRegisterCallbacks", YIELD_BUFFERS, false},
	{"cuptiActivityEnable", YIELD_ENABLE, true},
	{"cuptiActivityEnableAndDump", YIELD_ENABLE, true},
	{"cuptiActivityEnableContext", YIELD_ENABLE_IN, true},
	{"cuptiActivityDisable", YIELD_DISABLE, false},
	{"cuptiActivityDisableContext", YIELD_DISABLE_IN, false},
	{"cuptiActivityFlushAll", YIELD_FLUSH, true},
	{"cuptiFinalize", YIELD_FINALIZE, true},
};

/* ---- in a process without rights ---- */

static const struct known *known_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static void add_point(struct cupti_points *points, uint64_t offset, enum yield_call call)
{
	/* Two names of one place would count twice. */
	for (uint32_t i = 0; i < points->count; i++)
		if (points->offsets[i] == offset)
			return;
	if (points->count == CUPTI_FUNCTIONS_MAX)
		return;
	points->offsets[points->count] = offset;
	points->cookies[points->count++] = call;
}

static void add_symbol(struct cupti_functions *functions, const struct foreign_elf *elf,
		       const Elf64_Sym *symbol, const char *name)
{
	const struct known *is = known_of(name);
	uint64_t offset;

	if (!is || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
		return;
	offset = foreign_elf__offset(elf, symbol->st_value, PF_X);
	if (!offset)
		return;
	add_point(&functions->entries, offset, is->call);
	if (is->returns)
		add_point(&functions->returns, offset, is->call);
}

static void scan_symbols(struct foreign_elf *elf, uint32_t section,
			 struct cupti_functions *functions)
{
	struct foreign_symbols symbols;

	if (foreign_elf__symbols(elf, section, &symbols))
		return;
	for (size_t i = 0; i < symbols.count; i++)
		add_symbol(functions, elf, &symbols.list[i], foreign_symbols__name(&symbols, i));
	foreign_symbols__free(&symbols);
}

int cupti_functions__send(int fd, uint64_t size, const void *nothing, struct foreign_output *output)
{
	struct cupti_functions functions = {0};
	struct foreign_elf elf;
	int err = foreign_elf__open(&elf, fd, size, true);

	(void)nothing;
	if (err)
		return err;
	for (uint32_t i = 0; i < elf.section_count; i++)
		if (elf.sections[i].sh_type == SHT_DYNSYM)
			scan_symbols(&elf, i, &functions);
	foreign_elf__close(&elf);
	foreign_output__put(output, &functions, sizeof(functions));
	return 0;
}

/* ---- the tool ---- */

static bool is_call(uint64_t cookie)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].call == cookie)
			return true;
	return false;
}

static bool are_points(const struct cupti_points *points)
{
	if (points->count > CUPTI_FUNCTIONS_MAX)
		return false;
	for (uint32_t i = 0; i < points->count; i++)
		if (!points->offsets[i] || !is_call(points->cookies[i]))
			return false;
	return true;
}

int cupti_functions__find(int fd, struct cupti_functions *functions)
{
	struct foreign_answer answer;
	struct foreign_file file;
	int err = foreign_file__of(&file, fd);

	memset(functions, 0, sizeof(*functions));
	if (!err)
		err = foreign_job__run(cupti_functions__send, &file, NULL, MAX_MS,
				       sizeof(*functions), &answer);
	if (err)
		return err;
	if (answer.size == sizeof(*functions))
		memcpy(functions, answer.bytes, sizeof(*functions));
	free(answer.bytes);
	if (!are_points(&functions->entries) || !are_points(&functions->returns)) {
		memset(functions, 0, sizeof(*functions));
		return -ENOEXEC;
	}
	for (uint32_t i = 0; i < functions->entries.count; i++)
		if (functions->entries.cookies[i] == YIELD_SUBSCRIBE)
			return 0;
	return -ENOENT;
}
