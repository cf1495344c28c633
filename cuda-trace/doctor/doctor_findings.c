// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gathers and writes what the doctor found. Called by all of the doctor; one thread.
 */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/text.h"

struct finding {
	enum severity severity;
	char *key;
	char *text;
	char *fix;		   /* NULL = no fix */
	struct json_object *facts; /* NULL = none */
};

struct advice {
	char *title;
	char *lines;
};

struct findings {
	char *subject;
	struct finding *list;
	size_t count;
	struct advice *advice;
	size_t advice_count;
};

/* Names of files and processes come along in every text. */
static char *printable(const char *text)
{
	size_t size = 4 * strlen(text) + 4;
	char *copy = malloc(size);

	if (copy)
		text__show(copy, size, text, 0);
	return copy;
}

static const char *const severity_names[] = {"ok", "note", "problem"};

struct findings *findings__new(const char *subject)
{
	struct findings *findings = calloc(1, sizeof(*findings));

	if (findings)
		findings->subject = printable(subject);
	return findings;
}

void findings__free(struct findings *findings)
{
	size_t i;

	if (!findings)
		return;
	for (i = 0; i < findings->count; i++) {
		free(findings->list[i].key);
		free(findings->list[i].text);
		free(findings->list[i].fix);
		json_object_put(findings->list[i].facts);
	}
	for (i = 0; i < findings->advice_count; i++) {
		free(findings->advice[i].title);
		free(findings->advice[i].lines);
	}
	free(findings->list);
	free(findings->advice);
	free(findings->subject);
	free(findings);
}

static void add(struct findings *findings, enum severity severity, const char *key, const char *fix,
		struct json_object *facts, const char *format, va_list args)
{
	struct finding *finding;
	char *text;

	if (!array_grow__counted(findings->list, findings->count) ||
	    vasprintf(&text, format, args) < 0) {
		json_object_put(facts);
		return;
	}
	finding = &findings->list[findings->count++];
	finding->severity = severity;
	finding->key = strdup(key);
	finding->text = printable(text);
	finding->fix = fix ? printable(fix) : NULL;
	finding->facts = facts;
	free(text);
}

void findings__add(struct findings *findings, enum severity severity, const char *key,
		   const char *fix, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(findings, severity, key, fix, NULL, format, args);
	va_end(args);
}

void findings__add_facts(struct findings *findings, enum severity severity, const char *key,
			 const char *fix, struct json_object *facts, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(findings, severity, key, fix, facts, format, args);
	va_end(args);
}

void findings__advise(struct findings *findings, const char *title, const char *lines)
{
	struct advice *advice;

	if (!array_grow__counted(findings->advice, findings->advice_count))
		return;
	advice = &findings->advice[findings->advice_count++];
	advice->title = printable(title);
	advice->lines = strdup(lines);
}

unsigned int findings__count(const struct findings *findings, enum severity severity)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < findings->count; i++)
		n += findings->list[i].severity == severity;
	return n;
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

static void verdict_text(const struct findings *findings, char *out, size_t size)
{
	unsigned int problems = findings__count(findings, FINDING_PROBLEM);
	unsigned int notes = findings__count(findings, FINDING_NOTE);

	if (problems)
		snprintf(out, size, "%u problem%s, %u note%s", problems, plural(problems), notes,
			 plural(notes));
	else
		snprintf(out, size, "no problem, %u note%s", notes, plural(notes));
}

/* Each line escaped by itself: the line breaks are ours. */
static void write_lines(const char *lines, FILE *out)
{
	char *line, *shown;
	size_t n;

	while (*lines) {
		n = strcspn(lines, "\n");
		line = strndup(lines, n);
		shown = line ? printable(line) : NULL;
		fprintf(out, n ? "    %s\n" : "%s\n", shown ?: "");
		free(shown);
		free(line);
		lines += n + (lines[n] == '\n');
	}
}

/* What stands in the way comes first, what is well last. */
void findings__write_text(const struct findings *findings, FILE *out)
{
	const struct finding *finding;
	char verdict[80];
	int severity;
	size_t i;

	verdict_text(findings, verdict, sizeof(verdict));
	fprintf(out, "%s: %s\n", findings->subject, verdict);
	for (severity = FINDING_PROBLEM; severity >= FINDING_OK; severity--) {
		for (i = 0; i < findings->count; i++) {
			finding = &findings->list[i];
			if ((int)finding->severity != severity)
				continue;
			fprintf(out, "%-8s %s", severity_names[severity], finding->text);
			fprintf(out, finding->fix ? " | fix: %s\n" : "\n", finding->fix);
		}
	}
	for (i = 0; i < findings->advice_count; i++) {
		fprintf(out, "\n%s\n", findings->advice[i].title);
		write_lines(findings->advice[i].lines, out);
	}
}

static void write_object(struct json_object *object, FILE *out)
{
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

static void add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value ? json_object_new_string(value) : NULL);
}

static void write_finding(const struct finding *finding, FILE *out)
{
	struct json_object *object = json_object_new_object();

	add_string(object, "type", "finding");
	add_string(object, "severity", severity_names[finding->severity]);
	add_string(object, "key", finding->key);
	add_string(object, "text", finding->text);
	add_string(object, "fix", finding->fix);
	if (finding->facts)
		json_object_object_add(object, "facts", json_object_get(finding->facts));
	write_object(object, out);
}

static struct json_object *line_array(const char *lines)
{
	struct json_object *array = json_object_new_array();
	char *line, *shown;
	size_t n;

	for (; *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		line = strndup(lines, n);
		shown = line ? printable(line) : NULL;
		json_object_array_add(array, json_object_new_string(shown ?: ""));
		free(shown);
		free(line);
	}
	return array;
}

void findings__write_json(const struct findings *findings, FILE *out)
{
	struct json_object *object = json_object_new_object();
	char verdict[80];
	size_t i;

	verdict_text(findings, verdict, sizeof(verdict));
	add_string(object, "type", "verdict");
	add_string(object, "subject", findings->subject);
	add_string(object, "text", verdict);
	json_object_object_add(object, "problems",
			       json_object_new_int(findings__count(findings, FINDING_PROBLEM)));
	json_object_object_add(object, "notes",
			       json_object_new_int(findings__count(findings, FINDING_NOTE)));
	write_object(object, out);
	for (i = 0; i < findings->count; i++)
		write_finding(&findings->list[i], out);
	for (i = 0; i < findings->advice_count; i++) {
		object = json_object_new_object();
		add_string(object, "type", "advice");
		add_string(object, "title", findings->advice[i].title);
		json_object_object_add(object, "lines", line_array(findings->advice[i].lines));
		write_object(object, out);
	}
}

const char *shell_word(const char *text, char *out, size_t size)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:=@,";
	size_t n = 0;

	if (*text && !text[strspn(text, plain)]) {
		snprintf(out, size, "%s", text);
		return out;
	}
	out[n++] = '\'';
	for (; *text && n + 6 < size; text++) {
		if (*text == '\'')
			n += sprintf(out + n, "'\\''");
		else
			out[n++] = *text;
	}
	snprintf(out + n, size - n, "'");
	return out;
}
