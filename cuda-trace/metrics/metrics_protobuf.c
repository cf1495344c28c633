// SPDX-License-Identifier: BSD-2-Clause
/*
 * Field numbers are those of client_model's metrics.proto. A family is kept until its last sample,
 * because its length comes first.
 */
#include "cuda-trace/metrics/metrics_protobuf.h"

#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/array_grow.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2 };
enum type { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };

#define ZERO_THRESHOLD 2.938735877055719e-39 /* 2^-128, as client libraries have */

static void put(struct protobuf *out, const void *data, size_t size)
{
	if (!array_grow__to(out->data, out->capacity, out->size + size)) {
		out->failed = true;
		return;
	}
	if (size)
		memcpy(out->data + out->size, data, size);
	out->size += size;
}

static void put_varint(struct protobuf *out, uint64_t number)
{
	uint8_t bytes[10];
	int count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	put(out, bytes, count);
}

static void put_number(struct protobuf *out, int field, uint64_t number)
{
	put_varint(out, (uint64_t)field << 3 | VARINT);
	put_varint(out, number);
}

static void put_signed(struct protobuf *out, int field, int64_t number)
{
	put_number(out, field, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void put_double(struct protobuf *out, int field, double number)
{
	uint64_t bits;
	uint8_t bytes[8];

	memcpy(&bits, &number, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	put_varint(out, (uint64_t)field << 3 | FIXED64);
	put(out, bytes, sizeof(bytes));
}

static void put_bytes(struct protobuf *out, int field, const void *data, size_t size)
{
	put_varint(out, (uint64_t)field << 3 | BYTES);
	put_varint(out, size);
	put(out, data, size);
}

/* Puts a message into another one, and frees it. */
static void put_message(struct protobuf *out, int field, struct protobuf *message)
{
	put_bytes(out, field, message->data, message->size);
	out->failed |= message->failed;
	free(message->data);
}

static void put_time(struct protobuf *out, int field, double seconds)
{
	struct protobuf time = {};
	uint64_t whole = (uint64_t)seconds;

	put_number(&time, 1, whole);
	put_number(&time, 2, (uint64_t)((seconds - (double)whole) * 1e9));
	put_message(out, field, &time);
}

/* name="value",... as metrics_text__write_label() writes it. */
static const char *put_label(struct protobuf *metric, const char *at)
{
	size_t length = strcspn(at, "=");
	struct protobuf label = {}, value = {};

	put_bytes(&label, 1, at, length);
	for (at += length + 2; *at && *at != '"'; at++) {
		char c = *at;

		if (c == '\\' && at[1])
			c = *++at == 'n' ? '\n' : *at;
		put(&value, &c, 1);
	}
	put_message(&label, 2, &value);
	put_message(metric, 1, &label);
	at += *at == '"';
	return at + (*at == ',');
}

static void begin(struct exposition *exposition, const char *suffix)
{
	static const uint8_t types[] = {TYPE_COUNTER, TYPE_GAUGE, TYPE_HISTOGRAM, TYPE_GAUGE};
	const struct metric *metric = exposition->metric;
	struct protobuf *family = exposition->protobuf, name = {};

	exposition->samples++;
	if (exposition->announced)
		return;
	exposition->announced = true;
	family->size = 0;
	put(&name, metric->name, strlen(metric->name));
	put(&name, suffix, strlen(suffix));
	put_message(family, 1, &name);
	put_bytes(family, 2, metric->help, strlen(metric->help));
	put_number(family, 3, types[metric->type]);
}

static void put_labels(struct protobuf *metric, const char *labels)
{
	while (*labels)
		labels = put_label(metric, labels);
}

void metrics_protobuf__value(struct exposition *exposition, const char *suffix, const char *labels,
			     double value, double created)
{
	bool counter = exposition->metric->type == METRIC_COUNTER;
	struct protobuf metric = {}, number = {};

	begin(exposition, suffix);
	put_labels(&metric, labels);
	put_double(&number, 1, value);
	if (counter && exposition->created && created > 0)
		put_time(&number, 3, created);
	put_message(&metric, counter ? 3 : 2, &number);
	put_message(exposition->protobuf, 4, &metric);
}

static void put_buckets(struct protobuf *out, const struct exposition_histogram *histogram)
{
	for (int i = 0; i < histogram->count_of_bounds; i++) {
		struct protobuf bucket = {};

		put_number(&bucket, 1, histogram->cumulative[i]);
		put_double(&bucket, 2, histogram->bounds[i]);
		put_message(out, 3, &bucket);
	}
}

static void put_span(struct protobuf *out, int offset, int length)
{
	struct protobuf span = {};

	put_signed(&span, 1, offset);
	put_number(&span, 2, (uint64_t)length);
	put_message(out, 12, &span);
}

/* Powers of two: schema 0. Spans are runs of buckets that have values, and each bucket is the
 * difference to the one before it. */
static void put_native(struct protobuf *out, const struct exposition_histogram *histogram)
{
	int end = 0;
	int64_t before = 0;

	put_signed(out, 5, 0);
	put_double(out, 6, ZERO_THRESHOLD);
	put_number(out, 7, 0);
	for (int i = 0; i < histogram->power_count;) {
		int first = i;

		while (i < histogram->power_count && histogram->powers[i])
			i++;
		if (i > first) {
			put_span(out, end ? first - end : first + histogram->first_power,
				 i - first);
			end = i;
		} else {
			i++;
		}
	}
	for (int i = 0; i < histogram->power_count; i++)
		if (histogram->powers[i]) {
			put_signed(out, 13, (int64_t)histogram->powers[i] - before);
			before = (int64_t)histogram->powers[i];
		}
}

void metrics_protobuf__histogram(struct exposition *exposition, const char *labels,
				 const struct exposition_histogram *histogram, double created)
{
	struct protobuf metric = {}, out = {};

	begin(exposition, "");
	put_labels(&metric, labels);
	put_number(&out, 1, histogram->count);
	put_double(&out, 2, histogram->sum);
	put_buckets(&out, histogram);
	if (histogram->powers)
		put_native(&out, histogram);
	if (exposition->created && created > 0)
		put_time(&out, 15, created);
	put_message(&metric, 7, &out);
	put_message(exposition->protobuf, 4, &metric);
}

void metrics_protobuf__end(struct exposition *exposition)
{
	struct protobuf *family = exposition->protobuf, length = {};

	if (!exposition->announced)
		return;
	exposition->announced = false;
	put_varint(&length, family->size);
	if (!family->failed && !length.failed) {
		fwrite(length.data, 1, length.size, exposition->file);
		fwrite(family->data, 1, family->size, exposition->file);
	}
	free(length.data);
}
