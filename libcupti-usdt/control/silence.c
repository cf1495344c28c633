// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/control/silence.h"

#include "libcupti-usdt/cupti/cupti_api.h"
#include "libcupti-usdt/emit/status.h"
#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/trace/activity.h"

#define SILENCE_NS  5000000000ULL
#define QUEUE_DEPTH 1024 /* launches that may wait in the GPU's queue without a record */

static struct {
	uint64_t launches, records, since;
	bool reported;
} silence;

void silence__begin(uint64_t now, uint64_t launches)
{
	silence.launches = launches;
	silence.records = activity__records();
	silence.since = now;
	silence.reported = false;
}

void silence__check(uint64_t now, uint64_t launches, bool expected)
{
	uint64_t records = activity__records();

	if (!expected || records != silence.records || launches == silence.launches) {
		bool reported = silence.reported && records == silence.records;

		silence__begin(now, launches);
		silence.reported = reported;
		return;
	}
	if (silence.reported || now - silence.since < SILENCE_NS ||
	    (records && launches - silence.launches < QUEUE_DEPTH))
		return;
	silence.reported = true;
	status__trouble(
		CUDA_AGENT_SILENT, "cupti",
		"%llu launches, but no GPU record for %llu s: GPU newer than libcupti %u, or "
		"another client took the buffers",
		(unsigned long long)(launches - silence.launches),
		(unsigned long long)((now - silence.since) / 1000000000),
		cupti_api__get()->version);
}
