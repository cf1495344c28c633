// SPDX-License-Identifier: BSD-2-Clause
/*
 * Says what was found of libcupti, a line a file. Called by cmd_doctor; one thread.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/inventory/packages.h"
#include "cuda-trace/doctor/doctor_report.h"
#include "cuda-trace/base/text.h"

/* cuptiGetVersion() of CUDA 12.9 and its Update 1. */
#define API_12_9   27
#define API_12_9_1 28

static void add_text(struct json_object *object, const char *key, const char *text)
{
	char shown[4 * FILETREE_PATH_MAX + 4];

	json_object_object_add(
		object, key,
		text && *text ? json_object_new_string(text__show(shown, sizeof(shown), text, 0))
			      : NULL);
}

static struct json_object *library_facts(const struct library *library, bool chosen)
{
	static const char *const hows[] = {"unknown", "asked", "read from its code"};
	struct json_object *facts = json_object_new_object(), *names = json_object_new_array();
	char cuda[16], shown[4 * FILETREE_PATH_MAX + 4];
	size_t i;

	add_text(facts, "path", library->path);
	add_text(facts, "real", library->real);
	for (i = 0; i < library->name_count; i++)
		json_object_array_add(names, json_object_new_string(text__show(
						     shown, sizeof(shown), library->names[i], 0)));
	json_object_object_add(facts, "names", names);
	add_text(facts, "source", library__source_key(library->source));
	add_text(facts, "verdict", library__verdict_key(library->verdict));
	add_text(facts, "soname", library->elf.soname);
	add_text(facts, "cuda", library->cuda_major ? library__cuda(library, cuda) : NULL);
	json_object_object_add(facts, "api",
			       library->api ? json_object_new_int64(library->api) : NULL);
	add_text(facts, "api_how", hows[library->how]);
	add_text(facts, "machine",
		 library->elf.machine ? elf__machine_name(library->elf.machine) : NULL);
	add_text(facts, "package", library->owner);
	json_object_object_add(facts, "bytes", json_object_new_int64(library->size));
	json_object_object_add(facts, "chosen", json_object_new_boolean(chosen));
	return facts;
}

struct json_object *report__choice_facts(const struct choice *choice)
{
	struct json_object *facts = json_object_new_object();
	char cuda[16];

	add_text(facts, "choice", choice->path);
	add_text(facts, "cuda", choice->found ? library__cuda(choice->found, cuda) : NULL);
	add_text(facts, "why", choice->why);
	return facts;
}

/* See libcupti-usdt/control/graph_workarounds.h. */
void report__choice_flaws(const struct choice *choice, struct findings *findings)
{
	if (choice->found->api == API_12_9 || choice->found->api == API_12_9_1)
		findings__add(findings, FINDING_NOTE, "graphs",
			      "set CUDA_TRACE_LIBCUPTI to CUDA 12.8's or, with driver 580, that of "
			      "13.0 Update 1",
			      "programs that launch graphs get no GPU times with CUPTI 12.9, which "
			      "breaks them (CUDA error 719)");
}

static void describe(const struct library *library, char *out, size_t size)
{
	char cuda[16], api[48] = "", machine[48] = "";

	if (library->api)
		snprintf(api, sizeof(api), " (API %u)", library->api);
	if (library->verdict == LIBRARY_WRONG_MACHINE)
		snprintf(machine, sizeof(machine), ", %s", elf__machine_name(library->elf.machine));
	if (!library->cuda_major && !*library->owner)
		snprintf(out, size, "%s%s", library__source_text(library->source), machine);
	else
		snprintf(out, size, "CUDA %s%s%s, %s%s%s", library__cuda(library, cuda), api,
			 machine, library__source_text(library->source),
			 *library->owner ? ", " : "", library->owner);
}

static void report_library(const struct library *library, const struct choice *chosen,
			   struct findings *findings)
{
	bool is_chosen = chosen && chosen->found == library;
	bool usable = library->verdict == LIBRARY_USABLE;
	struct json_object *facts = library_facts(library, is_chosen);
	char text[512];

	describe(library, text, sizeof(text));
	findings__add_facts(findings, usable ? FINDING_OK : FINDING_NOTE, "library", NULL, facts,
			    "%s: %s: %s%s%s", library->real ?: library->path,
			    library__verdict_text(library->verdict), text,
			    is_chosen ? "; the injection library's choice: " : "",
			    is_chosen ? chosen->why : "");
}

/* Nsight has a copy for each CUDA that there ever was: one line a folder of them. */
static void report_private(const struct libraries *libraries, size_t first, bool seen[],
			   struct findings *findings)
{
	const char *path = libraries->list[first]->path;
	struct json_object *facts = json_object_new_object(), *files = json_object_new_array();
	int n = strrchr(path, '/') - path;
	unsigned int count = 0;
	size_t i;

	for (i = first; i < libraries->count; i++) {
		if (libraries->list[i]->verdict != LIBRARY_PRIVATE ||
		    strncmp(libraries->list[i]->path, path, n + 1) ||
		    strchr(libraries->list[i]->path + n + 1, '/'))
			continue;
		seen[i] = true;
		count++;
		json_object_array_add(files, library_facts(libraries->list[i], false));
	}
	json_object_object_add(facts, "files", files);
	findings__add_facts(findings, FINDING_NOTE, "library_private", NULL, facts,
			    "%.*s: %u cop%s of libcupti private to Nsight, not for other programs",
			    n, path, count, count == 1 ? "y" : "ies");
}

void report__libraries(const struct libraries *libraries, const struct choice *chosen,
		       struct findings *findings)
{
	bool *seen = calloc(libraries->count + 1, sizeof(*seen));
	size_t i;

	for (i = 0; seen && i < libraries->count; i++) {
		if (libraries->list[i]->verdict != LIBRARY_PRIVATE)
			report_library(libraries->list[i], chosen, findings);
		else if (!seen[i])
			report_private(libraries, i, seen, findings);
	}
	free(seen);
}

/* The toolkit or wheel that a header belongs to: what stands before /include/ or /targets/. */
static size_t prefix_length(const char *header)
{
	const char *end = strstr(header, "/extras/CUPTI/");

	end = end ?: strstr(header, "/targets/");
	end = end ?: strstr(header, "/include/");
	return end ? end - header : 0;
}

static bool has_library(const struct libraries *libraries, const char *prefix, size_t n)
{
	const struct library *library;
	size_t i;

	for (i = 0; i < libraries->count; i++) {
		library = libraries->list[i];
		if (library->verdict != LIBRARY_USABLE)
			continue;
		/* Headers in /usr/include go with a library anywhere below /usr/lib. */
		if (!strncmp(library->path, prefix, n) ||
		    (library->real && !strncmp(library->real, prefix, n)))
			return true;
	}
	return false;
}

void report__headers(const struct libraries *libraries, struct findings *findings)
{
	const char *header;
	size_t i, n;

	for (i = 0; i < libraries->header_count; i++) {
		header = libraries->headers[i];
		n = prefix_length(header);
		if (!n || has_library(libraries, header, n))
			continue;
		findings__add(findings, FINDING_NOTE, "header_without_library", NULL,
			      "%s exists, but there is no libcupti below %.*s: build systems that "
			      "check only the header (as PyTorch's does) report that they found "
			      "CUPTI, but the program lacks it",
			      header, (int)n, header);
	}
}

static void report_packages(const struct libraries *libraries, struct findings *findings)
{
	const char *untold = libraries->packages ? packages__untold(libraries->packages) : NULL;

	if (untold)
		findings__add(findings, FINDING_NOTE, "packages_untold", NULL,
			      "files are listed without their packages: %s", untold);
}

void report__coverage(const struct libraries *libraries, struct findings *findings)
{
	const struct filetree *tree = libraries->tree;
	char fix[FILETREE_PATH_MAX + 64], word[FILETREE_PATH_MAX];

	report_packages(libraries, findings);
	if (tree->own)
		snprintf(fix, sizeof(fix), "cuda-trace doctor --deep");
	else
		snprintf(fix, sizeof(fix), "cuda-trace doctor --deep --root %s",
			 shell_word(tree->name, word, sizeof(word)));
	if (tree->cut || tree->incomplete)
		findings__add(findings, FINDING_NOTE, "search_cut", fix,
			      "the search stopped after %llu names to finish in time: the list may "
			      "be incomplete",
			      (unsigned long long)tree->entries);
	else if (tree->partial)
		findings__add(findings, FINDING_NOTE, "search_partial", fix,
			      "folders with very many files were not searched completely");
	if (libraries->crowded)
		findings__add(findings, FINDING_NOTE, "search_crowded", NULL,
			      "only the first %zu files are listed: no real system has so many",
			      libraries->count);
	if (tree->denied)
		findings__add(findings, FINDING_NOTE, "search_denied",
			      geteuid() ? "run it with sudo" : NULL,
			      "%llu folder%s of other users could not be searched",
			      (unsigned long long)tree->denied, tree->denied == 1 ? "" : "s");
}
