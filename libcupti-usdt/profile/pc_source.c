// SPDX-License-Identifier: BSD-2-Clause
/*
 * Images are kept as copies, because CUPTI shows them in a callback only and the program may free
 * its own at any time, as far as the memory suffices: those with lines in them, which few programs
 * have, and for those who take samples small ones without, which may be in no file that a tool
 * could disassemble.
 *
 * Failure modes: 1. the copying takes the program's time: it is that of loading the module, which
 * takes longer. 2. an image is not what it says: nothing of it is believed beyond its size. 3.
 * CUPTI is slow on a large one: each instruction is looked up once, and none of images without
 * lines.
 * 4. these are in the way of those with lines: each sort has memory of its own.
 */
#include "libcupti-usdt/profile/pc_source.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/interned_names.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define IMAGES	      256
#define IMAGES_BYTES  ((size_t)8 << 20)
#define PLAIN_IMAGES  128
#define PLAIN_BYTES   ((size_t)4 << 20)
#define PLAIN_LARGEST ((size_t)256 << 10)
#define LOCK_TURNS    100
#define PLACES	      8192U /* power of 2 */
#define PLACES_FULL   (PLACES / 4 * 3)

struct image {
	_Atomic(const uint8_t *) start; /* set last */
	size_t size;
	uint64_t checksum;
	bool has_checksum; /* this and the next are of the agent's thread */
	bool is_announced;
};

/* What was looked up already. */
struct place {
	uint64_t cubin, offset;
	uint32_t function; /* id; 0 = free */
	uint32_t file, line;
};

static struct memory {
	struct image lined[IMAGES], plain[PLAIN_IMAGES];
	struct place places[PLACES];
	_Alignas(64) uint8_t lined_bytes[IMAGES_BYTES];
	_Alignas(64) uint8_t plain_bytes[PLAIN_BYTES];
} * memory;

/* Images of one sort. */
struct store {
	struct image *images;
	uint8_t *bytes;
	uint32_t most;
	size_t capacity, largest; /* bytes */
	_Atomic(size_t) bytes_used;
	_Atomic(uint32_t) images_used;
};

static struct store lined = {.most = IMAGES, .capacity = IMAGES_BYTES, .largest = IMAGES_BYTES};
static struct store plain = {
	.most = PLAIN_IMAGES, .capacity = PLAIN_BYTES, .largest = PLAIN_LARGEST};

static uint32_t places_used;
static _Atomic(uint32_t) open;				 /* bits: who wants lines */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of places and checksums; only tried */
static _Atomic(uint32_t) writers;			 /* threads that are copying */

/* Another thread asks CUPTI meanwhile. */
static bool acquire_lock(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int turn = 0; turn < LOCK_TURNS; turn++) {
		if (!pthread_mutex_trylock(&lock))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int furnish(void)
{
	if (memory)
		return 0;
	memory = memory__map(sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	lined.images = memory->lined;
	lined.bytes = memory->lined_bytes;
	plain.images = memory->plain;
	plain.bytes = memory->plain_bytes;
	return 0;
}

int pc_source__open(enum pc_source_user user)
{
	int err = furnish();

	if (err)
		return err;
	atomic_fetch_or(&open, user);
	return 0;
}

static void empty(struct store *store)
{
	atomic_store(&store->images_used, 0);
	atomic_store(&store->bytes_used, 0);
}

/* Those that copy just now; whoever comes later sees that nobody wants it. */
static bool wait_for_writers(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int turn = 0; atomic_load(&writers) && turn < LOCK_TURNS; turn++)
		nanosleep(&pause, NULL);
	return !atomic_load(&writers);
}

void pc_source__close(enum pc_source_user user)
{
	if (!memory || (atomic_fetch_and(&open, ~(uint32_t)user) & ~(uint32_t)user) ||
	    !acquire_lock())
		return;
	/* Somebody still copies, or came back: then the memory stays, and is used on. */
	if (!wait_for_writers() || atomic_load(&open)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	empty(&lined);
	empty(&plain);
	places_used = 0;
	madvise(memory, sizeof(*memory), MADV_DONTNEED);
	pthread_mutex_unlock(&lock);
}

/* A section's name, NUL-terminated within the image; NULL = there is none. */
static const char *section_name(const uint8_t *image, size_t size, const Elf64_Shdr *names,
				const Elf64_Shdr *section)
{
	uint64_t at = names->sh_offset + section->sh_name;

	if (names->sh_offset > size || section->sh_name > size || at >= size)
		return NULL;
	return memchr(image + at, '\0', size - at) ? (const char *)image + at : NULL;
}

/* The sections' headers are within the image. */
static bool is_image(const uint8_t *image, size_t size, Elf64_Ehdr *header)
{
	if (size < sizeof(*header))
		return false;
	memcpy(header, image, sizeof(*header));
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff <= size &&
	       (size - header->e_shoff) / sizeof(Elf64_Shdr) >= header->e_shnum &&
	       header->e_shstrndx < header->e_shnum;
}

static bool has_lines(const uint8_t *image, size_t size, const Elf64_Ehdr *header)
{
	Elf64_Shdr names, section;

	memcpy(&names, image + header->e_shoff + header->e_shstrndx * sizeof(names), sizeof(names));
	for (unsigned int i = 0; i < header->e_shnum; i++) {
		const char *name;

		memcpy(&section, image + header->e_shoff + i * sizeof(section), sizeof(section));
		name = section_name(image, size, &names, &section);
		if (name && !strcmp(name, ".debug_line"))
			return true;
	}
	return false;
}

/* Where it is to be kept; NULL = nowhere. */
static struct store *store_of(const void *image, size_t size)
{
	Elf64_Ehdr header;

	if (!is_image(image, size, &header))
		return NULL;
	if (has_lines(image, size, &header))
		return &lined;
	return atomic_load(&open) & PC_SOURCE_SAMPLES ? &plain : NULL;
}

/* Modules come and go, and come once for each GPU. */
static bool is_kept(const struct store *store, const void *image, size_t size)
{
	uint32_t count = atomic_load(&store->images_used);

	for (uint32_t i = 0; i < count && i < store->most; i++) {
		const struct image *kept = &store->images[i];
		const uint8_t *start = atomic_load_explicit(&kept->start, memory_order_acquire);

		if (start && kept->size == size && !memcmp(start, image, size))
			return true;
	}
	return false;
}

static void keep(struct store *store, const void *image, size_t size)
{
	size_t capacity = (size + 63) & ~(size_t)63, at;
	uint32_t i;

	if (size > store->largest || atomic_load(&store->images_used) >= store->most ||
	    is_kept(store, image, size))
		return;
	at = atomic_fetch_add(&store->bytes_used, capacity);
	if (at > store->capacity || capacity > store->capacity - at) {
		/* A smaller one may still fit. */
		atomic_fetch_sub(&store->bytes_used, capacity);
		return;
	}
	i = atomic_fetch_add(&store->images_used, 1);
	if (i >= store->most)
		return;
	memcpy(store->bytes + at, image, size);
	store->images[i].size = size;
	atomic_store_explicit(&store->images[i].start, store->bytes + at, memory_order_release);
}

static uint64_t checksum_of(const void *image, size_t size)
{
	struct cupti_cubin_checksum of = {
		.size = CUPTI_PC_SIZE(struct cupti_cubin_checksum, checksum),
		.cubin_size = size,
		.cubin = image,
	};

	if (!cupti_api__get()->GetCubinCrc || cupti_api__get()->GetCubinCrc(&of))
		return 0;
	return of.checksum;
}

void pc_source__module(const void *image, size_t size)
{
	struct store *store;

	if (!image || !size || !atomic_load(&open))
		return;
	if (site_wanted(cubin))
		probe_sites__cubin(checksum_of(image, size), image, size, status__instance());
	atomic_fetch_add(&writers, 1);
	store = atomic_load(&open) ? store_of(image, size) : NULL;
	if (store)
		keep(store, image, size);
	atomic_fetch_sub(&writers, 1);
}

static struct image *find_image(const struct store *store, uint64_t cubin)
{
	uint32_t count = atomic_load(&store->images_used);

	for (uint32_t i = 0; i < count && i < store->most; i++) {
		struct image *image = &store->images[i];
		const uint8_t *start = atomic_load_explicit(&image->start, memory_order_acquire);

		if (!start)
			continue;
		if (!image->has_checksum) {
			image->checksum = checksum_of(start, image->size);
			image->has_checksum = true;
		}
		if (image->checksum == cubin)
			return image;
	}
	return NULL;
}

static void describe(const struct image *image, bool is_lined, struct cuda_pc_image *to)
{
	*to = (struct cuda_pc_image){
		.head = {.kind = CUDA_RECORD_PC_IMAGE, .size = sizeof(*to)},
		.cubin = image->checksum,
		.address = (uintptr_t)atomic_load(&image->start),
		.size = image->size,
		.plain = !is_lined,
	};
}

bool pc_source__lined_image(uint64_t cubin, struct cuda_pc_image *to)
{
	const struct image *image;

	if (!memory || !cubin || !atomic_load(&lined.images_used) || !acquire_lock())
		return false;
	image = find_image(&lined, cubin);
	if (image)
		describe(image, true, to);
	pthread_mutex_unlock(&lock);
	return image;
}

bool pc_source__image(uint64_t cubin, struct cuda_pc_image *to)
{
	struct image *image;
	bool is_new, is_lined;

	if (!memory || !cubin ||
	    (!atomic_load(&lined.images_used) && !atomic_load(&plain.images_used)) ||
	    !acquire_lock())
		return false;
	image = find_image(&lined, cubin);
	is_lined = image;
	if (!image)
		image = find_image(&plain, cubin);
	is_new = image && !image->is_announced;
	if (is_new) {
		image->is_announced = true;
		describe(image, is_lined, to);
	}
	pthread_mutex_unlock(&lock);
	return is_new;
}

void pc_source__tell_again(void)
{
	for (uint32_t i = 0; memory && i < IMAGES; i++)
		memory->lined[i].is_announced = false;
	for (uint32_t i = 0; memory && i < PLAIN_IMAGES; i++)
		memory->plain[i].is_announced = false;
}

static uint32_t path_name(const struct cupti_source_line *line)
{
	char path[1024];

	if (!line->file || !*line->file)
		return 0;
	if (line->folder && *line->folder && *line->file != '/')
		snprintf(path, sizeof(path), "%s/%s", line->folder, line->file);
	else
		snprintf(path, sizeof(path), "%s", line->file);
	return interned_names__intern_text(path);
}

static void ask(const char *function, struct place *place)
{
	struct cupti_source_line line = {
		.size = CUPTI_PC_SIZE(struct cupti_source_line, folder),
		.function = function,
		.offset = place->offset,
	};
	const struct image *image = find_image(&lined, place->cubin);

	if (!image || !cupti_api__get()->GetSassToSourceCorrelation)
		return;
	line.cubin = atomic_load(&image->start);
	line.cubin_size = image->size;
	if (!cupti_api__get()->GetSassToSourceCorrelation(&line) && line.line) {
		place->file = path_name(&line);
		place->line = place->file ? line.line : 0;
	}
	free(line.file);
	free(line.folder);
}

static struct place *find_place(uint64_t cubin, uint32_t function, uint64_t offset)
{
	uint64_t mixed = (cubin ^ offset ^ (uint64_t)function << 32) * 0x9e3779b97f4a7c15;

	for (uint32_t i = mixed >> 40;; i++) {
		struct place *place = &memory->places[i & (PLACES - 1)];

		if (!place->function || (place->cubin == cubin && place->offset == offset &&
					 place->function == function))
			return place;
	}
}

uint32_t pc_source__line(uint64_t cubin, const char *function, uint32_t function_name,
			 uint64_t offset, uint32_t *file)
{
	struct place one = {.cubin = cubin, .offset = offset, .function = function_name};
	struct place *place;
	uint32_t line;

	*file = 0;
	if (!memory || !function || !function_name || !atomic_load(&lined.images_used) ||
	    !acquire_lock())
		return 0;
	place = find_place(cubin, function_name, offset);
	if (!place->function) {
		ask(function, &one);
		if (places_used < PLACES_FULL) {
			places_used++;
			*place = one;
		}
		place = &one;
	}
	*file = place->file;
	line = place->line;
	pthread_mutex_unlock(&lock);
	return line;
}
