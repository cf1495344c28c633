// SPDX-License-Identifier: BSD-2-Clause
/*
 * A new client always gets in: if need be, for one that has made no step for the longest time, of
 * the address that has the most. libmicrohttpd only refuses the newcomer, and its own timeout
 * starts anew with every byte, so that a client that sends one now and then would stay for ever.
 *
 * Failure modes: 1. one that renews its connections shuts out all others of its address, which on
 * the loopback is everybody: hence cut, never refused, and nobody before he could send a request:
 * until then there are as many slots again, and more wait to be accepted. 2. many connections of
 * one address push out another's scrape: hence the address first. 3. a file's number is used again
 * once the server has closed it: it says so before it does (clients__end()), and shutdown() is
 * called under the lock.
 */
#include "cuda-trace/metrics/metrics_clients.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "cuda-trace/base/clock.h"

#define SECONDS 1000000000ull

/* cuda-trace-metrics(1) says these. */
static const uint64_t patience[CLIENT_STEPS] = {
	[CLIENT_ASKS] = 10 * SECONDS,
	[CLIENT_READS] = 30 * SECONDS,
	[CLIENT_RESTS] = 120 * SECONDS,
	[CLIENT_WAITS] = 120 * SECONDS,
};
#define LATE_READER (5 * SECONDS)
#define YOUNG	    (SECONDS / 5)

struct client {
	int fd; /* -1 = free */
	enum client_step step;
	uint64_t since;
	uint64_t address;
	bool cut; /* the server has not noticed yet */
};

struct clients {
	pthread_mutex_t lock;
	struct client client[CLIENTS_SLOTS];
};

struct clients *clients__new(void)
{
	struct clients *clients = calloc(1, sizeof(*clients));

	if (!clients)
		return NULL;
	pthread_mutex_init(&clients->lock, NULL);
	for (int i = 0; i < CLIENTS_SLOTS; i++)
		clients->client[i].fd = -1;
	return clients;
}

void clients__free(struct clients *clients)
{
	if (!clients)
		return;
	pthread_mutex_destroy(&clients->lock);
	free(clients);
}

/* An IPv6 host has the lower half of its address to itself. */
uint64_t clients__address(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;
	uint64_t network = 0;
	uint32_t mapped;

	if (!address)
		return 0;
	if (address->sa_family == AF_INET)
		return four->sin_addr.s_addr;
	if (address->sa_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		memcpy(&mapped, &six->sin6_addr.s6_addr[12], sizeof(mapped));
		return mapped;
	}
	memcpy(&network, &six->sin6_addr, sizeof(network));
	return network;
}

static bool is_there(const struct client *client)
{
	return client->fd >= 0 && !client->cut;
}

/* Takes one of the CLIENTS_MAX places. */
static bool is_counted(const struct client *client)
{
	return is_there(client) && client->step != CLIENT_WAITS;
}

static bool is_reader(const struct client *client)
{
	return is_there(client) && client->step == CLIENT_READS;
}

static void cut(struct client *client)
{
	client->cut = true;
	/* The server sees the end of it and closes. */
	shutdown(client->fd, SHUT_RDWR);
}

static unsigned int count_of(const struct clients *clients, uint64_t address)
{
	unsigned int count = 0;

	for (int i = 0; i < CLIENTS_SLOTS; i++)
		count += is_counted(&clients->client[i]) && clients->client[i].address == address;
	return count;
}

/* Readers and those who owe a request have a half each, as long as both want it: else clients that
 * come again as fast as they are cut off would push out a scrape that is being read. NULL: all of
 * them are young. */
static struct client *last_of(struct clients *clients, uint64_t now, bool readers)
{
	struct client *last = NULL;
	unsigned int most = 0;

	for (int i = 0; i < CLIENTS_SLOTS; i++) {
		struct client *client = &clients->client[i];
		unsigned int count;

		if (!is_counted(client) || is_reader(client) != readers ||
		    now - client->since < YOUNG)
			continue;
		count = count_of(clients, client->address);
		if (count > most || (count == most && client->since < last->since)) {
			most = count;
			last = client;
		}
	}
	return last;
}

static void cut_excess(struct clients *clients)
{
	unsigned int present = 0, readers = 0;
	uint64_t now = monotonic__ns();

	for (int i = 0; i < CLIENTS_SLOTS; i++) {
		present += is_counted(&clients->client[i]);
		readers += is_reader(&clients->client[i]);
	}
	for (; present > CLIENTS_MAX; present--) {
		bool is_readers = readers > CLIENTS_MAX / 2;
		struct client *last = last_of(clients, now, is_readers);

		if (!last)
			return;
		readers -= is_readers;
		cut(last);
	}
}

static struct client *find(struct clients *clients, int fd)
{
	for (int i = 0; i < CLIENTS_SLOTS; i++)
		if (clients->client[i].fd == fd)
			return &clients->client[i];
	return NULL;
}

void clients__step(struct clients *clients, int fd, enum client_step step,
		   const struct sockaddr *address)
{
	struct client *client;

	pthread_mutex_lock(&clients->lock);
	client = fd < 0 ? NULL : find(clients, fd);
	if (!client && fd >= 0) {
		client = find(clients, -1);
		if (client)
			*client = (struct client){.fd = fd, .address = clients__address(address)};
	}
	if (client) {
		client->step = step;
		client->since = monotonic__ns();
		cut_excess(clients);
	}
	pthread_mutex_unlock(&clients->lock);
}

void clients__end(struct clients *clients, int fd)
{
	struct client *client;

	pthread_mutex_lock(&clients->lock);
	client = fd < 0 ? NULL : find(clients, fd);
	if (client)
		client->fd = -1;
	pthread_mutex_unlock(&clients->lock);
}

void clients__sweep(struct clients *clients)
{
	uint64_t now;

	pthread_mutex_lock(&clients->lock);
	/* Under the lock: else a client's step could be later than this. */
	now = monotonic__ns();
	for (int i = 0; i < CLIENTS_SLOTS; i++) {
		struct client *client = &clients->client[i];

		if (is_there(client) && now - client->since > patience[client->step])
			cut(client);
	}
	cut_excess(clients);
	pthread_mutex_unlock(&clients->lock);
}

void clients__cut_late(struct clients *clients)
{
	uint64_t now;

	pthread_mutex_lock(&clients->lock);
	now = monotonic__ns();
	for (int i = 0; i < CLIENTS_SLOTS; i++) {
		struct client *client = &clients->client[i];

		if (is_reader(client) && now - client->since > LATE_READER)
			cut(client);
	}
	pthread_mutex_unlock(&clients->lock);
}
