// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. tools in different network namespaces do not see each other's numbers, or
 * somebody has bound all of them: each process and namespace begins at a number of its own, which
 * may be the same. 2. the tool is killed: the kernel closes the sockets. 3. eight are not enough:
 * several tools share one, as before.
 */
#include "cuda-trace/attach/hello_numbers.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void hello_numbers__init(struct hello_numbers *numbers)
{
	struct stat network;

	for (int i = 0; i < CUDA_HELLOS; i++)
		numbers->sockets[i] = -1;
	numbers->next = getpid();
	if (!stat("/proc/self/ns/net", &network))
		numbers->next += network.st_ino;
}

/* The socket, or -1: somebody has it. */
static int reserve(unsigned int number)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "cuda-trace-hello-%u",
			      number);
	int reserved = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (reserved < 0)
		return -1;
	if (!bind(reserved, (struct sockaddr *)&name,
		  offsetof(struct sockaddr_un, sun_path) + 1 + length))
		return reserved;
	close(reserved);
	return -1;
}

unsigned int hello_numbers__take(struct hello_numbers *numbers)
{
	for (unsigned int i = 0; i < CUDA_HELLOS; i++) {
		unsigned int number = (numbers->next + i) % CUDA_HELLOS;

		if (numbers->sockets[number] >= 0)
			continue;
		numbers->sockets[number] = reserve(number);
		if (numbers->sockets[number] < 0)
			continue;
		numbers->next = number + 1;
		return number;
	}
	return numbers->next++ % CUDA_HELLOS;
}

void hello_numbers__free(struct hello_numbers *numbers)
{
	for (int i = 0; i < CUDA_HELLOS; i++)
		if (numbers->sockets[i] >= 0)
			close(numbers->sockets[i]);
}
