// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the map `pids` of a session. Called by watch__run() and the session; one thread.
 */
#include "cuda-trace/capture/descendants.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"

#define MAX_PIDS  256
#define MAX_NAMED 3

bool descendants__include(const struct session *session, uint32_t pid)
{
	struct stream_settings settings;
	int map = session__filter(session, &settings);
	uint8_t one;

	return !settings.by_pid || !bpf_map_lookup_elem(map, &pid, &one);
}

uint32_t descendants__list(const struct session *session, uint32_t but, uint32_t *pids,
			   uint32_t max)
{
	struct stream_settings settings;
	int map = session__filter(session, &settings);
	uint32_t pid, next, count = 0;

	if (!settings.by_pid)
		return 0;
	for (int err = bpf_map_get_next_key(map, NULL, &next); !err;
	     err = bpf_map_get_next_key(map, &pid, &next)) {
		pid = next;
		if (pid == but || process_stat__has_ended(pid))
			continue;
		if (count < max)
			pids[count] = pid;
		count++;
	}
	return count;
}

void descendants__say(const char *command, const struct session *session, uint32_t program)
{
	uint32_t pids[MAX_NAMED], count = descendants__list(session, program, pids, MAX_NAMED);
	uint32_t named = count < MAX_NAMED ? count : MAX_NAMED;
	struct inspection inspection;
	char shown[64];

	if (!count)
		return;
	fprintf(stderr,
		"cuda-trace %s: PROGRAM has ended, but processes that it started still run and are "
		"no longer watched:",
		command);
	for (uint32_t i = 0; i < named; i++)
		if (!process_maps__process(pids[i], &inspection))
			fprintf(stderr, "%s %s (%u)", i ? "," : "",
				text__show(shown, sizeof(shown), inspection.comm, 0), pids[i]);
	if (count > named)
		fprintf(stderr, " and %u more", count - named);
	fputs("; --wait waits for them\n", stderr);
}

void descendants__remark(const struct session *session, uint32_t pid, bool attaches)
{
	uint32_t pids[MAX_PIDS], count = descendants__list(session, pid, pids, MAX_PIDS), users = 0;
	struct inspection inspection;
	char shown[64];

	for (uint32_t i = 0; i < count && i < MAX_PIDS; i++)
		users += !process_maps__process(pids[i], &inspection) && inspection.cuda;
	if (!users || process_maps__process(pid, &inspection) || inspection.cuda)
		process_maps__remark(pid, attaches);
	else
		fprintf(stderr,
			"cuda-trace: process %u (%s) is not a CUDA program, but %u of the "
			"processes that it started are, and are watched\n",
			pid, text__show(shown, sizeof(shown), inspection.comm, 0), users);
}
