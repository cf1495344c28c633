// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaches the driver programs once to each distinct libcuda, by one uprobe_multi link for all
 * entries and one for all returns (Linux 6.6): fifty links of their own would take five seconds to
 * remove. libbpf 1.1 does not know that link yet, hence the system call. Called by the session.
 */
#include "cuda-trace/driver_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cuda-trace/driver_functions.h"
#include "cuda-trace/inspect.h"

#define MOST_LIBRARIES 64
#define MULTI_RETURN   1  /* BPF_F_UPROBE_MULTI_RETURN */
#define TRACE_MULTI    48 /* BPF_TRACE_UPROBE_MULTI */

struct driver_source {
	struct bpf_object *object;
	const char *comm;
	int64_t uid;
	struct {
		dev_t device;
		ino_t inode;
		int links[2];
	} libraries[MOST_LIBRARIES];
	int count;
	unsigned int processes;
	unsigned int told;
	bool complained;
};

/* union bpf_attr of BPF_LINK_CREATE, as Linux 6.6 has it. */
struct link_create {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t semaphores;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

struct driver_source *driver_source__new(struct bpf_object *object, bool wanted, const char *comm,
					 int64_t uid)
{
	static const char *const programs[] = {"driver_entry", "driver_return"};
	struct driver_source *source = wanted ? calloc(1, sizeof(*source)) : NULL;

	for (int i = 0; i < 2; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		if (source)
			bpf_program__set_expected_attach_type(program, TRACE_MULTI);
		else
			bpf_program__set_autoload(program, false);
	}
	if (!source)
		return NULL;
	source->object = object;
	source->comm = comm;
	source->uid = uid;
	return source;
}

void driver_source__free(struct driver_source *source)
{
	if (!source)
		return;
	for (int i = 0; i < source->count; i++) {
		close(source->libraries[i].links[0]);
		close(source->libraries[i].links[1]);
	}
	free(source);
}

static int attach(struct driver_source *source, const char *program, const char *path,
		  const struct driver_probes *probes, uint32_t flags)
{
	struct link_create create = {
		.program =
			bpf_program__fd(bpf_object__find_program_by_name(source->object, program)),
		.attach_type = TRACE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)probes->offsets,
		.cookies = (uintptr_t)probes->cookies,
		.count = probes->count,
		.multi_flags = flags,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));

	return fd < 0 ? -errno : fd;
}

static void complain(struct driver_source *source, int err)
{
	if (source->complained)
		return;
	source->complained = true;
	fprintf(stderr,
		"cuda-trace: processes without the guest cannot be seen: uprobes on libcuda.so: %s "
		"(Linux 6.6 or newer is needed)\n",
		strerror(-err));
}

static int attach_library(struct driver_source *source, const char *path, const struct stat *file)
{
	struct driver_probes probes;
	int links[2] = {-1, -1};
	int err = driver_functions__find(path, &probes);

	if (!err) {
		links[0] = attach(source, "driver_entry", path, &probes, 0);
		links[1] = attach(source, "driver_return", path, &probes, MULTI_RETURN);
		err = links[0] < 0 ? links[0] : links[1] < 0 ? links[1] : 0;
	}
	free(probes.offsets);
	free(probes.cookies);
	if (err) {
		complain(source, err);
		if (links[0] >= 0)
			close(links[0]);
		if (links[1] >= 0)
			close(links[1]);
		return err;
	}
	source->libraries[source->count].device = file->st_dev;
	source->libraries[source->count].inode = file->st_ino;
	memcpy(source->libraries[source->count++].links, links, sizeof(links));
	return 0;
}

static int want_library(struct driver_source *source, const char *path)
{
	struct stat file;

	/* Never opened before this: the name may lead to a FIFO or a device. */
	if (stat(path, &file) || !S_ISREG(file.st_mode))
		return -ENOENT;
	for (int i = 0; i < source->count; i++)
		if (source->libraries[i].inode == file.st_ino &&
		    source->libraries[i].device == file.st_dev)
			return 0;
	return source->count == MOST_LIBRARIES ? -ENOSPC : attach_library(source, path, &file);
}

static void try_folder(struct driver_source *source, const char *folder, size_t length)
{
	char path[PATH_MAX];

	if (length && snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)length, folder) <
			      (int)sizeof(path))
		want_library(source, path);
}

void driver_source__prepare(struct driver_source *source)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu",
					      "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
					      "/usr/lib", "/usr/lib/wsl/lib"};
	const char *list = getenv("LD_LIBRARY_PATH");

	while (list && *list) {
		size_t length = strcspn(list, ":");

		try_folder(source, list, length);
		list += length + (list[length] == ':');
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		try_folder(source, folders[i], strlen(folders[i]));
}

void driver_source__look(struct driver_source *source, uint32_t pid, bool force)
{
	int map = bpf_object__find_map_fd_by_name(source->object, "driver_pids");
	char path[PATH_MAX];
	struct inspection seen;
	uint64_t number = source->processes + 1, known;

	if (source->complained || !bpf_map_lookup_elem(map, &pid, &known) ||
	    inspect__process(pid, &seen) || !seen.cuda || (seen.guest && !force) ||
	    (source->comm && strcmp(source->comm, seen.comm)) ||
	    (source->uid >= 0 && source->uid != seen.uid))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, seen.libcuda);
	if (want_library(source, path) || bpf_map_update_elem(map, &pid, &number, BPF_ANY))
		return;
	source->processes++;
}

void driver_source__remark(struct driver_source *source)
{
	if (source->processes == source->told)
		return;
	if (!source->told)
		fprintf(stderr,
			"cuda-trace: %u process%s without a working guest: launches, sizes and "
			"results are seen, GPU times are not (source driver)\n",
			source->processes, source->processes == 1 ? " is" : "es are");
	source->told = source->processes;
}
