// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/cupti/cupti_offer.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libcupti-usdt/emit/probe_sites.h"
#include "libcupti-usdt/emit/status.h"

#define WAIT_MS 300

static int receive(int from)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char one;
	struct iovec part = {&one, sizeof(one)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head;
	int file = -1;

	if (recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&file, CMSG_DATA(head), sizeof(file));
	return file;
}

int cupti_offer__receive(uint32_t driver)
{
	struct pollfd ready = {.events = POLLIN};
	int ends[2], file = -1;

	if (!site_wanted(cupti_wanted) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	probe_sites__cupti_wanted(status__instance(), ends[1], driver);
	ready.fd = ends[0];
	if (poll(&ready, 1, WAIT_MS) > 0)
		file = receive(ends[0]);
	close(ends[0]);
	close(ends[1]);
	return file;
}
