// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/pc/pc_remedy.h"

#include <stdio.h>

#define CUPTI_NO_PRIVILEGE 35

void pc_remedy__say(int code, bool *said)
{
	if (code != CUPTI_NO_PRIVILEGE || *said)
		return;
	*said = true;
	fprintf(stderr,
		"cuda-trace: the driver lets only administrators sample here (ERR_NVGPUCTRPERM).\n "
		" Either run the program as root or with CAP_SYS_ADMIN (in a container:\n  "
		"--cap-add SYS_ADMIN), or allow it for all users, permanently:\n  echo options "
		"nvidia NVreg_RestrictProfilingToAdminUsers=0 |\n    sudo tee "
		"/etc/modprobe.d/nvidia-profiling.conf\n  and reload the driver: reboot (after "
		"update-initramfs -u or dracut -f)\n");
}
