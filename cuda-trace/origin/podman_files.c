// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lists that containers/storage keeps of root's containers, one for each storage driver. Those
 * of other users are not read: they could say anything.
 */
#include "cuda-trace/origin/engines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cuda-trace/origin/engine_json.h"
#include "cuda-trace/origin/engine_socket.h"

#define MAX_FILE (4u << 20)

static int read_list(const char *path, char **text, size_t *size)
{
	int fd = engine_file__open(path, MAX_FILE, size);
	size_t done = 0;

	if (fd < 0)
		return fd;
	*text = malloc(*size + 1);
	while (*text && done < *size) {
		ssize_t n = read(fd, *text + done, *size - done);

		if (n <= 0)
			break;
		done += n;
	}
	close(fd);
	*size = done;
	return *text ? 0 : -ENOMEM;
}

static int find_in(const char *path, const char *id, struct origin *origin)
{
	struct json_object *list, *container;
	char *text = NULL;
	size_t size;
	int err = read_list(path, &text, &size);

	if (err)
		return err;
	list = engine_json__parse(text, size);
	free(text);
	container = list ? engine_json__container(list, "id", id) : NULL;
	if (container)
		engine_json__set_name(container, "names", origin);
	json_object_put(list);
	return container ? 0 : list ? -ENOENT : -EPROTO;
}

int podman_files__find(const char *id, struct origin *origin)
{
	static const char *const folders[] = {"/var/lib/containers/storage",
					      "/run/containers/storage"};
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs"};
	static const char *const files[] = {"containers.json", "volatile-containers.json"};
	int found = -ENOENT;

	for (int i = 0; found && i < 2 * 4 * 2; i++) {
		char path[128];
		int err;

		snprintf(path, sizeof(path), "%s/%s-containers/%s", folders[i / 8],
			 drivers[i / 2 % 4], files[i % 2]);
		err = find_in(path, id, origin);
		if (err != -ENOENT)
			found = err;
	}
	return found;
}
