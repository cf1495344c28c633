// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/entry_stop.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/entry_stop.h"
#include "bpf/entry_stop.skel.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/inject/injection_target.h"

struct entry_stop {
	struct entry_stop_bpf *skeleton;
	int link; /* of all functions; -1 = singles, of the frequent ones */
	struct bpf_link *singles[TARGET_FREQUENT_MAX];
	struct entry_stop_control armed;
};

static int set_control(struct entry_stop *stop, const struct entry_stop_control *control)
{
	uint32_t zero = 0;

	return bpf_map_update_elem(bpf_map__fd(stop->skeleton->maps.control), &zero, control,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

int entry_stop__arm(struct entry_stop *stop)
{
	return set_control(stop, &stop->armed);
}

void entry_stop__disarm(struct entry_stop *stop)
{
	const struct entry_stop_control disarmed = {};

	set_control(stop, &disarmed);
}

void entry_stop__free(struct entry_stop *stop)
{
	if (!stop)
		return;
	if (stop->link >= 0)
		close(stop->link);
	for (uint32_t i = 0; i < TARGET_FREQUENT_MAX; i++)
		bpf_link__destroy(stop->singles[i]);
	entry_stop_bpf__destroy(stop->skeleton);
	free(stop);
}

static int load(struct entry_stop *stop)
{
	struct stat namespace;

	stop->skeleton = entry_stop_bpf__open();
	if (!stop->skeleton)
		return -errno;
	if (stat("/proc/self/ns/pid", &namespace))
		return -errno;
	stop->skeleton->rodata->namespace_device = namespace.st_dev;
	stop->skeleton->rodata->namespace_inode = namespace.st_ino;
	if (multi_link__supported())
		bpf_program__set_expected_attach_type(stop->skeleton->progs.stop_at_entry,
						      MULTI_LINK_ATTACH_TYPE);
	return entry_stop_bpf__load(stop->skeleton);
}

static int link_all(struct entry_stop *stop, const struct injection_target *target)
{
	const struct multi_link_points points = {
		.offsets = target->offsets,
		.count = target->entry_count,
		.pid = target->pid,
	};

	stop->link = multi_link__new(bpf_program__fd(stop->skeleton->progs.stop_at_entry),
				     target->libcuda, &points, false);
	return stop->link < 0 ? stop->link : 0;
}

/* Before Linux 6.6. To remove them takes the kernel seconds, after the threads have gone on. */
static int link_frequent(struct entry_stop *stop, const struct injection_target *target)
{
	for (uint32_t i = 0; i < target->frequent_count; i++) {
		stop->singles[i] = bpf_program__attach_uprobe(stop->skeleton->progs.stop_at_entry,
							      false, target->pid, target->libcuda,
							      target->offsets[target->frequent[i]]);
		if (!stop->singles[i])
			return -errno;
	}
	return 0;
}

int entry_stop__new(struct entry_stop **stop, const struct injection_target *target,
		    const char **reason)
{
	int error;

	*stop = calloc(1, sizeof(**stop));
	if (!*stop)
		return -ENOMEM;
	(*stop)->link = -1;
	(*stop)->armed = (struct entry_stop_control){target->pid, target->signal};
	*reason = "the kernel refused the eBPF program that stops threads";
	error = load(*stop);
	if (!error) {
		error = multi_link__supported() ? link_all(*stop, target)
						: link_frequent(*stop, target);
		*reason = "the kernel refused probes on its libcuda";
	}
	if (error) {
		entry_stop__free(*stop);
		*stop = NULL;
	}
	return error;
}
