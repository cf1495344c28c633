/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small files that `cuda-trace enable` writes into folders of others (/etc, a home, an image below
 * --root), and takes away again. Each begins with OWN_FILE_MARK, by which the packages' removal
 * scripts know them too. Links never lead out of the root; without a root, no link or folder of
 * another user is followed (TRUSTED_FOLDER_FOREIGN). One thread.
 */
#ifndef CUDA_TRACE_BASE_MANAGED_FILE_H
#define CUDA_TRACE_BASE_MANAGED_FILE_H

#define OWN_FILE_MARK "# Written by cuda-trace enable"

/* What is at the path (absolute, below root): 1 = a file of ours, 0 = nothing, -EEXIST = somebody
 * else's, other -errno. root NULL is "/". */
int managed_file__check(const char *root, const char *path);

/* Replaces the file as a whole, making folders as needed; text gets the mark in front. 0 or -errno,
 * -EEXIST: somebody else's is there and was left alone. */
int managed_file__write(const char *root, const char *path, const char *text);

/* Removes the file and its folder, if that is empty then. 0 or -errno. */
int managed_file__remove(const char *root, const char *path);

/* Removes what has this name, whoever made it. 0 (also: nothing was there) or -errno. */
int managed_file__drop(const char *path);

/* Why one of these failed. */
const char *managed_file__reason(int err);

#endif
