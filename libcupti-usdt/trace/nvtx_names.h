/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of NVTX: of wide characters, of handles (domains, registered strings), of categories. Those
 * that were given before anybody listened are not known. On any thread; takes no lock.
 */
#ifndef LIBCUPTI_USDT_TRACE_NVTX_NAMES_H
#define LIBCUPTI_USDT_TRACE_NVTX_NAMES_H

#include <stdint.h>
#include <wchar.h>

/* Makes memory for them; once, before all others. -errno. */
int nvtx_names__open(void);
/* The id of a cuda:name for a text of wide characters, as UTF-8. */
uint32_t nvtx_names__wide(const wchar_t *text);
/* What a handle stands for, by the id of a cuda:name; 0 = not known. */
void nvtx_names__learn(uint64_t handle, uint32_t name);
uint32_t nvtx_names__of(uint64_t handle);
/* The same for the category of a domain. */
void nvtx_names__learn_category(uint64_t domain, uint32_t category, uint32_t name);
uint32_t nvtx_names__category(uint64_t domain, uint32_t category);

#endif
