// SPDX-License-Identifier: BSD-2-Clause
/*
 * One request of Docker's API. With HTTP/1.0 the answer is not in chunks and ends with the
 * connection.
 */
#include "cuda-trace/origin/engines.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "cuda-trace/origin/engine_json.h"
#include "cuda-trace/origin/engine_socket.h"

static int send_request(int fd, const char *id, uint64_t deadline)
{
	char request[512];
	size_t size, sent = 0;

	/* {"id":["…"]} */
	size = snprintf(
		request, sizeof(request),
		"GET /containers/json?all=1&filters=%%7B%%22id%%22%%3A%%5B%%22%s%%22%%5D%%7D "
		"HTTP/1.0\r\nHost: localhost\r\nUser-Agent: cuda-trace/" VERSION "\r\n\r\n",
		id);
	while (sent < size) {
		ssize_t n = send(fd, request + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err;

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0)
			sent += n;
		err = sent < size ? engine_socket__wait(fd, POLLOUT, deadline) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int receive_all(int fd, char *answer, uint64_t deadline)
{
	size_t size = 0;

	for (;;) {
		int err = engine_socket__wait(fd, POLLIN, deadline);
		ssize_t n;

		if (err)
			return err;
		if (size == ENGINE_ANSWER_SIZE)
			return -EMSGSIZE;
		n = recv(fd, answer + size, ENGINE_ANSWER_SIZE - size, MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (!n) {
			answer[size] = 0;
			return 0;
		}
		if (n > 0)
			size += n;
	}
}

static void take(struct json_object *container, struct origin *origin)
{
	struct json_object *labels;

	engine_json__set_name(container, "Names", origin);
	if (!json_object_object_get_ex(container, "Labels", &labels) ||
	    !json_object_is_type(labels, json_type_object))
		return;
	json_object_object_foreach(labels, key, value)
	{
		if (json_object_is_type(value, json_type_string))
			kubelet_labels__set(origin, key, json_object_get_string(value));
	}
}

/* "HTTP/1.0 200 OK", headers, an empty line, the list. */
static int parse(const char *answer, const char *id, struct origin *origin)
{
	const char *body = strstr(answer, "\r\n\r\n");
	struct json_object *list, *container;
	int status;

	if (!body || sscanf(answer, "HTTP/1.%*1[01] %3d", &status) != 1)
		return -EPROTO;
	if (status != 200)
		return status == 404 ? -ENOENT : -EPROTO;
	list = engine_json__parse(body + 4, strlen(body + 4));
	if (!list)
		return -EPROTO;
	container = engine_json__container(list, "Id", id);
	if (container)
		take(container, origin);
	json_object_put(list);
	return container ? 0 : -ENOENT;
}

int docker_client__find(int fd, const char *id, uint64_t deadline, struct origin *origin)
{
	char *answer = malloc(ENGINE_ANSWER_SIZE + 1);
	int err = answer ? send_request(fd, id, deadline) : -ENOMEM;

	if (!err)
		err = receive_all(fd, answer, deadline);
	if (!err)
		err = parse(answer, id, origin);
	free(answer);
	return err;
}
