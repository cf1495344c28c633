// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small reader of shared objects for the doctor. Not libelf: that one goes by section headers,
 * which the loader ignores and which a damaged file can make as many as it likes. Here every read
 * is a pread() into a buffer of a fixed bound. One thread.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/inventory/elf_reader.h"

#define SEGMENTS_MAX 64
#define DYNAMIC_MAX  1024 /* entries; libcupti has 36 */
#define STRINGS_MAX  (4 << 20)
#define SYMBOLS_MAX  (256 << 10)

struct elf_file {
	int fd;
	uint64_t size;
	Elf64_Phdr segments[SEGMENTS_MAX];
	unsigned int segment_count;
	uint64_t strtab, strsz, symtab, hash, gnu_hash, soname;
	bool has_soname;
	char *strings;
};

/* All of it, or false: a short read is as bad as an error. */
static bool read_at(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	size_t have = 0;
	ssize_t n;

	if (offset > file->size || size > file->size - offset)
		return false;
	while (have < size) {
		n = pread(file->fd, (char *)buffer + have, size - have, offset + have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += n;
	}
	return true;
}

/* Where the loader would have an address, in the file; false outside of what the file holds. */
static bool file_offset(const struct elf_file *file, uint64_t address, uint64_t size,
			uint64_t *offset)
{
	const Elf64_Phdr *s;
	unsigned int i;

	for (i = 0; i < file->segment_count; i++) {
		s = &file->segments[i];
		if (s->p_type != PT_LOAD || address < s->p_vaddr)
			continue;
		if (address - s->p_vaddr > s->p_filesz ||
		    size > s->p_filesz - (address - s->p_vaddr))
			continue;
		if (__builtin_add_overflow(s->p_offset, address - s->p_vaddr, offset))
			return false;
		return true;
	}
	return false;
}

static bool read_address(const struct elf_file *file, uint64_t address, void *buffer, size_t size)
{
	uint64_t offset;

	return file_offset(file, address, size, &offset) && read_at(file, offset, buffer, size);
}

static bool looks_like_text(const unsigned char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (bytes[i] < 0x20 && !strchr("\t\n\r", bytes[i]))
			return false;
	return true;
}

static enum elf_verdict read_header(struct elf_file *file, Elf64_Ehdr *header,
				    struct elf_facts *facts)
{
	unsigned char *id = header->e_ident;
	size_t n = file->size < sizeof(*header) ? file->size : sizeof(*header);

	memset(header, 0, sizeof(*header));
	if (!file->size)
		return ELF_EMPTY;
	if (!read_at(file, 0, header, n))
		return ELF_UNREADABLE;
	if (memcmp(id, ELFMAG, n < SELFMAG ? n : SELFMAG) || n < SELFMAG) {
		facts->text = looks_like_text(id, n);
		return ELF_NOT_ELF;
	}
	if (n < sizeof(Elf32_Ehdr))
		return ELF_TRUNCATED;
	facts->class = id[EI_CLASS];
	facts->big_endian = id[EI_DATA] == ELFDATA2MSB;
	facts->machine =
		facts->big_endian ? __builtin_bswap16(header->e_machine) : header->e_machine;
	if (facts->class != ELFCLASS64 || facts->big_endian)
		return ELF_OK; /* of no machine that CUDA runs on: the machine is all that is wanted
				*/
	if (n < sizeof(*header))
		return ELF_TRUNCATED;
	if (header->e_type != ET_DYN)
		return ELF_NOT_SHARED;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum ||
	    header->e_phnum > SEGMENTS_MAX)
		return ELF_DAMAGED;
	return ELF_OK;
}

static enum elf_verdict read_segments(struct elf_file *file, const Elf64_Ehdr *header)
{
	const Elf64_Phdr *s;
	uint64_t end;
	unsigned int i;

	file->segment_count = header->e_phnum;
	if (!read_at(file, header->e_phoff, file->segments, header->e_phnum * sizeof(Elf64_Phdr)))
		return ELF_TRUNCATED;
	for (i = 0; i < file->segment_count; i++) {
		s = &file->segments[i];
		if (s->p_type != PT_LOAD && s->p_type != PT_DYNAMIC)
			continue;
		if (__builtin_add_overflow(s->p_offset, s->p_filesz, &end))
			return ELF_DAMAGED;
		if (end > file->size)
			return ELF_TRUNCATED;
	}
	return ELF_OK;
}

static void note_tag(struct elf_file *file, const Elf64_Dyn *dyn)
{
	switch (dyn->d_tag) {
	case DT_STRTAB:
		file->strtab = dyn->d_un.d_ptr;
		break;
	case DT_STRSZ:
		file->strsz = dyn->d_un.d_val;
		break;
	case DT_SYMTAB:
		file->symtab = dyn->d_un.d_ptr;
		break;
	case DT_HASH:
		file->hash = dyn->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		file->gnu_hash = dyn->d_un.d_ptr;
		break;
	case DT_SONAME:
		file->soname = dyn->d_un.d_val;
		file->has_soname = true;
		break;
	}
}

static enum elf_verdict read_dynamic(struct elf_file *file)
{
	const Elf64_Phdr *s = file->segments, *end = s + file->segment_count;
	Elf64_Dyn dyn;
	uint64_t i;

	while (s < end && s->p_type != PT_DYNAMIC)
		s++;
	if (s == end)
		return ELF_DAMAGED;
	for (i = 0; i < DYNAMIC_MAX && (i + 1) * sizeof(dyn) <= s->p_filesz; i++) {
		if (!read_at(file, s->p_offset + i * sizeof(dyn), &dyn, sizeof(dyn)))
			return ELF_UNREADABLE;
		if (dyn.d_tag == DT_NULL)
			break;
		note_tag(file, &dyn);
	}
	if (!file->strtab || !file->strsz || file->strsz > STRINGS_MAX)
		return ELF_DAMAGED;
	file->strings = malloc(file->strsz + 1);
	if (!file->strings)
		return ELF_UNREADABLE;
	if (!read_address(file, file->strtab, file->strings, file->strsz))
		return ELF_DAMAGED;
	file->strings[file->strsz] = '\0';
	return ELF_OK;
}

/* The GNU table does not say how many symbols there are: the last chain of the last bucket does. */
static uint64_t count_by_gnu_hash(const struct elf_file *file)
{
	uint32_t head[4], bucket, i, word,
		last = 0; /* buckets, symbol offset, bloom words, shift */
	uint64_t buckets, hash_chain;

	if (!read_address(file, file->gnu_hash, head, sizeof(head)) || head[0] > SYMBOLS_MAX ||
	    head[2] > SYMBOLS_MAX)
		return 0;
	buckets = file->gnu_hash + sizeof(head) + 8ull * head[2];
	hash_chain = buckets + 4ull * head[0];
	for (i = 0; i < head[0]; i++) {
		if (!read_address(file, buckets + 4ull * i, &bucket, 4))
			return 0;
		if (bucket > last)
			last = bucket;
	}
	if (last < head[1])
		return 0;
	for (; last < SYMBOLS_MAX; last++) {
		if (!read_address(file, hash_chain + 4ull * (last - head[1]), &word, 4))
			return 0;
		if (word & 1)
			return last + 1ull;
	}
	return 0;
}

static uint64_t count_symbols(const struct elf_file *file)
{
	uint32_t head[2]; /* nbucket, nchain: as many of these as symbols */

	if (file->hash && read_address(file, file->hash, head, sizeof(head)) &&
	    head[1] <= SYMBOLS_MAX)
		return head[1];
	return file->gnu_hash ? count_by_gnu_hash(file) : 0;
}

/*
 * cuptiGetVersion() stores a constant and returns 0. Read that constant from its code, so that an
 * image's library has a version without running anything of it:
 *   x86-64   c7 07 IMM32  31 c0  c3         movl $IMM,(%rdi); xor %eax,%eax; ret
 *   arm64    movz wN,#lo [movk wN,#hi,lsl 16] .. str wN,[x0]
 */
static uint32_t version_in_x86(const unsigned char *code, size_t n)
{
	uint32_t value;
	size_t i;

	for (i = 0; i + 9 <= n && code[i] != 0xc3; i++) {
		if (code[i] != 0xc7 || code[i + 1] != 0x07)
			continue;
		memcpy(&value, code + i + 2, 4);
		return !memcmp(code + i + 6, "\x31\xc0\xc3", 3) ? value : 0;
	}
	return 0;
}

static uint32_t version_in_arm64(const unsigned char *code, size_t n)
{
	uint32_t value[32] = {0}, op, reg;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		memcpy(&op, code + i, 4);
		reg = op & 31;
		if ((op & 0xffe00000) == 0x52800000) /* movz w, #imm16 */
			value[reg] = op >> 5 & 0xffff;
		else if ((op & 0xffe00000) == 0x72a00000) /* movk w, #imm16, lsl 16 */
			value[reg] = (value[reg] & 0xffff) | (op >> 5 & 0xffff) << 16;
		else if ((op & 0xffffffe0) == 0xb9000000) /* str w, [x0] */
			return value[reg];
		else if (op == 0xd65f03c0) /* ret */
			return 0;
	}
	return 0;
}

static void read_version(const struct elf_file *file, uint64_t address, struct elf_facts *facts)
{
	unsigned char code[64];
	uint32_t value = 0;

	if (!read_address(file, address, code, sizeof(code)))
		return;
	if (facts->machine == EM_X86_64)
		value = version_in_x86(code, sizeof(code));
	else if (facts->machine == EM_AARCH64)
		value = version_in_arm64(code, sizeof(code));
	/* Small numbers up to CUDA 12, MMmmpp from 13.0 on; anything else is a misreading. */
	if ((value >= 1 && value < 100) || (value >= 130000 && value < 1000000))
		facts->version = value;
}

static void find_symbols(const struct elf_file *file, const char *const wanted[],
			 unsigned int count, struct elf_facts *facts)
{
	uint64_t i, n = count_symbols(file);
	unsigned int w;
	Elf64_Sym sym;

	for (i = 1; i < n; i++) {
		if (!read_address(file, file->symtab + i * sizeof(sym), &sym, sizeof(sym)))
			return;
		if (sym.st_shndx == SHN_UNDEF || sym.st_name >= file->strsz)
			continue;
		for (w = 0; w < count; w++) {
			if (strcmp(file->strings + sym.st_name, wanted[w]))
				continue;
			facts->symbols |= 1u << w;
			if (!w)
				read_version(file, sym.st_value, facts);
		}
	}
}

void elf__inspect(int fd, const char *const wanted[], unsigned int count, struct elf_facts *facts)
{
	struct elf_file file = {.fd = fd};
	Elf64_Ehdr header;
	struct stat st;

	memset(facts, 0, sizeof(*facts));
	if (fstat(fd, &st)) {
		facts->verdict = ELF_UNREADABLE;
		return;
	}
	file.size = st.st_size;
	facts->verdict = read_header(&file, &header, facts);
	if (facts->verdict != ELF_OK || facts->class != ELFCLASS64 || facts->big_endian)
		return;
	facts->verdict = read_segments(&file, &header);
	if (facts->verdict == ELF_OK)
		facts->verdict = read_dynamic(&file);
	if (facts->verdict == ELF_OK) {
		if (file.has_soname && file.soname < file.strsz)
			strncat(facts->soname, file.strings + file.soname,
				sizeof(facts->soname) - 1);
		find_symbols(&file, wanted, count, facts);
	}
	free(file.strings);
}

const char *elf__machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "arm64";
	case EM_386:
		return "i386";
	case EM_ARM:
		return "arm";
	case EM_PPC64:
		return "ppc64";
	default:
		return "another machine";
	}
}

uint16_t elf__own_machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#else
	return EM_NONE;
#endif
}
