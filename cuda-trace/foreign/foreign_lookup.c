// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child that gets no answer ends when the server does. Until then it counts for the user of the
 * process, so that nobody can make many of them, or keep others from being served.
 */
#include "cuda-trace/foreign/foreign_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/rooted_path.h"

#define WAIT_MS	   300
#define USER_LIMIT 4
#define ALL_LIMIT  64

/* Children without an answer; pid 0 = none. */
static struct unanswered {
	pid_t pid;
	uid_t user;
} unanswered[ALL_LIMIT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int open_now(int root, const char *path, int flags)
{
	int fd = rooted_path__open(root, path, flags);

	/* A filter of a container; the paths in /proc/PID/maps have no links. */
	return fd == -ENOSYS || fd == -EPERM ? rooted_path__walk(root, path, flags) : fd;
}

/* A number, and with it a descriptor, if that is what it is. */
static void send_result(int to, int result)
{
	union control control = {};
	struct iovec part = {&result, sizeof(result)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *head;

	if (result >= 0) {
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

static int receive_result(int from)
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
	head = CMSG_FIRSTHDR(&message);
	if (result >= 0 && (!head || head->cmsg_type != SCM_RIGHTS))
		return -EIO;
	if (result >= 0)
		memcpy(&result, CMSG_DATA(head), sizeof(result));
	return result;
}

static int wait_for_result(int from, pid_t child)
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
	return receive_result(from);
}

/* A place for a child of this user; NULL = there are too many. Those that have ended are gone. */
static struct unanswered *find_place(uid_t user)
{
	struct unanswered *place = NULL;
	uint32_t users = 0;

	for (struct unanswered *other = unanswered; other < unanswered + ALL_LIMIT; other++) {
		if (other->pid && waitpid(other->pid, NULL, WNOHANG))
			other->pid = 0;
		if (!other->pid)
			place = other;
		else
			users += other->user == user;
	}
	return users < USER_LIMIT ? place : NULL;
}

static uid_t user_of(uint32_t pid)
{
	struct stat st = {};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return pid && !stat(path, &st) ? st.st_uid : 0;
}

/* With the lock. */
static int look_up(int root, const char *path, int flags, uid_t user)
{
	struct unanswered *place = find_place(user);
	int ends[2], result;
	pid_t child;

	if (!place)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	child = fork();
	if (!child) {
		close_others(root, ends[1]);
		send_result(ends[1], open_now(root, path, flags));
		_exit(0);
	}
	result = child < 0 ? -errno : 0;
	close(ends[1]);
	if (!result)
		result = wait_for_result(ends[0], child);
	close(ends[0]);
	if (result == -ETIMEDOUT)
		*place = (struct unanswered){child, user};
	else if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	return result;
}

int foreign_lookup__open(uint32_t pid, const char *path, int flags)
{
	char name[32] = "/";
	int root, result;

	if (pid)
		snprintf(name, sizeof(name), "/proc/%u/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	result = rooted_path__open_cached(root, path, flags);
	if (result == -EAGAIN) {
		pthread_mutex_lock(&lock);
		result = look_up(root, path, flags, user_of(pid));
		pthread_mutex_unlock(&lock);
	}
	close(root);
	return result;
}
