// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a process calls its socket may be anything: it is used only if it is one end of a pair of
 * its own, and never waited for.
 */
#include "cuda-trace/inject/host_cupti.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/inventory/driver_inventory.h"
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/inventory/libcupti_list.h"

#define SEARCH_NS     200000000ull
#define ENTRIES	      20000
#define NEWEST_DRIVER 13000

struct host_cupti {
	int file; /* -1 = none, or not looked for yet */
	unsigned int major;
	bool verbose;
	char path[FILETREE_PATH_MAX];
};

struct host_cupti *host_cupti__new(bool verbose)
{
	struct host_cupti *host = calloc(1, sizeof(*host));

	if (host)
		*host = (struct host_cupti){.file = -1, .verbose = verbose};
	return host;
}

static void choose(struct host_cupti *host, struct filetree *tree)
{
	struct libraries libraries = {
		.tree = tree, .machine = elf__own_machine(), .driver_major = host->major};
	const struct choice_inputs inputs = {
		.named = getenv("CUDA_TRACE_LIBCUPTI"),
		.cuda_home = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : getenv("CUDA_PATH"),
		.loader_path = getenv("LD_LIBRARY_PATH"),
		.driver_major = host->major,
	};
	struct choice choice = {};

	filetree__budget(tree, SEARCH_NS, ENTRIES);
	libraries__search(&libraries, false, NULL);
	libraries__check(&libraries);
	choice__make(&libraries, &inputs, &choice);
	if (choice.found && choice.found->real) {
		snprintf(host->path, sizeof(host->path), "%s", choice.found->real);
		host->file = filetree__file(tree, host->path, &(struct stat){});
	}
	libraries__free(&libraries);
}

/* For this driver; again if it is another one than before. */
static void search(struct host_cupti *host, uint32_t driver)
{
	struct filetree tree;

	if (host->major == driver / 1000)
		return;
	if (host->file >= 0)
		close(host->file);
	host->file = -1;
	host->major = driver / 1000;
	if (filetree__open(&tree, NULL))
		return;
	choose(host, &tree);
	filetree__close(&tree);
}

static int send_file(int to, int file)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	char one = 1;
	struct iovec part = {&one, sizeof(one)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &file, sizeof(file));
	return sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The process's own pair of sockets: by another one, the tool would speak to others with its
 * rights. */
static bool is_own_pair(int file, uint32_t pid)
{
	socklen_t domain_size = sizeof(int), peer_size = sizeof(struct ucred);
	struct ucred peer = {};
	int domain = 0;

	return !getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) &&
	       domain == AF_UNIX && !getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) &&
	       peer.pid == (pid_t)pid;
}

static int send_to(const struct event_start *wanted, int file)
{
	int process = syscall(SYS_pidfd_open, wanted->pid, 0), to, err;

	if (process < 0)
		return -errno;
	to = syscall(SYS_pidfd_getfd, process, wanted->socket, 0);
	err = to < 0 ? -errno : is_own_pair(to, wanted->pid) ? 0 : -ENOTSOCK;
	if (!err)
		err = send_file(to, file);
	if (to >= 0)
		close(to);
	close(process);
	return err;
}

static bool has_own_mounts(uint32_t pid)
{
	struct stat ours, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	return !stat("/proc/self/ns/mnt", &ours) && !stat(path, &its) && ours.st_ino != its.st_ino;
}

void host_cupti__prepare(struct host_cupti *host, uint32_t pid)
{
	struct filetree tree;
	struct driver driver;

	if (!host || host->major || !has_own_mounts(pid) || filetree__open(&tree, NULL))
		return;
	driver__read(&tree, &driver);
	filetree__close(&tree);
	search(host, driver.cuda ? driver.cuda : NEWEST_DRIVER);
}

int host_cupti__file(const struct host_cupti *host)
{
	return host->file;
}

bool host_cupti__offer(struct host_cupti *host, const struct event_start *wanted)
{
	char shown[256];
	int err;

	if (!host)
		return false;
	search(host, wanted->driver);
	err = host->file < 0 ? -ENOENT : send_to(wanted, host->file);
	if (!host->verbose)
		return !err;
	if (err)
		fprintf(stderr, "cuda-trace: process %u finds no libcupti, and %s\n", wanted->pid,
			host->file < 0 ? "this machine has none for its driver"
				       : "cannot be given one");
	else
		fprintf(stderr,
			"cuda-trace: process %u finds no libcupti: it gets %s of this machine\n",
			wanted->pid, text__show(shown, sizeof(shown), host->path, 200));
	return !err;
}

void host_cupti__free(struct host_cupti *host)
{
	if (!host)
		return;
	if (host->file >= 0)
		close(host->file);
	free(host);
}
