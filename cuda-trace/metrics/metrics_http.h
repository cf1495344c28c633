/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exporter's HTTP server: /metrics, /healthz, a page at /. Clients are bounded in number, in
 * time and in memory.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_HTTP_H
#define CUDA_TRACE_METRICS_METRICS_HTTP_H

struct exporter;
struct http;
struct web_config;

/* listen: "ADDRESS:PORT", "[ADDRESS]:PORT" or ":PORT". Errors are printed on stderr; NULL then. */
struct http *http__start(const char *listen, struct exporter *exporter, struct web_config *config);
/* Cuts off connections that have taken too long or are too many; to be called often. */
void http__sweep(struct http *http);
/* The address in use, as a client would write it. */
const char *http__address(const struct http *http);
void http__stop(struct http *http);

#endif
