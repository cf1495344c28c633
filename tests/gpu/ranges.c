// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges by NVIDIA's own header, with a launch in each: what tests/workloads/nvtx.c writes out
// by hand, proved by the real client. "early" as first argument: the first range begins before
// cuInit(). Built where it runs: gcc -I/usr/local/cuda/include ranges.c -l:libcuda.so.1
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
			  ".visible .entry empty()\n{\n\tret;\n}\n";

static CUfunction kernel;

static void check(CUresult result, const char *what)
{
	if (result) {
		fprintf(stderr, "ranges: %s: error %d\n", what, result);
		exit(1);
	}
}

static void start(void)
{
	CUcontext context;
	CUmodule module;
	CUdevice device;

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
	check(cuModuleGetFunction(&kernel, module, "empty"), "cuModuleGetFunction");
}

static void launch(void)
{
	check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

static nvtxEventAttributes_t with_text(const char *text)
{
	nvtxEventAttributes_t attributes = {0};

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = text;
	return attributes;
}

static void one_round(nvtxDomainHandle_t domain, nvtxStringHandle_t registered)
{
	nvtxEventAttributes_t attributes = with_text("in a domain");
	nvtxRangeId_t across = nvtxRangeStartA("across");

	nvtxRangePushA("outer");
	launch();
	nvtxRangePushA("inner");
	launch();
	nvtxMarkA("a mark");
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangeEnd(across);
	nvtxDomainRangePushEx(domain, &attributes);
	launch();
	nvtxDomainRangePop(domain);
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = registered;
	nvtxDomainRangePushEx(domain, &attributes);
	launch();
	nvtxDomainRangePop(domain);
}

int main(int argc, char **argv)
{
	int early = argc > 1 && !strcmp(argv[1], "early");
	nvtxStringHandle_t registered;
	nvtxDomainHandle_t domain;

	if (early)
		nvtxRangePushA("early");
	start();
	if (early) {
		launch();
		nvtxRangePop();
	}
	domain = nvtxDomainCreateA("workload");
	registered = nvtxDomainRegisterStringA(domain, "registered");
	for (int i = 0; i < ROUNDS; i++)
		one_round(domain, registered);
	check(cuCtxSynchronize(), "cuCtxSynchronize");
	/* Nobody listened when the early one began. */
	printf("expect launches=%d nvtx_ranges=%d nvtx_marks=%d\n", 4 * ROUNDS + early, 5 * ROUNDS,
	       ROUNDS);
	return 0;
}
