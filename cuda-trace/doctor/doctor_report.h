/* SPDX-License-Identifier: BSD-2-Clause */
/* What the list of libraries means, put into findings. */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_REPORT_H
#define CUDA_TRACE_DOCTOR_DOCTOR_REPORT_H

struct findings;
struct json_object;
struct libraries;
struct library;
struct choice;

/* One finding a file; `chosen` (may be NULL) is marked. */
void report__libraries(const struct libraries *libraries, const struct choice *chosen,
		       struct findings *findings);
/* {"choice": path or null, "cuda": …, "why": …} for the JSON of a finding. */
struct json_object *report__choice_facts(const struct choice *choice);
/* What the library that was chosen is known not to do. */
void report__choice_flaws(const struct choice *choice, struct findings *findings);
/* Folders with cupti.h where no usable library stands: build systems take them for CUPTI. */
void report__headers(const struct libraries *libraries, struct findings *findings);
/* Whether the listing is complete, and if not, what was not seen. */
void report__coverage(const struct libraries *libraries, struct findings *findings);

#endif
