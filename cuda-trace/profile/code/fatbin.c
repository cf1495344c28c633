// SPDX-License-Identifier: BSD-2-Clause
/*
 * As nvcc 13.0 was seen to write it, with each --compress-mode; NVIDIA documents none of it.
 *
 * Failure modes: 1. sizes that lead out of the section, or nowhere: a walk only goes forward, and
 * whatever does not fit ends it. 2. a few bytes that unpack to gigabytes: the size is bounded
 * before memory is taken, and nothing is unpacked beyond it. 3. endless lists of tiny images: there
 * is an end.
 */
#include "cuda-trace/profile/code/fatbin.h"

#include <elf.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define MAGIC	     0xba55ed50
#define KIND_CUBIN   2
#define FLAG_LZ4     0x2000
#define FLAG_ZSTD    0x8000
#define ALIGNED	     8
#define MAX_SECTIONS 65536
#define MAX_NAMES    (1u << 20)
#define MAX_IMAGES   (1u << 20)
/* Beyond as many bytes as are wanted: a block of Zstandard's is whole or nothing. */
#define READ_AHEAD (256u << 10)

struct container {
	uint32_t magic;
	uint16_t version, head; /* bytes until the first image */
	uint64_t size;		/* of all images */
};

struct entry {
	uint16_t kind, version;
	uint32_t head;	 /* bytes until its contents */
	uint64_t size;	 /* of these, with what fills them up */
	uint32_t packed; /* of these, 0 = they are not compressed */
	uint32_t options;
	uint16_t minor, major;
	uint32_t architecture;
	uint32_t name, name_size;
	uint64_t flags;
	uint64_t reserved;
	uint64_t unpacked;
};

_Static_assert(sizeof(struct container) == 16 && sizeof(struct entry) == 64, "as in the file");

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, size, at) == (ssize_t)size;
}

/* ---- the section ---- */

static bool is_fatbin(int fd, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	static const char wanted[] = ".nv_fatbin";
	char name[sizeof(wanted)];

	return section->sh_name < names->sh_size && names->sh_size <= MAX_NAMES &&
	       section->sh_type == SHT_PROGBITS &&
	       read_at(fd, name, sizeof(name), names->sh_offset + section->sh_name) &&
	       !memcmp(name, wanted, sizeof(name));
}

bool fatbin__section(int fd, uint64_t *at, uint64_t *size)
{
	Elf64_Ehdr header;
	Elf64_Shdr names, *sections = NULL;
	bool found = false;

	if (!read_at(fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(names) ||
	    header.e_shstrndx >= header.e_shnum)
		return false;
	sections = calloc(header.e_shnum, sizeof(*sections));
	if (sections && read_at(fd, sections, header.e_shnum * sizeof(*sections), header.e_shoff)) {
		names = sections[header.e_shstrndx];
		for (unsigned int i = 0; i < header.e_shnum && !found; i++) {
			found = is_fatbin(fd, &names, &sections[i]);
			*at = sections[i].sh_offset;
			*size = sections[i].sh_size;
		}
	}
	free(sections);
	return found && *at <= INT64_MAX && *size <= INT64_MAX - *at;
}

/* ---- the images ---- */

/* False: it is none that can be unpacked. */
static bool take(struct fatbin_image *image, const struct entry *entry, uint64_t at)
{
	bool is_packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD);

	*image = (struct fatbin_image){
		.at = at + entry->head,
		.packed = is_packed ? entry->packed : entry->size,
		.size = is_packed ? entry->unpacked : entry->size,
		.architecture = entry->architecture,
		.packing = entry->flags & FLAG_ZSTD  ? FATBIN_ZSTD
			   : entry->flags & FLAG_LZ4 ? FATBIN_LZ4
						     : FATBIN_PLAIN,
	};
	return entry->kind == KIND_CUBIN && image->packed && image->packed <= entry->size &&
	       image->packed <= FATBIN_LARGEST && image->size && image->size <= FATBIN_LARGEST;
}

struct walk {
	int fd;
	uint32_t left; /* images that may still come */
	bool (*each)(void *context, const struct fatbin_image *image);
	void *context;
};

static bool each_of_container(struct walk *walk, uint64_t at, uint64_t end)
{
	struct fatbin_image image;
	struct entry entry;

	while (end - at >= sizeof(entry) && walk->left) {
		if (!read_at(walk->fd, &entry, sizeof(entry), at) || entry.head < sizeof(entry) ||
		    entry.head > end - at || entry.size > end - at - entry.head)
			break;
		walk->left--;
		if (take(&image, &entry, at) && !walk->each(walk->context, &image))
			return false;
		at += entry.head + entry.size;
	}
	return true;
}

bool fatbin__each(int fd, uint64_t at, uint64_t size,
		  bool (*each)(void *context, const struct fatbin_image *image), void *context)
{
	struct walk walk = {.fd = fd, .left = MAX_IMAGES, .each = each, .context = context};
	uint64_t end = at + size;
	struct container container;

	while (end - at >= sizeof(container) && walk.left) {
		if (!read_at(fd, &container, sizeof(container), at) || container.magic != MAGIC ||
		    container.head < sizeof(container) || container.head > end - at ||
		    container.size > end - at - container.head)
			break;
		if (!each_of_container(&walk, at + container.head,
				       at + container.head + container.size))
			return false;
		at += container.head + container.size;
		/* By address, so from the section's beginning. */
		at += (end - size - at) % ALIGNED;
		if (at > end)
			break;
	}
	return true;
}

/* ---- their contents ---- */

static size_t unpack_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t capacity)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {from, size, 0};
	ZSTD_outBuffer out = {to, capacity, 0};

	while (stream && out.pos < capacity) {
		size_t before = in.pos + out.pos;
		size_t left = ZSTD_decompressStream(stream, &out, &in);

		if (ZSTD_isError(left) || !left || in.pos + out.pos == before)
			break;
	}
	ZSTD_freeDStream(stream);
	return out.pos;
}

static size_t unpack_lz4(const uint8_t *from, size_t size, uint8_t *to, size_t capacity)
{
	int came = LZ4_decompress_safe_partial((const char *)from, (char *)to, size, capacity,
					       capacity);

	return came > 0 ? came : 0;
}

size_t fatbin__unpack(int fd, const struct fatbin_image *image, uint8_t *to, size_t wanted)
{
	/* What does not get smaller by packing gets a little larger. */
	uint64_t most = wanted + wanted / 128 + READ_AHEAD;
	size_t packed = image->packed < most ? image->packed : most, came = 0;
	uint8_t *from;

	if (wanted > image->size)
		wanted = image->size;
	if (image->packing == FATBIN_PLAIN)
		return read_at(fd, to, wanted, image->at) ? wanted : 0;
	from = malloc(packed);
	if (from && read_at(fd, from, packed, image->at))
		came = image->packing == FATBIN_ZSTD ? unpack_zstd(from, packed, to, wanted)
						     : unpack_lz4(from, packed, to, wanted);
	free(from);
	return came;
}
