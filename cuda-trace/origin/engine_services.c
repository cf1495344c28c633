// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/origin/engine_services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/origin/engine_socket.h"
#include "cuda-trace/origin/engines.h"

#define ANSWER_MS 2000
#define PAUSE_MS  10000 /* after an engine that did not answer */

static struct service {
	enum origin_engine engine;
	const char *path;
	uint64_t paused_until;
	bool reported;
} services[] = {
	{ENGINE_CRI, "/run/containerd/containerd.sock", 0, false},
	{ENGINE_CRI, "/run/crio/crio.sock", 0, false},
	{ENGINE_CRI, "/run/k3s/containerd/containerd.sock", 0, false},
	{ENGINE_CRI, "/run/k0s/containerd.sock", 0, false},
	{ENGINE_CRI, "/var/snap/microk8s/common/run/containerd.sock", 0, false},
	{ENGINE_DOCKER, "/run/docker.sock", 0, false},
};

/* The variables of crictl and docker: they replace the usual places. */
static const char *chosen_path(enum origin_engine engine)
{
	const char *value =
		getenv(engine == ENGINE_CRI ? "CONTAINER_RUNTIME_ENDPOINT" : "DOCKER_HOST");

	if (value && !strncmp(value, "unix://", 7))
		return value + 7;
	return value && *value == '/' ? value : NULL;
}

/* Once for each engine. Absent engines, and ones that this user may not query, are no news. */
static void report(struct service *service, const char *path, int err)
{
	if (service->reported || err == -ENOENT || err == -EACCES || err == -EPERM ||
	    err == -ENOTDIR)
		return;
	service->reported = true;
	fprintf(stderr, "cuda-trace: no names of containers from %s: %s\n", path,
		err == -ECONNREFUSED ? "nobody listens there, or not root"
		: err == -ETIMEDOUT  ? "it does not answer"
		: err == -ENOSYS     ? "cuda-trace was built without libnghttp2"
				     : strerror(-err));
}

static int query(struct service *service, const char *path, const char *id, struct origin *origin)
{
	uint64_t now = monotonic__ms();
	int fd, err;

	if (now < service->paused_until)
		return -EAGAIN;
	fd = engine_socket__open(path);
	if (fd < 0) {
		err = fd;
	} else {
		err = (service->engine == ENGINE_CRI ? cri_client__find : docker_client__find)(
			fd, id, now + ANSWER_MS, origin);
		close(fd);
	}
	if (fd >= 0 && err && err != -ENOENT)
		service->paused_until = monotonic__ms() + PAUSE_MS;
	if (err)
		report(service, path, err);
	return err;
}

static int find_at(enum origin_engine engine, const char *id, struct origin *origin)
{
	const char *chosen = chosen_path(engine);

	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		struct service *service = &services[i];

		if (service->engine != engine)
			continue;
		if (!query(service, chosen ? chosen : service->path, id, origin))
			return 0;
		if (chosen)
			break;
	}
	return -ENOENT;
}

int engine_services__find(const struct origin_container *container, struct origin *origin)
{
	unsigned int engines = container->engines;

	memset(origin, 0, sizeof(*origin));
	if (engines & ENGINE_CRI && !find_at(ENGINE_CRI, container->id, origin))
		return 0;
	if (engines & ENGINE_DOCKER && !find_at(ENGINE_DOCKER, container->id, origin))
		return 0;
	if (engines & ENGINE_PODMAN && !podman_files__find(container->id, origin))
		return 0;
	return -ENOENT;
}
