// SPDX-License-Identifier: BSD-2-Clause
/* Until the new file is complete, the older one has its name. */
#include "cuda-trace/recording/older_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/base/text.h"

int older_recording__check(const char *command, const char *path)
{
	char *old = NULL, shown[512];
	struct stat st;
	int err = 0;

	if (lstat(path, &st))
		return 0;
	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (!lstat(old, &st) && !(S_ISREG(st.st_mode) && output_file__is_recording(old))) {
		fprintf(stderr,
			"cuda-trace %s: %s would be kept as %s.old, which exists and is not a "
			"recording\n",
			command, text__show(shown, sizeof(shown), path, 120), shown);
		err = -EEXIST;
	}
	free(old);
	return err;
}

int older_recording__replace(const char *partial, const char *path)
{
	char *old = NULL;
	struct stat st;
	int err = 0;

	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (!lstat(path, &st) && (older_recording__check("record", path) || rename(path, old)))
		err = -EEXIST;
	if (!err && rename(partial, path)) {
		err = -errno;
		rename(old, path);
	}
	free(old);
	return err;
}
