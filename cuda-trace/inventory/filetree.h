/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file tree that the doctor looks at: the machine's own, an image below --root, or the one
 * that a process sees. Nothing in it is trusted: links never lead out of it, only regular files
 * are opened for reading, every listing counts against one budget. Read-only. One thread.
 */
#ifndef CUDA_TRACE_INVENTORY_FILETREE_H
#define CUDA_TRACE_INVENTORY_FILETREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define FILETREE_PATH_MAX 4096

struct filetree {
	int root;     /* O_PATH */
	bool plain;   /* no openat2() here (a container's seccomp filter): only for the own root */
	bool own;     /* it is the root that this tool itself sees: things in it may be run */
	uint32_t pid; /* the process whose root it is, 0 = a folder of our own */
	char name[FILETREE_PATH_MAX];	/* the path that was looked up, untrusted */
	char prefix[FILETREE_PATH_MAX]; /* the root's own path, to take off resolved ones */
	uint64_t deadline;		/* monotonic ns; 0 = none */
	uint64_t entries;		/* directory entries seen */
	uint64_t entries_max;
	unsigned int folder_max; /* entries of one folder that filetree__walk() looks at; 0 = all */
	bool partial;		 /* a folder had more than that */
	bool cut;		 /* the budget ran out */
	bool incomplete;	 /* an earlier one did */
	uint64_t denied;	 /* folders that could not be opened because rights are missing */
};

/* dir NULL is "/" as we see it. 0 or -errno; -ENOSYS: a kernel without openat2(). */
int filetree__open(struct filetree *tree, const char *dir);
void filetree__close(struct filetree *tree);
/* A new budget; 0 = without end. That an earlier one ran out is remembered. */
void filetree__budget(struct filetree *tree, uint64_t ns, uint64_t entries);
bool filetree__exhausted(struct filetree *tree);

/* An O_PATH descriptor; links are followed inside the tree unless nofollow. */
int filetree__path(const struct filetree *tree, const char *path, bool nofollow);
/* A descriptor for reading; -EINVAL if it is not a regular file (a FIFO would block, a device act).
 */
int filetree__file(const struct filetree *tree, const char *path, struct stat *st);
bool filetree__exists(const struct filetree *tree, const char *path);
bool filetree__is_dir(const struct filetree *tree, const char *path);
/* The path below the root after all links; 0 or -errno. */
int filetree__resolve(const struct filetree *tree, const char *path, char *out, size_t size);
/* At most size - 1 bytes and a NUL; how many, or -errno. */
ssize_t filetree__read(const struct filetree *tree, const char *path, char *buffer, size_t size);
/* A stream for text files; NULL if there is none. */
FILE *filetree__stream(const struct filetree *tree, const char *path);
/* The next line without its end, cut at size - 1: a file without line ends must not fill the
 * memory, one without end not the time. False at the end. */
bool filetree__line(FILE *file, char *line, size_t size);

/* Calls each for every path that matches the shell pattern ('*' and '?' within a component). A
 * last component without wildcards counts even if it is a dangling link. Stops on each() != 0.
 */
typedef int (*tree_fn)(void *context, const char *path);
int filetree__glob(struct filetree *tree, const char *pattern, tree_fn each, void *context);

/* Every entry below `path`, `depth` levels deep, links not followed, pseudo file systems left out.
 */
enum tree_step { TREE_DESCEND, TREE_SKIP, TREE_STOP };
typedef enum tree_step (*tree_step)(void *context, const char *path, const char *name, bool is_dir);
int filetree__walk(struct filetree *tree, const char *path, unsigned int depth, tree_step step,
		   void *context);

#endif
