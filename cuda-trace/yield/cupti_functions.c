// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/yield/cupti_functions.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "bpf/yield.h"
#include "cuda-trace/symbols/elf_segments.h"

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

static void scan_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 struct cupti_functions *functions)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		const struct known *is;
		uint64_t offset;
		GElf_Sym symbol;

		if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		is = known_of(elf_strptr(elf, header->sh_link, symbol.st_name));
		offset = is ? elf_segments__offset(elf, symbol.st_value, PF_X) : 0;
		if (!offset)
			continue;
		add_point(&functions->entries, offset, is->call);
		if (is->returns)
			add_point(&functions->returns, offset, is->call);
	}
}

int cupti_functions__find(int fd, struct cupti_functions *functions)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf *elf;

	memset(functions, 0, sizeof(*functions));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			scan_symbols(elf, section, &header, functions);
	elf_end(elf);
	for (uint32_t i = 0; i < functions->entries.count; i++)
		if (functions->entries.cookies[i] == YIELD_SUBSCRIBE)
			return 0;
	return -ENOENT;
}
