/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe sites: one function per probe, and the semaphores, which show whether a tool is
 * attached. All output of the agent goes through here. Called on any thread; takes no lock, has no
 * state.
 */
#ifndef LIBCUPTI_USDT_EMIT_PROBE_SITES_H
#define LIBCUPTI_USDT_EMIT_PROBE_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libcupti-usdt/probes.h"
#include "libcupti-usdt/stack_probes.h"

/* clang-format off */
/* The readable probes. X(probe, group that its semaphore switches on, parameters, arguments of the
 * probe...). Arguments narrower than 4 bytes are widened. */
#define READABLE_PROBES(X) \
	X(kernel_launch, LAUNCH, (const struct cuda_launch *r, const char *name), r->start, \
	  r->end, r->head.correlation, name, r->result, r->stream, r->grid[0], r->grid[1], \
	  r->grid[2], r->block[0], r->block[1], r->block[2]) \
	X(runtime_launch, RUNTIME, (const struct cuda_launch *r, const char *name), r->start, \
	  r->end, r->head.correlation, name, r->result, r->stream, r->grid[0], r->grid[1], \
	  r->grid[2], r->block[0], r->block[1], r->block[2]) \
	X(kernel_exec, KERNEL, (const struct cuda_kernel *r, const char *name), r->start, \
	  r->end, r->head.correlation, name, r->device, r->stream, r->context, r->graph, \
	  r->graph_node, (uint32_t)r->registers, r->static_shared, r->dynamic_shared) \
	X(memcpy, MEMCPY, (const struct cuda_memcpy *r), r->start, r->end, r->head.correlation, \
	  r->bytes, (uint32_t)r->copy_kind, r->device, r->stream, (uint32_t)r->src_kind, \
	  (uint32_t)r->dst_kind, r->src_device, r->dst_device, (uint32_t)r->flags) \
	X(memset, MEMSET, (const struct cuda_memset *r), r->start, r->end, r->head.correlation, \
	  r->bytes, r->device, r->stream, r->value, (uint32_t)r->memory_kind, r->context, \
	  (uint32_t)r->flags, r->graph, r->graph_node) \
	X(memory, MEMORY, (const struct cuda_memory *r), r->time, (uint32_t)r->operation, \
	  (uint32_t)r->kind, r->address, r->bytes, r->device, r->head.correlation, r->context, \
	  r->stream, (uint32_t)r->asynchronous, r->pool, r->pool_used) \
	X(memory_pool, MEMORY, (const struct cuda_memory_pool *r), r->time, \
	  (uint32_t)r->operation, r->address, r->size, r->used, r->device, (uint32_t)r->type, \
	  r->threshold, r->head.correlation) \
	X(sync, SYNC, (const struct cuda_sync *r), r->start, r->end, r->head.correlation, \
	  (uint32_t)r->type, r->stream, r->result, r->context, r->event) \
	X(event_record, API_EVENT, (const struct cuda_event_record *r), r->head.correlation, r->event, \
	  r->stream, r->context) \
	X(graph_exec, GRAPH, (const struct cuda_graph *r), r->start, r->end, \
	  r->head.correlation, r->device, r->stream, r->graph, r->context) \
	X(graph_instantiate, GRAPH, (const struct cuda_api *r, const char *name), r->start, \
	  r->end, r->head.correlation, name, r->result, r->context) \
	X(graph_node, GRAPH_NODES, (const struct cuda_graph_node *r), r->start, r->node, \
	  r->original, r->graph, r->tid) \
	X(overhead, OVERHEAD, (const struct cuda_overhead *r), r->start, r->end, \
	  r->head.correlation, r->kind, r->object_kind, r->object[0], r->object[1]) \
	X(jit, OVERHEAD, (const struct cuda_jit *r, const char *path), r->start, r->end, \
	  r->head.correlation, (uint32_t)r->entry, (uint32_t)r->operation, r->device, \
	  r->cache_bytes, path) \
	X(uvm, UVM, (const struct cuda_uvm *r), r->start, r->end, r->counter, r->value, \
	  r->source, r->destination, r->address, r->stream) \
	X(nvtx, NVTX, (const struct cuda_nvtx *r, const char *text, const char *domain), \
	  r->start, r->end, (uint32_t)r->kind, text, domain, r->color, r->category, r->range) \
	X(device, OBJECT, (const struct cuda_device *r, const char *name), r->device, name, \
	  r->major, r->minor, r->memory, r->multiprocessors, (const char *)r->pci) \
	X(context, OBJECT, (const struct cuda_context *r), r->context, r->device, \
	  r->null_stream, r->parent, r->green, r->multiprocessors) \
	X(stream, OBJECT, (const struct cuda_stream *r), r->stream, r->context, r->priority, \
	  r->flag) \
	X(counters, COUNTERS, (const struct cuda_counters *r, const char *kernel, const char \
	  *metric, int64_t thousandths, uint64_t bits), r->number, r->head.correlation, kernel, \
	  metric, thousandths, r->device, bits, r->context, r->stream, r->passes) \
	X(sass, COUNTERS, (const struct cuda_sass *r, const char *kernel, const char *file), \
	  r->number, kernel, r->offset, file, r->line, r->values[CUDA_SASS_EXECUTED], \
	  r->values[CUDA_SASS_THREADS], r->values[CUDA_SASS_THREADS_ON], \
	  r->values[CUDA_SASS_SECTORS], r->values[CUDA_SASS_SECTORS_IDEAL], \
	  r->values[CUDA_SASS_WAVEFRONTS], r->values[CUDA_SASS_WAVEFRONTS_IDEAL]) \
	X(pc_samples, PC_SAMPLES, (const struct cuda_pc_sample *r, const char *function, const \
	  char *reason, const char *file), r->time, function, r->line, reason, r->samples, file, \
	  r->offset, r->cubin, r->device, r->context) \
	X(api_error, API_ERROR, (const struct cuda_api *r, const char *name, uint64_t first, \
	  uint32_t second, const char *kernel), r->start, r->end, r->head.correlation, name, \
	  r->result, (uint32_t)r->domain, (uint32_t)r->cbid, r->context, (uint32_t)r->flags, \
	  first, second, kernel)
/* clang-format on */

/* The probes of calls by family, which have the same arguments. X(probe, group) */
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

/* Volatile, because the Linux kernel writes these. */
#define SITE_SEMAPHORE(probe, ...) extern volatile unsigned short cuda_##probe##_semaphore;
READABLE_PROBES(SITE_SEMAPHORE)
API_READABLE_PROBES(SITE_SEMAPHORE)
SITE_SEMAPHORE(name)
SITE_SEMAPHORE(status)
SITE_SEMAPHORE(lost)
SITE_SEMAPHORE(error)
SITE_SEMAPHORE(cubin)
SITE_SEMAPHORE(start)
SITE_SEMAPHORE(watched)
SITE_SEMAPHORE(sandboxed)
SITE_SEMAPHORE(cupti_wanted)
SITE_SEMAPHORE(cupti_claim)
SITE_SEMAPHORE(cupti_release)
SITE_SEMAPHORE(yield)
SITE_SEMAPHORE(flush)
SITE_SEMAPHORE(nvtx_open)
HELLO_PROBES(SITE_SEMAPHORE)
SAMPLE_PROBES(SITE_SEMAPHORE)
CUDA_STACK_PROBES(SITE_SEMAPHORE)
SITE_SEMAPHORE(launch_batch)
#undef SITE_SEMAPHORE

#define site_wanted(probe) (__builtin_expect(cuda_##probe##_semaphore != 0, 0))

/* Groups that a tool is attached to, as a bit mask. */
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
/* True if there is one consumer, as far as that can be known. */
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
/* Reports that this library was loaded, and how long it waits for tools to attach. */
void probe_sites__start(uint64_t instance, uint32_t milliseconds);
/* The word beside the semaphore of `sandboxed`, which a tool reads before it raises any. */
void probe_sites__set_filters(uint32_t filters);
/* Asks for a libcupti, at the other end of this socket. driver: as cuDriverGetVersion() has it. */
void probe_sites__cupti_wanted(uint64_t instance, uint32_t socket, uint32_t driver);
/* CUPTI: about to subscribe, left, left to another client. */
void probe_sites__cupti_claim(uint64_t instance, uint64_t function, uint64_t code,
			      uint64_t code_end, const volatile uint64_t *hint);
void probe_sites__cupti_release(uint64_t instance);
void probe_sites__yield(uint64_t instance);
/* All names and the status were sent again. */
void probe_sites__hello(uint64_t instance);
/* All that was recorded is sent, and the status as well. */
void probe_sites__flush(uint64_t instance);
/* A cycle begins: all of its switches fire, as a probe without a site would have no semaphore. */
void probe_sites__sample(uint64_t instance);

/* NVTX ranges are seen from now on. */
void probe_sites__nvtx_open(uint64_t instance);

/* probe: its index in CUDA_STACK_PROBES. Called on the launching thread, in its launch. */
void probe_sites__stack(unsigned int probe, uint32_t correlation, uint32_t tid, uint32_t context,
			const struct cuda_python *python, uint64_t instance,
			const struct cuda_graph_call *call);

#define SITE_PROTOTYPE(probe, group, parameters, ...) void probe_sites__##probe parameters;
READABLE_PROBES(SITE_PROTOTYPE)
#undef SITE_PROTOTYPE
void probe_sites__api(unsigned int group, const struct cuda_api *r, const char *name);

#endif
