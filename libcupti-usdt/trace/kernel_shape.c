// SPDX-License-Identifier: BSD-2-Clause
/*
 * Called inside a launch callback, after the launch: the handle is the one that was just launched.
 * Neither call waits for the GPU. A launch also takes a CUkernel for a CUfunction.
 */
#include "libcupti-usdt/trace/kernel_shape.h"

#include <dlfcn.h>
#include <stddef.h>

enum attribute { STATIC_SHARED = 1, REGISTERS = 4 };

static int (*get)(int *value, int attribute, void *function);
static int (*function_of)(void **function, void *kernel);

void kernel_shape__open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!library)
		return;
	*(void **)&get = dlsym(library, "cuFuncGetAttribute");
	*(void **)&function_of = dlsym(library, "cuKernelGetFunction");
	dlclose(library);
}

void kernel_shape__find(void *function, uint32_t *registers, uint32_t *static_shared)
{
	int value = 0, shared = 0;

	*registers = *static_shared = 0;
	if (!get || !function)
		return;
	if (get(&value, REGISTERS, function) &&
	    (!function_of || function_of(&function, function) || get(&value, REGISTERS, function)))
		return;
	if (get(&shared, STATIC_SHARED, function) || value <= 0 || shared < 0)
		return;
	*registers = value;
	*static_shared = shared;
}
