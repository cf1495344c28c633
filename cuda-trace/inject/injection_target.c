// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/injection_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda-trace/base/text.h"
#include "cuda-trace/inject/remote_call.h"
#include "cuda-trace/inject/remote_elf.h"
#include "cuda-trace/proc/process_stat.h"
#include "libcupti-usdt/probes.h"

#define ENTRY_BYTES 16 /* a thread stops behind the first instruction of a function */

static int refuse(struct injection_target *target, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct injection_target *target, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(target->reason, sizeof(target->reason), format, arguments);
	va_end(arguments);
	return error;
}

static FILE *open_proc(uint32_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	return fopen(path, "re");
}

struct process_status {
	unsigned long long ignored, caught;
	unsigned int tracer, seccomp;
	char state;
	bool shadow_stack;
};

static int read_status(struct injection_target *target, struct process_status *status)
{
	FILE *file = open_proc(target->pid, "status");
	char line[256];

	*status = (struct process_status){};
	if (!file)
		return refuse(target, -ESRCH, "the process has ended");
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &status->state);
		sscanf(line, "TracerPid: %u", &status->tracer);
		sscanf(line, "Seccomp: %u", &status->seccomp);
		sscanf(line, "SigIgn: %llx", &status->ignored);
		sscanf(line, "SigCgt: %llx", &status->caught);
		if (!strncmp(line, "x86_Thread_features:", 20) && strstr(line, "shstk"))
			status->shadow_stack = true;
	}
	fclose(file);
	return 0;
}

/* Its default action is to be ignored, so it does nothing if nobody traces the thread any more. */
static uint32_t ignored_signal(const struct process_status *status)
{
	static const int candidates[] = {SIGURG, SIGWINCH, SIGCHLD};

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (!(status->caught >> (candidates[i] - 1) & 1))
			return candidates[i];
	return 0;
}

static bool is_secure(uint32_t pid)
{
	FILE *file = open_proc(pid, "auxv");
	Elf64_auxv_t entry;
	bool secure = false;

	while (file && fread(&entry, sizeof(entry), 1, file) == 1 && entry.a_type != AT_NULL)
		if (entry.a_type == AT_SECURE && entry.a_un.a_val)
			secure = true;
	if (file)
		fclose(file);
	return secure;
}

/* Another tool that attaches is done within a second: then the process has the agent. */
static bool attaches(const char *comm)
{
	return !strncmp(comm, "cuda-trace", 10);
}

static int refuse_traced(struct injection_target *target, uint32_t tracer)
{
	FILE *file = open_proc(tracer, "comm");
	char comm[64] = "", shown[64];

	if (file) {
		if (fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = 0;
		fclose(file);
	}
	text__show(shown, sizeof(shown), *comm ? comm : "ended", 0);
	return refuse(target, !*comm || attaches(comm) ? -EALREADY : -EBUSY,
		      "process %u (%s) traces it, and a process has one tracer", tracer, shown);
}

static int check_status(struct injection_target *target)
{
	struct process_status status;
	int error = read_status(target, &status);

	if (error)
		return error;
	if (status.state == 'Z' || status.state == 'X')
		return refuse(target, -ESRCH, "the process has ended");
	if (status.tracer)
		return refuse_traced(target, status.tracer);
	if (status.state == 'T' || status.state == 't')
		return refuse(target, -EAGAIN, "it is stopped");
	target->filtered = status.seccomp == 2;
	if (status.seccomp == 1)
		return refuse(target, -EACCES, "it is in seccomp's strict mode");
	if (status.shadow_stack)
		return refuse(target, -EOPNOTSUPP, "it uses shadow stacks");
	if (is_secure(target->pid))
		return refuse(target, -EPERM,
			      "it runs with the privileges of its file (set-user-ID)");
	target->signal = ignored_signal(&status);
	if (!target->signal)
		return refuse(target, -EOPNOTSUPP, "it handles SIGURG, SIGWINCH and SIGCHLD");
	return 0;
}

struct module {
	const char *prefix, *older_prefix;
	uint64_t first; /* where its file's begin was mapped last, maybe just to be read */
	uint64_t base;	/* of its first page; 0 = not mapped */
	struct address_range code; /* of its (last) executable mapping */
	uint32_t copies;	   /* of its code */
	bool last_counts;	   /* base and code are the last copy's, else the first one's */
};

enum { LIBC, LIBDL, LOADER, LIBCUDA, AGENT, MODULES };

static void note_mapping(struct module *module, uint64_t start, uint64_t end, uint64_t offset,
			 const char *permissions)
{
	if (!offset)
		module->first = start;
	if (!module->copies)
		module->base = module->first;
	if (permissions[2] != 'x')
		return;
	if (!module->copies || module->base != module->first)
		module->copies++;
	if (module->copies > 1 && !module->last_counts)
		return;
	module->base = module->first;
	module->code = (struct address_range){start, end};
}

/* "libc.so.6", or "libc-2.31.so" before glibc 2.34. */
static bool is_module(const struct module *module, const char *name)
{
	return !strncmp(name, module->prefix, strlen(module->prefix)) ||
	       (module->older_prefix &&
		!strncmp(name, module->older_prefix, strlen(module->older_prefix)));
}

static void note_agent(struct injection_target *target, char *path)
{
	path[strcspn(path, "\n")] = 0;
	if (strlen(path) < sizeof(target->agent))
		strcpy(target->agent, path);
}

static uint32_t parent_of(uint32_t pid)
{
	FILE *status = open_proc(pid, "status");
	unsigned int parent = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "PPid: %u", &parent);
	if (status)
		fclose(status);
	return parent;
}

/* Only a child that was forked has the same library at the same address. */
static bool is_forked(uint32_t pid, uint64_t libcuda)
{
	FILE *maps = open_proc(parent_of(pid), "maps");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (maps && !found && getline(&line, &size, maps) > 0) {
		unsigned long long start, offset;

		found = strstr(line, "/libcuda.so") &&
			sscanf(line, "%llx-%*x %*s %llx", &start, &offset) == 2 && !offset &&
			start == libcuda;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static int read_maps(struct injection_target *target, struct module modules[MODULES])
{
	FILE *maps = open_proc(target->pid, "maps");
	char *line = NULL;
	size_t size = 0;

	if (!maps)
		return refuse(target, -errno, "its memory map cannot be read: %s", strerror(errno));
	while (getline(&line, &size, maps) > 0) {
		unsigned long long start, end, offset;
		char permissions[8];
		const char *name = strrchr(line, '/');

		if (!name ||
		    sscanf(line, "%llx-%llx %7s %llx", &start, &end, permissions, &offset) != 4)
			continue;
		for (int i = 0; i < MODULES; i++)
			if (is_module(&modules[i], name + 1))
				note_mapping(&modules[i], start, end, offset, permissions);
		if (is_module(&modules[LIBCUDA], name + 1) && !offset)
			snprintf(target->libcuda, sizeof(target->libcuda),
				 "/proc/%u/map_files/%llx-%llx", target->pid, start, end);
		if (is_module(&modules[AGENT], name + 1) && permissions[2] == 'x')
			note_agent(target, strchr(line, '/'));
	}
	free(line);
	fclose(maps);
	return 0;
}

static void note_libc(void *context, const struct remote_function *function)
{
	struct injection_target *target = context;

	if (!strcmp(function->name, "dlopen"))
		target->dlopen = function->address;
	else if (!strcmp(function->name, "dlsym"))
		target->dlsym = function->address;
	else if (!strcmp(function->name, "__errno_location"))
		target->errno_location = function->address;
}

static bool is_frequent(const char *name)
{
	static const char *const prefixes[] = {
		"cuLaunchKernel",	"cuGraphLaunch",      "cuGraphInstantiate",
		"cuGraphCreate",	"cuGraphAdd",	      "cuGraphClone",
		"cuStreamBeginCapture", "cuStreamEndCapture", "cuMemcpyHtoDAsync",
		"cuMemcpyDtoHAsync",	"cuMemcpyDtoH_v2",    "cuMemcpyHtoD_v2",
		"cuMemAlloc_v2",	"cuMemFree_v2",	      "cuStreamSynchronize",
		"cuCtxSynchronize",	"cuEventRecord",      "cuEventQuery",
		"cuStreamCreate",	"cuModuleLoadData",   "cuLibraryLoadData",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void note_entry(void *context, const struct remote_function *function)
{
	struct injection_target *target = context;
	const char *name = function->name;

	if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z' ||
	    target->entry_count == TARGET_ENTRIES_MAX)
		return;
	for (uint32_t i = 0; i < target->entry_count; i++)
		if (target->entries[i] == function->address)
			return; /* another name of the same function */
	if (is_frequent(name) && target->frequent_count < TARGET_FREQUENT_MAX)
		target->frequent[target->frequent_count++] = target->entry_count;
	target->entries[target->entry_count] = function->address;
	target->offsets[target->entry_count++] = function->offset;
}

/* The rest of the last page of a library's code is mapped and unused. */
static bool has_unused_end(const struct injection_target *target, const struct module *module)
{
	uint8_t bytes[TARGET_CODE_SIZE];

	return module->code.end &&
	       pread(target->memory, bytes, sizeof(bytes), module->code.end - sizeof(bytes)) ==
		       sizeof(bytes) &&
	       remote_call__can_overwrite(bytes, sizeof(bytes));
}

static int find_functions(struct injection_target *target, const struct module modules[MODULES])
{
	/* Not in libcuda: the agent would take the call for the driver's own. */
	static const int places[] = {LIBC, LIBDL, LOADER};
	int error;

	if (!modules[LIBC].base)
		return refuse(target, -EOPNOTSUPP,
			      "it has no glibc (a static program, or another C library)");
	/* In the wrong one, dlopen() gives the agent a libcuda of its own. */
	if (modules[LIBC].copies > 1)
		return refuse(target, -EOPNOTSUPP,
			      "it has several C libraries (LD_AUDIT, dlmopen())");
	error = remote_elf__each(target->memory, modules[LIBC].base, note_libc, target);
	if (!error && modules[LIBDL].base)
		error = remote_elf__each(target->memory, modules[LIBDL].base, note_libc, target);
	if (error || !target->dlopen || !target->dlsym || !target->errno_location)
		return refuse(target, error ? error : -EOPNOTSUPP,
			      error == -ENOEXEC ? "its C library is for another architecture"
						: "its C library has no dlopen()");
	error = remote_elf__each(target->memory, modules[LIBCUDA].base, note_entry, target);
	if (error || !target->entry_count)
		return refuse(target, error ? error : -EOPNOTSUPP,
			      "the functions of its libcuda cannot be read");
	for (size_t i = 0; !target->code && i < sizeof(places) / sizeof(places[0]); i++)
		if (has_unused_end(target, &modules[places[i]]))
			target->code = modules[places[i]].code.end - TARGET_CODE_SIZE;
	if (!target->code)
		return refuse(target, -EOPNOTSUPP, "no library has unused bytes for the call");
	target->loader = modules[LOADER].code;
	return 0;
}

int injection_target__open(struct injection_target *target, uint32_t pid)
{
	struct module modules[MODULES] = {
		[LIBC] = {.prefix = "libc.so.", .older_prefix = "libc-2."},
		[LIBDL] = {.prefix = "libdl.so.", .older_prefix = "libdl-2."},
		[LOADER] = {.prefix = "ld-", .last_counts = true},
		[LIBCUDA] = {.prefix = "libcuda.so"},
		[AGENT] = {.prefix = CUDA_AGENT_NAME},
	};
	char path[64];
	int error;

	*target = (struct injection_target){.pid = pid, .memory = -1};
	target->start = process_stat__start(pid);
	error = check_status(target);
	if (error)
		return error;
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	target->memory = open(path, O_RDWR | O_CLOEXEC);
	if (target->memory < 0)
		return refuse(target, -errno, "its memory cannot be opened: %s", strerror(errno));
	error = read_maps(target, modules);
	if (error)
		return error;
	if (!modules[LIBCUDA].base)
		return refuse(target, -EAGAIN, "it has not loaded libcuda.so yet");
	target->forked = is_forked(pid, modules[LIBCUDA].base);
	return find_functions(target, modules);
}

int injection_target__refused(struct injection_target *target)
{
	struct process_status status;
	int error = read_status(target, &status);

	if (error)
		return error;
	if (status.tracer)
		return refuse_traced(target, status.tracer);
	return refuse(target, -EPERM, "it may not be traced (Yama, or another user's)");
}

void injection_target__close(struct injection_target *target)
{
	if (target->memory >= 0)
		close(target->memory);
	target->memory = -1;
}

bool injection_target__is_entry(const struct injection_target *target, uint64_t address)
{
	for (uint32_t i = 0; i < target->entry_count; i++)
		if (address >= target->entries[i] && address - target->entries[i] < ENTRY_BYTES)
			return true;
	return false;
}

uint64_t injection_target__thread_cpu(uint32_t pid, int thread)
{
	unsigned long long used = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%d/schedstat", pid, thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &used) != 1)
		used = 0;
	fclose(file);
	return used;
}
