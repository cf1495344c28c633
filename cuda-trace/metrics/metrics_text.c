// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenMetrics 1.0 and text format 0.0.4. Called while a scrape is rendered.
 */
#include "cuda-trace/metrics/metrics_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cuda-trace/metrics/metrics_protobuf.h"

/* The bytes of one valid UTF-8 character at `at`, 0 if there is none. */
static int character_length(const unsigned char *at)
{
	int length = at[0] < 0x80   ? 1
		     : at[0] < 0xc2 ? 0
		     : at[0] < 0xe0 ? 2
		     : at[0] < 0xf0 ? 3
		     : at[0] < 0xf5 ? 4
				    : 0;

	for (int i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and what lies beyond the last plane. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

void metrics_text__write_label(FILE *file, const char *value)
{
	const unsigned char *at = (const unsigned char *)value;

	putc('"', file);
	while (*at) {
		int length = character_length(at);

		if (*at == '\\' || *at == '"')
			fprintf(file, "\\%c", *at);
		else if (*at == '\n')
			fputs("\\n", file);
		else if (!length || *at < 0x20 || *at == 0x7f)
			/* Legal in a label, but no terminal should see it: as text. */
			fprintf(file, "\\\\x%02x", *at);
		else
			fwrite(at, 1, length, file);
		at += length ? length : 1;
	}
	putc('"', file);
}

/* "…;q=0.5" of one element of an Accept header. */
static double quality_of(const char *element, size_t length)
{
	for (const char *at = element; at + 2 < element + length; at++)
		if (*at == ';') {
			at += 1 + strspn(at + 1, " \t");
			if (!strncasecmp(at, "q=", 2))
				return strtod(at + 2, NULL);
		}
	return 1;
}

static bool has_parameter(const char *element, size_t length, const char *parameter)
{
	size_t size = strlen(parameter);

	for (size_t i = 0; i + size <= length; i++)
		if (!strncasecmp(element + i, parameter, size))
			return true;
	return false;
}

static bool is_protobuf(const char *element, size_t length)
{
	static const char type[] = "application/vnd.google.protobuf";

	return length >= sizeof(type) - 1 && !strncasecmp(element, type, sizeof(type) - 1) &&
	       has_parameter(element, length, "proto=io.prometheus.client.MetricFamily") &&
	       has_parameter(element, length, "encoding=delimited");
}

enum exposition_form metrics_text__form(const char *accept)
{
	static const char open[] = "application/openmetrics-text", plain[] = "text/plain";
	double qualities[EXPOSITION_FORMS] = {};
	enum exposition_form best = EXPOSITION_TEXT;

	for (const char *at = accept ? accept : ""; *at;) {
		int form = -1;
		size_t length;

		at += strspn(at, " \t,");
		length = strcspn(at, ",");
		if (is_protobuf(at, length))
			form = EXPOSITION_PROTOBUF;
		else if (!strncasecmp(at, open, sizeof(open) - 1))
			form = EXPOSITION_OPENMETRICS;
		else if (!strncasecmp(at, plain, sizeof(plain) - 1) || !strncmp(at, "*/*", 3))
			form = EXPOSITION_TEXT;
		if (form >= 0 && quality_of(at, length) > qualities[form])
			qualities[form] = quality_of(at, length);
		at += length;
	}
	for (int form = 0; form < EXPOSITION_FORMS; form++)
		if (qualities[form] > 0 && qualities[form] >= qualities[best])
			best = (enum exposition_form)form;
	return best;
}

void exposition__family(struct exposition *exposition, const struct metric *metric)
{
	if (exposition->protobuf)
		metrics_protobuf__end(exposition);
	exposition->metric = metric;
	exposition->announced = false;
}

/* In text format 0.0.4 the head names the sample: the suffix belongs to it. */
static const char *family_suffix(const struct exposition *exposition)
{
	if (exposition->openmetrics)
		return "";
	if (exposition->metric->type == METRIC_COUNTER)
		return "_total";
	return exposition->metric->type == METRIC_INFO ? "_info" : "";
}

static void announce(struct exposition *exposition)
{
	static const char *const types[] = {"counter", "gauge", "histogram", "info"};
	const struct metric *metric = exposition->metric;
	const char *suffix = family_suffix(exposition);
	const char *type = types[metric->type];

	if (exposition->announced)
		return;
	exposition->announced = true;
	if (metric->type == METRIC_INFO && !exposition->openmetrics)
		type = "gauge";
	if (!exposition->openmetrics)
		fprintf(exposition->file, "# HELP %s%s %s\n", metric->name, suffix, metric->help);
	fprintf(exposition->file, "# TYPE %s%s %s\n", metric->name, suffix, type);
	if (!exposition->openmetrics)
		return;
	if (*metric->unit)
		fprintf(exposition->file, "# UNIT %s %s\n", metric->name, metric->unit);
	fprintf(exposition->file, "# HELP %s %s\n", metric->name, metric->help);
}

static void put_name(struct exposition *exposition, const char *suffix, const char *labels,
		     const char *more)
{
	FILE *file = exposition->file;

	announce(exposition);
	exposition->samples++;
	fputs(exposition->metric->name, file);
	fputs(suffix, file);
	if (!*labels && !*more)
		return;
	putc('{', file);
	fputs(labels, file);
	if (*labels && *more)
		putc(',', file);
	fputs(more, file);
	putc('}', file);
}

/* The shortest text that reads back as the same number. */
static void put_double(FILE *file, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fprintf(file, " %s\n", text);
}

static const char *sample_suffix(const struct exposition *exposition)
{
	if (exposition->metric->type == METRIC_COUNTER)
		return "_total";
	return exposition->metric->type == METRIC_INFO ? "_info" : "";
}

static void put_created(struct exposition *exposition, const char *labels, double created)
{
	if (!exposition->openmetrics || !exposition->created || created <= 0 ||
	    exposition->metric->type == METRIC_GAUGE || exposition->metric->type == METRIC_INFO)
		return;
	put_name(exposition, "_created", labels, "");
	fprintf(exposition->file, " %.3f\n", created);
}

void exposition__count(struct exposition *exposition, const char *labels, uint64_t value,
		       double created)
{
	if (exposition->protobuf) {
		metrics_protobuf__value(exposition, sample_suffix(exposition), labels,
					(double)value, created);
		return;
	}
	put_name(exposition, sample_suffix(exposition), labels, "");
	fprintf(exposition->file, " %llu\n", (unsigned long long)value);
	put_created(exposition, labels, created);
}

void exposition__value(struct exposition *exposition, const char *labels, double value,
		       double created)
{
	if (exposition->protobuf) {
		metrics_protobuf__value(exposition, sample_suffix(exposition), labels, value,
					created);
		return;
	}
	put_name(exposition, sample_suffix(exposition), labels, "");
	put_double(exposition->file, value);
	put_created(exposition, labels, created);
}

void exposition__histogram(struct exposition *exposition, const char *labels,
			   const struct exposition_histogram *histogram, double created)
{
	if (exposition->protobuf) {
		metrics_protobuf__histogram(exposition, labels, histogram, created);
		return;
	}
	for (int i = 0; i < histogram->count_of_bounds; i++) {
		char bound[40], le[60];

		/* OpenMetrics wants floats to look like floats: "1.0", not "1". */
		snprintf(bound, sizeof(bound), "%.10g", histogram->bounds[i]);
		snprintf(le, sizeof(le), "le=\"%s%s\"", bound, strpbrk(bound, ".e") ? "" : ".0");
		put_name(exposition, "_bucket", labels, le);
		fprintf(exposition->file, " %llu\n", (unsigned long long)histogram->cumulative[i]);
	}
	put_name(exposition, "_bucket", labels, "le=\"+Inf\"");
	fprintf(exposition->file, " %llu\n", (unsigned long long)histogram->count);
	put_name(exposition, "_count", labels, "");
	fprintf(exposition->file, " %llu\n", (unsigned long long)histogram->count);
	put_name(exposition, "_sum", labels, "");
	put_double(exposition->file, histogram->sum);
	put_created(exposition, labels, created);
}

void exposition__end(struct exposition *exposition)
{
	if (exposition->protobuf)
		metrics_protobuf__end(exposition);
	if (exposition->openmetrics)
		fputs("# EOF\n", exposition->file);
}
