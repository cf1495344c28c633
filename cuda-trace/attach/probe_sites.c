// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the notes through libelf. The file may lie in a container and be anybody's: it is read, not
 * mapped, as it may be cut meanwhile. Called on the tool's one thread.
 */
#include "cuda-trace/attach/probe_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/symbols/elf_segments.h"

#define SDT_TYPE 3
#define SDT_NOTE "stapsdt"

/* The fixed part of a note; provider, name and arguments follow, each with a NUL. */
struct sdt_note {
	uint64_t location;
	uint64_t base;
	uint64_t semaphore;
};

struct elf_view {
	Elf *elf;
	uint64_t base; /* of .stapsdt.base: what prelink has moved since shows by it */
	Elf_Data *notes;
};

static bool is_register(const char *text, size_t length, unsigned int argument)
{
#if defined(__x86_64__)
	static const char *const wide[] = {"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"};
	static const char *const narrow[] = {"%edi", "%esi", "%edx", "%ecx", "%r8d", "%r9d"};
#elif defined(__aarch64__)
	static const char *const wide[] = {"x0", "x1", "x2", "x3", "x4", "x5"};
	static const char *const narrow[] = {"w0", "w1", "w2", "w3", "w4", "w5"};
#else
	static const char *const wide[] = {""}, *const narrow[] = {""};
#endif
	if (argument >= sizeof(wide) / sizeof(wide[0]))
		return false;
	return (length == strlen(wide[argument]) && !strncmp(text, wide[argument], length)) ||
	       (length == strlen(narrow[argument]) && !strncmp(text, narrow[argument], length));
}

/* "8@%rdi 4@%esi": the first argument in the first register, and so on. */
static bool is_regular(const char *arguments)
{
	for (unsigned int i = 0; *arguments; i++) {
		const char *at = strchr(arguments, '@');
		size_t length;

		if (!at)
			return false;
		length = strcspn(at + 1, " ");
		if (!is_register(at + 1, length, i))
			return false;
		arguments = at + 1 + length;
		arguments += *arguments == ' ';
	}
	return true;
}

/* The text that begins at *at, which then lies behind its NUL; NULL = it does not end. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;
	const char *nul = text < end ? memchr(text, '\0', end - text) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static uint64_t offset_of(const struct elf_view *view, uint64_t address, uint64_t base)
{
	return elf_segments__offset(view->elf, address + (view->base - base), 0);
}

static bool read_site(const struct elf_view *view, const char *data, size_t size,
		      const char *provider, struct probe_site *site)
{
	const char *at = data + sizeof(struct sdt_note), *end = data + size;
	const char *whose, *name, *arguments;
	struct sdt_note note;

	if (size < sizeof(note))
		return false;
	memcpy(&note, data, sizeof(note));
	whose = next_text(&at, end);
	name = whose ? next_text(&at, end) : NULL;
	arguments = name ? next_text(&at, end) : NULL;
	if (!arguments || strcmp(whose, provider) || strlen(name) >= sizeof(site->name))
		return false;
	strcpy(site->name, name);
	site->offset = offset_of(view, note.location, note.base);
	site->semaphore = note.semaphore ? offset_of(view, note.semaphore, note.base) : 0;
	site->regular = is_regular(arguments);
	return site->offset && !note.semaphore == !site->semaphore;
}

static void find_sections(struct elf_view *view)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(view->elf, &names))
		return;
	while ((section = elf_nextscn(view->elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(view->elf, names, header.sh_name);
		if (name && !strcmp(name, ".stapsdt.base"))
			view->base = header.sh_addr;
		else if (name && !strcmp(name, ".note.stapsdt") && header.sh_type == SHT_NOTE)
			view->notes = elf_getdata(section, NULL);
	}
}

static int read_notes(struct elf_view *view, const char *provider, struct probe_site *sites,
		      int room)
{
	size_t at = 0, next, name, data;
	GElf_Nhdr header;
	int count = 0;

	find_sections(view);
	if (!view->notes)
		return 0;
	for (; count < room && (next = gelf_getnote(view->notes, at, &header, &name, &data));
	     at = next) {
		const char *bytes = view->notes->d_buf;

		if (header.n_type == SDT_TYPE && header.n_namesz == sizeof(SDT_NOTE) &&
		    !memcmp(bytes + name, SDT_NOTE, sizeof(SDT_NOTE)) &&
		    read_site(view, bytes + data, header.n_descsz, provider, &sites[count]))
			count++;
	}
	return count;
}

int probe_sites__read(const char *path, const char *provider, struct probe_site *sites, int room)
{
	struct elf_view view = {0};
	struct stat file;
	int fd, count;

	/* The name may lead to a FIFO or a device. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	if (fstat(fd, &file) || !S_ISREG(file.st_mode) ||
	    !(view.elf = elf_begin(fd, ELF_C_READ, NULL)) || elf_kind(view.elf) != ELF_K_ELF ||
	    gelf_getclass(view.elf) != ELFCLASS64)
		count = -ENOEXEC;
	else
		count = read_notes(&view, provider, sites, room);
	elf_end(view.elf);
	close(fd);
	return count;
}
