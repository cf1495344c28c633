// SPDX-License-Identifier: BSD-2-Clause
// The images of modules, as PC sampling has them, and their checksums.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_pc.h"

static const char *list(void)
{
	const char *names = getenv("SIMCUDA_PC_CUBIN");

	return names ? names : "";
}

unsigned int cubins__count(void)
{
	unsigned int count = 1;

	for (const char *at = list(); (at = strchr(at, ':')); at++)
		count++;
	return count;
}

#define MAX_BYTES (1 << 19)

static bool read_image(unsigned int which, char *image, CUpti_ModuleResourceData *module)
{
	const char *name = list();
	char path[4096];
	int saved = errno;
	FILE *file;

	while (which--)
		name = strchr(name, ':') + 1;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(name, ":"), name);
	file = *path ? fopen(path, "r") : NULL;
	errno = saved;
	if (!file)
		return false;
	module->cubinSize = fread(image, 1, MAX_BYTES, file);
	module->pCubin = image;
	fclose(file);
	return module->cubinSize;
}

bool cubins__read(unsigned int which, CUpti_ModuleResourceData *module)
{
	static char image[MAX_BYTES];

	return read_image(which, image, module);
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

static bool has_function(const CUpti_ModuleResourceData *module, const char *function)
{
	char section[256];
	size_t length = snprintf(section, sizeof(section), ".text.%s", function);

	return length < sizeof(section) &&
	       memmem(module->pCubin, module->cubinSize, section, length + 1);
}

uint64_t cubins__sampled(const char *function)
{
	static char image[MAX_BYTES]; /* a module is maybe being loaded */
	CUpti_ModuleResourceData module;
	unsigned int count = cubins__count(), which = 0;

	for (; which + 1 < count; which++)
		if (read_image(which, image, &module) && has_function(&module, function))
			break;
	return read_image(which, image, &module) ? checksum_of(module.pCubin, module.cubinSize)
						 : 0x5eed;
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
