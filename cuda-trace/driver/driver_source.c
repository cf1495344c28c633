// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which processes are seen at libcuda's entry points. A command that watches everything and
 * ends soon puts its links on the library, once for all processes; one that stays, or watches some
 * processes only, puts them on each, because every process that maps the library pays for the
 * others' links; those beyond MAX_LINKED share a link of the library. Called by the session.
 *
 * Libraries are kept open while somebody who is seen maps them, and any user can have files of that
 * name: limits are each user's.
 */
#include "cuda-trace/driver/driver_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/driver/driver_links.h"
#include "cuda-trace/driver/driver_paths.h"
#include "cuda-trace/driver/driver_trial.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_mount.h"
#include "cuda-trace/foreign/left_out.h"

#define MAX_LIBRARIES	   1024
#define MAX_IDLE	   3
#define MAX_USER_LIBRARIES 64  /* of any user but root */
#define MAX_LINKED	   256 /* processes with links of their own: three open files each */
#define MAX_USER_PROCESSES 4096
#define MAX_PROCESSES	   16384 /* as the map driver_pids */

struct library {
	struct foreign_file file;
	uint32_t user;
	struct driver_probes *probes;
	bool used;
	bool refused;		 /* the kernel sets no probes in it */
	bool is_ours;		 /* of this system: it is kept without a process */
	uint32_t mapped;	 /* processes that are seen and map it */
	uint32_t idle;		 /* rounds of looks in which there was none */
	int links[DRIVER_LINKS]; /* of all processes, or -1 */
};

struct watched {
	uint32_t pid;
	uint32_t user;
	uint64_t number; /* as in the map driver_pids */
	struct library *libcuda;
	int links[DRIVER_LINKS]; /* of its own, or -1 */
};

struct driver_source {
	struct bpf_object *object;
	struct driver_options options;
	bool by_process;
	struct driver_trial trial;
	bool supported; /* this kernel has the links; else nothing is loaded, and it is reported
			   once */
	struct left_out *left_out;
	struct library *libraries[MAX_LIBRARIES];
	int library_count;
	struct watched *watched;
	uint32_t watched_count, watched_capacity, linked_count;
	uint64_t processes; /* taken over so far */
	uint64_t used;	    /* of these: that have initialised CUDA without an agent */
	uint64_t used_reported;
	bool complained;
};

struct driver_source *driver_source__new(struct bpf_object *object, bool wanted,
					 const struct driver_options *options)
{
	struct driver_source *source = wanted ? calloc(1, sizeof(*source)) : NULL;
	const char *forced = getenv("CUDA_TRACE_LAUNCHES");

	driver_links__prepare(object, source && multi_link__supported());
	if (!source)
		return NULL;
	source->supported = multi_link__supported();
	source->object = object;
	source->options = *options;
	source->left_out = options->left_out;
	source->by_process = options->each;
	/* So that what other libraries get can be tried on this one. */
	source->options.at_entry &= !forced || strcmp(forced, "return");
	return source;
}

int driver_source__check(void)
{
	if (multi_link__supported())
		return 0;
	fprintf(stderr, "cuda-trace: --source driver needs Linux 6.6 or newer\n");
	return -EOPNOTSUPP;
}

/* In the background: it takes the kernel 100 ms each. */
static void close_links(int links[DRIVER_LINKS])
{
	for (int i = 0; i < DRIVER_LINKS; i++) {
		if (links[i] >= 0)
			link_closer__close(links[i]);
		links[i] = -1;
	}
}

static void free_library(struct library *library)
{
	close_links(library->links);
	foreign_file__close(&library->file);
	free(library->probes);
	free(library);
}

void driver_source__free(struct driver_source *source)
{
	if (!source)
		return;
	driver_trial__end(&source->trial);
	for (uint32_t i = 0; i < source->watched_count; i++)
		close_links(source->watched[i].links);
	for (int i = 0; i < source->library_count; i++)
		free_library(source->libraries[i]);
	link_closer__wait();
	free(source->watched);
	free(source);
}

static void complain(struct driver_source *source, int err)
{
	if (source->complained)
		return;
	source->complained = true;
	fprintf(stderr,
		"cuda-trace: processes without the injection library cannot be seen: uprobes on "
		"libcuda.so: %s%s\n",
		strerror(-err), multi_link__supported() ? "" : " (Linux 6.6 or newer is needed)");
}

/* NULL: nothing of it is a driver, or it cannot be read, which is counted. */
static struct library *new_library(struct driver_source *source, const struct foreign_file *file,
				   uint32_t user)
{
	struct library *library = calloc(1, sizeof(*library));
	int err = -ENOMEM;

	if (library)
		library->probes = malloc(sizeof(*library->probes));
	if (library && library->probes)
		err = driver_functions__find(file->path, source->options.at_entry, library->probes);
	if (err) {
		if (err != -EALREADY)
			left_out__add(
				source->left_out, LEFT_OUT_DRIVERS, user, file->inode,
				err == -ENOENT || err == -ENOEXEC
					? "its name is the driver's, but it has no entry points"
					: "its entry points cannot be read");
		if (library)
			free(library->probes);
		free(library);
		return NULL;
	}
	library->file = *file;
	library->user = user;
	for (int i = 0; i < DRIVER_LINKS; i++)
		library->links[i] = -1;
	return library;
}

static bool has_too_many(const struct driver_source *source, uint32_t user)
{
	int count = 0;

	for (int i = 0; i < source->library_count; i++)
		count += source->libraries[i]->user == user;
	return source->library_count == MAX_LIBRARIES || (user && count >= MAX_USER_LIBRARIES);
}

/* Takes the file over. NULL = nothing of it is a driver, or there are too many. */
static struct library *library_of(struct driver_source *source, struct foreign_file *file,
				  uint32_t user)
{
	struct library *library = NULL;

	for (int i = 0; i < source->library_count; i++) {
		if (!foreign_file__is_same(&source->libraries[i]->file, file))
			continue;
		foreign_file__close(file);
		return source->libraries[i];
	}
	if (has_too_many(source, user))
		left_out__add(source->left_out, LEFT_OUT_DRIVERS, user, file->inode,
			      "more than 64 libcudas");
	else
		library = new_library(source, file, user);
	if (library)
		source->libraries[source->library_count++] = library;
	else
		foreign_file__close(file);
	return library;
}

/* Of those that nobody maps who is seen: their file systems must not stay busy. */
static void release_libraries(struct driver_source *source)
{
	int kept = 0;

	for (int i = 0; i < source->library_count; i++) {
		struct library *library = source->libraries[i];

		library->idle = library->mapped ? 0 : library->idle + 1;
		if (library->idle < MAX_IDLE || library->is_ours)
			source->libraries[kept++] = library;
		else
			free_library(library);
	}
	source->library_count = kept;
}

/* Nothing is left out silently. */
static void say_unknown(const struct driver_probes *probes, const char *path)
{
	char shown[512];

	if (probes->unknown_count)
		fprintf(stderr,
			"cuda-trace: %s: calls that are counted, but whose arguments are unknown:",
			path);
	for (uint32_t i = 0; i < probes->unknown_count; i++)
		fprintf(stderr, " %s%s",
			text__show(shown, sizeof(shown), driver_functions__name(probes->unknown[i]),
				   0),
			i + 1 < probes->unknown_count ? "," : "\n");
	if (probes->refused)
		fprintf(stderr,
			"cuda-trace: %s: %u more entry points are not watched: unknown versions of "
			"functions that name kernels, or beyond the tool's limit\n",
			path, probes->refused);
}

/* Once a library, when the first links of it are there. */
static void begin_to_use(struct driver_source *source, struct library *library)
{
	const struct driver_probes *probes = library->probes;
	char path[512];

	foreign_file__show(library->file.path, path, sizeof(path));

	if (source->options.verbose && !library->used)
		fprintf(stderr,
			"cuda-trace: %s: %u entry points, %u of them launch; of these, %u are "
			"reported at their entry and if they fail inside, %u when they return\n",
			path, probes->entries.count, probes->launches, probes->reported_at_entry,
			probes->launches - probes->reported_at_entry);
	if (source->options.verbose && !library->used)
		say_unknown(probes, path);
	library->used = true;
}

const char *driver_source__launches(const struct driver_source *source)
{
	uint32_t launches = 0, at_entry = 0;

	for (int i = 0; source && i < source->library_count; i++) {
		if (!source->libraries[i]->used)
			continue;
		launches += source->libraries[i]->probes->launches;
		at_entry += source->libraries[i]->probes->reported_at_entry;
	}
	if (!launches)
		return NULL;
	return at_entry == launches ? "entry" : at_entry ? "mixed" : "return";
}

/* It concerns this file alone, which may be anybody's. */
static void refuse(struct driver_source *source, struct library *library, int err)
{
	complain(source, err);
	library->refused = true;
	left_out__add(source->left_out, LEFT_OUT_DRIVERS, library->user, library->file.inode,
		      "the kernel sets no probes in it");
}

/* Of all processes. 0 or -errno. */
static int link_library(struct driver_source *source, struct library *library)
{
	int err;

	if (library->links[0] >= 0)
		return 0;
	err = driver_links__attach(source->object, library->file.path, library->probes, 0,
				   library->links);
	if (err)
		refuse(source, library, err);
	else
		begin_to_use(source, library);
	return err;
}

static int link_process(struct driver_source *source, struct library *library,
			struct watched *watched)
{
	int err = driver_links__attach(source->object, library->file.path, library->probes,
				       watched->pid, watched->links);

	/* A process that has gone meanwhile says nothing of the kernel. */
	if (err && err != -ESRCH)
		refuse(source, library, err);
	if (!err)
		begin_to_use(source, library);
	return err;
}

/* By links of its own, or by one of the library. 0 or -errno; its number is in *watched then. */
static int link_either(struct driver_source *source, struct library *library,
		       struct watched *watched)
{
	bool own = source->by_process && source->linked_count < MAX_LINKED;
	int err = own ? link_process(source, library, watched) : link_library(source, library);

	watched->number = (source->processes + 1) | (own ? DRIVER_HAS_OWN_LINK : 0);
	return err;
}

static void prepare_library(void *context, const char *path)
{
	struct driver_source *source = context;
	struct foreign_file file;
	struct library *library;

	if (foreign_file__open_ours(&file, path))
		return;
	library = library_of(source, &file, 0);
	if (!library || link_library(source, library))
		return;
	library->is_ours = true;
}

void driver_source__prepare(struct driver_source *source)
{
	driver_paths__each(prepare_library, source);
}

static bool is_wanted(const struct driver_source *source, const struct inspection *seen, bool force)
{
	const struct driver_options *options = &source->options;

	return seen->cuda && (!seen->agent || force) &&
	       (!options->comm || !strcmp(options->comm, seen->comm)) &&
	       (options->uid < 0 || options->uid == seen->uid);
}

static bool is_still_wanted(const struct driver_source *source, uint32_t pid, bool force)
{
	struct inspection seen;

	return !process_maps__process(pid, &seen) && is_wanted(source, &seen, force);
}

void driver_source__try(struct driver_source *source)
{
	if (source && source->by_process)
		driver_trial__start(&source->trial, source->object);
}

void driver_source__end_trial(struct driver_source *source)
{
	if (source)
		driver_trial__end(&source->trial);
}

static bool has_place(struct driver_source *source, uint32_t pid, uint32_t user)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < source->watched_count; i++)
		count += source->watched[i].user == user;
	if (source->watched_count < MAX_PROCESSES && (!user || count < MAX_USER_PROCESSES))
		return true;
	left_out__add(source->left_out, LEFT_OUT_PROCESSES, user, pid,
		      "too many processes without the injection library");
	return false;
}

/* NULL: the process ended, or its libcuda is none. */
static struct library *library_of_process(struct driver_source *source, uint32_t pid,
					  const struct inspection *seen)
{
	struct foreign_file file;
	int err = foreign_file__open_mapped(&file, pid, seen->libcuda_range, seen->libcuda);

	if (err == -ENOTSUP)
		left_out__add(source->left_out, LEFT_OUT_DRIVERS, seen->uid, file.inode,
			      FOREIGN_MOUNT_REASON);
	if (err)
		return NULL;
	return library_of(source, &file, seen->uid);
}

static bool watch_process(struct driver_source *source, uint32_t pid, const struct inspection *seen,
			  bool force)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids");
	struct watched watched = {.pid = pid, .user = seen->uid, .links = {-1, -1, -1}};
	struct library *library = library_of_process(source, pid, seen);
	if (!library || library->refused ||
	    !array_grow__for_one(source->watched, source->watched_capacity, source->watched_count))
		return false;
	watched.libcuda = library;
	/* Linking takes as long as some launches: an agent that came meanwhile has reported itself
	 * already, and nobody would take the process out again for a while. */
	if (link_either(source, library, &watched) || !is_still_wanted(source, pid, force) ||
	    bpf_map_update_elem(map, &pid, &watched.number, BPF_ANY)) {
		close_links(watched.links);
		return false;
	}
	library->mapped++;
	source->linked_count += watched.links[0] >= 0;
	source->watched[source->watched_count++] = watched;
	source->processes++;
	if (is_still_wanted(source, pid, force))
		return true;
	driver_source__leave(source, pid);
	return false;
}

static bool look(struct driver_source *source, uint32_t pid, bool force, bool waits)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids");
	struct inspection seen;
	uint64_t known;

	if (!bpf_map_lookup_elem(map, &pid, &known) || process_maps__process(pid, &seen) ||
	    !is_wanted(source, &seen, force))
		return false;
	if (!source->supported) {
		complain(source, -EOPNOTSUPP);
		return false;
	}
	source->by_process =
		source->by_process && driver_trial__result(&source->trial, source->object, waits);
	return has_place(source, pid, seen.uid) && watch_process(source, pid, &seen, force);
}

bool driver_source__watches(const struct driver_source *source, uint32_t pid)
{
	uint64_t number;

	return source &&
	       !bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(source->object, "driver_pids"),
				    &pid, &number);
}

bool driver_source__look(struct driver_source *source, uint32_t pid, bool force)
{
	return look(source, pid, force, false);
}

bool driver_source__look_waiting(struct driver_source *source, uint32_t pid, bool force)
{
	return look(source, pid, force, true) || driver_source__watches(source, pid);
}

bool driver_source__leave(struct driver_source *source, uint32_t pid)
{
	/* driver_source__prune() closes its links. */
	return source &&
	       !bpf_map_delete_elem(bpf_object__find_map_fd_by_name(source->object, "driver_pids"),
				    &pid);
}

/* Links of processes that the kernel has taken out of the map since. */
static void drop_links(struct driver_source *source)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids");
	uint32_t kept = 0;
	uint64_t number;

	for (uint32_t i = 0; i < source->watched_count; i++) {
		struct watched *watched = &source->watched[i];

		if (!bpf_map_lookup_elem(map, &watched->pid, &number) &&
		    number == watched->number) {
			source->watched[kept++] = *watched;
			continue;
		}
		source->linked_count -= watched->links[0] >= 0;
		watched->libcuda->mapped--;
		close_links(watched->links);
	}
	source->watched_count = kept;
	release_libraries(source);
}

void driver_source__note_use(struct driver_source *source)
{
	if (source)
		source->used++;
}

void driver_source__prune(struct driver_source *source)
{
	drop_links(source);
	if (source->options.stays || source->used == source->used_reported)
		return;
	if (!source->used_reported)
		fprintf(stderr,
			"cuda-trace: %llu process%s no working injection library: launches, sizes "
			"and results are seen, GPU times are not (source driver)\n",
			(unsigned long long)source->used, source->used == 1 ? " has" : "es have");
	source->used_reported = source->used;
}
