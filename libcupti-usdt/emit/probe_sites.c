// SPDX-License-Identifier: BSD-2-Clause
/*
 * The probe sites. The only file that includes <sys/sdt.h>: its site is a plain nop, and the
 * semaphores are all or nothing for a file.
 *
 * Each probe has exactly one site. Left to itself a compiler copies sites while inlining, folds
 * arguments into constants, or names a variable as operand (8@instance(%rip)), which libbpf cannot
 * read. So every site stands in a function that is neither inlined nor specialised, with operands
 * that arrive as arguments or lie in a record that an argument points to. None lies at the record's
 * very start: "8@(%rdi)", without an offset, is not understood by libbpf before 1.3.
 */
#define _SDT_HAS_SEMAPHORES 1
/* sdt.h's extern declarations are our volatile ones; it names them in assembler only. */
#include "libcupti-usdt/emit/probe_layouts.h"
#include "libcupti-usdt/agent_memory.h"
#include "libcupti-usdt/emit/probe_sites.h"

#include "libcupti-usdt/base/launch_state.h"

#include <stdatomic.h>
#include <stddef.h>

#include <sys/sdt.h>

#ifdef __clang__
#define SITE __attribute__((noinline))
#else
#define SITE __attribute__((noipa))
#endif

#define SEMAPHORE(probe, ...) \
	volatile unsigned short cuda_##probe##_semaphore __attribute__((section(".probes"), used));
#define BATCH_SEMAPHORE(NAME, probe, text) SEMAPHORE(probe)
READABLE_PROBES(SEMAPHORE)
API_READABLE_PROBES(SEMAPHORE)
CUDA_GROUPS(BATCH_SEMAPHORE)
SEMAPHORE(name)
SEMAPHORE(status)
SEMAPHORE(lost)
SEMAPHORE(error)
SEMAPHORE(cubin)
SEMAPHORE(start)
SEMAPHORE(watched)
/* Its semaphore, and behind it what a tool looks at before it raises one. */
volatile struct cuda_sandbox cuda_sandbox_place
	__attribute__((section(".probes"), used, visibility("hidden")));
__asm__(".globl cuda_sandboxed_semaphore\n.hidden cuda_sandboxed_semaphore\n"
	".set cuda_sandboxed_semaphore, cuda_sandbox_place");
SEMAPHORE(cupti_wanted)
SEMAPHORE(cupti_claim)
SEMAPHORE(cupti_release)
SEMAPHORE(yield)
SEMAPHORE(flush)
SEMAPHORE(nvtx_open)
HELLO_PROBES(SEMAPHORE)
SAMPLE_PROBES(SEMAPHORE)
CUDA_STACK_PROBES(SEMAPHORE)

struct listener {
	volatile unsigned short *semaphore;
	unsigned int group;
};

static const struct listener batch_listeners[] = {
#define LISTENER(NAME, probe, text) {&cuda_##probe##_semaphore, CUDA_GROUP_##NAME},
	CUDA_GROUPS(LISTENER)
#undef LISTENER
};

static const struct listener readable_listeners[] = {
#define LISTENER(probe, NAME, ...) {&cuda_##probe##_semaphore, CUDA_GROUP_##NAME},
	READABLE_PROBES(LISTENER) API_READABLE_PROBES(LISTENER)
#undef LISTENER
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Noted, as are hot.stack_probes, hot.launches_unsent and DETOUR_OTHERS, when the agent's thread
 * looks at it all. */
static _Atomic(uint32_t) readable_groups;

static uint32_t look_at_stacks(void)
{
	uint32_t mask = 0;
	unsigned int bit = 0;

#define WANTED(probe, period) mask |= (uint32_t)(cuda_##probe##_semaphore != 0) << bit++;
	CUDA_STACK_PROBES(WANTED)
#undef WANTED
	return mask;
}

uint32_t probe_sites__wanted(void)
{
	uint32_t batched = 0, readable = 0, stacks = look_at_stacks();
	bool unsent;

	for (size_t i = 0; i < COUNT(batch_listeners); i++)
		if (*batch_listeners[i].semaphore)
			batched |= 1U << batch_listeners[i].group;
	for (size_t i = 0; i < COUNT(readable_listeners); i++)
		if (*readable_listeners[i].semaphore)
			readable |= 1U << readable_listeners[i].group;
	atomic_store_explicit(&readable_groups, readable, memory_order_relaxed);
	if (stacks != atomic_load_explicit(&hot.stack_probes, memory_order_relaxed))
		atomic_store_explicit(&hot.stack_probes, stacks, memory_order_relaxed);
	unsent = stacks && !(batched & 1U << CUDA_GROUP_LAUNCH);
	if (unsent != atomic_load_explicit(&hot.launches_unsent, memory_order_relaxed))
		atomic_store_explicit(&hot.launches_unsent, unsent, memory_order_relaxed);
	launch_state__detour(DETOUR_OTHERS,
			     readable & (1U << CUDA_GROUP_LAUNCH | 1U << CUDA_GROUP_RUNTIME));
	return batched | readable | (stacks ? 1U << CUDA_GROUP_LAUNCH : 0);
}

/* Not a table: each is looked at once a tick, and seldom up. */
void probe_sites__cycle(uint32_t *on, uint32_t *every)
{
	*on = *every = 0;
#define LONGEST(ms, a)                       \
	if (cuda_sample_on_##ms##_semaphore) \
		*on = ms;
#define SHORTEST(ms, a)                                    \
	if (cuda_sample_every_##ms##_semaphore && !*every) \
		*every = ms;
	CUDA_SAMPLE_ON(LONGEST, )
	CUDA_SAMPLE_EVERY(SHORTEST, )
#undef LONGEST
#undef SHORTEST
}

HOT_PATH bool probe_sites__batch_wanted(unsigned int group)
{
	return *batch_listeners[group].semaphore != 0;
}

bool probe_sites__readable_wanted(unsigned int group)
{
	return atomic_load_explicit(&readable_groups, memory_order_relaxed) >> group & 1;
}

/* Bits of probe_sites__up(); name, status and the hello probes come first. */
enum {
	UP_NAME,
	UP_STATUS,
	UP_HELLO,
	UP_LOST = UP_HELLO + CUDA_HELLOS,
	UP_ERROR,
	UP_STACKS, /* any of them: what follows from it is the same for all */
	UP_BATCHES
};
_Static_assert(UP_BATCHES + COUNT(batch_listeners) <= 64 && COUNT(readable_listeners) <= 64,
	       "a probe has no bit");

uint64_t probe_sites__name_bits(void)
{
	return (1ULL << UP_LOST) - 1;
}

uint64_t probe_sites__up(void)
{
	uint64_t up = (uint64_t)(cuda_name_semaphore != 0) << UP_NAME |
		      (uint64_t)(cuda_status_semaphore != 0) << UP_STATUS |
		      (uint64_t)(cuda_lost_semaphore != 0) << UP_LOST |
		      (uint64_t)(cuda_error_semaphore != 0) << UP_ERROR |
		      (uint64_t)(look_at_stacks() != 0) << UP_STACKS;
	unsigned int bit = UP_HELLO;

#define UP(probe) up |= (uint64_t)(cuda_##probe##_semaphore != 0) << bit++;
	HELLO_PROBES(UP)
#undef UP
	bit = UP_BATCHES;
	for (size_t i = 0; i < COUNT(batch_listeners); i++)
		up |= (uint64_t)(*batch_listeners[i].semaphore != 0) << bit++;
	return up;
}

bool probe_sites__one_listener(void)
{
	unsigned int hellos = 0;

#define COUNT_HELLO(probe) hellos += cuda_##probe##_semaphore != 0;
	HELLO_PROBES(COUNT_HELLO)
#undef COUNT_HELLO
	return hellos == 1 && !probe_sites__readable_up();
}

uint64_t probe_sites__readable_up(void)
{
	uint64_t up = 0;

	for (size_t i = 0; i < COUNT(readable_listeners); i++)
		up |= (uint64_t)(*readable_listeners[i].semaphore != 0) << i;
	return up;
}

#define BATCH_SITE(NAME, probe, text)                                                       \
	static SITE void site__##probe(const void *records, uint32_t bytes, uint32_t count, \
				       uint64_t first, uint64_t instance)                   \
	{                                                                                   \
		STAP_PROBE5(cuda, probe, records, bytes, count, first, instance);           \
	}
CUDA_GROUPS(BATCH_SITE)

void probe_sites__batch(unsigned int group, const void *records, uint32_t bytes, uint32_t count,
			uint64_t first, uint64_t instance)
{
	switch (group) {
#define BATCH_CASE(NAME, probe, text)                                  \
	case CUDA_GROUP_##NAME:                                        \
		site__##probe(records, bytes, count, first, instance); \
		break;
		CUDA_GROUPS(BATCH_CASE)
#undef BATCH_CASE
	}
}

SITE void probe_sites__name(uint64_t instance, uint32_t id, const char *name, uint32_t length)
{
	STAP_PROBE4(cuda, name, instance, id, name, length);
}

SITE void probe_sites__status(const struct cuda_status *status, uint32_t size)
{
	STAP_PROBE2(cuda, status, status, size);
}

SITE void probe_sites__lost(uint32_t reason, uint64_t count, uint64_t total, uint64_t instance)
{
	STAP_PROBE4(cuda, lost, reason, count, total, instance);
}

SITE void probe_sites__error(int32_t code, const char *component, const char *message,
			     uint64_t instance)
{
	STAP_PROBE4(cuda, error, code, component, message, instance);
}

SITE void probe_sites__cubin(uint64_t checksum, const void *image, uint64_t size, uint64_t instance)
{
	STAP_PROBE4(cuda, cubin, checksum, image, size, instance);
}

#define STACK_SITE(probe, period)                                                            \
	static SITE void site__##probe(uint32_t correlation, uint32_t tid, uint32_t context, \
				       const struct cuda_python *python, uint64_t instance,  \
				       const struct cuda_graph_call *call)                   \
	{                                                                                    \
		STAP_PROBE6(cuda, probe, correlation, tid, context, python, instance, call); \
	}
CUDA_STACK_PROBES(STACK_SITE)

void probe_sites__stack(unsigned int probe, uint32_t correlation, uint32_t tid, uint32_t context,
			const struct cuda_python *python, uint64_t instance,
			const struct cuda_graph_call *call)
{
	static void (*const sites[])(uint32_t, uint32_t, uint32_t, const struct cuda_python *,
				     uint64_t, const struct cuda_graph_call *) = {
#define STACK_ENTRY(probe, period) site__##probe,
		CUDA_STACK_PROBES(STACK_ENTRY)
#undef STACK_ENTRY
	};

	sites[probe](correlation, tid, context, python, instance, call);
}

/* STAP_PROBE with as many arguments as there are: older sdt.h have no STAP_PROBEV in C. */
#define PROBE_OF(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) STAP_PROBE##n
#define PROBE(probe, ...)                                               \
	PROBE_OF(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0) \
	(cuda, probe, __VA_ARGS__)
#define READABLE_SITE(probe, group, parameters, ...) \
	SITE void probe_sites__##probe parameters    \
	{                                            \
		PROBE(probe, __VA_ARGS__);           \
	}
READABLE_PROBES(READABLE_SITE)

#define API_SITE(probe, NAME)                                                                    \
	static SITE void site__##probe(const struct cuda_api *r, const char *name)               \
	{                                                                                        \
		STAP_PROBE8(cuda, probe, r->start, r->end, r->head.correlation, name, r->result, \
			    (uint32_t)r->domain, (uint32_t)r->cbid, r->context);                 \
	}
API_READABLE_PROBES(API_SITE)

void probe_sites__api(unsigned int group, const struct cuda_api *r, const char *name)
{
	switch (group) {
#define API_CASE(probe, NAME)           \
	case CUDA_GROUP_##NAME:         \
		site__##probe(r, name); \
		break;
		API_READABLE_PROBES(API_CASE)
#undef API_CASE
	}
}

void probe_sites__set_filters(uint32_t filters)
{
	cuda_sandbox_place.filters = filters;
}

/* All have a site here: a probe without one would have no semaphore. */
SITE void probe_sites__start(uint64_t instance, uint32_t milliseconds)
{
	STAP_PROBE2(cuda, start, instance, milliseconds);
	STAP_PROBE1(cuda, watched, instance);
	STAP_PROBE1(cuda, sandboxed, instance);
}

SITE void probe_sites__cupti_wanted(uint64_t instance, uint32_t socket, uint32_t driver)
{
	STAP_PROBE3(cuda, cupti_wanted, instance, socket, driver);
}

SITE void probe_sites__cupti_claim(uint64_t instance, uint64_t function, uint64_t code,
				   uint64_t code_end, const volatile uint64_t *hint)
{
	STAP_PROBE5(cuda, cupti_claim, instance, function, code, code_end, hint);
}

SITE void probe_sites__cupti_release(uint64_t instance)
{
	STAP_PROBE1(cuda, cupti_release, instance);
}

SITE void probe_sites__yield(uint64_t instance)
{
	STAP_PROBE1(cuda, yield, instance);
}

SITE void probe_sites__hello(uint64_t instance)
{
#define HELLO(probe) STAP_PROBE1(cuda, probe, instance);
	HELLO_PROBES(HELLO)
#undef HELLO
}

SITE void probe_sites__flush(uint64_t instance)
{
	STAP_PROBE1(cuda, flush, instance);
}

SITE void probe_sites__nvtx_open(uint64_t instance)
{
	STAP_PROBE1(cuda, nvtx_open, instance);
}

SITE void probe_sites__sample(uint64_t instance)
{
#define SAMPLE(probe) STAP_PROBE1(cuda, probe, instance);
	SAMPLE_PROBES(SAMPLE)
#undef SAMPLE
}
