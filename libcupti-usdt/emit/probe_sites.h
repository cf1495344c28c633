/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites: one function a probe, and the semaphores that say who listens. Everything that
 * leaves the process leaves through here. Called on any thread; takes no lock, keeps nothing.
 */
#ifndef LIBCUPTI_USDT_EMIT_PROBE_SITES_H
#define LIBCUPTI_USDT_EMIT_PROBE_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/stack_probes.h"

/* X(probe, group that its semaphore switches on) */
#define READABLE_PROBES(X)          \
	X(kernel_launch, LAUNCH)    \
	X(runtime_launch, RUNTIME)  \
	X(kernel_exec, KERNEL)      \
	X(memcpy, MEMCPY)           \
	X(memset, MEMSET)           \
	X(memory, MEMORY)           \
	X(memory_pool, MEMORY)      \
	X(sync, SYNC)               \
	X(graph_exec, GRAPH)        \
	X(graph_instantiate, GRAPH) \
	X(overhead, OVERHEAD)       \
	X(jit, OVERHEAD)            \
	X(uvm, UVM)                 \
	X(nvtx, NVTX)               \
	X(device, OBJECT)           \
	X(context, OBJECT)          \
	X(stream, OBJECT)           \
	X(counters, COUNTERS)       \
	X(sass, COUNTERS)           \
	X(pc_samples, PC_SAMPLES)   \
	X(api_error, API_ERROR)     \
	API_READABLE_PROBES(X)

#define API_READABLE_PROBES(X)      \
	X(api_launch, API_LAUNCH)   \
	X(api_memory, API_MEMORY)   \
	X(api_copy, API_COPY)       \
	X(api_sync, API_SYNC)       \
	X(api_stream, API_STREAM)   \
	X(api_event, API_EVENT)     \
	X(api_module, API_MODULE)   \
	X(api_graph, API_GRAPH)     \
	X(api_context, API_CONTEXT) \
	X(api_other, API_OTHER)

/* The switches of CUDA_SAMPLE_ON and CUDA_SAMPLE_EVERY. */
#define SAMPLE_PROBES(X)                   \
	CUDA_SAMPLE_ON(SAMPLE_ON_PROBE, X) \
	CUDA_SAMPLE_EVERY(SAMPLE_EVERY_PROBE, X)
#define SAMPLE_ON_PROBE(ms, X)	  X(sample_on_##ms)
#define SAMPLE_EVERY_PROBE(ms, X) X(sample_every_##ms)

/* As many as CUDA_HELLOS; none of them switches a group on. */
#define HELLO_PROBES(X) \
	X(hello_0) X(hello_1) X(hello_2) X(hello_3) X(hello_4) X(hello_5) X(hello_6) X(hello_7)

/* The kernel writes these behind the compiler's back. */
#define SITE_SEMAPHORE(probe, ...) extern volatile unsigned short cuda_##probe##_semaphore;
READABLE_PROBES(SITE_SEMAPHORE)
SITE_SEMAPHORE(name)
SITE_SEMAPHORE(status)
SITE_SEMAPHORE(lost)
SITE_SEMAPHORE(error)
SITE_SEMAPHORE(cubin)
SITE_SEMAPHORE(start)
SITE_SEMAPHORE(watched)
SITE_SEMAPHORE(sandboxed)
SITE_SEMAPHORE(cupti_claim)
SITE_SEMAPHORE(cupti_release)
SITE_SEMAPHORE(yield)
SITE_SEMAPHORE(flush)
HELLO_PROBES(SITE_SEMAPHORE)
SAMPLE_PROBES(SITE_SEMAPHORE)
CUDA_STACK_PROBES(SITE_SEMAPHORE)
#undef SITE_SEMAPHORE

#define site_wanted(probe) (__builtin_expect(cuda_##probe##_semaphore != 0, 0))

/* Groups that somebody listens to, as a bit mask. */
uint32_t probe_sites__wanted(void);
/* Does somebody listen to the batches, to the readable probes of this group? The latter, and
 * stacks, as probe_sites__wanted() last found them: launching threads ask. */
bool probe_sites__batch_wanted(unsigned int group);
bool probe_sites__readable_wanted(unsigned int group);
/* The requested cycle: the longest window and the shortest period, in ms; 0 = none requested.
 */
void probe_sites__cycle(uint32_t *on, uint32_t *every);
/* Every probe that somebody listens to, one bit each, the readable ones apart; and those of names,
 * status and cuda:hello_N. */
uint64_t probe_sites__up(void);
/* Is there one consumer, so far as that can be known? */
bool probe_sites__one_listener(void);
uint64_t probe_sites__readable_up(void);
uint64_t probe_sites__name_bits(void);

void probe_sites__batch(unsigned int group, const void *records, uint32_t bytes, uint32_t count,
			uint64_t first, uint64_t instance);
void probe_sites__name(uint64_t instance, uint32_t id, const char *name, uint32_t length);
void probe_sites__status(const struct cuda_status *status, uint32_t size);
void probe_sites__lost(uint32_t reason, uint64_t count, uint64_t total, uint64_t instance);
void probe_sites__error(int32_t code, const char *component, const char *message,
			uint64_t instance);
void probe_sites__cubin(uint64_t checksum, const void *image, uint64_t size, uint64_t instance);
/* This library was loaded; who wants to listen to this process has so long to come. */
void probe_sites__start(uint64_t instance, uint32_t milliseconds);
/* What a tool reads beside the semaphore of `sandboxed`, before it raises any. */
void probe_sites__set_filters(uint32_t filters);
/* CUPTI: about to subscribe, left, left to another client. */
void probe_sites__cupti_claim(uint64_t instance, uint64_t function, uint64_t code,
			      uint64_t code_end);
void probe_sites__cupti_release(uint64_t instance);
void probe_sites__yield(uint64_t instance);
/* All names and the status were sent again. */
void probe_sites__hello(uint64_t instance);
/* All that was recorded is sent, and the status as well. */
void probe_sites__flush(uint64_t instance);
/* A cycle begins: all of its switches fire, as a probe without a site would have no semaphore. */
void probe_sites__sample(uint64_t instance);

/* probe: its index in CUDA_STACK_PROBES. Called on the launching thread, in its launch. */
void probe_sites__stack(unsigned int probe, uint32_t correlation, uint32_t tid, uint32_t context,
			const struct cuda_python *python, uint64_t instance);

void probe_sites__kernel_launch(const struct cuda_launch *r, const char *name);
void probe_sites__runtime_launch(const struct cuda_launch *r, const char *name);
void probe_sites__kernel_exec(const struct cuda_kernel *r, const char *name);
void probe_sites__memcpy(const struct cuda_memcpy *r);
void probe_sites__memset(const struct cuda_memset *r);
void probe_sites__memory(const struct cuda_memory *r);
void probe_sites__memory_pool(const struct cuda_memory_pool *r);
void probe_sites__sync(const struct cuda_sync *r);
void probe_sites__graph_exec(const struct cuda_graph *r);
void probe_sites__graph_instantiate(const struct cuda_api *r, const char *name);
void probe_sites__overhead(const struct cuda_overhead *r);
void probe_sites__jit(const struct cuda_jit *r, const char *path);
void probe_sites__uvm(const struct cuda_uvm *r);
void probe_sites__nvtx(const struct cuda_nvtx *r, const char *text, const char *domain);
void probe_sites__device(const struct cuda_device *r, const char *name);
void probe_sites__context(const struct cuda_context *r);
void probe_sites__stream(const struct cuda_stream *r);
void probe_sites__counters(const struct cuda_counters *r, const char *kernel, const char *metric,
			   int64_t thousandths, uint64_t bits);
void probe_sites__sass(const struct cuda_sass *r, const char *kernel, const char *file);
void probe_sites__pc_samples(const struct cuda_pc_sample *r, const char *function,
			     const char *reason, const char *file);
void probe_sites__api(unsigned int group, const struct cuda_api *r, const char *name);
void probe_sites__api_error(const struct cuda_api *r, const char *name, uint64_t first,
			    uint32_t second, const char *kernel);

#endif
