// SPDX-License-Identifier: BSD-2-Clause
// Modules and libraries from PTX text: only the names of the entries and their static shared memory
// are read. Kernel names are interned and never freed, as CUPTI promises them for its life.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cuda/driver.h"

struct CUmod_st {
	uint32_t magic;
	uint32_t id;
	struct CUfunc_st *functions;
};

struct module_data { /* CUpti_ModuleResourceData */
	uint32_t id;
	size_t size;
	const char *image;
};

struct name {
	struct name *next;
	size_t length;
	char text[] __attribute__((aligned(8)));
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names[1024];
static _Atomic uint32_t last_id;

const char *name__intern(const char *text, size_t length)
{
	struct name **bucket, *name;
	size_t hash = length;

	for (size_t i = 0; i < length; i++)
		hash = hash * 31 + (unsigned char)text[i];
	bucket = &names[hash % 1024];
	pthread_mutex_lock(&lock);
	for (name = *bucket; name; name = name->next)
		if (name->length == length && !memcmp(name->text, text, length))
			break;
	if (!name) {
		name = malloc(sizeof(*name) + length + 1);
		if (!name)
			abort();
		name->length = length;
		memcpy(name->text, text, length);
		name->text[length] = 0;
		name->next = *bucket;
		*bucket = name;
	}
	pthread_mutex_unlock(&lock);
	return name->text;
}

#define PLACES	    16
#define PLACE_BYTES 64

/* A module's n-th kernel takes the place of an earlier module's. */
static void function__place_name(CUfunction function, uint32_t n)
{
	static char places[PLACES][PLACE_BYTES];

	function->shown = function->name;
	if (!settings__get()->names_reused || n >= PLACES || strlen(function->name) >= PLACE_BYTES)
		return;
	function->shown = strcpy(places[n], function->name);
	function->place = n + 1;
}

const char *function__remembered(CUfunction function)
{
	static _Atomic(const char *) first[PLACES + 1];
	const char *name = NULL;

	if (!function->place)
		return function->name;
	return atomic_compare_exchange_strong(&first[function->place], &name, function->name)
		       ? function->name
		       : name;
}

bool function__valid(CUfunction function)
{
	return function && function->magic == MAGIC_FUNCTION;
}

const char *function__shown(const void *function)
{
	return function__valid((CUfunction)function) ? ((CUfunction)function)->shown : NULL;
}

const char *function__name(const void *function)
{
	return function__valid((CUfunction)function) ? ((CUfunction)function)->name : NULL;
}

/* Sums "[N]" of the .shared lines between this entry and the next. */
static unsigned int shared_bytes(const char *text, const char *end)
{
	unsigned int bytes = 0;
	const char *at = text, *open;

	while ((at = strstr(at, ".shared ")) && (!end || at < end)) {
		open = strchr(at, '[');
		if (open && (!end || open < end))
			bytes += strtoul(open + 1, NULL, 10);
		at++;
	}
	return bytes;
}

static void module__parse(CUmodule module, const char *text)
{
	const char *at = text, *name, *next;
	uint32_t count = 0;

	while ((at = strstr(at, ".entry"))) {
		struct CUfunc_st *function;

		for (name = at + 6; isspace((unsigned char)*name); name++)
			;
		for (at = name; *at && *at != '(' && *at != '{' && !isspace((unsigned char)*at);
		     at++)
			;
		if (at == name)
			continue;
		next = strstr(at, ".entry");
		function = object__new(sizeof(*function));
		function->magic = MAGIC_FUNCTION;
		function->name = name__intern(name, at - name);
		function__place_name(function, count++);
		function->kernel = kernel__find(function->name);
		function->module = module;
		function->static_shared = shared_bytes(at, next);
		function->max_dynamic_shared = 49152 - function->static_shared;
		function->next = module->functions;
		module->functions = function;
	}
}

/* Sizes of the ".global" variables, which CUPTI reports as static memory. */
static void module__report_variables(CUmodule module, const char *text)
{
	const char *at = text, *open, *end;

	while ((at = strstr(at, ".global .align"))) {
		end = strchr(at, ';');
		open = strchr(at, '[');
		if (end && open && open < end)
			memory__report_static((uintptr_t)module, strtoul(open + 1, NULL, 10));
		at++;
	}
}

/* Compiling PTX is what the driver's JIT does; CUPTI reports it. */
static void module__report(CUmodule module, const char *image, uint64_t start)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	struct simcuda_record record = {.kind = KIND_JIT, .start = start};
	struct module_data data = {module->id, strlen(image), image};

	record.end = clock__now();
	record.correlation = thread__correlation();
	record.jit.entry = 1;
	record.jit.operation = 3;
	record.jit.tid = thread__current()->tid;
	if (record__wanted(KIND_JIT))
		record__send(&record);
	if (hooks)
		hooks->resource(RESOURCE_MODULE_LOADED, context__peek(), NULL, &data);
}

static CUresult module__load(CUmodule *handle, const char *image)
{
	uint64_t start = clock__now();
	CUmodule module;

	if (!handle || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (!memcmp(image, "\177ELF", 4) || !memcmp(image, "\120\355\125\272", 4))
		return CUDA_ERROR_INVALID_IMAGE;
	if (!strstr(image, ".version") || !strstr(image, ".target"))
		return CUDA_ERROR_INVALID_PTX;
	module = object__new(sizeof(*module));
	module->magic = MAGIC_MODULE;
	module->id = atomic_fetch_add(&last_id, 1) + 1;
	module__parse(module, image);
	module__report_variables(module, image);
	*handle = module;
	module__report(module, image, start);
	return CUDA_SUCCESS;
}

static CUresult module__function(CUmodule module, CUfunction *function, const char *name)
{
	if (!function || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module || module->magic != MAGIC_MODULE)
		return CUDA_ERROR_INVALID_HANDLE;
	for (*function = module->functions; *function; *function = (*function)->next)
		if (!strcmp((*function)->name, name))
			return CUDA_SUCCESS;
	return CUDA_ERROR_NOT_FOUND;
}

static CUresult module__unload(CUmodule module)
{
	const struct simcuda_hooks *hooks = atomic_load(&simcuda_bridge.hooks);
	struct module_data data = {0};

	if (!module || module->magic != MAGIC_MODULE)
		return CUDA_ERROR_INVALID_HANDLE;
	data.id = module->id;
	if (hooks)
		hooks->resource(RESOURCE_MODULE_UNLOAD, context__peek(), NULL, &data);
	while (module->functions) {
		struct CUfunc_st *function = module->functions;

		module->functions = function->next;
		function->magic = 0;
		object__free(function);
	}
	module->magic = 0;
	object__free(module);
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int count,
				int *options, void **values)
{
	CUcontext context;
	CUresult result = context__current(&context);

	return result ? result : module__load(handle, image);
}

CUresult sim_cuModuleLoadData(CUmodule *handle, const void *image)
{
	return sim_cuModuleLoadDataEx(handle, image, 0, NULL, NULL);
}

CUresult sim_cuModuleUnload(CUmodule module)
{
	return module__unload(module);
}

CUresult sim_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	return module__function(module, function, name);
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, int *jit, void **jit_values,
			       unsigned int jit_count, int *options, void **values,
			       unsigned int count)
{
	return module__load((CUmodule *)library, code);
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
	return module__unload((CUmodule)library);
}

CUresult sim_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	return module__function((CUmodule)library, (CUfunction *)kernel, name);
}

CUresult sim_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	*function = (CUfunction)kernel;
	return function__valid(*function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncGetName(const char **name, CUfunction function)
{
	if (!function__valid(function))
		return CUDA_ERROR_INVALID_VALUE;
	*name = function->name;
	return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel kernel)
{
	return sim_cuFuncGetName(name, (CUfunction)kernel);
}

CUresult sim_cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
	if (!function__valid(function))
		return CUDA_ERROR_INVALID_HANDLE;
	*value = attribute == 0	  ? 1024
		 : attribute == 1 ? (int)function->static_shared
		 : attribute == 4 ? REGISTERS
				  : 0;
	return CUDA_SUCCESS;
}

/* 8 is the most dynamic shared memory that a launch may ask for. */
CUresult sim_cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
	if (!function__valid(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute == 8) {
		if (value < 0 || value > 232448)
			return CUDA_ERROR_INVALID_VALUE;
		function->max_dynamic_shared = value;
	}
	return CUDA_SUCCESS;
}
