/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything between what happens and the text that Prometheus reads. poll() and scrape() may be
 * called by different threads; a lock inside keeps them apart.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_EXPORTER_H
#define CUDA_TRACE_METRICS_METRICS_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/live/live.h"
#include "cuda-trace/live/live_energy.h"
#include "cuda-trace/metrics/metrics_kernels.h"
#include "cuda-trace/metrics/metrics_series.h"
#include "cuda-trace/metrics/metrics_text.h"

struct exporter_options {
	struct live_options live; /* .collective_ranks: as label_sets */
	bool by_pid;
	unsigned int by_kernel; /* 0 = no kernel names */
	unsigned int label_sets;
	unsigned int forget_seconds; /* label sets without a process */
	bool created;
	struct device_metrics *counters; /* the caller's; NULL = none */
};

struct exporter;

/* What one scrape shows; filled under the lock, for metrics_families.c. */
struct exporter_view {
	struct series_table *series;
	struct kernels *kernels; /* NULL unless by_kernel */
	struct exporter_devices *devices;
	struct device_metrics *counters; /* NULL unless --counters */
	struct idle *idle;		 /* NULL unless --idle */
	struct nccl_comms *comms;	 /* NULL unless --collectives */
	struct live_energy *energy;	 /* NULL unless --energy; the caller's */
	struct live_energy_state energy_state;
	struct live_state state;
	unsigned int label_sets;
	uint32_t sample_on_ms, sample_every_ms; /* 0 = GPU records come all the time */
	bool whole_copies;			/* those of copies and memsets always do */
	bool limited;				/* by --max-overhead */
	struct overhead_finding overhead;
	double started;		/* Unix seconds */
	double collect_seconds; /* what reading the maps took, the last time */
	uint64_t postponed;	/* collects that a busy batch held up */
	uint64_t scrapes;
	bool embedded; /* another exporter hands the document out, beside its own process_* */
};

struct exporter *exporter__open(const struct exporter_options *options);
/* Names, states, ends; now and then a collect, so that the kernel's maps stay small. */
int exporter__poll(struct exporter *exporter);
/* Until the next poll is due: so long, or less. */
void exporter__wait(const struct exporter *exporter, int timeout_ms);

/* A whole document in *text (to be freed); embedded: another exporter hands it out. 0 or -errno. */
int exporter__scrape(struct exporter *exporter, enum exposition_form form, bool embedded,
		     char **text, size_t *size);
void exporter__close(struct exporter *exporter);

/* metrics_families.c: writes all families. */
void families__write(struct exposition *exposition, struct exporter_view *view);

/* Devices that were reported, each once: CUDA ordinal and UUID. Bounded. */
struct exporter_device {
	uint32_t ordinal;
	int gpu; /* its number in struct aggregate_state, -1 = not known */
	char uuid[48];
	char name[72];
	char pci[24];
};

#define EXPORTER_DEVICES 64

struct exporter_devices {
	struct exporter_device device[EXPORTER_DEVICES];
	unsigned int count;
	uint64_t dropped; /* device records beyond the table's limit */
};

#endif
