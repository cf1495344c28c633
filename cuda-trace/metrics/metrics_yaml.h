/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of YAML that configuration files of exporters need: mappings of mappings of scalars.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_YAML_H
#define CUDA_TRACE_METRICS_METRICS_YAML_H

struct yaml_entry {
	const char *section; /* "tls_server_config", "http_server_config.headers", "" at the top */
	const char *key;
	const char *value;
	int line;
};

/* take() for each scalar of the file; what it returns but 0 ends the reading. 0 or -errno, said on
 * stderr unless take() did. */
int yaml__read(const char *path, int (*take)(void *context, const struct yaml_entry *entry),
	       void *context);

#endif
