// SPDX-License-Identifier: BSD-2-Clause
// Serves requests, which come rarely, from epoll.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 20, "A server without requests."), ticks;
	struct itimerspec each = {{.tv_nsec = 30000000}, {.tv_nsec = 30000000}};
	struct epoll_event event = {.events = EPOLLIN};
	int poll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);

	if (poll < 0 || timer < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event))
		program__fail("no epoll");
	idle_program__start();
	timerfd_settime(timer, 0, &each, NULL);
	for (uint64_t i = 0; i < steps; i++) {
		if (epoll_wait(poll, &event, 1, -1) != 1 ||
		    read(timer, &ticks, sizeof(ticks)) != sizeof(ticks))
			program__fail("no request");
		idle_program__kernel(1000000);
	}
	idle_program__expect("no_work");
	return 0;
}
