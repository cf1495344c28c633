// SPDX-License-Identifier: BSD-2-Clause
/* Tables of system calls. No state. */
#include "cuda-trace/idle/wait_causes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* What a blocked thread waits for. */
enum sort {
	OTHER,
	LOCK,
	SLEEP,
	REQUEST, /* events from outside, or of another process */
	PEER,
	DISK,
	FILE_CALL, /* depends on the file */
	MEMORY,	   /* the lock of the process's memory map */
};

static const struct {
	int number;
	enum sort sort;
	const char *name;
} calls[] = {
	{SYS_futex, LOCK, "futex"},
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, LOCK, "futex_waitv"},
#endif
	{SYS_nanosleep, SLEEP, "nanosleep"},
	{SYS_clock_nanosleep, SLEEP, "clock_nanosleep"},
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, REQUEST, "epoll_wait"},
#endif
	{SYS_epoll_pwait, REQUEST, "epoll_pwait"},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, REQUEST, "epoll_pwait2"},
#endif
#ifdef SYS_poll
	{SYS_poll, REQUEST, "poll"},
#endif
#ifdef SYS_select
	{SYS_select, REQUEST, "select"},
#endif
	{SYS_ppoll, REQUEST, "ppoll"},
	{SYS_pselect6, REQUEST, "pselect"},
	{SYS_accept, REQUEST, "accept"},
	{SYS_accept4, REQUEST, "accept4"},
	{SYS_rt_sigtimedwait, REQUEST, "sigtimedwait"},
	{SYS_wait4, PEER, "wait4"},
	{SYS_waitid, PEER, "waitid"},
	{SYS_msgrcv, PEER, "msgrcv"},
	{SYS_semop, PEER, "semop"},
	{SYS_semtimedop, PEER, "semtimedop"},
	{SYS_mq_timedreceive, PEER, "mq_receive"},
	{SYS_mq_timedsend, PEER, "mq_send"},
	{SYS_connect, PEER, "connect"},
	{SYS_read, FILE_CALL, "read"},
	{SYS_write, FILE_CALL, "write"},
	{SYS_readv, FILE_CALL, "readv"},
	{SYS_writev, FILE_CALL, "writev"},
	{SYS_pread64, FILE_CALL, "pread"},
	{SYS_pwrite64, FILE_CALL, "pwrite"},
	{SYS_preadv, FILE_CALL, "preadv"},
	{SYS_pwritev, FILE_CALL, "pwritev"},
	{SYS_recvfrom, FILE_CALL, "recv"},
	{SYS_recvmsg, FILE_CALL, "recvmsg"},
	{SYS_sendto, FILE_CALL, "send"},
	{SYS_sendmsg, FILE_CALL, "sendmsg"},
	{SYS_fsync, DISK, "fsync"},
	{SYS_fdatasync, DISK, "fdatasync"},
	{SYS_msync, DISK, "msync"},
	{SYS_openat, DISK, "open"},
	{SYS_getdents64, DISK, "getdents"},
	{SYS_io_uring_enter, DISK, "io_uring_enter"},
	{SYS_io_getevents, DISK, "io_getevents"},
	{SYS_mmap, MEMORY, "mmap"},
	{SYS_munmap, MEMORY, "munmap"},
	{SYS_mprotect, MEMORY, "mprotect"},
	{SYS_madvise, MEMORY, "madvise"},
	{SYS_brk, MEMORY, "brk"},
	{SYS_ioctl, OTHER, "ioctl"},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static size_t find(int number)
{
	size_t i = 0;

	while (i < CALLS && calls[i].number != number)
		i++;
	return i;
}

static enum idle_cause of_file(const struct idle_span *span, bool local)
{
	switch (span->mode & S_IFMT) {
	case S_IFREG:
	case S_IFBLK:
	case S_IFDIR:
		return IDLE_IO;
	case S_IFIFO:
	case S_IFSOCK:
		return IDLE_PROCESS;
	default: /* a terminal, an eventfd, a timer */
		return local ? IDLE_PROCESS : IDLE_NO_WORK;
	}
}

enum idle_cause wait_causes__of(const struct idle_span *span, bool local)
{
	size_t i = find(span->syscall);

	if (span->state == IDLE_RUNNABLE)
		return IDLE_PREEMPTED;
	if (span->text)
		return span->cause == IDLE_NO_WORK && local ? IDLE_PROCESS : span->cause;
	if (span->state == IDLE_GIL)
		return IDLE_GIL_WAIT;
	if (span->state == IDLE_DISK || span->syscall < 0)
		return IDLE_IO;
	switch (i < CALLS ? calls[i].sort : OTHER) {
	case LOCK:
	case MEMORY:
		return IDLE_LOCK;
	case SLEEP:
		return IDLE_SLEEP;
	case REQUEST:
		return local ? IDLE_PROCESS : IDLE_NO_WORK;
	case PEER:
		return IDLE_PROCESS;
	case DISK:
		return IDLE_IO;
	case FILE_CALL:
		return of_file(span, local);
	default:
		return IDLE_UNEXPLAINED;
	}
}

const char *wait_causes__text(char *out, size_t size, const struct idle_span *span)
{
	size_t i = find(span->syscall);
	char number[32] = "";
	const char *call, *object = "";

	if (span->text)
		return snprintf(out, size, "%s", span->text), out;
	snprintf(number, sizeof(number), "system call %d", span->syscall);
	call = i < CALLS ? calls[i].name : number;
	if (span->state == IDLE_GIL)
		return *out = 0, out;
	if (span->syscall < 0)
		return snprintf(out, size, "page fault"), out;
	if (span->file >= 0 && (span->mode & S_IFMT) == S_IFIFO)
		object = " of a pipe";
	else if (span->file >= 0 && (span->mode & S_IFMT) == S_IFSOCK)
		object = " of a socket";
	if (span->file >= 0 && (span->mode & S_IFMT) == S_IFREG && *span->name)
		snprintf(out, size, "%s() of %s", call, span->name);
	else
		snprintf(out, size, i < CALLS ? "%s()%s" : "%s%s", call, object);
	return out;
}
