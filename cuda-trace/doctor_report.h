/* SPDX-License-Identifier: BSD-2-Clause */
/* What the list of libraries means, put into findings. */
#ifndef CUDA_TRACE_DOCTOR_REPORT_H
#define CUDA_TRACE_DOCTOR_REPORT_H

struct findings;
struct libraries;
struct library;
struct choice;
struct choice_inputs;

/* One finding a file; `chosen` (may be NULL) is marked. */
void report__libraries(const struct libraries *libraries, const struct choice *chosen,
		       struct findings *findings);
/* Folders with cupti.h where no usable library stands: build systems take them for CUPTI. */
void report__headers(const struct libraries *libraries, struct findings *findings);
/* Whether the listing is complete, and if not, what was not seen. */
void report__coverage(const struct libraries *libraries, struct findings *findings);

#endif
