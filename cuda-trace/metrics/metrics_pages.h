/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Documents for clients, of which many may ask at a time: one is made for all who ask within a
 * short time.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_PAGES_H
#define CUDA_TRACE_METRICS_METRICS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda-trace/metrics/metrics_text.h"

struct exporter;
struct pages;

struct page {
	const char *text;
	size_t size;
	bool packed; /* gzip */
};

struct pages *pages__new(struct exporter *exporter);
/* Accepts NULL. Every page was put back. */
void pages__free(struct pages *pages);
/* To be put back when it was sent. NULL: no memory. *age: 0, or how long ago it was made, in ns,
 * because none can be made while so many are being sent. Any thread. */
const struct page *pages__get(struct pages *pages, enum exposition_form form, bool packed,
			      uint64_t *age);
/* So many are being sent that no newer one can be made, of one form at least. */
bool pages__crowded(struct pages *pages);
void pages__put(struct pages *pages, const struct page *page);

#endif
