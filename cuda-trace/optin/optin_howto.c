// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace enable --howto TOPIC. Called by the command enable only.
 */
#include "cuda-trace/optin/optin_howto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *topic;
	const char *text;
} howtos[] = {
	{"slurm",
	 "Slurm hands the environment of the submitting shell to the job (sbatch --export=ALL,\n"
	 "the default): who opted in where they log in has the library in their jobs, if it\n"
	 "is installed on the compute nodes. For one job:\n"
	 "\n"
	 "  sbatch --export=ALL,CUDA_INJECTION64_PATH=libcupti-usdt.so job.sh\n"
	 "\n"
	 "For all jobs of a cluster, in the TaskProlog script that slurm.conf names:\n"
	 "\n"
	 "  [ -n \"$CUDA_INJECTION64_PATH\" ] || [ \"$CUDA_TRACE\" = off ] ||\n"
	 "          echo export CUDA_INJECTION64_PATH=libcupti-usdt.so\n"},
	{"cron", "cron starts programs without a login. At the top of the crontab (crontab -e):\n"
		 "\n"
		 "  CUDA_INJECTION64_PATH=libcupti-usdt.so\n"},
	{"docker",
	 "docker 25 or newer with \"features\": {\"cdi\": true} in /etc/docker/daemon.json\n"
	 "(28.3 and newer need no setting), and podman 4.1 or newer:\n"
	 "\n"
	 "  sudo cuda-trace enable --cdi                     once\n"
	 "  docker run --gpus all --device cuda-trace/load=guest IMAGE\n"
	 "\n"
	 "Where the image has no libcupti (doctor says so), also --device cuda-trace/load=cupti.\n"
	 "Without CDI:\n"
	 "\n"
	 "  docker run --gpus all \\\n"
	 "    -v "
	 "/usr/lib/x86_64-linux-gnu/cuda-trace/libcupti-usdt.so:/usr/lib/cuda-trace/"
	 "libcupti-usdt.so:ro \\\n"
	 "    -e CUDA_INJECTION64_PATH=/usr/lib/cuda-trace/libcupti-usdt.so IMAGE\n"
	 "\n"
	 "Then trace from the host: cuda-trace top, cuda-trace stat -p PID.\n"},
	{"kubernetes",
	 "Install the packages on the nodes and call `cuda-trace enable --cdi` there. containerd\n"
	 "2.0 and CRI-O read the specification as they are; containerd 1.7 wants enable_cdi = "
	 "true.\n"
	 "Then in the pod, as an annotation (the key's part behind the / is free):\n"
	 "\n"
	 "  metadata:\n"
	 "    annotations:\n"
	 "      cdi.k8s.io/cuda-trace: \"cuda-trace/load=guest\"\n"
	 "\n"
	 "or, where annotations are not read, a hostPath volume of the library at\n"
	 "/usr/lib/cuda-trace/libcupti-usdt.so and the variable CUDA_INJECTION64_PATH with that\n"
	 "value in the container's env. Trace from the node.\n"},
	{"desktop",
	 "Terminals of a desktop start no login shell: systemd's user manager sets their\n"
	 "environment. In ~/.config/environment.d/60-cuda-trace.conf, then log in again:\n"
	 "\n"
	 "  CUDA_INJECTION64_PATH=${CUDA_INJECTION64_PATH:-libcupti-usdt.so}\n"},
	{"zsh",
	 "zsh reads /etc/profile.d only where /etc/zsh/zprofile says so (Debian's does not).\n"
	 "In ~/.zprofile, or for all users in /etc/zsh/zprofile:\n"
	 "\n"
	 "  [ ! -r /etc/profile.d/cuda-trace.sh ] || . /etc/profile.d/cuda-trace.sh\n"},
};

#define HOWTOS (sizeof(howtos) / sizeof(howtos[0]))

int howto__print(const char *topic)
{
	for (size_t i = 0; i < HOWTOS; i++) {
		if (strcmp(howtos[i].topic, topic))
			continue;
		fputs(howtos[i].text, stdout);
		return 0;
	}
	return -ENOENT;
}
