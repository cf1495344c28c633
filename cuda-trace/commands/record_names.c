// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of the files that record makes: nobody's file may be lost to one.
 */
#include "cuda-trace/commands/record_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/recording/older_recording.h"
#include "cuda-trace/recording/store_spool.h"
#include "cuda-trace/report/report_output.h"

/* A mistyped -o must not cost anybody a file that is something else. */
static bool may_replace(const char *path)
{
	char head[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT;
	n = read(fd, head, sizeof(head));
	close(fd);
	return (n == sizeof(head) && !memcmp(head, "SQLite format 3", 16)) ||
	       (n > 2 && !memcmp(head, "\x1f\x8b", 2));
}

/* Before PROGRAM is started: another recorder's spool, something in the older file's new place. */
int record_names__check(const struct option_usage *usage, const char *path, bool force)
{
	char *spool = NULL;
	int status = EXIT_OK;
	char shown[256];

	if (!force && !may_replace(path))
		return options__misuse(usage, "%s exists and is not a recording; -f overwrites it",
				       text__show(shown, sizeof(shown), path, 60));
	if (older_recording__check("record", path))
		return EXIT_USAGE;
	if (asprintf(&spool, "%s.part", path) < 0)
		return EXIT_TROUBLE;
	if (!access(spool, F_OK)) {
		spool__say_taken(path);
		status = EXIT_TROUBLE;
	}
	free(spool);
	return status;
}

/* Of which two may be made within a second; to be freed. */
static char *name_snapshot(const char *path, const char *when)
{
	char *name = NULL;

	for (int i = 1; i < 100; i++) {
		free(name);
		if (asprintf(&name, i > 1 ? "%s-%s-%d.db" : "%s-%s.db", path, when, i) < 0)
			return NULL;
		if (access(name, F_OK))
			return name;
	}
	return name;
}

void record_names__save_snapshot(struct store *store, const char *path, bool quiet)
{
	char *name = NULL, when[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	int err = -ENOMEM;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	name = name_snapshot(path, when);
	if (name)
		err = store__snapshot(store, name);
	if (err)
		fprintf(stderr, "cuda-trace record: cannot save a snapshot: %s\n", strerror(-err));
	else if (!quiet)
		fprintf(stderr, "cuda-trace record: saving %s\n", name);
	free(name);
}

void record_names__say_written(const char *path, uint64_t records, const char *why)
{
	char count[32], size[32], shown[256];
	struct stat st;

	if (stat(path, &st))
		return;
	text__show(shown, sizeof(shown), path, 60);
	report_output__bytes(size, st.st_size);
	if (records)
		fprintf(stderr, "%s: %s events, %s; cuda-trace report shows them\n", shown,
			text__count(count, records), size);
	else
		fprintf(stderr, "%s: 0 events, %s: %s\n", shown, size, why);
}
