// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/remote_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
#define BUCKETS_MAX (1u << 16)
#define STRINGS_MAX (4u << 20)

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#else
#define THIS_MACHINE EM_NONE
#endif

struct library {
	int memory;
	uint64_t base;
	Elf64_Phdr headers[HEADERS_MAX];
	unsigned int header_count;
	uint64_t symbols, strings, strings_size, gnu_hash, hash;
};

static int fetch(int memory, uint64_t address, void *into, size_t size)
{
	return pread(memory, into, size, address) == (ssize_t)size ? 0 : -EIO;
}

static int read_headers(struct library *library)
{
	Elf64_Ehdr header;

	if (fetch(library->memory, library->base, &header, sizeof(header)))
		return -EIO;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != THIS_MACHINE || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    header.e_phnum > HEADERS_MAX)
		return -ENOEXEC;
	library->header_count = header.e_phnum;
	return fetch(library->memory, library->base + header.e_phoff, library->headers,
		     header.e_phnum * sizeof(Elf64_Phdr));
}

/* What the loader has mapped lies at its virtual address, counted from that of the first page. */
static uint64_t bias(const struct library *library)
{
	for (unsigned int i = 0; i < library->header_count; i++)
		if (library->headers[i].p_type == PT_LOAD)
			return library->base - (library->headers[i].p_vaddr & ~0xfffull);
	return library->base;
}

/* glibc relocates the addresses in a dynamic section, other loaders leave them. */
static uint64_t absolute(const struct library *library, uint64_t address)
{
	return address < library->base ? address + bias(library) : address;
}

static int read_dynamic(struct library *library)
{
	Elf64_Dyn entries[DYNAMIC_MAX];
	size_t count = 0;

	for (unsigned int i = 0; i < library->header_count; i++) {
		const Elf64_Phdr *header = &library->headers[i];

		if (header->p_type != PT_DYNAMIC)
			continue;
		count = header->p_memsz / sizeof(*entries);
		count = count < DYNAMIC_MAX ? count : DYNAMIC_MAX;
		if (fetch(library->memory, bias(library) + header->p_vaddr, entries,
			  count * sizeof(*entries)))
			return -EIO;
	}
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uint64_t value = entries[i].d_un.d_val;

		if (entries[i].d_tag == DT_SYMTAB)
			library->symbols = absolute(library, value);
		else if (entries[i].d_tag == DT_STRTAB)
			library->strings = absolute(library, value);
		else if (entries[i].d_tag == DT_STRSZ)
			library->strings_size = value < STRINGS_MAX ? value : STRINGS_MAX;
		else if (entries[i].d_tag == DT_GNU_HASH)
			library->gnu_hash = absolute(library, value);
		else if (entries[i].d_tag == DT_HASH)
			library->hash = absolute(library, value);
	}
	return library->symbols && library->strings && library->strings_size ? 0 : -ENOEXEC;
}

/* The last symbol of the table is the last one of the chain that begins at the highest bucket. */
static int count_by_gnu_hash(const struct library *library, uint32_t *count)
{
	struct {
		uint32_t buckets, first, bloom_words, shift;
	} header;
	uint32_t *buckets, last = 0, link = 0;
	uint64_t at = library->gnu_hash;
	int error;

	if (fetch(library->memory, at, &header, sizeof(header)))
		return -EIO;
	if (!header.buckets || header.buckets > BUCKETS_MAX || header.bloom_words > BUCKETS_MAX)
		return -ENOEXEC;
	at += sizeof(header) + header.bloom_words * 8ull;
	buckets = malloc(header.buckets * sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	error = fetch(library->memory, at, buckets, header.buckets * sizeof(*buckets));
	for (uint32_t i = 0; !error && i < header.buckets; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	at += header.buckets * 4ull;
	if (!error && last < header.first)
		error = -ENOEXEC;
	while (!error && !(link & 1) && last < REMOTE_SYMBOLS_MAX)
		error = fetch(library->memory, at + (last++ - header.first) * 4ull, &link,
			      sizeof(link));
	/* A bucket may name any symbol. */
	*count = last < REMOTE_SYMBOLS_MAX ? last : REMOTE_SYMBOLS_MAX;
	return error;
}

static int count_symbols(const struct library *library, uint32_t *count)
{
	uint32_t header[2];

	if (library->gnu_hash)
		return count_by_gnu_hash(library, count);
	if (!library->hash)
		return -ENOEXEC;
	if (fetch(library->memory, library->hash, header, sizeof(header)))
		return -EIO;
	*count = header[1] < REMOTE_SYMBOLS_MAX ? header[1] : REMOTE_SYMBOLS_MAX;
	return 0;
}

static bool locate(const struct library *library, const Elf64_Sym *symbol,
		   struct remote_function *function)
{
	for (unsigned int i = 0; i < library->header_count; i++) {
		const Elf64_Phdr *header = &library->headers[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
		    symbol->st_value < header->p_vaddr ||
		    symbol->st_value - header->p_vaddr >= header->p_filesz)
			continue;
		function->address = bias(library) + symbol->st_value;
		function->offset = symbol->st_value - header->p_vaddr + header->p_offset;
		return true;
	}
	return false;
}

int remote_elf__each(int memory, uint64_t base,
		     void (*handle)(void *context, const struct remote_function *function),
		     void *context)
{
	struct library library = {.memory = memory, .base = base};
	Elf64_Sym *symbols = NULL;
	char *strings = NULL;
	uint32_t count = 0;
	int error = read_headers(&library);

	error = error ? error : read_dynamic(&library);
	error = error ? error : count_symbols(&library, &count);
	if (error)
		return error;
	symbols = malloc(count * sizeof(*symbols) + 1);
	strings = malloc(library.strings_size);
	if (!symbols || !strings)
		error = -ENOMEM;
	error = error ? error : fetch(memory, library.symbols, symbols, count * sizeof(*symbols));
	error = error ? error : fetch(memory, library.strings, strings, library.strings_size);
	if (!error)
		strings[library.strings_size - 1] = 0;
	for (uint32_t i = 0; !error && i < count; i++) {
		struct remote_function function;

		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || !symbols[i].st_value ||
		    symbols[i].st_name >= library.strings_size ||
		    !locate(&library, &symbols[i], &function))
			continue;
		function.name = strings + symbols[i].st_name;
		handle(context, &function);
	}
	free(symbols);
	free(strings);
	return error;
}
