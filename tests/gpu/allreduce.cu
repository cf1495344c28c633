// SPDX-License-Identifier: BSD-2-Clause
// The all-reduce of NCCL on two GPUs of one process, a thread each, measured as by nccl-tests: 50 are queued, then waited for, so
// that the GPUs and not the hosts are what bounds it. Each interval a line "SECONDS COUNT MS_EACH" (CLOCK_MONOTONIC), as
// tests/bench/torch-turns.py reads them. Compile with nvcc and NCCL. Usage: allreduce SECONDS BYTES [INTERVAL_MS]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <nccl.h>

enum { GPUS = 2, QUEUED = 50 };

static ncclComm_t comms[GPUS];
static std::atomic<int> arrived, rounds;
static std::atomic<bool> stop;

static double now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Until all threads are here. */
static void meet()
{
	int round = rounds.load();

	if (++arrived == GPUS) {
		arrived = 0;
		rounds = round + 1;
	} else {
		while (rounds.load() == round)
			;
	}
}

static void tell(double since, double at, long count)
{
	printf("%.4f %ld %.6f\n", at, count, (at - since) * 1e3 / count);
	fflush(stdout);
}

static void work(int gpu, double seconds, size_t bytes, double interval)
{
	cudaStream_t stream;
	float *data;

	if (cudaSetDevice(gpu) || cudaStreamCreate(&stream) || cudaMalloc(&data, bytes) || cudaMemset(data, 0, bytes))
		exit(1);
	double begin = now(), since = begin;
	long count = 0;
	for (;;) {
		if (gpu == 0)
			stop = now() - begin >= seconds;
		meet();
		if (stop)
			break;
		for (int i = 0; i < QUEUED; i++)
			if (ncclAllReduce(data, data, bytes / sizeof(float), ncclFloat, ncclSum, comms[gpu], stream))
				exit(1);
		if (cudaStreamSynchronize(stream))
			exit(1);
		count += QUEUED;
		double at = now();
		if (gpu == 0 && at - since >= interval) {
			tell(since, at, count);
			since = at;
			count = 0;
		}
		meet();
	}
}

int main(int argc, char **argv)
{
	if (argc < 3 || ncclCommInitAll(comms, GPUS, nullptr))
		return 1;
	double interval = argc > 3 ? atof(argv[3]) / 1e3 : 0.1;
	std::thread other(work, 1, atof(argv[1]), (size_t)atol(argv[2]), interval);
	work(0, atof(argv[1]), (size_t)atol(argv[2]), interval);
	other.join();
	for (ncclComm_t comm : comms)
		ncclCommDestroy(comm);
	return 0;
}
