/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the driver API by the name of the runtime's call that does the same. */
#ifndef CUDA_TRACE_EXPORT_EXPORT_RUNTIME_NAMES_H
#define CUDA_TRACE_EXPORT_EXPORT_RUNTIME_NAMES_H

/* NULL: there is none. */
const char *export_runtime_names__of(const char *driver_call);

#endif
