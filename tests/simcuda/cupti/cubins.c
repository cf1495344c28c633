// SPDX-License-Identifier: BSD-2-Clause
// The images of modules, as PC sampling has them, and their checksums.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_pc.h"

bool cubins__read(CUpti_ModuleResourceData *module)
{
	static char image[65536];
	const char *name = getenv("SIMCUDA_PC_CUBIN");
	FILE *file = name ? fopen(name, "r") : NULL;

	if (!file)
		return false;
	module->cubinSize = fread(image, 1, sizeof(image), file);
	module->pCubin = image;
	fclose(file);
	return module->cubinSize;
}

/* Of a file that stands for the modules; of those made up here always the same. */
static uint64_t checksum_of(const void *image, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325;

	if (!getenv("SIMCUDA_PC_CUBIN"))
		return 0x5eed;
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const uint8_t *)image)[i]) * 0x100000001b3;
	return (uint32_t)sum;
}

uint64_t cubins__sampled(void)
{
	static uint64_t sum;
	CUpti_ModuleResourceData module;

	if (!sum)
		sum = cubins__read(&module) ? checksum_of(module.pCubin, module.cubinSize) : 0x5eed;
	return sum;
}

CUptiResult cuptiGetCubinCrc(struct cupti_cubin_checksum *of)
{
	const char *how = getenv("SIMCUDA_CUBIN_CHECKSUM");

	if (!of || !of->cubin || !of->cubin_size)
		return CUPTI_ERROR_INVALID_PARAMETER;
	while (how && !strcmp(how, "hang"))
		pause();
	if (how && !strcmp(how, "crash"))
		abort();
	of->checksum = checksum_of(of->cubin, of->cubin_size);
	return CUPTI_SUCCESS;
}
