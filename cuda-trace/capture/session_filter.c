// SPDX-License-Identifier: BSD-2-Clause
/* No state of its own, any thread. */
#include "cuda-trace/capture/session_filter.h"

#include <string.h>
#include <unistd.h>
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/proc/pid_namespace.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/capture/session.h"

#define DEFAULT_RING_MIB 16

bool session_filter__wants_links(const struct session_options *options)
{
	return options->by_link && options->pid && multi_link__supported();
}

int session_filter__fill(const struct session_options *options, struct stream_settings *settings)
{
	settings->self = getpid();
	settings->pid_namespace = pid_namespace__own();
	settings->by_pid = options->pid != 0;
	settings->by_link = session_filter__wants_links(options);
	if (options->comm) {
		settings->by_comm = 1;
		strncpy(settings->comm, options->comm, sizeof(settings->comm) - 1);
	}
	if (options->uid >= 0) {
		settings->by_uid = 1;
		settings->uid = options->uid;
	}
	if (!options->cgroup)
		return 0;
	settings->by_cgroup = 1;
	return cgroup__find(options->cgroup, &settings->cgroup, &settings->cgroup_level);
}

/* The cgroup's path below the mount, or with the mount's own path before it. */
static bool is_in_cgroup(uint32_t pid, const char *wanted)
{
	static const char mount[] = "/sys/fs/cgroup";
	char path[512];
	size_t length;

	if (!strncmp(wanted, mount, sizeof(mount) - 1))
		wanted += sizeof(mount) - 1;
	while (*wanted == '/')
		wanted++;
	length = strlen(wanted);
	while (length && wanted[length - 1] == '/')
		length--;
	cgroup__of(pid, 0, path, sizeof(path));
	return *path == '/' && !strncmp(path + 1, wanted, length) &&
	       (!path[length + 1] || path[length + 1] == '/' || !length);
}

bool session_filter__passes(const struct session_options *options, uint32_t pid)
{
	struct inspection seen;

	return !process_maps__process(pid, &seen) &&
	       (!options->comm || !strcmp(options->comm, seen.comm)) &&
	       (options->uid < 0 || options->uid == seen.uid) &&
	       (!options->cgroup || is_in_cgroup(pid, options->cgroup));
}

uint32_t session_filter__ring_bytes(const struct session_options *options)
{
	uint32_t mib = options->ring_mib ? options->ring_mib : DEFAULT_RING_MIB;
	uint32_t bytes = 1 << 20;

	while (bytes < 1u << 30 && bytes < (uint64_t)mib << 20)
		bytes *= 2;
	return bytes;
}
