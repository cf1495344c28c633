// SPDX-License-Identifier: BSD-2-Clause
/*
 * As nvcc 13.0 was seen to write it, and nvdisasm 12.4 to read it: a section of code and a symbol
 * for each function are enough. What else an image has (tables, relocations, names) stays away from
 * NVIDIA's parser, and a function of an image of 60 MB takes no longer than one that is alone.
 */
#include "cuda-trace/profile/code/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_MACHINE 190
#define ENTRY	     0x10 /* st_other of a kernel */
#define ALIGNMENT    128
#define FIXED	     4 /* sections before the first function's: none, two of names, symbols */
#define LINE_BYTES   16
#define NAMES	     "\0.shstrtab\0.strtab\0.symtab"

/* ---- out of an image ---- */

struct image {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
};

static bool fits(const struct image *image, uint64_t at, uint64_t size)
{
	return at <= image->size && size <= image->size - at;
}

static Elf64_Shdr section(const struct image *image, uint32_t i)
{
	Elf64_Shdr found;

	memcpy(&found, image->bytes + image->header.e_shoff + (uint64_t)i * sizeof(found),
	       sizeof(found));
	return found;
}

static bool open_image(struct image *image)
{
	if (image->size < sizeof(image->header))
		return false;
	memcpy(&image->header, image->bytes, sizeof(image->header));
	return !memcmp(image->header.e_ident, ELFMAG, SELFMAG) &&
	       image->header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       image->header.e_machine == CUDA_MACHINE &&
	       image->header.e_shentsize == sizeof(Elf64_Shdr) &&
	       fits(image, image->header.e_shoff,
		    (uint64_t)image->header.e_shnum * sizeof(Elf64_Shdr)) &&
	       image->header.e_shstrndx < image->header.e_shnum;
}

static bool is_code_of(const struct image *image, const Elf64_Shdr *names, const Elf64_Shdr *of,
		       const char *function)
{
	static const char prefix[] = ".text.";
	size_t length = sizeof(prefix) - 1, wanted = length + strlen(function) + 1;
	const char *name;

	if (of->sh_type != SHT_PROGBITS || !fits(image, names->sh_offset, names->sh_size) ||
	    of->sh_name > names->sh_size || wanted > names->sh_size - of->sh_name)
		return false;
	name = (const char *)image->bytes + names->sh_offset + of->sh_name;
	return !memcmp(name, prefix, length) && !memcmp(name + length, function, wanted - length);
}

bool cubin__code(const uint8_t *bytes, size_t size, const char *function, struct cubin_code *code)
{
	struct image image = {.bytes = bytes, .size = size};
	Elf64_Shdr names, found;

	if (!open_image(&image))
		return false;
	names = section(&image, image.header.e_shstrndx);
	for (uint32_t i = 0; i < image.header.e_shnum; i++) {
		found = section(&image, i);
		if (!is_code_of(&image, &names, &found, function))
			continue;
		if (!found.sh_size || found.sh_size > CUBIN_MAX_CODE ||
		    !fits(&image, found.sh_offset, found.sh_size))
			return false;
		*code = (struct cubin_code){
			.bytes = bytes + found.sh_offset,
			.size = found.sh_size,
			.version = image.header.e_version,
			.flags = image.header.e_flags,
		};
		memcpy(code->ident, image.header.e_ident, sizeof(code->ident));
		return true;
	}
	return false;
}

/* ---- into one of ours ---- */

bool cubin__go_together(const struct cubin_code *a, const struct cubin_code *b)
{
	return !memcmp(a->ident, b->ident, sizeof(a->ident)) && a->version == b->version &&
	       a->flags == b->flags;
}

struct part {
	size_t at, size;
};

/* Where everything goes. */
struct plan {
	struct part names, texts, symbols, sections, codes[CUBIN_FUNCTIONS];
	size_t size;
};

static void place(struct plan *plan, struct part *part, size_t size)
{
	plan->size = (plan->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	*part = (struct part){plan->size, size};
	plan->size += size;
}

static void make_plan(struct plan *plan, const struct cubin_code *codes, uint32_t count)
{
	plan->size = sizeof(Elf64_Ehdr);
	place(plan, &plan->names, sizeof(NAMES) + (size_t)count * LINE_BYTES);
	place(plan, &plan->texts, 1 + (size_t)count * LINE_BYTES);
	/* The first one is none; a section's and a function's each. */
	place(plan, &plan->symbols, (1 + 2 * (size_t)count) * sizeof(Elf64_Sym));
	for (uint32_t i = 0; i < count; i++)
		place(plan, &plan->codes[i], codes[i].size);
	place(plan, &plan->sections, (FIXED + (size_t)count) * sizeof(Elf64_Shdr));
}

static void put_section(uint8_t *to, const struct plan *plan, uint32_t number,
			const struct part *part, Elf64_Shdr section)
{
	section.sh_offset = part->at;
	section.sh_size = part->size;
	memcpy(to + plan->sections.at + number * sizeof(section), &section, sizeof(section));
}

static void put_symbol(uint8_t *to, const struct plan *plan, uint32_t number, Elf64_Sym symbol)
{
	memcpy(to + plan->symbols.at + number * sizeof(symbol), &symbol, sizeof(symbol));
}

static void put_function(uint8_t *to, const struct plan *plan, const struct cubin_code *code,
			 uint32_t i, uint32_t count)
{
	uint32_t name = sizeof(NAMES) + i * LINE_BYTES, text = 1 + i * LINE_BYTES;

	snprintf((char *)to + plan->names.at + name, LINE_BYTES, ".text.f%u", i);
	snprintf((char *)to + plan->texts.at + text, LINE_BYTES, "f%u", i);
	memcpy(to + plan->codes[i].at, code->bytes, code->size);
	put_symbol(to, plan, 1 + i,
		   (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
			       .st_shndx = FIXED + i});
	put_symbol(to, plan, 1 + count + i,
		   (Elf64_Sym){.st_name = text,
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			       .st_other = ENTRY,
			       .st_shndx = FIXED + i,
			       .st_size = code->size});
	put_section(to, plan, FIXED + i, &plan->codes[i],
		    (Elf64_Shdr){.sh_name = name,
				 .sh_type = SHT_PROGBITS,
				 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				 .sh_link = 3,
				 .sh_info = 1 + count + i,
				 .sh_addralign = ALIGNMENT});
}

static void put_header(uint8_t *to, const struct plan *plan, const struct cubin_code *code,
		       uint32_t count)
{
	Elf64_Ehdr header = {
		.e_type = ET_EXEC,
		.e_machine = CUDA_MACHINE,
		.e_version = code->version,
		.e_shoff = plan->sections.at,
		.e_flags = code->flags,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = FIXED + count,
		.e_shstrndx = 1,
	};

	memcpy(header.e_ident, code->ident, sizeof(header.e_ident));
	memcpy(to, &header, sizeof(header));
}

uint8_t *cubin__make(const struct cubin_code *codes, uint32_t count, size_t *size)
{
	struct plan plan = {};
	uint8_t *to;

	if (!count || count > CUBIN_FUNCTIONS)
		return NULL;
	make_plan(&plan, codes, count);
	to = calloc(1, plan.size);
	if (!to)
		return NULL;
	memcpy(to + plan.names.at, NAMES, sizeof(NAMES));
	put_header(to, &plan, &codes[0], count);
	put_section(to, &plan, 1, &plan.names,
		    (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1});
	put_section(to, &plan, 2, &plan.texts,
		    (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_STRTAB, .sh_addralign = 1});
	put_section(to, &plan, 3, &plan.symbols,
		    (Elf64_Shdr){.sh_name = 19,
				 .sh_type = SHT_SYMTAB,
				 .sh_link = 2,
				 .sh_info = 1 + count,
				 .sh_addralign = 8,
				 .sh_entsize = sizeof(Elf64_Sym)});
	for (uint32_t i = 0; i < count; i++)
		put_function(to, &plan, &codes[i], i, count);
	*size = plan.size;
	return to;
}
