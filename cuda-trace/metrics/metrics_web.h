/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The web configuration file of Prometheus exporters (exporter-toolkit's format): TLS, basic
 * authentication, headers. What this version does not know is refused, never ignored.
 */
#ifndef CUDA_TRACE_METRICS_METRICS_WEB_H
#define CUDA_TRACE_METRICS_METRICS_WEB_H

#include <stdbool.h>

struct web_config;

enum web_answer {
	WEB_ALLOWED,
	WEB_DENIED,
	WEB_BUSY,    /* too many passwords are being checked, or the file has just changed */
	WEB_UNKNOWN, /* only web_config__lookup(): the password has to be hashed */
};

/* Reads the file; NULL after one line on stderr. */
struct web_config *web_config__open(const char *path);
void web_config__close(struct web_config *config);

/* PEM texts, or NULL: no TLS. min_tls: 10, 11, 12 or 13. Fixed until restart. */
const char *web_config__certificate(const struct web_config *config);
const char *web_config__key(const struct web_config *config);
int web_config__min_tls(const struct web_config *config);

/* Reads the file again if it has changed. False: it is not usable (said once on stderr). */
bool web_config__refresh(struct web_config *config);
/* What can be said at once; from any thread. user and password may be NULL. */
enum web_answer web_config__lookup(struct web_config *config, const char *user,
				   const char *password);
/* Takes some 100 ms where the password has to be hashed; from any thread. */
enum web_answer web_config__check(struct web_config *config, const char *user,
				  const char *password);
/* each() for every header that all answers carry. */
void web_config__each_header(struct web_config *config,
			     void (*each)(void *context, const char *name, const char *value),
			     void *context);

#endif
