// SPDX-License-Identifier: BSD-2-Clause
// What the simulated driver calls while somebody looks: callbacks and API records are made from it
// here. Runs on the program's threads; in a forked child it takes no lock.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_sass.h"
#include "tests/simcuda/profiler.h"

#define CONTEXT_DESTROY_STARTING 2
#define MODULE_LOADED		 6
#define MODULE_PROFILED		 8

static struct simcuda_bridge *bridge;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t calls, faults, subscriptions;
static _Atomic uint32_t most_callbacks, most_kinds;

static void find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	if (library)
		bridge = dlsym(library, "simcuda_bridge");
}

struct simcuda_bridge *bridge__get(void)
{
	pthread_once(&once, find_driver);
	return bridge;
}

static void kinds__text(uint64_t kinds, char *text, size_t size)
{
	size_t used = 0;

	*text = 0;
	for (int kind = 0; kind < 64 && used < size; kind++)
		if (kinds >> kind & 1)
			used += snprintf(text + used, size - used, "%s%d", used ? "," : "", kind);
	if (!used)
		snprintf(text, size, "-");
}

static void most(_Atomic uint32_t *maximum, uint32_t now)
{
	uint32_t seen = atomic_load(maximum);

	while (seen < now && !atomic_compare_exchange_weak(maximum, &seen, now))
		;
}

void state__log(const char *what)
{
	uint64_t kinds = activity__kinds(), records, dropped, out;
	char text[256];

	most(&most_callbacks, subscriber__callbacks());
	most(&most_kinds, __builtin_popcountll(kinds));
	if (!bridge__get())
		return;
	if (what && what[0] == 's' && what[1] == 'u' && !what[9])
		atomic_fetch_add(&subscriptions, 1);
	kinds__text(kinds, text, sizeof(text));
	buffers__counts(&records, &dropped, &out);
	bridge->log("%s subscribed=%d subscriptions=%llu callbacks=%u callbacks_max=%u kinds=%s "
		    "kinds_max=%u records=%llu dropped=%llu buffers_out=%llu faults=%llu",
		    what, subscriber__present(), (unsigned long long)atomic_load(&subscriptions),
		    subscriber__callbacks(), atomic_load(&most_callbacks), text,
		    atomic_load(&most_kinds), (unsigned long long)records,
		    (unsigned long long)dropped, (unsigned long long)out,
		    (unsigned long long)atomic_load(&faults));
}

/* The client did what it must never do; tests look for these lines. */
void fault__log(const char *what)
{
	atomic_fetch_add(&faults, 1);
	if (bridge__get())
		bridge->log("fault %s", what);
}

static void __attribute__((destructor)) end(void)
{
	if (bridge && !atomic_load(&bridge->forked))
		state__log("exit");
}

static void call__tell(struct simcuda_call *call, uint32_t site)
{
	CUpti_CallbackData data = {
		.site = site,
		.functionName = call->name,
		.functionParams = call->params,
		.functionReturnValue = site ? &call->result : NULL,
		.symbolName = call->symbol,
		.context = call->context,
		.contextUid = call->context_id,
		.correlationData = &call->slot,
		.correlationId = call->correlation,
	};

	subscriber__callback(call->domain, call->cbid, &data);
}

/* Memsets are kernels, too, to those calls of CUPTI's that lock up with launches. */
static bool runs_kernel(const struct simcuda_call *call)
{
	return call->domain == SIMCUDA_DRIVER &&
	       (!strncmp(call->name, "cuLaunchKernel", 14) ||
		!strncmp(call->name, "cuGraphLaunch", 13) || !strncmp(call->name, "cuMemset", 8));
}

static void enter(struct simcuda_call *call)
{
	uint64_t fatal = settings__get()->state_fatal;

	if (fatal && atomic_fetch_add(&calls, 1) + 1 == fatal)
		subscriber__fatal();
	if (activity__api_wanted(call->domain, call->cbid))
		call->start = clock__now();
	if (subscriber__wants(call->domain, call->cbid))
		call__tell(call, 0);
	if (runs_kernel(call))
		pc_sampling__launch_begins();
}

static void leave(struct simcuda_call *call)
{
	struct simcuda_record record;

	if (runs_kernel(call))
		pc_sampling__launch_ends();
	range_profiler__launched(call);
	if (subscriber__wants(call->domain, call->cbid))
		call__tell(call, 1);
	if (!call->start || atomic_load(&bridge->forked))
		return;
	record = (struct simcuda_record){
		.kind = call->domain == SIMCUDA_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME,
		.correlation = call->correlation,
		.start = call->start,
		.end = clock__now(),
	};
	record.api.cbid = call->cbid;
	record.api.pid = getpid();
	record.api.tid = syscall(SYS_gettid);
	record.api.result = call->result;
	hooks__record(&record);
}

/* As if each of its images were a module of its own. */
static void module_loaded(CUpti_ResourceData *data)
{
	CUpti_ModuleResourceData module = *(CUpti_ModuleResourceData *)data->descriptor;

	data->descriptor = &module;
	for (unsigned int i = 0; i < cubins__count(); i++) {
		pc_sampling__compile(i, &module);
		if (subscriber__wants(CUPTI_DOMAIN_RESOURCE, MODULE_LOADED))
			subscriber__callback(CUPTI_DOMAIN_RESOURCE, MODULE_LOADED, data);
	}
}

static void resource(uint32_t cbid, CUcontext context, CUstream handle, void *descriptor)
{
	CUpti_ResourceData data = {context, handle, descriptor};

	if (subscriber__without_table())
		raise(SIGSEGV);
	if (cbid == MODULE_LOADED)
		module_loaded(&data);
	else if (subscriber__wants(CUPTI_DOMAIN_RESOURCE, cbid))
		subscriber__callback(CUPTI_DOMAIN_RESOURCE, cbid, &data);
	if (cbid == MODULE_PROFILED)
		range_profiler__runs();
	if (cbid == CONTEXT_DESTROY_STARTING) {
		range_profiler__context_ends(context);
		sass__context_ends(context);
		pc_sampling__context_ends(context);
	}
}

static void synchronized(uint32_t cbid, CUcontext context, CUstream stream)
{
	CUpti_SynchronizeData data = {context, stream};

	if (subscriber__wants(CUPTI_DOMAIN_SYNCHRONIZE, cbid))
		subscriber__callback(CUPTI_DOMAIN_SYNCHRONIZE, cbid, &data);
}

#define HOOKS                                                                          \
	.enter = enter, .leave = leave, .record = hooks__record, .resource = resource, \
	.synchronized = synchronized, .ran = range_profiler__ran

static const struct simcuda_hooks hooks = {HOOKS};
static const struct simcuda_hooks inverted_hooks = {HOOKS, .graph = activity__graph};

void hooks__start(void)
{
	bridge__get();
}

void hooks__update(void)
{
	if (!bridge__get())
		return;
	pthread_mutex_lock(&lock);
	atomic_store(&bridge->kinds, activity__kinds());
	atomic_store(&bridge->hooks,
		     subscriber__callbacks() || activity__any() || subscriber__without_table()
			     ? (activity__is_inverted() ? &inverted_hooks : &hooks)
			     : NULL);
	pthread_mutex_unlock(&lock);
}
