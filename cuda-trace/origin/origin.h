/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What operators call the place a process runs in: pod, container, Slurm job, systemd unit. The
 * control group's path names jobs, units and the ids of containers; container engines on this
 * machine are queried for the rest, by a thread of its own, once for each container.
 */
#ifndef CUDA_TRACE_ORIGIN_ORIGIN_H
#define CUDA_TRACE_ORIGIN_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(field, size, key): the key in JSON, the column in recordings, the label in metrics. They are
 * OpenTelemetry's names with underscores, which Prometheus' own labels of targets (pod, namespace,
 * container) do not collide with.
 */
#define ORIGIN_NAMES(X)                            \
	X(k8s_namespace, 64, "k8s_namespace_name") \
	X(k8s_pod, 256, "k8s_pod_name")            \
	X(k8s_container, 64, "k8s_container_name") \
	X(container, 128, "container_name")        \
	X(slurm_job, 24, "slurm_job_id")           \
	X(slurm_step, 24, "slurm_step_id")         \
	X(unit, 128, "systemd_unit")

/* "" = has none. All bytes count: zero before filling. */
struct origin {
#define ORIGIN_FIELD(field, size, key) char field[size];
	ORIGIN_NAMES(ORIGIN_FIELD)
#undef ORIGIN_FIELD
};

enum {
#define ORIGIN_NUMBER(field, size, key) ORIGIN_##field,
	ORIGIN_NAMES(ORIGIN_NUMBER)
#undef ORIGIN_NUMBER
		ORIGIN_NAME_COUNT
};

#define ORIGIN_TEXT_SIZE 416

enum origin_state {
	ORIGIN_KNOWN,	/* nothing more will become known */
	ORIGIN_PENDING, /* engines are being queried */
	ORIGIN_UNKNOWN, /* no engine knows the container now; later calls query them again */
};

/*
 * Fills in what is known now, and starts to query engines if that is necessary; never waits. path:
 * as cgroup__of() found it for the process. pid: to look for a Slurm job under version 1; 0 = not.
 */
enum origin_state origin__find(uint32_t pid, const char *path, struct origin *origin);
/* Until engines have answered all that was requested, or for so long. */
void origin__wait(unsigned int ms);

const char *origin__key(int number);
const char *origin__name(const struct origin *origin, int number);
/* Keeps a name that is one: engines' names have letters, digits and "._-:@\" only. False: not kept.
 */
bool origin__set(struct origin *origin, int number, const char *text, size_t length);
/* For people, in one word: NAMESPACE/POD/CONTAINER, a container's name, slurm:JOB.STEP, a unit; ""
 * = nothing is known. Returns text. */
const char *origin__text(const struct origin *origin, char text[ORIGIN_TEXT_SIZE]);

#endif
