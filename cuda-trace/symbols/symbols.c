// SPDX-License-Identifier: BSD-2-Clause
/*
 * Build-ids and segments are read here: that is little, and needed of each file that a process
 * maps. Symbol tables are read by a process without privileges, whose answer is checked like the
 * file itself.
 */
#include "cuda-trace/symbols/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/base/sorted.h"
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/file_parser.h"

#define MAX_HEADERS  256
#define MAX_NOTES    (1u << 16) /* bytes */
#define MAX_ANSWER   (40ul << 20)
#define LONGEST_NAME 4096

struct symbol {
	uint64_t address, size;
	const char *name; /* in the answer */
};

struct symbols {
	struct symbol *list;
	size_t count;
	struct foreign_answer answer;
};

/* In the answer; the name with its NUL follows. */
struct sent_symbol {
	uint64_t address, size;
	uint32_t name_size, unused;
};

static void find_build_id(struct elf_outline *outline, struct foreign_elf *elf,
			  const Elf64_Phdr *header)
{
	struct foreign_note note;
	void *bytes;
	size_t at = 0;

	if (header->p_filesz > MAX_NOTES || outline->build_id_size ||
	    foreign_elf__load(elf, header->p_offset, header->p_filesz, &bytes))
		return;
	while (foreign_note__next(bytes, header->p_filesz, &at, header->p_align, &note)) {
		if (note.type != NT_GNU_BUILD_ID || note.name_size != 4 ||
		    memcmp(note.name, "GNU", 4) || note.data_size > BUILD_ID_MAX)
			continue;
		memcpy(outline->build_id, note.data, note.data_size);
		outline->build_id_size = note.data_size;
		break;
	}
	free(bytes);
}

int elf_outline__read(struct elf_outline *outline, int fd)
{
	struct foreign_elf elf;
	struct stat st;

	memset(outline, 0, sizeof(*outline));
	if (fstat(fd, &st) || foreign_elf__open(&elf, fd, st.st_size, false))
		return -ENOEXEC;
	for (uint32_t i = 0; i < elf.segment_count && i < MAX_HEADERS; i++) {
		const Elf64_Phdr *header = &elf.segments[i];

		if (header->p_type == PT_NOTE)
			find_build_id(outline, &elf, header);
		if (header->p_type != PT_LOAD || outline->loads == ELF_LOADS)
			continue;
		outline->load[outline->loads].offset = header->p_offset;
		outline->load[outline->loads].size = header->p_filesz;
		outline->load[outline->loads++].address = header->p_vaddr;
	}
	foreign_elf__close(&elf);
	return 0;
}

bool elf_outline__address(const struct elf_outline *outline, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < outline->loads; i++) {
		if (offset - outline->load[i].offset >= outline->load[i].size)
			continue;
		*address = offset - outline->load[i].offset + outline->load[i].address;
		return true;
	}
	return false;
}

/* ---- in a process without privileges ---- */

/* False: there are more than fit. */
static bool put_symbol(struct foreign_output *output, const Elf64_Sym *symbol, const char *name)
{
	struct sent_symbol sent = {.address = symbol->st_value, .size = symbol->st_size};

	sent.name_size = strnlen(name, LONGEST_NAME) + 1;
	if (!foreign_output__fits(output, 2 * sizeof(sent) + sent.name_size))
		return false;
	foreign_output__put(output, &sent, sizeof(sent));
	foreign_output__put(output, name, sent.name_size - 1);
	foreign_output__put(output, "", 1);
	return true;
}

/* Ends with an entry without a name where the table is cut. */
static uint32_t put_table(struct foreign_output *output, const struct foreign_symbols *table)
{
	const struct sent_symbol cut = {0};
	uint32_t count = 0;

	for (size_t i = 0; i < table->count; i++) {
		const Elf64_Sym *symbol = &table->list[i];
		unsigned int type = ELF64_ST_TYPE(symbol->st_info);
		const char *name = foreign_symbols__name(table, i);

		if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    !*name)
			continue;
		if (!put_symbol(output, symbol, name)) {
			foreign_output__put(output, &cut, sizeof(cut));
			break;
		}
		count++;
	}
	return count;
}

/* What is there of a file whose tables are too large counts: mostly that is .dynsym. */
int symbols__send(int fd, uint64_t size, const void *argument, struct foreign_output *output)
{
	struct foreign_symbols table;
	struct foreign_elf elf;
	uint32_t count = 0;
	int err = foreign_elf__open(&elf, fd, size, true), failed = 0;

	if (err)
		return err;
	for (uint32_t i = 0;
	     i < elf.section_count && foreign_output__fits(output, 2 * LONGEST_NAME); i++) {
		if (elf.sections[i].sh_type != SHT_SYMTAB && elf.sections[i].sh_type != SHT_DYNSYM)
			continue;
		err = foreign_elf__symbols(&elf, i, &table);
		if (!err)
			count += put_table(output, &table);
		else
			failed = err;
		foreign_symbols__free(&table);
	}
	foreign_elf__close(&elf);
	return count ? 0 : failed ? failed : -ENOENT;
}

/* ---- the tool ---- */

/* By address; of several at one, the one that covers most comes last and is found first. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->name < y->name ? 1 : x->name > y->name ? -1 : 0;
}

/* How many there are, into `list` unless that is NULL; stops at what makes no sense. */
static size_t read_answer(const struct foreign_answer *answer, struct symbol *list)
{
	const uint8_t *at = answer->bytes, *end = at + answer->size;
	struct sent_symbol sent;
	size_t count = 0;

	while ((size_t)(end - at) >= sizeof(sent)) {
		memcpy(&sent, at, sizeof(sent));
		at += sizeof(sent);
		if (!sent.name_size || sent.name_size > (size_t)(end - at) ||
		    at[sent.name_size - 1])
			break;
		if (list)
			list[count] = (struct symbol){sent.address, sent.size, (const char *)at};
		at += sent.name_size;
		count++;
	}
	return count;
}

struct symbols *symbols__read(int fd)
{
	static struct file_parser parser = {
		.job = symbols__send,
		.max_answer = MAX_ANSWER,
		.too_late = "reading symbols took 30 s: functions of further files have no names"};
	struct symbols *symbols;
	struct foreign_file file;

	if (foreign_file__of(&file, fd))
		return NULL;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return NULL;
	if (!file_parser__run(&parser, &file, NULL, &symbols->answer))
		symbols->count = read_answer(&symbols->answer, NULL);
	if (symbols->count)
		symbols->list = calloc(symbols->count, sizeof(*symbols->list));
	if (!symbols->list) {
		symbols__free(symbols);
		return NULL;
	}
	read_answer(&symbols->answer, symbols->list);
	qsort(symbols->list, symbols->count, sizeof(*symbols->list), by_address);
	return symbols;
}

const char *symbols__at(const struct symbols *symbols, uint64_t address)
{
	size_t low = sorted__count_before(symbols->count, i, symbols->list[i].address <= address);
	const struct symbol *symbol;

	if (!low)
		return NULL;
	symbol = &symbols->list[low - 1];
	/* Hand-written assembler has no sizes: it reaches to the next symbol. */
	if (symbol->size ? address - symbol->address >= symbol->size
			 : low == symbols->count && address - symbol->address > 4096)
		return NULL;
	return symbol->name;
}

void symbols__free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->list);
	free(symbols->answer.bytes);
	free(symbols);
}
