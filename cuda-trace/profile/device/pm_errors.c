// SPDX-License-Identifier: BSD-2-Clause
/*
 * Why a GPU cannot be sampled, and how to fix it. Those with a number are CUptiResult.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/profile/device/pm_source.h"
#include "cuda-trace/base/text.h"

#define BUSY                                                                                   \
	"another profiler has this GPU's counters (DCGM: `dcgmi profile --pause`; ncu, nsys, " \
	"or another cuda-trace): one at a time"

static const struct {
	int result;
	const char *text;
} reasons[] = {
	{12, BUSY},
	{14, BUSY},
	{23, BUSY},
	{26, BUSY},
	{27, "CUPTI's PM sampling does not support this GPU"},
	{33, "this virtual GPU does not allow reading its counters: its host must set "
	     "enable_profiling"},
	{35, "no permission to read the GPU's counters (ERR_NVGPUCTRPERM). Run cuda-trace as root "
	     "or with CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN), or allow it for all "
	     "users: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
	     "/etc/modprobe.d/cuda-trace.conf, then load the driver again or reboot"},
	{40, "no permission to read this virtual GPU's counters: its host must set "
	     "enable_profiling"},
	{41, "confidential computing blocks the counters"},
	{42, "NVIDIA's mining processors have no counters"},
	{43, "a GPU that is partitioned (MIG) cannot be sampled as a whole"},
	{44, "the counters cannot be read while SLI is on"},
	{45, "this WSL does not give access to the counters: driver 525 and Windows 11 are needed"},
};

const char *pm_trouble__text(const struct pm_trouble *trouble, char *out, size_t size)
{
	char where[400], text[1100];

	text__show(where, sizeof(where), trouble->where, 0);
	text__show(text, sizeof(text), trouble->text, 0);
	if (!trouble->result) {
		snprintf(out, size, "%s%s%s%s", where, *text ? " (" : "", text, *text ? ")" : "");
		return out;
	}
	if (trouble->result == CUPTI_UNKNOWN_METRIC) {
		snprintf(out, size, "%s", text);
		return out;
	}
	snprintf(out, size, "%s fails with error %d (%s)", where, trouble->result, text);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].result == trouble->result)
			snprintf(out, size, "%s (%s: %d)", reasons[i].text, where, trouble->result);
	return out;
}
