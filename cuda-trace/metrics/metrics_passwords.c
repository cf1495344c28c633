// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failure modes: 1. others guess: those of the address that guessed least come first, of one
 * address the newest, as whoever guesses has its wrong answers held back and cannot be the newest
 * for long.
 * 2. many connections guess: beyond PASSWORDS_MAX the oldest is answered at once. 3. a client has
 * gone: its password is not hashed. 4. timing: a user that does not exist is hashed as one that
 * does, and a wrong answer comes after a time that begins with the request.
 */
#include "cuda-trace/metrics/metrics_passwords.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "cuda-trace/base/clock.h"

#define THREADS	      2
#define MS	      1000000ull
#define MAX_WAIT      (5000 * MS)
#define MIN_HELD      (250 * MS)
#define MAX_HELD      (10000 * MS)
#define HELD_PER_FAIL (100 * MS)
#define HALVED_AFTER  (5000 * MS) /* failures of an address are forgotten */
#define MAX_ADDRESSES 256

enum state { STATE_WAITING, STATE_HASHING, STATE_HELD, STATE_DONE };

struct password_check {
	enum state state;
	enum web_answer answer;
	int socket;
	uint64_t address;
	uint64_t begun;
	uint64_t until; /* when the answer may go */
	void *connection;
	char *user, *password;
	struct password_check *older, *newer;
};

struct guesser {
	uint64_t address;
	uint64_t since;
	double failures;
};

struct passwords {
	struct web_config *config;
	void (*wake)(void *connection);
	pthread_mutex_t lock;
	pthread_cond_t news;
	pthread_t threads[THREADS];
	int started;
	bool stopped;
	struct password_check *oldest, *newest; /* not those that are done */
	unsigned int count;
	struct guesser guessers[MAX_ADDRESSES];
};

static double failures_of(const struct guesser *guesser, uint64_t now)
{
	uint64_t halvings = (now - guesser->since) / HALVED_AFTER;

	return halvings < 32 ? guesser->failures / (1u << halvings) : 0;
}

/* NULL: it has not guessed lately. */
static struct guesser *find_guesser(struct passwords *passwords, uint64_t address)
{
	for (int i = 0; i < MAX_ADDRESSES; i++)
		if (passwords->guessers[i].since && passwords->guessers[i].address == address)
			return &passwords->guessers[i];
	return NULL;
}

static double failures_at(struct passwords *passwords, uint64_t address, uint64_t now)
{
	struct guesser *guesser = find_guesser(passwords, address);

	return guesser ? failures_of(guesser, now) : 0;
}

/* If the table is full, the address with the fewest failures is forgotten. */
static double count_failure(struct passwords *passwords, uint64_t address, uint64_t now)
{
	struct guesser *guesser = find_guesser(passwords, address);

	if (!guesser) {
		guesser = &passwords->guessers[0];
		for (int i = 1; i < MAX_ADDRESSES; i++)
			if (failures_of(&passwords->guessers[i], now) < failures_of(guesser, now))
				guesser = &passwords->guessers[i];
		*guesser = (struct guesser){.address = address};
	}
	guesser->failures = failures_of(guesser, now) + 1;
	guesser->since = now;
	return guesser->failures;
}

static void free_check(struct password_check *check)
{
	if (check->password)
		explicit_bzero(check->password, strlen(check->password));
	free(check->password);
	free(check->user);
	free(check);
}

static void add(struct passwords *passwords, struct password_check *check)
{
	check->older = passwords->newest;
	if (check->older)
		check->older->newer = check;
	else
		passwords->oldest = check;
	passwords->newest = check;
	passwords->count++;
}

/* Under the lock; the caller then wakes the connection without it. */
static void *finish(struct passwords *passwords, struct password_check *check)
{
	*(check->older ? &check->older->newer : &passwords->oldest) = check->newer;
	*(check->newer ? &check->newer->older : &passwords->newest) = check->older;
	passwords->count--;
	check->state = STATE_DONE;
	return check->connection;
}

static bool is_over(const struct password_check *check, uint64_t now)
{
	if (check->state == STATE_HELD)
		return now >= check->until;
	return check->state == STATE_WAITING && now - check->begun >= MAX_WAIT;
}

/* One whose time has come, or that is over the limit; NULL: there is none. *next: when to look
 * again. */
static struct password_check *find_over(struct passwords *passwords, uint64_t now, uint64_t *next)
{
	bool crowded = passwords->count > PASSWORDS_MAX;

	*next = now + MAX_HELD;
	for (struct password_check *check = passwords->oldest; check; check = check->newer) {
		uint64_t end = check->state == STATE_HELD ? check->until : check->begun + MAX_WAIT;

		if (is_over(check, now) ||
		    (crowded && check->state != STATE_HASHING && check != passwords->newest))
			return check;
		if (check->state != STATE_HASHING && end < *next)
			*next = end;
	}
	return NULL;
}

static struct password_check *find_next(struct passwords *passwords, uint64_t now)
{
	struct password_check *best = NULL;
	double fewest = 0;

	for (struct password_check *check = passwords->newest; check; check = check->older) {
		double failures;

		if (check->state != STATE_WAITING)
			continue;
		failures = failures_at(passwords, check->address, now);
		if (!best || failures < fewest) {
			best = check;
			fewest = failures;
		}
	}
	return best;
}

/* The other end has closed, or the server has cut it off. */
static bool has_gone(const struct password_check *check)
{
	char byte;

	return !recv(check->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

/* Called and returns under the lock, which it gives up meanwhile. */
static void *hash(struct passwords *passwords, struct password_check *check)
{
	uint64_t held, now;

	check->state = STATE_HASHING;
	pthread_mutex_unlock(&passwords->lock);
	check->answer = has_gone(check) ? WEB_BUSY
					: web_config__check(passwords->config, check->user,
							    check->password);
	pthread_mutex_lock(&passwords->lock);
	if (check->answer != WEB_DENIED || passwords->stopped)
		return finish(passwords, check);
	now = monotonic__ns();
	held = count_failure(passwords, check->address, now) * HELD_PER_FAIL;
	held = held < MIN_HELD ? MIN_HELD : held > MAX_HELD ? MAX_HELD : held;
	check->until = check->begun + held;
	check->state = STATE_HELD;
	return NULL;
}

static void wait_until(struct passwords *passwords, uint64_t time)
{
	struct timespec until = {time / 1000000000, time % 1000000000};

	pthread_cond_timedwait(&passwords->news, &passwords->lock, &until);
}

static void *serve(void *context)
{
	struct passwords *passwords = context;

	pthread_mutex_lock(&passwords->lock);
	while (!passwords->stopped) {
		uint64_t now = monotonic__ns(), next;
		struct password_check *check = find_over(passwords, now, &next);
		void *connection = NULL;

		if (check) {
			connection = finish(passwords, check);
		} else {
			check = find_next(passwords, now);
			if (check)
				connection = hash(passwords, check);
			else
				wait_until(passwords, next);
		}
		if (!connection)
			continue;
		pthread_mutex_unlock(&passwords->lock);
		passwords->wake(connection);
		pthread_mutex_lock(&passwords->lock);
	}
	pthread_mutex_unlock(&passwords->lock);
	return NULL;
}

struct passwords *passwords__new(struct web_config *config, void (*wake)(void *connection))
{
	struct passwords *passwords = calloc(1, sizeof(*passwords));
	pthread_condattr_t clock;

	if (!passwords)
		return NULL;
	passwords->config = config;
	passwords->wake = wake;
	pthread_mutex_init(&passwords->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&passwords->news, &clock);
	pthread_condattr_destroy(&clock);
	while (passwords->started < THREADS &&
	       !pthread_create(&passwords->threads[passwords->started], NULL, serve, passwords))
		passwords->started++;
	if (passwords->started)
		return passwords;
	passwords__free(passwords);
	return NULL;
}

void passwords__stop(struct passwords *passwords)
{
	if (!passwords)
		return;
	pthread_mutex_lock(&passwords->lock);
	passwords->stopped = true;
	pthread_cond_broadcast(&passwords->news);
	pthread_mutex_unlock(&passwords->lock);
	for (int i = 0; i < passwords->started; i++)
		pthread_join(passwords->threads[i], NULL);
	pthread_mutex_lock(&passwords->lock);
	while (passwords->oldest) {
		void *connection = finish(passwords, passwords->oldest);

		pthread_mutex_unlock(&passwords->lock);
		passwords->wake(connection);
		pthread_mutex_lock(&passwords->lock);
	}
	pthread_mutex_unlock(&passwords->lock);
}

void passwords__free(struct passwords *passwords)
{
	if (!passwords)
		return;
	pthread_cond_destroy(&passwords->news);
	pthread_mutex_destroy(&passwords->lock);
	free(passwords);
}

struct password_check *passwords__begin(struct passwords *passwords, int socket, uint64_t address,
					void *connection, const char *user, const char *password)
{
	struct password_check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	*check = (struct password_check){
		.answer = WEB_BUSY,
		.socket = socket,
		.address = address,
		.begun = monotonic__ns(),
		.connection = connection,
		.user = strdup(user),
		.password = strdup(password),
	};
	pthread_mutex_lock(&passwords->lock);
	if (!check->user || !check->password || passwords->stopped) {
		pthread_mutex_unlock(&passwords->lock);
		free_check(check);
		return NULL;
	}
	add(passwords, check);
	pthread_cond_signal(&passwords->news);
	pthread_mutex_unlock(&passwords->lock);
	return check;
}

enum web_answer passwords__take(struct password_check *check)
{
	enum web_answer answer = check->answer;

	free_check(check);
	return answer;
}
