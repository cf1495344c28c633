// SPDX-License-Identifier: BSD-2-Clause
/*
 * Most images have no line table or none of the functions, which their first bytes show: nvcc puts
 * the names of the sections at their beginning. CUPTI's checksum decides whether an image is the
 * one that was sampled. It is a weak one (CUPTI 13.0 was seen to read 28 bytes of 13,112): it is
 * computed only of images that have the function.
 *
 * Failure modes: 1. a file that is made to crash or to hold up its reader: that is a process
 * without rights, whose end, whatever it is, means that nothing more is found. 2. gigabytes of
 * images: bytes are counted, and there is an end to the time. 3. the wrong image, whose lines would
 * lie: without libcupti only a name that one image alone has is taken.
 */
#include "cuda-trace/profile/code/image_search.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/foreign/foreign_sandbox.h"
#include "cuda-trace/inventory/libcupti_open.h"
#include "cuda-trace/profile/code/fatbin.h"
#include "cuda-trace/symbols/mappings.h"
#include "cuda-trace/base/clock.h"

#define MAX_MS	     10000
#define SAY_MS	     1000
#define BEGINNING    (64u << 10)
#define MAX_UNPACKED (16ul << 30) /* in all; one image at a time */
#define MAX_SENT     (64ul << 20)
#define MAX_MEMORY   (8ul << 30) /* addresses: libcupti and the tool are among them */
#define NAMES_AT     0x41	 /* in a cubin of nvcc's, the first name of a section */

/* cuptiGetCubinCrc */
struct checksum {
	size_t struct_size, size;
	const void *image;
	uint64_t checksum;
};

enum what { ONE_FILE, IMAGE, IMAGE_BY_NAME, THE_END };

/* From the child; an image has its bytes behind it. */
struct frame {
	uint64_t what, cubin, size;
};

struct candidate {
	uint8_t *bytes;
	size_t size;
	uint32_t different; /* images that have the function */
	bool done;
};

struct child {
	struct image_search *search;
	struct candidate *candidates; /* one a wish */
	int out, fd;
	int (*checksum)(struct checksum *of);
	uint8_t *beginning;
	uint64_t unpacked, kept;
};

static int by_function(const void *a, const void *b)
{
	const struct image_wish *one = a, *other = b;

	return strcmp(one->function, other->function);
}

/* ---- the child ---- */

static void send_all(int out, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(out, (const uint8_t *)bytes + done, size - done);

		if (n <= 0 && errno != EINTR)
			_exit(1);
		done += n > 0 ? n : 0;
	}
}

static void send_image(struct child *child, uint64_t cubin, const uint8_t *bytes, size_t size,
		       bool by_name)
{
	struct frame frame = {
		.what = by_name ? IMAGE_BY_NAME : IMAGE, .cubin = cubin, .size = size};

	send_all(child->out, &frame, sizeof(frame));
	send_all(child->out, bytes, size);
}

/* The first wish for that function; there may be several, of different images. */
static struct image_wish *wish_of(const struct image_search *search, const char *function)
{
	struct image_wish key = {.function = function};
	struct image_wish *found =
		bsearch(&key, search->wishes, search->count, sizeof(key), by_function);

	while (found && found > search->wishes && !by_function(found - 1, &key))
		found--;
	return found;
}

static bool is_next_same(const struct image_search *search, const struct image_wish *wish)
{
	return wish + 1 < search->wishes + search->count && !by_function(wish, wish + 1);
}

/* The first wish for that function that is not fulfilled. */
static struct image_wish *open_wish_of(const struct child *child, const char *function)
{
	struct image_wish *wish = wish_of(child->search, function);

	while (wish && child->candidates[wish - child->search->wishes].done)
		wish = is_next_same(child->search, wish) ? wish + 1 : NULL;
	return wish;
}

static void keep_checked(struct child *child, const struct image_wish *wish, const uint8_t *bytes,
			 size_t size, uint64_t checksum)
{
	const struct image_search *search = child->search;

	while (wish->cubin != checksum) {
		if (!is_next_same(search, wish))
			return;
		wish++;
	}
	send_image(child, checksum, bytes, size, false);
	for (uint32_t i = 0; i < search->count; i++)
		child->candidates[i].done |= search->wishes[i].cubin == checksum;
}

/* Which one it was is not known before all have been seen. */
static void keep_by_name(struct child *child, const struct image_wish *wish, const uint8_t *bytes,
			 size_t size)
{
	struct candidate *candidate = &child->candidates[wish - child->search->wishes];

	if (candidate->bytes && candidate->size == size && !memcmp(candidate->bytes, bytes, size))
		return;
	candidate->different++;
	if (candidate->bytes || size > MAX_SENT - child->kept)
		return;
	candidate->bytes = malloc(size);
	if (!candidate->bytes)
		return;
	memcpy(candidate->bytes, bytes, size);
	candidate->size = size;
	child->kept += size;
}

/* The names of an image's sections. */
struct names {
	const char *at, *end;
};

/* Where nvcc puts them. False: they are elsewhere, or not all of them are in these bytes. */
static bool find_names(const uint8_t *image, size_t size, struct names *names)
{
	static const char first[] = ".shstrtab";
	const uint8_t *end;

	if (size <= NAMES_AT + sizeof(first) || memcmp(image + NAMES_AT, first, sizeof(first)))
		return false;
	end = memmem(image + NAMES_AT, size - NAMES_AT, "\0", 2);
	*names = (struct names){(const char *)image + NAMES_AT, (const char *)end + 1};
	return end;
}

/* Where its headers say, of a whole image. */
static bool look_up_names(const uint8_t *image, size_t size, struct names *names)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	uint64_t at;

	if (size < sizeof(header))
		return false;
	memcpy(&header, image, sizeof(header));
	at = header.e_shoff + header.e_shstrndx * sizeof(section);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_shoff > size || at > size ||
	    size - at < sizeof(section))
		return false;
	memcpy(&section, image + at, sizeof(section));
	if (section.sh_offset > size || section.sh_size > size - section.sh_offset)
		return false;
	names->at = (const char *)image + section.sh_offset;
	names->end = names->at + section.sh_size;
	return true;
}

/* The next one, NULL = that was the last. What has relocations need not be named on its own: its
 * name is the end of theirs. */
static const char *next_name(struct names *names)
{
	while (names->at < names->end) {
		const char *name = names->at, *nul = memchr(name, 0, names->end - name);

		names->at = nul ? nul + 1 : names->end;
		if (nul && nul > name)
			return strncmp(name, ".rela.", 6) ? name : name + 5;
	}
	return NULL;
}

static struct image_wish *wish_of_section(const struct child *child, const char *name)
{
	return strncmp(name, ".text.", 6) ? NULL : open_wish_of(child, name + 6);
}

static bool is_worth_it(struct child *child, struct names names)
{
	bool has_lines = child->search->any, has_function = false;

	for (const char *name; !(has_lines && has_function) && (name = next_name(&names));) {
		has_lines |= !strcmp(name, ".debug_line");
		has_function |= wish_of_section(child, name) != NULL;
	}
	return has_lines && has_function;
}

static void look_into(struct child *child, const uint8_t *bytes, size_t size, struct names names)
{
	struct checksum of = {.struct_size = sizeof(of), .size = size, .image = bytes};

	if (child->checksum && child->checksum(&of))
		return;
	for (const char *name; (name = next_name(&names));) {
		struct image_wish *wish = wish_of_section(child, name);

		if (wish && child->checksum)
			keep_checked(child, wish, bytes, size, of.checksum);
		else if (wish)
			keep_by_name(child, wish, bytes, size);
	}
}

static bool check_image(void *context, const struct fatbin_image *image)
{
	struct child *child = context;
	size_t size = fatbin__unpack(child->fd, image, child->beginning,
				     image->size < BEGINNING ? image->size : BEGINNING);
	struct names names;
	uint8_t *whole;

	if (!size || (find_names(child->beginning, size, &names) && !is_worth_it(child, names)))
		return true;
	if (image->size > MAX_UNPACKED - child->unpacked)
		return false;
	child->unpacked += image->size;
	whole = malloc(image->size);
	if (whole && fatbin__unpack(child->fd, image, whole, image->size) == image->size &&
	    look_up_names(whole, image->size, &names) && is_worth_it(child, names))
		look_into(child, whole, image->size, names);
	free(whole);
	return true;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What else the tool has open, eBPF's maps and memory of processes among it, needs no rights to be
 * used. */
static void close_others(const struct child *child)
{
	const struct modules *files = child->search->files;
	uint32_t count = 0;
	int *kept = calloc(modules__count(files) + 1, sizeof(*kept)), last = STDERR_FILENO;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!kept || null < 0)
		_exit(1);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	kept[count++] = child->out;
	for (uint32_t i = 1; i <= modules__count(files); i++)
		kept[count++] = modules__at(files, i)->fd;
	qsort(kept, count, sizeof(*kept), by_number);
	for (uint32_t i = 0; i < count; i++) {
		if (kept[i] > last + 1)
			close_range(last + 1, kept[i] - 1, 0);
		last = kept[i] > last ? kept[i] : last;
	}
	close_range(last + 1, ~0u, 0);
	free(kept);
}

static void open_checksum(struct child *child)
{
	char path[512];
	void *library;

	/* The agent must not start in this process. */
	setenv("CUDA_TRACE", "off", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	library = libcupti_open__open(path, sizeof(path));
	if (library)
		*(void **)&child->checksum = dlsym(library, "cuptiGetCubinCrc");
}

static void send_named(struct child *child)
{
	for (uint32_t i = 0; i < child->search->count; i++)
		if (child->candidates[i].different == 1 && child->candidates[i].bytes)
			send_image(child, child->search->wishes[i].cubin,
				   child->candidates[i].bytes, child->candidates[i].size, true);
}

static _Noreturn void be_the_child(struct image_search *search, int out, pid_t parent)
{
	struct child child = {.search = search, .out = out};
	const struct frame next = {.what = ONE_FILE}, end = {.what = THE_END};
	bool all = true;
	uint64_t at, size;

	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (!foreign_sandbox__unmap_shared())
		_exit(1);
	open_checksum(&child);
	close_others(&child);
	/* Nothing here needs rights any more: files are open, and so is libcupti. Which system
	 * calls that makes is NVIDIA's business: without it they are filtered. */
	if (getppid() != parent ||
	    !foreign_sandbox__confine(MAX_MEMORY, 2 * MAX_MS / 1000, !child.checksum))
		_exit(1);
	child.candidates = calloc(search->count, sizeof(*child.candidates));
	child.beginning = malloc(BEGINNING);
	if (!child.candidates || !child.beginning)
		_exit(1);
	for (uint32_t i = 1; all && i <= modules__count(search->files); i++) {
		const struct module *file = modules__at(search->files, i);

		child.fd = file->fd;
		if (file->fd >= 0 && fatbin__section(file->fd, &at, &size))
			all = fatbin__each(file->fd, at, size, check_image, &child);
		send_all(out, &next, sizeof(next));
	}
	if (all) {
		send_named(&child);
		send_all(out, &end, sizeof(end));
	}
	/* Not exit(): NVIDIA's library would clean up. */
	_exit(0);
}

/* ---- the tool ---- */

struct answer {
	int in;
	uint64_t began;
	bool said;
};

static void say_so(struct answer *answer)
{
	answer->said = true;
	if (isatty(STDERR_FILENO))
		fprintf(stderr,
			"cuda-trace: searching the program's files for source lines, %d s at most "
			"(Ctrl-C skips this)\n",
			MAX_MS / 1000);
}

/* 1, or 0: it came to its end, or -1: the time is over, or somebody does not want to wait. */
static int receive(struct answer *answer, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		struct pollfd ready = {.fd = answer->in, .events = POLLIN};
		uint64_t passed = monotonic__ms() - answer->began;
		uint64_t until = answer->said ? MAX_MS : SAY_MS;
		ssize_t n;
		int came;

		if (passed >= MAX_MS)
			return -1;
		came = poll(&ready, 1, passed < until ? until - passed : 0);
		if (came < 0)
			return -1;
		if (!came && !answer->said)
			say_so(answer);
		if (!came)
			continue;
		n = read(answer->in, (uint8_t *)to + done, size - done);
		if (n <= 0)
			return 0;
		done += n;
	}
	return 1;
}

static int receive_image(struct image_search *search, struct answer *answer,
			 const struct frame *frame)
{
	struct image_found found = {.cubin = frame->cubin,
				    .size = frame->size,
				    .by_name = frame->what == IMAGE_BY_NAME};
	int came;

	found.bytes = malloc(found.size);
	came = found.bytes ? receive(answer, found.bytes, found.size) : 0;
	if (came > 0)
		search->take(search->context, &found);
	else
		free(found.bytes);
	return came;
}

/* 1: all was looked at, else as above. */
static int receive_frames(struct image_search *search, int in)
{
	struct answer answer = {.in = in, .began = monotonic__ms()};
	uint64_t left = MAX_SENT;
	struct frame frame;
	int came;

	while ((came = receive(&answer, &frame, sizeof(frame))) > 0 && frame.what != THE_END) {
		if (frame.size > left)
			return 0;
		left -= frame.size;
		if (frame.what == ONE_FILE)
			search->looked++;
		else if ((came = receive_image(search, &answer, &frame)) <= 0)
			break;
	}
	return came;
}

int image_search__run(struct image_search *search)
{
	pid_t child, parent = getpid();
	int ends[2], came;

	search->looked = 0;
	search->stopped = search->failed = false;
	if (!search->count || !modules__count(search->files))
		return 0;
	qsort(search->wishes, search->count, sizeof(*search->wishes), by_function);
	if (pipe(ends))
		return -errno;
	fflush(NULL);
	child = fork();
	if (!child) {
		close(ends[0]);
		be_the_child(search, ends[1], parent);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	came = receive_frames(search, ends[0]);
	search->stopped = came < 0;
	search->failed = !came;
	close(ends[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
