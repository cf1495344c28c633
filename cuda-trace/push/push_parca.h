/* SPDX-License-Identifier: BSD-2-Clause */
/* Parca's WriteRaw through its JSON gateway: labels and base64 of pprof files. */
#ifndef CUDA_TRACE_PUSH_PUSH_PARCA_H
#define CUDA_TRACE_PUSH_PUSH_PARCA_H

#include "cuda-trace/push/push_labels.h"

struct push_parca;

struct push_parca *push_parca__new(void);
int push_parca__add(struct push_parca *parca, const char *service, const struct push_labels *labels,
		    const uint8_t *pprof, size_t size);
/* Frees it; the body is the caller's. */
int push_parca__end(struct push_parca *parca, uint8_t **body, size_t *size);

#endif
