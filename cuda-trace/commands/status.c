// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace status: who has opted in, and whether programs started here load the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/optin/cdi.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/optin/optin.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/base/managed_file.h"
#include "cuda-trace/optin/systemd_dropin.h"
#include "cuda-trace/base/text.h"

struct status_options {
	bool json;
};

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Output", 0},
	{OPTION_FLAG, 'j', "json", NULL, "one JSON object", offsetof(struct status_options, json)},
	{},
};

static const struct option_usage usage = {
	.command = "status",
	.summary = "Shows who has opted in, and whether programs started here load the library.",
	.synopsis = (const char *const[]){"[--json]", NULL},
	.tables = (const struct option_row *const[]){rows, NULL},
	.examples = "  cuda-trace status\n",
};

struct status {
	enum optin_state user;
	bool system, off, known, profile, cdi;
	const char *value; /* of CUDA_INJECTION64_PATH here, untrusted; NULL = not set */
	char agent[PATH_MAX];
};

static void read_status(struct status *status)
{
	status->user = optin__user();
	status->system = optin__system(NULL);
	status->off = optin__off();
	status->known = optin__agent(NULL, status->agent);
	status->profile = !access(OPTIN_PROFILE, R_OK);
	status->cdi = managed_file__check(NULL, CDI_PATH) != 0;
	status->value = getenv(OPTIN_VARIABLE);
}

/* X(enumerator, stable key, text) */
#define VERDICTS(X)                                                                                \
	X(OFF, "off", "CUDA_TRACE=off: programs started from here leave the library idle.")        \
	X(OTHER, "other", "Another library is injected here; it is not changed.")                  \
	X(NOT_FOUND, "not_found",                                                                  \
	  OPTIN_VARIABLE " is set here, but the loader finds no such library:\n"                   \
			 "programs started from here do not load it.")                             \
	X(LOADED, "loaded", "Programs started from here load the library.")                        \
	X(MISSING, "missing", "The library is not installed: install the package libcupti-usdt.")  \
	X(NO_LOGIN_SCRIPT, "no_login_script",                                                      \
	  "It is enabled, but has no effect on logins: " OPTIN_PROFILE " is not installed.")       \
	X(NEXT_LOGIN, "next_login", "Programs load the library from the next login on.")           \
	X(NOT_ENABLED, "not_enabled",                                                              \
	  "Only programs started by `cuda-trace stat -- PROGRAM` and the like load the library;\n" \
	  "`cuda-trace enable` changes that.")                                                     \
	X(NOT_INSTALLED, "not_enabled",                                                            \
	  "Only programs started by `cuda-trace stat -- PROGRAM` and the like load the library;\n" \
	  "`cuda-trace enable` changes that once " OPTIN_PROFILE " is installed.")

enum verdict {
#define VERDICT_ENUMERATOR(name, key, text) VERDICT_##name,
	VERDICTS(VERDICT_ENUMERATOR)
#undef VERDICT_ENUMERATOR
};

static const char *const verdict_keys[] = {
#define VERDICT_KEY(name, key, text) key,
	VERDICTS(VERDICT_KEY)
#undef VERDICT_KEY
};

static const char *const verdict_texts[] = {
#define VERDICT_TEXT(name, key, text) text,
	VERDICTS(VERDICT_TEXT)
#undef VERDICT_TEXT
};

/* CUDA hands the value to dlopen(): a name without a slash is searched for by the loader. */
static bool is_found(const struct status *status)
{
	return strchr(status->value, '/') ? !access(status->value, R_OK) : status->known;
}

static enum verdict verdict_of(const struct status *status)
{
	if (status->value && !optin__ours(status->value))
		return VERDICT_OTHER;
	if (status->off)
		return VERDICT_OFF;
	if (status->value)
		return is_found(status) ? VERDICT_LOADED : VERDICT_NOT_FOUND;
	if (!*status->agent)
		return VERDICT_MISSING;
	if (status->user == OPTIN_ENABLED || (status->user == OPTIN_UNSET && status->system))
		return status->profile ? VERDICT_NEXT_LOGIN : VERDICT_NO_LOGIN_SCRIPT;
	return status->profile ? VERDICT_NOT_ENABLED : VERDICT_NOT_INSTALLED;
}

static void print_unit(void *context, const char *unit)
{
	char shown[1100];

	printf("service     enabled: %s\n", text__show(shown, sizeof(shown), unit, 0));
}

static void print_text(const struct status *status)
{
	static const char *const users[] = {"not set", "enabled", "disabled"};
	char shown[4 * 100 + 4];

	printf("user        %s\n", users[status->user]);
	printf("system      %s\n", status->system ? "enabled" : "not enabled");
	printf("here        " OPTIN_VARIABLE " is %s%s\n",
	       status->value ? text__show(shown, sizeof(shown), status->value, 100) : "not set",
	       status->off ? ", CUDA_TRACE=off is set" : "");
	printf("library     %s%s\n", *status->agent ? status->agent : "not installed",
	       !*status->agent ? ""
	       : status->known ? ", known to the loader"
			       : ", not known to the loader (sudo ldconfig)");
	printf("logins      %s\n",
	       status->profile ? OPTIN_PROFILE : OPTIN_PROFILE " is not installed");
	service__each(print_unit, NULL);
	printf("containers  %s\n", status->cdi ? CDI_PATH : "not enabled");
	printf("\n%s\n", verdict_texts[verdict_of(status)]);
}

static void print_unit_json(void *context, const char *unit)
{
	bool *first = context;

	if (!*first)
		printf(", ");
	*first = false;
	text__write_json(stdout, unit);
}

static void print_string(const char *key, const char *value)
{
	printf("\"%s\": ", key);
	if (value)
		text__write_json(stdout, value);
	else
		printf("null");
	printf(", ");
}

static void print_json(const struct status *status)
{
	static const char *const users[] = {NULL, "enabled", "disabled"};
	bool first = true;

	printf("{");
	print_string("verdict", verdict_keys[verdict_of(status)]);
	print_string("user", users[status->user]);
	printf("\"system\": %s, \"off\": %s, ", status->system ? "true" : "false",
	       status->off ? "true" : "false");
	print_string("injection", status->value);
	print_string("library", *status->agent ? status->agent : NULL);
	printf("\"loader\": %s, \"profile\": %s, \"cdi\": %s, \"services\": [",
	       status->known ? "true" : "false", status->profile ? "true" : "false",
	       status->cdi ? "true" : "false");
	service__each(print_unit_json, &first);
	printf("]}\n");
}

int cmd_status(int argc, char **argv)
{
	struct status_options options = {};
	struct status status;
	int exit_status;

	if (!options__parse_alone(&usage, &options, argc, argv, &exit_status))
		return exit_status;
	read_status(&status);
	if (options.json)
		print_json(&status);
	else
		print_text(&status);
	return EXIT_OK;
}
