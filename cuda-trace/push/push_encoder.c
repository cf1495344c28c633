// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/export/export_pprof.h"
#include "cuda-trace/push/push_gzip.h"
#include "cuda-trace/push/push_otlp.h"
#include "cuda-trace/push/push_otlp_metrics.h"
#include "cuda-trace/push/push_parca.h"
#include "cuda-trace/push/push_pyroscope.h"

static const struct {
	const char *word, *path, *type;
} formats[PUSH_FORMATS] = {
	[PUSH_PPROF] = {"pprof", "/ingest", "application/octet-stream"},
	[PUSH_PARCA] = {"parca", "/api/profiles/writeraw", "application/json"},
	[PUSH_OTLP] = {"otlp", "/v1development/profiles", "application/x-protobuf"},
};

struct push_encoder {
	struct push_encoder_options options;
	uint64_t from, until;
	struct push_parca *parca;
	struct push_otlp *otlp;
	uint64_t profiles, kernels, samples; /* in the request that is being made */
};

const char *push_encoder__path(enum push_format format)
{
	return formats[format].path;
}

enum push_format push_encoder__parse(const char *word)
{
	enum push_format format = 0;

	while (format < PUSH_FORMATS && strcmp(formats[format].word, word))
		format++;
	return format;
}

struct push_encoder *push_encoder__new(const struct push_encoder_options *options)
{
	struct push_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->options = *options;
	if (!options->path)
		encoder->options.path = formats[options->format].path;
	return encoder;
}

int push_encoder__begin(struct push_encoder *encoder, uint64_t from, uint64_t until)
{
	encoder->from = from;
	encoder->until = until;
	encoder->profiles = encoder->kernels = encoder->samples = 0;
	if (encoder->options.format == PUSH_PPROF)
		return 0;
	if (encoder->options.format == PUSH_PARCA)
		encoder->parca = push_parca__new();
	else
		encoder->otlp = push_otlp__new(encoder->options.labels, from, until);
	return encoder->parca || encoder->otlp ? 0 : -ENOMEM;
}

/* Takes the body over. */
static int put(struct push_encoder *encoder, const char *target, uint8_t *body, size_t size,
	       uint64_t profiles, uint64_t kernels, uint64_t samples)
{
	struct push_item *item =
		push_item__new(target, formats[encoder->options.format].type, body, size);

	if (!item)
		return -ENOMEM;
	item->profiles = profiles;
	item->kernels = kernels;
	item->samples = samples;
	item->zipped = encoder->options.format == PUSH_OTLP;
	encoder->options.put(encoder->options.context, item);
	return 0;
}

static int put_pyroscope(struct push_encoder *encoder, const struct push_source *source,
			 const struct push_labels *labels, uint8_t *body, size_t size)
{
	const char *service = push_labels__service(encoder->options.labels, source);
	char *target = push_pyroscope__target(encoder->options.path, service, labels, encoder->from,
					      encoder->until);
	int err;

	if (!target) {
		free(body);
		return -ENOMEM;
	}
	err = put(encoder, target, body, size, 1, source->kernels, source->samples);
	free(target);
	return err;
}

static int add_pprof(struct push_encoder *encoder, const struct push_source *source,
		     struct stacks *stacks)
{
	uint8_t *packed = NULL, *zipped = NULL;
	struct push_labels labels;
	size_t size, zipped_size;
	int err = export_pprof__pack(stacks, encoder->from, encoder->until - encoder->from, &packed,
				     &size);

	if (!err)
		err = push_gzip__pack(packed, size, &zipped, &zipped_size);
	free(packed);
	if (err)
		return err;
	push_labels__of(&labels, encoder->options.labels, source);
	if (encoder->options.format == PUSH_PPROF)
		return put_pyroscope(encoder, source, &labels, zipped, zipped_size);
	err = push_parca__add(encoder->parca, push_labels__service(encoder->options.labels, source),
			      &labels, zipped, zipped_size);
	free(zipped);
	return err;
}

int push_encoder__add(struct push_encoder *encoder, const struct push_source *source,
		      struct stacks *stacks)
{
	bool is_otlp = encoder->options.format == PUSH_OTLP;
	int err = is_otlp ? push_otlp__add(encoder->otlp, source, stacks)
			  : add_pprof(encoder, source, stacks);

	if (err)
		return err;
	encoder->profiles += is_otlp ? push_otlp__profiles(stacks) : 1;
	encoder->kernels += source->kernels;
	encoder->samples += source->samples;
	return 0;
}

/* Takes the body over. */
static int put_otlp(struct push_encoder *encoder, const char *path, uint8_t *body, size_t size,
		    uint64_t profiles)
{
	uint8_t *zipped;
	int err = push_gzip__pack(body, size, &zipped, &size);

	free(body);
	return err ? err
		   : put(encoder, path, zipped, size, profiles, profiles ? encoder->kernels : 0,
			 profiles ? encoder->samples : 0);
}

int push_encoder__metrics(struct push_encoder *encoder, const struct push_metrics *metrics)
{
	uint8_t *body;
	size_t size;
	int err = push_otlp_metrics__pack(metrics, encoder->options.labels, encoder->from,
					  encoder->until, &body, &size);

	return err ? err : put_otlp(encoder, "/v1/metrics", body, size, 0);
}

int push_encoder__end(struct push_encoder *encoder)
{
	bool is_otlp = encoder->options.format == PUSH_OTLP;
	uint8_t *body = NULL;
	size_t size = 0;
	int err;

	if (encoder->options.format == PUSH_PPROF)
		return 0;
	err = is_otlp ? push_otlp__end(encoder->otlp, &body, &size)
		      : push_parca__end(encoder->parca, &body, &size);
	encoder->otlp = NULL;
	encoder->parca = NULL;
	if (err || !encoder->profiles) {
		free(body);
		return err;
	}
	return is_otlp ? put_otlp(encoder, encoder->options.path, body, size, encoder->profiles)
		       : put(encoder, encoder->options.path, body, size, encoder->profiles,
			     encoder->kernels, encoder->samples);
}

void push_encoder__free(struct push_encoder *encoder)
{
	free(encoder);
}
