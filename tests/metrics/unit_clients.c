// SPDX-License-Identifier: BSD-2-Clause
/* metrics_clients.h: a client that has just made a step is not cut off, whoever sweeps meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cuda-trace/metrics/metrics_clients.h"

#define CALLERS 3
#define STEPS	200000

static struct clients *clients;
static atomic_bool over;
static atomic_uint cut;

static void *sweep(void *argument)
{
	while (!atomic_load(&over)) {
		clients__sweep(clients);
		clients__cut_late(clients);
	}
	return NULL;
}

static void *call(void *argument)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return NULL;
	for (int i = 0; i < STEPS && !atomic_load(&cut); i++)
		clients__step(clients, ends[0], i % 2 ? CLIENT_READS : CLIENT_ASKS, NULL);
	if (!recv(ends[1], &byte, 1, MSG_DONTWAIT))
		atomic_fetch_add(&cut, 1);
	clients__end(clients, ends[0]);
	close(ends[0]);
	close(ends[1]);
	return NULL;
}

int main(void)
{
	pthread_t sweeper, callers[CALLERS];

	clients = clients__new();
	pthread_create(&sweeper, NULL, sweep, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, call, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	atomic_store(&over, true);
	pthread_join(sweeper, NULL);
	clients__free(clients);
	printf("cut off: %u\n", atomic_load(&cut));
	return 0;
}
