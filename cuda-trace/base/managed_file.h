/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small files that `cuda-trace enable` writes into /etc, a home or an image below --root, and
 * `disable` removes. Each begins with OWN_FILE_MARK, by which the packages' removal scripts
 * recognise them. Links never lead out of the root; without a root, no link or folder of another
 * user is followed (TRUSTED_FOLDER_FOREIGN). One thread.
 */
#ifndef CUDA_TRACE_BASE_MANAGED_FILE_H
#define CUDA_TRACE_BASE_MANAGED_FILE_H

#define OWN_FILE_MARK "# Written by cuda-trace enable"

/* What is at the path (absolute, below root): 1 = a file with the mark, 0 = nothing, -EEXIST =
 * another file, other -errno. root NULL is "/". */
int managed_file__check(const char *root, const char *path);

/* Replaces the whole file and creates folders as needed; puts the mark before the text. 0 or
 * -errno, -EEXIST: another file is there, and was not changed. */
int managed_file__write(const char *root, const char *path, const char *text);

/* Removes the file and its folder, if that is empty then. 0 or -errno. */
int managed_file__remove(const char *root, const char *path);

/* Removes the file of this name, with or without the mark. 0 (also if there was none) or -errno. */
int managed_file__drop(const char *path);

/* The text of an error of these functions. */
const char *managed_file__reason(int err);

#endif
