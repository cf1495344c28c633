// SPDX-License-Identifier: BSD-2-Clause
/* A process without privileges reads the file. Used by one thread. */
#include "cuda-trace/driver/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_job.h"

#define MAX_MS 800

/* What is sent back, for each symbol. */
struct place {
	uint64_t address, offset, probe, size;
};

/* ---- in a process without privileges ---- */

/* Linux emulates `push`, but executes endbr64 as a single step, which takes five times as long in a
 * virtual machine. Behind it, arguments and stack are the same. */
static uint64_t cheapest_probe(struct foreign_elf *elf, uint64_t offset)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[sizeof(endbr64) + 2];
	const uint8_t *next = code + sizeof(endbr64);

	if (foreign_elf__read(elf, offset, code, sizeof(code)) ||
	    memcmp(code, endbr64, sizeof(endbr64)))
		return offset;
	if (*next == 0x41) /* r8 to r15 */
		next++;
	return *next >= 0x50 && *next <= 0x57 ? offset + sizeof(endbr64) : offset;
}

static void look_up(struct foreign_elf *elf, const struct foreign_symbols *table,
		    const struct elf_symbols_job *wanted, struct place *places)
{
	for (size_t i = 0; i < table->count; i++) {
		const char *name = foreign_symbols__name(table, i);

		for (unsigned int k = 0; k < wanted->count; k++) {
			if (table->list[i].st_shndx == SHN_UNDEF ||
			    strcmp(name, wanted->symbols[k].name))
				continue;
			places[k].address = table->list[i].st_value;
			places[k].offset = foreign_elf__offset(elf, table->list[i].st_value, PF_X);
			places[k].probe = cheapest_probe(elf, places[k].offset);
			places[k].size = table->list[i].st_size;
		}
	}
}

int elf_symbols__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	const struct elf_symbols_job *wanted = argument;
	struct place places[ELF_SYMBOLS_MAX] = {0};
	struct foreign_symbols table;
	struct foreign_elf elf;
	int err = foreign_elf__open(&elf, fd, size, true);

	if (err)
		return err;
	for (uint32_t i = 0; !err && i < elf.section_count; i++) {
		if (elf.sections[i].sh_type != SHT_DYNSYM)
			continue;
		err = foreign_elf__symbols(&elf, i, &table);
		if (!err)
			look_up(&elf, &table, wanted, places);
		foreign_symbols__free(&table);
	}
	foreign_elf__close(&elf);
	if (!err)
		foreign_output__put(output, places, sizeof(places));
	return err;
}

/* ---- the tool ---- */

int elf_symbols__find(const struct foreign_file *file, struct elf_symbol *symbols,
		      unsigned int count)
{
	const struct elf_symbols_job wanted = {symbols, count};
	struct place places[ELF_SYMBOLS_MAX];
	struct foreign_answer answer;
	int err;

	if (count > ELF_SYMBOLS_MAX)
		return -EINVAL;
	err = foreign_job__run(elf_symbols__send, file, &wanted, MAX_MS, sizeof(places), &answer);
	if (err)
		return err;
	if (answer.size != sizeof(places)) {
		free(answer.bytes);
		return -ENOEXEC;
	}
	memcpy(places, answer.bytes, sizeof(places));
	free(answer.bytes);
	for (unsigned int i = 0; i < count; i++) {
		symbols[i].address = places[i].address;
		symbols[i].offset = places[i].offset;
		symbols[i].probe = places[i].probe;
		symbols[i].size = places[i].size;
	}
	return 0;
}
