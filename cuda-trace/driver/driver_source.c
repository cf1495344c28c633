// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which processes are seen at libcuda's entry points. A command that watches everything and
 * ends soon puts its links on the library, once for all processes; one that stays, or watches some
 * processes only, puts them on each, because every process that maps the library pays for the
 * others' links. Called by the session.
 */
#include "cuda-trace/driver/driver_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cuda-trace/driver/driver_functions.h"
#include "cuda-trace/driver/driver_links.h"
#include "cuda-trace/driver/driver_paths.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/base/text.h"

#define MOST_LIBRARIES 64
#define MOST_PROCESSES 256 /* with links of their own: three open files each */

struct library {
	dev_t device;
	ino_t inode;
	struct driver_probes probes;
	bool used;
	int links[DRIVER_LINKS]; /* of all processes, or -1 */
};

struct watched {
	uint32_t pid;
	uint64_t number; /* as in the map driver_pids */
	int links[DRIVER_LINKS];
};

/* Links of processes that are gone, closed by a thread: it takes the kernel 100 ms each. */
struct closing {
	pthread_t thread;
	bool started;
	atomic_bool done;
	int links[MOST_PROCESSES][DRIVER_LINKS];
	int count;
};

struct driver_source {
	struct bpf_object *object;
	struct driver_options options;
	bool by_process;
	bool tried; /* whether by_process can be */
	pthread_t trial;
	bool trial_runs;
	atomic_bool trial_over;
	bool trial_result;
	bool supported; /* this kernel has the links; else nothing is loaded, and it is told once */
	struct library libraries[MOST_LIBRARIES];
	int library_count;
	struct watched watched[MOST_PROCESSES];
	int watched_count;
	struct closing closing;
	uint64_t processes; /* taken over so far */
	uint64_t used;	    /* of these: that have initialised CUDA without an agent */
	uint64_t told;
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

static void *close_links(void *context)
{
	struct closing *closing = context;

	for (int i = 0; i < closing->count; i++)
		driver_links__close(closing->links[i]);
	closing->count = 0;
	atomic_store(&closing->done, true);
	return NULL;
}

static bool is_closing(struct driver_source *source)
{
	struct closing *closing = &source->closing;

	if (closing->started && !atomic_load(&closing->done))
		return true;
	if (closing->started)
		pthread_join(closing->thread, NULL);
	closing->started = false;
	return false;
}

static void end_trial(struct driver_source *source)
{
	if (source->trial_runs)
		pthread_join(source->trial, NULL);
	source->trial_runs = false;
}

void driver_source__free(struct driver_source *source)
{
	if (!source)
		return;
	if (source->closing.started)
		pthread_join(source->closing.thread, NULL);
	end_trial(source);
	for (int i = 0; i < source->library_count; i++)
		driver_links__close(source->libraries[i].links);
	for (int i = 0; i < source->watched_count; i++)
		driver_links__close(source->watched[i].links);
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

static struct library *add_library(struct driver_source *source, const char *path,
				   const struct stat *file)
{
	struct library *library = &source->libraries[source->library_count];

	if (source->library_count == MOST_LIBRARIES)
		return NULL;
	if (driver_functions__find(path, source->options.at_entry, &library->probes))
		return NULL;
	library->device = file->st_dev;
	library->inode = file->st_ino;
	for (int i = 0; i < DRIVER_LINKS; i++)
		library->links[i] = -1;
	source->library_count++;
	return library;
}

static struct library *library_of(struct driver_source *source, const char *path)
{
	struct stat file;

	/* Never opened before this: the name may lead to a FIFO or a device. */
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return NULL;
	for (int i = 0; i < source->library_count; i++)
		if (source->libraries[i].inode == file.st_ino &&
		    source->libraries[i].device == file.st_dev)
			return &source->libraries[i];
	return add_library(source, path, &file);
}

/* Nothing is left out silently. */
static void say_unknown(const struct driver_probes *probes, const char *path)
{
	char shown[512];

	if (probes->unknown_count)
		fprintf(stderr, "cuda-trace: %s: counted, their arguments unknown:", path);
	for (uint32_t i = 0; i < probes->unknown_count; i++)
		fprintf(stderr, " %s%s",
			text__show(shown, sizeof(shown), driver_functions__name(probes->unknown[i]),
				   0),
			i + 1 < probes->unknown_count ? "," : "\n");
	if (probes->refused)
		fprintf(stderr,
			"cuda-trace: %s: %u more entry points are not watched: unknown versions of "
			"what names kernels, or more than there is room for\n",
			path, probes->refused);
}

/* Once a library, when the first links of it are there. */
static void begin_to_use(struct driver_source *source, struct library *library, const char *path)
{
	const struct driver_probes *probes = &library->probes;

	if (source->options.verbose && !library->used)
		fprintf(stderr,
			"cuda-trace: %s: %u entry points, %u of them launch; %u of these are told "
			"at their entry, and where they fail inside, %u when they return\n",
			path, probes->entries.count, probes->launches, probes->told_at_entry,
			probes->launches - probes->told_at_entry);
	if (source->options.verbose && !library->used)
		say_unknown(probes, path);
	library->used = true;
}

const char *driver_source__launches(const struct driver_source *source)
{
	uint32_t launches = 0, at_entry = 0;

	for (int i = 0; source && i < source->library_count; i++) {
		if (!source->libraries[i].used)
			continue;
		launches += source->libraries[i].probes.launches;
		at_entry += source->libraries[i].probes.told_at_entry;
	}
	if (!launches)
		return NULL;
	return at_entry == launches ? "entry" : at_entry ? "mixed" : "return";
}

/* 0 or -errno. */
static int link_library(struct driver_source *source, const char *path)
{
	struct library *library = library_of(source, path);
	int err;

	if (!library)
		return -ENOENT;
	if (library->links[0] >= 0)
		return 0;
	err = driver_links__attach(source->object, path, &library->probes, 0, library->links);
	/* The file is found through a process: one that has ended says nothing of the kernel. */
	if (err && err != -ENOENT && err != -ESRCH)
		complain(source, err);
	else if (!err)
		begin_to_use(source, library, path);
	return err;
}

static int link_process(struct driver_source *source, uint32_t pid, const char *path)
{
	struct watched *watched = &source->watched[source->watched_count];
	struct library *library = library_of(source, path);
	int err;

	if (!library)
		return -ENOENT;
	if (source->watched_count == MOST_PROCESSES)
		return -ENOSPC;
	err = driver_links__attach(source->object, path, &library->probes, pid, watched->links);
	if (err) {
		/* A process that has gone meanwhile says nothing of the kernel. */
		if (err != -ESRCH && err != -ENOENT)
			complain(source, err);
		return err;
	}
	begin_to_use(source, library, path);
	watched->pid = pid;
	watched->number = source->processes + 1;
	source->watched_count++;
	return 0;
}

static void prepare_library(void *context, const char *path)
{
	link_library(context, path);
}

void driver_source__prepare(struct driver_source *source)
{
	driver_paths__each(prepare_library, source);
}

static bool is_wanted(const struct driver_source *source, const struct inspection *seen, bool force)
{
	const struct driver_options *options = &source->options;

	return seen->cuda && (!seen->guest || force) &&
	       (!options->comm || !strcmp(options->comm, seen->comm)) &&
	       (options->uid < 0 || options->uid == seen->uid);
}

static bool is_still_wanted(const struct driver_source *source, uint32_t pid, bool force)
{
	struct inspection seen;

	return !inspect__process(pid, &seen) && is_wanted(source, &seen, force);
}

/* It takes 100 ms, as it closes a link. That waits for threads which wait for the tool: none may do
 * so meanwhile. */
static void *run_trial(void *context)
{
	struct driver_source *source = context;

	source->trial_result = driver_links__know_processes(source->object);
	atomic_store(&source->trial_over, true);
	return NULL;
}

void driver_source__try(struct driver_source *source)
{
	if (source && source->by_process && !source->tried && !source->trial_runs)
		source->trial_runs = !pthread_create(&source->trial, NULL, run_trial, source);
}

/* waits: a thread of the process waits for the tool. Without a result all processes get links. */
static void try_processes(struct driver_source *source, bool waits)
{
	if (source->tried)
		return;
	if (source->trial_runs && waits && !atomic_load(&source->trial_over)) {
		source->tried = true;
		source->by_process = false;
		return;
	}
	driver_source__try(source);
	end_trial(source);
	source->tried = true;
	source->by_process = source->by_process && source->trial_result;
}

static bool look(struct driver_source *source, uint32_t pid, bool force, bool waits)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids");
	uint64_t number = source->processes + 1, known;
	char path[PATH_MAX];
	struct inspection seen;

	if (source->complained || !bpf_map_lookup_elem(map, &pid, &known) ||
	    inspect__process(pid, &seen) || !is_wanted(source, &seen, force))
		return false;
	if (!source->supported) {
		complain(source, -EOPNOTSUPP);
		return false;
	}
	try_processes(source, waits);
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, seen.libcuda);
	/* Linking takes as long as some launches: a guest that came meanwhile has told of itself
	 * already, and nobody would take the process out again for a while. */
	if ((source->by_process ? link_process(source, pid, path) : link_library(source, path)) ||
	    !is_still_wanted(source, pid, force) ||
	    bpf_map_update_elem(map, &pid, &number, BPF_ANY))
		return false;
	source->processes++;
	if (is_still_wanted(source, pid, force))
		return true;
	driver_source__leave(source, pid);
	return false;
}

bool driver_source__look(struct driver_source *source, uint32_t pid, bool force)
{
	return look(source, pid, force, false);
}

bool driver_source__look_waiting(struct driver_source *source, uint32_t pid, bool force)
{
	return look(source, pid, force, true);
}

void driver_source__leave(struct driver_source *source, uint32_t pid)
{
	/* Its links go when all are tidied up. */
	if (source)
		bpf_map_delete_elem(bpf_object__find_map_fd_by_name(source->object, "driver_pids"),
				    &pid);
}

/* Links of processes that the kernel has taken out of the map since. */
static void drop_links(struct driver_source *source)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids"), kept = 0;
	struct closing *closing = &source->closing;
	uint64_t number;

	if (is_closing(source))
		return;
	for (int i = 0; i < source->watched_count; i++) {
		struct watched *watched = &source->watched[i];

		if (!bpf_map_lookup_elem(map, &watched->pid, &number) &&
		    number == watched->number) {
			source->watched[kept++] = *watched;
			continue;
		}
		memcpy(closing->links[closing->count++], watched->links, sizeof(watched->links));
	}
	source->watched_count = kept;
	if (!closing->count)
		return;
	atomic_store(&closing->done, false);
	closing->started = !pthread_create(&closing->thread, NULL, close_links, closing);
	if (!closing->started)
		close_links(closing);
}

void driver_source__note_use(struct driver_source *source)
{
	if (source)
		source->used++;
}

void driver_source__tidy(struct driver_source *source)
{
	drop_links(source);
	if (source->options.stays || source->used == source->told)
		return;
	if (!source->told)
		fprintf(stderr,
			"cuda-trace: %llu process%s no working injection library: launches, sizes "
			"and results are seen, GPU times are not (source driver)\n",
			(unsigned long long)source->used, source->used == 1 ? " has" : "es have");
	source->told = source->used;
}
