// SPDX-License-Identifier: BSD-2-Clause
/*
 * The notes are read by a process without privileges (foreign_job.h). What was found in a file is
 * kept while the file does not change, as several links are made of it. Called on the tool's one
 * thread.
 */
#include "cuda-trace/attach/probe_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/foreign/foreign_elf.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_job.h"

#define SDT_TYPE  3
#define SDT_NOTE  "stapsdt"
#define MAX_MS	  800
#define MAX_KEPT  8192	     /* files, as many as are attached to: the end looks at each again */
#define MAX_BYTES (8u << 20) /* of their tables, of which those of equal files are one */
#define MAX_SITES 128

/* The fixed part of a note; provider, name and arguments follow, each with a NUL. */
struct sdt_note {
	uint64_t location;
	uint64_t base;
	uint64_t semaphore;
};

struct elf_view {
	struct foreign_elf elf;
	uint64_t base; /* of .stapsdt.base: what prelink has moved since shows by it */
	const Elf64_Shdr *notes;
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

/* "8@%rdi 4@%esi": the first argument in the first register, and so on. *count: how many. */
static bool is_regular(const char *arguments, uint32_t *count)
{
	for (*count = 0; *arguments; ++*count) {
		const char *at = strchr(arguments, '@');
		size_t length;

		if (!at)
			return false;
		length = strcspn(at + 1, " ");
		if (!is_register(at + 1, length, *count))
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
	return foreign_elf__offset(&view->elf, address + (view->base - base), 0);
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
	site->regular = is_regular(arguments, &site->arguments);
	return site->offset && !note.semaphore == !site->semaphore;
}

static void find_sections(struct elf_view *view)
{
	for (uint32_t i = 0; i < view->elf.section_count; i++) {
		const char *name = foreign_elf__section_name(&view->elf, i);
		const Elf64_Shdr *header = &view->elf.sections[i];

		if (!strcmp(name, ".stapsdt.base"))
			view->base = header->sh_addr;
		else if (!strcmp(name, ".note.stapsdt") && header->sh_type == SHT_NOTE)
			view->notes = header;
	}
}

static uint32_t put_sites(const struct elf_view *view, const uint8_t *bytes, const char *provider,
			  struct foreign_output *output)
{
	struct foreign_note note;
	uint32_t count = 0;
	size_t at = 0;

	while (count < MAX_SITES &&
	       foreign_note__next(bytes, view->notes->sh_size, &at, 4, &note)) {
		struct probe_site site = {.name = ""};

		if (note.type != SDT_TYPE || note.name_size != sizeof(SDT_NOTE) ||
		    memcmp(note.name, SDT_NOTE, sizeof(SDT_NOTE)) ||
		    !read_site(view, (const char *)note.data, note.data_size, provider, &site))
			continue;
		foreign_output__put(output, &site, sizeof(site));
		count++;
	}
	return count;
}

int probe_sites__send(int fd, uint64_t size, const void *provider, struct foreign_output *output)
{
	struct elf_view view = {0};
	void *bytes = NULL;
	uint32_t count = 0;
	int err = foreign_elf__open(&view.elf, fd, size, true);

	if (err)
		return err;
	find_sections(&view);
	if (view.notes)
		err = foreign_elf__load(&view.elf, view.notes->sh_offset, view.notes->sh_size,
					&bytes);
	if (bytes)
		count = put_sites(&view, bytes, provider, output);
	free(bytes);
	foreign_elf__close(&view.elf);
	return err ? err : count ? 0 : -ENOENT;
}

/* ---- the tool ---- */

struct table {
	uint32_t files; /* that have it */
	int count;
	struct probe_site sites[];
};

/* Oldest first, from `oldest` to `newest`, as in a ring. */
static struct kept {
	struct foreign_file file; /* without its descriptor */
	const char *provider;
	struct table *table;
} kept[MAX_KEPT];
static uint32_t oldest, newest;
static size_t kept_bytes; /* of tables */

static size_t table_bytes(int count)
{
	return sizeof(struct table) + count * sizeof(struct probe_site);
}

static struct kept *find_kept(const struct foreign_file *file, const char *provider)
{
	for (uint32_t i = oldest; i != newest; i++) {
		struct kept *entry = &kept[i % MAX_KEPT];

		if (foreign_file__is_same(&entry->file, file) &&
		    entry->file.changed == file->changed && entry->file.size == file->size &&
		    !strcmp(entry->provider, provider))
			return entry;
	}
	return NULL;
}

static struct table *find_table(const struct probe_site *sites, int count)
{
	for (uint32_t i = oldest; i != newest; i++) {
		struct table *table = kept[i % MAX_KEPT].table;

		if (table->count == count && !memcmp(table->sites, sites, count * sizeof(*sites)))
			return table;
	}
	return NULL;
}

static struct table *new_table(const struct probe_site *sites, int count)
{
	struct table *table = malloc(table_bytes(count));

	if (!table)
		return NULL;
	table->files = 0;
	table->count = count;
	memcpy(table->sites, sites, count * sizeof(*sites));
	/* A name that does not end would be read on. */
	for (int i = 0; i < count; i++)
		table->sites[i].name[sizeof(sites->name) - 1] = 0;
	kept_bytes += table_bytes(count);
	return table;
}

static void drop_oldest(void)
{
	struct table *table = kept[oldest++ % MAX_KEPT].table;

	if (--table->files)
		return;
	kept_bytes -= table_bytes(table->count);
	free(table);
}

static struct kept *keep(const struct foreign_file *file, const char *provider,
			 const struct foreign_answer *answer)
{
	const struct probe_site *sites = (const void *)answer->bytes;
	int count = answer->size / sizeof(*sites);
	struct kept *entry = &kept[newest % MAX_KEPT];
	struct table *table;

	while (newest - oldest == MAX_KEPT ||
	       (newest != oldest && kept_bytes + table_bytes(count) > MAX_BYTES))
		drop_oldest();
	table = find_table(sites, count);
	if (!table)
		table = new_table(sites, count);
	if (!table)
		return NULL;
	table->files++;
	newest++;
	*entry = (struct kept){*file, provider, table};
	return entry;
}

static struct kept *read_file(const struct foreign_file *file, const char *provider, int *err)
{
	struct foreign_answer answer;
	struct kept *entry;

	*err = foreign_job__run(probe_sites__send, file, provider, MAX_MS,
				MAX_SITES * sizeof(struct probe_site), &answer);
	if (*err)
		return NULL;
	entry = keep(file, provider, &answer);
	free(answer.bytes);
	*err = entry ? 0 : -ENOMEM;
	return entry;
}

int probe_sites__read(const char *path, const char *provider, struct probe_site *sites, int most)
{
	struct foreign_file file;
	struct kept *entry;
	int err, count;

	err = foreign_file__open_ours(&file, path);
	if (err)
		return err;
	entry = find_kept(&file, provider);
	if (!entry)
		entry = read_file(&file, provider, &err);
	foreign_file__close(&file);
	if (!entry)
		return err;
	count = entry->table->count < most ? entry->table->count : most;
	memcpy(sites, entry->table->sites, count * sizeof(*sites));
	return count;
}
