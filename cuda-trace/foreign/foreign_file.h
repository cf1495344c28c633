/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that traced processes control. The functions here are the only ones that open a path in a
 * process's root or through its mappings (tests/tree/untrusted_files.bats).
 */
#ifndef CUDA_TRACE_FOREIGN_FOREIGN_FILE_H
#define CUDA_TRACE_FOREIGN_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A regular file, open for reading. */
struct foreign_file {
	int fd;
	char path[32]; /* "/proc/self/fd/N": this file, whatever its name refers to by now */
	dev_t device;
	ino_t inode;
	uint64_t size;
	uint64_t changed; /* ns, ctime: unlike mtime, its owner cannot set it */
	bool is_users;	  /* it was not looked at: see foreign_mount.h */
};

/*
 * Opens `path` as process `pid` sees it (0 = as we do); nofollow: it must not be a link itself.
 * Links never lead out of that root. Never blocks on a FIFO and never opens a device. 0, or -errno:
 * -EINVAL = not a regular file, -ENOTSUP = on a file system that a user serves, and those of
 * foreign_lookup.h.
 */
int foreign_file__open(struct foreign_file *file, uint32_t pid, const char *path, bool nofollow);
/* The same for a path that no traced process has chosen, for example "/proc/self/fd/N". */
int foreign_file__open_ours(struct foreign_file *file, const char *path);
/* The same for the file that a process has mapped at `range` ("start-end", as in /proc/PID/maps),
 * even if it was deleted. Needs CAP_CHECKPOINT_RESTORE; without it, opens the path. */
int foreign_file__open_mapped(struct foreign_file *file, uint32_t pid, const char *range,
			      const char *path);
/* Only device and inode of the mapped file; false = they cannot be read. */
bool foreign_file__identify(struct foreign_file *file, uint32_t pid, const char *range,
			    const char *path);
/* Opens a file that was only identified. 0 or -errno. */
int foreign_file__open_identified(struct foreign_file *file);
/* From a descriptor, which stays the caller's. 0, or -EINVAL: not a regular file. */
int foreign_file__of(struct foreign_file *file, int fd);
bool foreign_file__is_same(const struct foreign_file *a, const struct foreign_file *b);
void foreign_file__close(struct foreign_file *file);
/* For messages: the file's path, as the kernel reports it. Untrusted text, made printable. */
const char *foreign_file__show(const char *path, char *shown, size_t size);

#endif
