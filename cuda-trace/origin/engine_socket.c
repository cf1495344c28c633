// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the folders on the way, the socket's owner and the peer: a name that another user could
 * choose must not decide what is shown as a pod's name.
 */
#include "cuda-trace/origin/engine_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/trusted_folder.h"

static bool is_trusted(uid_t owner)
{
	return !owner || owner == geteuid();
}

/* O_PATH keeps what was checked. */
static int open_checked(const char *path, int flags, struct stat *st)
{
	char folder[PATH_MAX];
	const char *name = strrchr(path, '/');
	int parent, fd;

	if (*path != '/' || !name[1] || name - path >= PATH_MAX)
		return -EINVAL;
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path) + 1, path);
	parent = trusted_folder__open(folder, false);
	if (parent < 0)
		return parent == TRUSTED_FOLDER_FOREIGN ? -ECONNREFUSED : parent;
	fd = openat(parent, name + 1, flags | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(parent);
	if (fd >= 0 && fstat(fd, st)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int connect_to(int at)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int err = 0, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = errno == EAGAIN ? -ETIMEDOUT : -errno; /* nobody accepts */
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || !is_trusted(peer.uid))
		err = -ECONNREFUSED;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int engine_socket__open(const char *path)
{
	struct stat st;
	int at = open_checked(path, O_PATH, &st), fd = -ECONNREFUSED;

	if (at < 0)
		return at;
	if (S_ISSOCK(st.st_mode) && is_trusted(st.st_uid))
		fd = connect_to(at);
	close(at);
	return fd;
}

int engine_socket__wait(int fd, short events, uint64_t deadline)
{
	struct pollfd wait = {.fd = fd, .events = events};
	uint64_t now;
	int n;

	do {
		now = monotonic__ms();
		n = now < deadline ? poll(&wait, 1, deadline - now) : 0;
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

int engine_file__open(const char *path, size_t most, size_t *size)
{
	struct stat st;
	int fd = open_checked(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &st), err = 0;

	if (fd < 0)
		return fd;
	if (!S_ISREG(st.st_mode) || !is_trusted(st.st_uid))
		err = -ECONNREFUSED;
	else if ((uint64_t)st.st_size > most)
		err = -EFBIG;
	*size = st.st_size;
	if (!err)
		return fd;
	close(fd);
	return err;
}
