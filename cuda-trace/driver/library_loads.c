// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dynamic loader calls _dl_debug_state(), an empty function for debuggers, when all libraries
 * of a dlopen() or of a start are mapped and before any of their code runs. A uprobe there finds a
 * new libcuda and stops the thread until the tool has put its probes into that file, wherever it
 * lies. Another uprobe, at the return of cuInit(), does the same once: from then on it is known
 * whether the process has an agent. Both are links of all processes, as a link of one process does
 * not follow its children; in processes that are not followed they end after one look into a map.
 *
 * What can go wrong: docs/internals/start.md.
 */
#include "cuda-trace/driver/library_loads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "bpf/event.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/driver/driver_paths.h"
#include "cuda-trace/driver/elf_symbols.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/proc/process_maps.h"

#define FILES_MAX   64 /* loaders and libcudas together */
#define MAPPED_MAX  64
#define REPORTED_MS 250 /* from the mapping of a library until its loader reports it */

/* A process that maps libcuda while its loader has not reported it. An entry lives for REPORTED_MS
 * and until the next look: too short a time for its pid to be used again. */
struct mapped_library {
	uint32_t pid;
	bool is_old;   /* its time is over */
	uint64_t seen; /* ms, monotonic */
};

struct library_loads {
	struct bpf_object *object;
	struct left_out *left_out;
	bool verbose;
	struct probed_file {
		dev_t device;
		ino_t inode;
		int link; /* below 0: it has no such function, or the kernel refused */
	} files[FILES_MAX];
	int count;
	bool let_wait;
	struct mapped_library mapped[MAPPED_MAX];
	int mapped_count;
};

static const char *const programs[] = {"loader_changed", "driver_initialized"};

struct library_loads *library_loads__new(struct bpf_object *object, bool wanted, bool verbose,
					 struct left_out *left_out)
{
	const char *choice = getenv("CUDA_TRACE_LOADS");
	struct library_loads *loads = NULL;

	/* So that what happens without can be tried. */
	if (wanted && (!choice || strcmp(choice, "0")) && multi_link__supported())
		loads = calloc(1, sizeof(*loads));
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		if (loads)
			bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
		else
			bpf_program__set_autoload(program, false);
	}
	if (!loads)
		return NULL;
	loads->object = object;
	loads->verbose = verbose;
	loads->left_out = left_out;
	return loads;
}

uint32_t library_loads__let_wait(struct library_loads *loads, bool wait)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (!loads)
		return 0;
	loads->let_wait = wait;
	if (!wait)
		return 0;
	return processors > 1 ? (uint32_t)processors - 1 : 1;
}

void library_loads__free(struct library_loads *loads)
{
	for (int i = 0; loads && i < loads->count; i++)
		if (loads->files[i].link >= 0)
			link_closer__close(loads->files[i].link);
	free(loads);
}

static int link_point(const struct library_loads *loads, const char *program, const char *path,
		      uint64_t offset, uint64_t cookie, bool at_return)
{
	const struct multi_link_points points = {
		.offsets = &offset,
		.cookies = &cookie,
		.count = 1,
	};

	if (!offset)
		return -ENOENT;
	return multi_link__new(
		bpf_program__fd(bpf_object__find_program_by_name(loads->object, program)), path,
		&points, at_return);
}

static int link_loader(const struct library_loads *loads, const struct foreign_file *file)
{
	struct elf_symbol symbols[] = {{.name = "_dl_debug_state"}, {.name = "_r_debug"}};
	int err = elf_symbols__find(file, symbols, 2);

	if (err || !symbols[1].address)
		return err ? err : -ENOENT;
	return link_point(loads, programs[0], file->path, symbols[0].offset,
			  symbols[1].address - symbols[0].address, false);
}

static int link_cuinit(const struct library_loads *loads, const struct foreign_file *file)
{
	struct elf_symbol symbol = {.name = "cuInit"};
	int err = elf_symbols__find(file, &symbol, 1);

	return err ? err : link_point(loads, programs[1], file->path, symbol.offset, 0, true);
}

static const struct probed_file *find_file(const struct library_loads *loads,
					   const struct foreign_file *file)
{
	for (int i = 0; i < loads->count; i++)
		if (loads->files[i].inode == file->inode && loads->files[i].device == file->device)
			return &loads->files[i];
	return NULL;
}

/* Takes the file over. Below 0: it cannot be probed. */
static int add_file(struct library_loads *loads, struct foreign_file *file,
		    int (*link)(const struct library_loads *loads, const struct foreign_file *file))
{
	const struct probed_file *known = find_file(loads, file);
	int result = known ? known->link : -ENOSPC;
	char shown[256];

	if (!known && loads->count < FILES_MAX) {
		result = link(loads, file);
		loads->files[loads->count++] =
			(struct probed_file){file->device, file->inode, result};
		if (loads->verbose)
			fprintf(stderr, "cuda-trace: %s: %s\n",
				foreign_file__show(file->path, shown, sizeof(shown)),
				result >= 0 ? "programs wait there until they are observed"
					    : strerror(-result));
	}
	foreign_file__close(file);
	return result;
}

/* A loader without that function is not of glibc or musl, or not of this architecture: its
 * programs do not load libcuda. */
static void add_loader(struct library_loads *loads, struct foreign_file *file, uint32_t user)
{
	uint64_t inode = file->inode;
	int result = add_file(loads, file, link_loader);

	if (result < 0 && result != -ENOENT && result != -ENOEXEC)
		left_out__add(loads->left_out, LEFT_OUT_FILES, user, inode,
			      "a dynamic loader that cannot be probed: what its programs call "
			      "before they are found is missing");
}

static void add_library(void *context, const char *path)
{
	struct foreign_file file;

	if (!foreign_file__open_ours(&file, path))
		add_file(context, &file, link_cuinit);
}

void library_loads__prepare(struct library_loads *loads)
{
	static const char *const loaders[] = {
		"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
		"/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"};

	struct foreign_file file;

	for (size_t i = 0; loads && i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (!foreign_file__open_ours(&file, loaders[i]))
			add_loader(loads, &file, 0);
	if (loads)
		driver_paths__each(add_library, loads);
}

static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/ld-linux", 9) || !strncmp(name, "/ld-musl", 8) ||
			!strncmp(name, "/ld-2.", 6));
}

static uint32_t user_of(FILE *maps)
{
	struct stat st;

	return fstat(fileno(maps), &st) ? 0 : st.st_uid;
}

void library_loads__note_exec(struct library_loads *loads, uint32_t pid)
{
	char name[32], range[40], *line = NULL;
	struct foreign_file file;
	size_t size = 0;
	FILE *maps;

	if (!loads)
		return;
	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && getline(&line, &size, maps) > 0) {
		char *path = strchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = 0;
		if (!is_loader(path) || sscanf(line, "%39s", range) != 1)
			continue;
		if (!foreign_file__open_mapped(&file, pid, range, path))
			add_loader(loads, &file, user_of(maps));
		break;
	}
	free(line);
	if (maps)
		fclose(maps);
}

enum library_probe library_loads__note_library(struct library_loads *loads, uint32_t pid)
{
	struct inspection seen;
	struct foreign_file file;
	bool known;

	if (!loads || process_maps__process(pid, &seen) || !seen.cuda ||
	    foreign_file__open_mapped(&file, pid, seen.libcuda_range, seen.libcuda))
		return LIBRARY_UNPROBED;
	known = find_file(loads, &file);
	if (add_file(loads, &file, link_cuinit) < 0)
		return LIBRARY_UNPROBED;
	return known ? LIBRARY_WAS_PROBED : LIBRARY_IS_PROBED;
}

static int loads_map(const struct library_loads *loads)
{
	return bpf_object__find_map_fd_by_name(loads->object, "loads");
}

static bool read_load(const struct library_loads *loads, uint32_t pid, struct library_load *load)
{
	return loads && !bpf_map_lookup_elem(loads_map(loads), &pid, load);
}

void library_loads__note_running(struct library_loads *loads, uint32_t pid)
{
	const struct library_load running = {.libraries = 1, .initialized = 1};
	struct library_load load;

	if (!loads)
		return;
	/* The loader reported other libraries only: this libcuda has another name, or was loaded by
	 * dlmopen(). */
	if (read_load(loads, pid, &load) && !load.libraries && !load.initialized)
		bpf_map_update_elem(loads_map(loads), &pid, &running, BPF_EXIST);
	bpf_map_update_elem(loads_map(loads), &pid, &running, BPF_NOEXIST);
}

void library_loads__abandon(struct library_loads *loads, uint32_t pid)
{
	struct library_load load;

	if (!read_load(loads, pid, &load))
		return;
	load.initialized = 1;
	bpf_map_update_elem(loads_map(loads), &pid, &load, BPF_EXIST);
}

bool library_loads__waits(const struct library_loads *loads, uint32_t pid)
{
	struct library_load load;

	return read_load(loads, pid, &load) && load.state == LOAD_WAITS;
}

bool library_loads__answer(struct library_loads *loads, uint32_t pid)
{
	struct library_load load;

	if (!read_load(loads, pid, &load) || load.state != LOAD_WAITS)
		return false;
	load.state = LOAD_ANSWERED;
	return !bpf_map_update_elem(loads_map(loads), &pid, &load, BPF_EXIST);
}

/* Is the return of its cuInit() probed? */
static bool is_probed(const struct library_loads *loads, uint32_t pid)
{
	const struct probed_file *known;
	struct inspection seen;
	struct foreign_file file;

	if (process_maps__process(pid, &seen) || !seen.cuda ||
	    !foreign_file__identify(&file, pid, seen.libcuda_range, seen.libcuda))
		return false;
	known = find_file(loads, &file);
	foreign_file__close(&file);
	return known && known->link >= 0;
}

/* Its place in the table, or -1. */
static int find_mapped(const struct library_loads *loads, uint32_t pid)
{
	int i = loads ? loads->mapped_count : 0;

	while (--i >= 0 && loads->mapped[i].pid != pid)
		;
	return i;
}

static void forget_mapped(struct library_loads *loads, int i)
{
	loads->mapped[i] = loads->mapped[--loads->mapped_count];
}

bool library_loads__expects(const struct library_loads *loads, uint32_t pid)
{
	struct library_load load;
	int i = find_mapped(loads, pid);

	if (i >= 0 && !loads->mapped[i].is_old)
		return true;
	return read_load(loads, pid, &load) && load.libraries && !load.initialized &&
	       is_probed(loads, pid);
}

static bool has_reported(const struct library_loads *loads, uint32_t pid)
{
	struct library_load load;

	return read_load(loads, pid, &load) && (load.libraries || load.initialized);
}

bool library_loads__may_report(const struct library_loads *loads, uint32_t pid)
{
	struct inspection seen;

	return loads && loads->let_wait && find_mapped(loads, pid) < 0 &&
	       !has_reported(loads, pid) && !process_maps__process(pid, &seen) && seen.cuda_code;
}

bool library_loads__note_mapped(struct library_loads *loads, uint32_t pid)
{
	if (loads->mapped_count < MAPPED_MAX)
		loads->mapped[loads->mapped_count++] =
			(struct mapped_library){.pid = pid, .seen = monotonic__ms()};
	return true;
}

void library_loads__note_report(struct library_loads *loads, uint32_t pid)
{
	int i = find_mapped(loads, pid);

	if (i >= 0)
		forget_mapped(loads, i);
}

uint32_t library_loads__next_unreported(struct library_loads *loads)
{
	int i = loads ? loads->mapped_count : 0;

	while (--i >= 0) {
		struct mapped_library *mapped = &loads->mapped[i];

		if (mapped->is_old || has_reported(loads, mapped->pid)) {
			forget_mapped(loads, i);
		} else if (!loads->let_wait || monotonic__ms() >= mapped->seen + REPORTED_MS) {
			mapped->is_old = true;
			return mapped->pid;
		}
	}
	return 0;
}
