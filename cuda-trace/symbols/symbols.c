// SPDX-License-Identifier: BSD-2-Clause
/* Build-ids, segments and symbol tables, through libelf. */
#include "cuda-trace/symbols/symbols.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SYMBOLS (1u << 24)
#define MOST_HEADERS 256
#define MOST_NOTES   (1u << 16) /* bytes */
#define LONGEST_NAME 4096

struct symbol {
	uint64_t address, size;
	uint32_t name; /* offset in names */
};

struct symbols {
	struct symbol *list;
	size_t count, room;
	char *names;
	size_t name_bytes, name_room;
};

static Elf *open_elf(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && (elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64)) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

static void read_notes(struct elf_outline *outline, Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data;
	size_t at = 0, name, text;
	GElf_Nhdr note;

	if (header->p_filesz > MOST_NOTES || outline->build_id_size)
		return;
	data = elf_getdata_rawchunk(elf, header->p_offset, header->p_filesz,
				    header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) != 0 ||
		    note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(outline->build_id, (char *)data->d_buf + text, note.n_descsz);
		outline->build_id_size = note.n_descsz;
		return;
	}
}

int elf_outline__read(struct elf_outline *outline, int fd)
{
	Elf *elf = open_elf(fd);
	size_t headers = 0;

	memset(outline, 0, sizeof(*outline));
	if (!elf)
		return -ENOEXEC;
	if (elf_getphdrnum(elf, &headers))
		headers = 0;
	for (size_t i = 0; i < headers && i < MOST_HEADERS; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, i, &header))
			break;
		if (header.p_type == PT_NOTE)
			read_notes(outline, elf, &header);
		if (header.p_type != PT_LOAD || outline->loads == ELF_LOADS)
			continue;
		outline->load[outline->loads].offset = header.p_offset;
		outline->load[outline->loads].size = header.p_filesz;
		outline->load[outline->loads++].address = header.p_vaddr;
	}
	elf_end(elf);
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

/* All names in one piece; 0 = no memory (an offset that stands for nothing: names begin with 0). */
static uint32_t keep_name(struct symbols *symbols, const char *name)
{
	size_t size = strnlen(name, LONGEST_NAME);
	uint32_t at = symbols->name_bytes;

	if (symbols->name_bytes + size + 1 > symbols->name_room) {
		size_t room = symbols->name_room * 2 + size + 4096;
		char *names = room > UINT32_MAX ? NULL : realloc(symbols->names, room);

		if (!names)
			return 0;
		symbols->names = names;
		symbols->name_room = room;
	}
	memcpy(symbols->names + at, name, size);
	symbols->names[at + size] = 0;
	symbols->name_bytes += size + 1;
	return at;
}

static bool keep_symbol(struct symbols *symbols, const GElf_Sym *from, const char *name)
{
	if (symbols->count == symbols->room) {
		size_t room = symbols->room ? symbols->room * 2 : 1024;
		struct symbol *list = reallocarray(symbols->list, room, sizeof(*list));

		if (!list)
			return false;
		symbols->list = list;
		symbols->room = room;
	}
	symbols->list[symbols->count] = (struct symbol){
		.address = from->st_value,
		.size = from->st_size,
		.name = keep_name(symbols, name),
	};
	return symbols->list[symbols->count++].name != 0;
}

static void read_table(struct symbols *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize == sizeof(Elf64_Sym)
			       ? data->d_size / sizeof(Elf64_Sym)
			       : 0;

	for (size_t i = 0; i < count && symbols->count < MOST_SYMBOLS; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		    GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name && !keep_symbol(symbols, &symbol, name))
			break;
	}
}

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

struct symbols *symbols__read(int fd)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	Elf *elf = symbols ? open_elf(fd) : NULL;
	Elf_Scn *section = NULL;

	if (!elf || keep_name(symbols, "")) {
		symbols__free(symbols);
		elf_end(elf);
		return NULL;
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			read_table(symbols, elf, section, &header);
	}
	elf_end(elf);
	if (!symbols->count) {
		symbols__free(symbols);
		return NULL;
	}
	qsort(symbols->list, symbols->count, sizeof(*symbols->list), by_address);
	return symbols;
}

const char *symbols__at(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;
	const struct symbol *symbol;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	symbol = &symbols->list[low - 1];
	/* Hand-written assembler has no sizes: it reaches to the next symbol. */
	if (symbol->size ? address - symbol->address >= symbol->size
			 : low == symbols->count && address - symbol->address > 4096)
		return NULL;
	return symbols->names + symbol->name;
}

void symbols__free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->list);
	free(symbols->names);
	free(symbols);
}
