// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/foreign/foreign_child.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS	   300
#define USER_LIMIT 4
#define ALL_LIMIT  64
#define STARTS	   (-1)

/* Children that work, or have not answered. */
static struct place {
	pid_t pid; /* 0 = none, STARTS = not known yet */
	uid_t user;
} places[ALL_LIMIT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* A number, and with it a descriptor, if that is what it is. */
static void send_result(int to, int result, bool is_file)
{
	union control control = {};
	struct iovec part = {&result, sizeof(result)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *head;

	if (result >= 0 && is_file) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &result, sizeof(result));
	}
	sendmsg(to, &message, MSG_NOSIGNAL);
}

/* All but two descriptors: who reads the tool's output must not have to wait for the child. */
static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > 0)
		close_range(0, low - 1, 0);
	if (low + 1 < high)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

static int receive_result(int from, bool is_file)
{
	union control control;
	int result = -EIO;
	struct iovec part = {&result, sizeof(result)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof(result))
		return -EIO;
	if (result < 0 || !is_file)
		return result;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return -EIO;
	memcpy(&result, CMSG_DATA(head), sizeof(result));
	return result;
}

static int wait_for_result(int from, pid_t child, bool is_file)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};
	int came;

	do
		came = poll(&ready, 1, WAIT_MS);
	while (came < 0 && errno == EINTR);
	if (came <= 0) {
		kill(child, SIGKILL);
		return -ETIMEDOUT;
	}
	return receive_result(from, is_file);
}

static uid_t user_of(uint32_t pid)
{
	struct stat st = {};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return pid && !stat(path, &st) ? st.st_uid : 0;
}

/* A place for a child of this user; NULL = there are too many. Those that have ended are gone. */
static struct place *take(uid_t user)
{
	struct place *place = NULL;
	uint32_t users = 0;

	pthread_mutex_lock(&lock);
	for (struct place *other = places; other < places + ALL_LIMIT; other++) {
		if (other->pid > 0 && waitpid(other->pid, NULL, WNOHANG))
			other->pid = 0;
		if (!other->pid)
			place = other;
		else
			users += other->user == user;
	}
	if (users >= USER_LIMIT)
		place = NULL;
	if (place)
		*place = (struct place){STARTS, user};
	pthread_mutex_unlock(&lock);
	return place;
}

static void release_place(struct place *place, pid_t child)
{
	pthread_mutex_lock(&lock);
	place->pid = child;
	pthread_mutex_unlock(&lock);
}

/* 0 or a descriptor, or -errno. *child: it has not answered; 0 = it has ended. */
static int run(const struct foreign_work *work, pid_t *child)
{
	int ends[2], result;

	*child = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*child = fork();
	if (!*child) {
		close_others(work->uses, ends[1]);
		send_result(ends[1], work->run(work->context), work->is_file);
		_exit(0);
	}
	result = *child < 0 ? -errno : 0;
	close(ends[1]);
	if (!result)
		result = wait_for_result(ends[0], *child, work->is_file);
	close(ends[0]);
	if (result == -ETIMEDOUT)
		return result;
	if (*child > 0)
		while (waitpid(*child, NULL, 0) < 0 && errno == EINTR)
			;
	*child = 0;
	return result;
}

int foreign_child__run(uint32_t pid, const struct foreign_work *work)
{
	struct place *place = take(user_of(pid));
	pid_t child;
	int result;

	if (!place)
		return -EBUSY;
	result = run(work, &child);
	release_place(place, child);
	return result;
}
