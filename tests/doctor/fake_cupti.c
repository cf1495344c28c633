/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libcupti for the doctor's tests: the functions that it looks for, and a version. Built by
 * fixtures.bash with -DAPI=N and a SONAME; with -DMARK=FILE it leaves a mark when it is run, with
 * -DHANG it never comes up, with -DCRASH it dies, with -DSTUB most functions are missing.
 */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#define F(name)                \
	int cupti##name(void); \
	int cupti##name(void)  \
	{                      \
		return 0;      \
	}

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return 1;
	*version = API;
	return 0;
}

#ifndef STUB
F(GetResultString)
F(GetTimestamp)
F(Subscribe)
F(Unsubscribe)
F(EnableCallback)
F(EnableDomain)
F(ActivityRegisterCallbacks)
F(ActivityEnable)
F(ActivityDisable)
F(ActivityFlushAll)
F(ActivityGetNextRecord)
F(ActivityGetNumDroppedRecords)
#endif

#ifdef MARK
static __attribute__((constructor)) void mark(void)
{
	close(open(MARK, O_CREAT | O_WRONLY, 0666));
}
#endif

#ifdef CRASH
static __attribute__((constructor)) void crash(void)
{
	__builtin_trap();
}
#endif

#ifdef HANG
static __attribute__((constructor)) void hang(void)
{
	for (;;)
		pause();
}
#endif
