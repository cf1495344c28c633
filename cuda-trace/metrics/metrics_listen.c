// SPDX-License-Identifier: BSD-2-Clause
/*
 * "127.0.0.1:12832", "[::1]:12832", "localhost:12832", ":12832" (every address, IPv6 and IPv4).
 */
#include "cuda-trace/metrics/metrics_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

static int complain(const char *where, const char *what)
{
	fprintf(stderr, "cuda-trace metrics: --listen %s: %s\n", where, what);
	return -EINVAL;
}

/* "[::1]:80" → "::1" and "80". */
static int split(const char *where, char host[256], char port[16])
{
	const char *colon = strrchr(where, ':'), *end = colon;
	char *rest;
	long number;

	if (!colon)
		return complain(where, "ADDRESS:PORT is wanted");
	if (*where == '[') {
		if (colon == where || colon[-1] != ']')
			return complain(where, "[ADDRESS]:PORT is wanted");
		where++;
		end--;
	} else if (memchr(where, ':', colon - where)) {
		return complain(where, "an IPv6 address stands in brackets: [::1]:PORT");
	}
	if (end - where > 255)
		return complain(where, "too long");
	snprintf(host, 256, "%.*s", (int)(end - where), where);
	number = strtol(colon + 1, &rest, 10);
	if (*rest || rest == colon + 1 || number < 0 || number > 65535)
		return complain(where, "a port is a number up to 65535");
	snprintf(port, 16, "%ld", number);
	return 0;
}

int listen__check(const char *where)
{
	char host[256], port[16];

	return split(where, host, port);
}

static int open_one(const struct addrinfo *info)
{
	int one = 1, zero = 0, fd, err;

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void name_it(int fd, char *address, size_t size)
{
	struct sockaddr_storage at = {0};
	socklen_t length = sizeof(at);
	char host[128] = "?", port[16] = "?";

	getsockname(fd, (struct sockaddr *)&at, &length);
	getnameinfo((struct sockaddr *)&at, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(address, size, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

int listen__open(const char *where, char *address, size_t size)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	char host[256], port[16];
	int fd = -ENOENT, err;

	err = split(where, host, port);
	if (err)
		return err;
	/* Every address: [::] takes IPv4, too; 0.0.0.0 only where there is no IPv6. */
	if (!*host)
		hints.ai_family = AF_INET6;
	err = getaddrinfo(*host ? host : NULL, port, &hints, &found);
	if (err && !*host) {
		hints.ai_family = AF_INET;
		err = getaddrinfo(NULL, port, &hints, &found);
	}
	if (err)
		return complain(where, gai_strerror(err));
	for (struct addrinfo *info = found; info && fd < 0; info = info->ai_next)
		fd = open_one(info);
	freeaddrinfo(found);
	if (fd == -EADDRINUSE)
		complain(where, "the port is in use: choose another with --listen ADDRESS:PORT");
	else if (fd < 0)
		complain(where, strerror(-fd));
	else
		name_it(fd, address, size);
	return fd;
}
