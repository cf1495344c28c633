/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is connected to the HTTP server, by the connection's file: bounded in number and in time,
 * whatever clients send. Any thread.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_CLIENTS_H
#define CUDA_TRACE_METRICS_METRICS_CLIENTS_H

#include <stdint.h>

struct clients;
struct sockaddr;

#define CLIENTS_MAX 64 /* more, and the one that is behind the longest is cut off */
/* With those that have just come, were cut off and are not gone yet, or wait for a password. */
#define CLIENTS_SLOTS 384

/* What the server waits for. */
enum client_step {
	CLIENT_ASKS,  /* the request */
	CLIENT_READS, /* the answer's being taken */
	CLIENT_RESTS, /* the next request */
	CLIENT_WAITS, /* a password's being checked; metrics_passwords.c limits these */
	CLIENT_STEPS
};

struct clients *clients__new(void);
/* Accepts NULL. */
void clients__free(struct clients *clients);
/* A number for the address: the same for all clients that count as one. */
uint64_t clients__address(const struct sockaddr *address);
/* The first step says from where; later ones ignore address. */
void clients__step(struct clients *clients, int fd, enum client_step step,
		   const struct sockaddr *address);
void clients__end(struct clients *clients, int fd);
/* Cuts off those that have taken too long, and those that are too many; to be called often. */
void clients__sweep(struct clients *clients);
/* Documents are scarce: the same for those that keep one for longer than a client needs. */
void clients__cut_late(struct clients *clients);

#endif
