// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace enable, cuda-trace disable: opting in and out, for a user, the system, a service, or
 * containers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/optin/cdi.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/optin/optin_howto.h"
#include "cuda-trace/optin/optin.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/base/managed_file.h"
#include "cuda-trace/optin/systemd_dropin.h"

struct optin_options {
	bool system;
	bool cdi;
	const char *service;
	const char *root;
	const char *howto;
};

#define AT(field) offsetof(struct optin_options, field)

#define SCOPE_ROWS                                                                              \
	{OPTION_HEADING, 0, NULL, NULL, "For whom (default: this user)", 0},                    \
		{OPTION_FLAG, 0, "system", NULL, "all users of this machine", AT(system)},      \
		{OPTION_TEXT, 0, "service", "UNIT", "one systemd service", AT(service)},        \
		{OPTION_FLAG, 0, "cdi", NULL, "containers, by a CDI specification", AT(cdi)},   \
	{                                                                                       \
		OPTION_TEXT, 0, "root", "DIR", "with the above: in the system image below DIR", \
			AT(root)                                                                \
	}

static const struct option_row enable_rows[] = {
	SCOPE_ROWS,
	{OPTION_HEADING, 0, NULL, NULL, "Programs that none of these reaches", 0},
	{OPTION_WORD, 0, "howto", "TOPIC",
	 "print instructions for slurm, cron, docker,\nkubernetes, desktop or zsh", AT(howto)},
	{OPTION_VALUES, 0, NULL, NULL, HOWTO_TOPICS, 0},
	{},
};
static const struct option_row disable_rows[] = {SCOPE_ROWS, {}};

static const struct option_usage enable_usage = {
	.command = "enable",
	.summary = "Makes CUDA programs load the injection library, from the next login on.",
	.synopsis = (const char *const[]){"[--system | --service UNIT | --cdi] [--root DIR]",
					  "--howto TOPIC", NULL},
	.tables = (const struct option_row *const[]){enable_rows, NULL},
	.examples = "  cuda-trace enable\n"
		    "  sudo cuda-trace enable --service jupyterhub\n"
		    "  sudo cuda-trace enable --cdi\n",
};

static const struct option_usage disable_usage = {
	.command = "disable",
	.summary = "Undoes cuda-trace enable, and excludes this user from --system.",
	.synopsis = (const char *const[]){"[--system | --service UNIT | --cdi] [--root DIR]", NULL},
	.tables = (const struct option_row *const[]){disable_rows, NULL},
	.examples = "  cuda-trace disable\n"
		    "  sudo cuda-trace disable --system\n",
};

static int explain(const char *path, int err)
{
	fprintf(stderr, "cuda-trace: %s: %s%s\n", path, managed_file__reason(err),
		err == -EACCES || err == -EPERM ? " (root can: sudo cuda-trace ...)" : "");
	return err;
}

static int write_or_explain(const char *root, const char *path, const char *text)
{
	int err = managed_file__write(root, path, text);

	return err ? explain(path, err) : 0;
}

/* The file may also have been made by hand, by `touch`: what counts is that it exists. */
static int drop_user(const char *name)
{
	char path[PATH_MAX];
	int err = optin__user_path(name, path) ? 0 : managed_file__drop(path);

	return err ? explain(path, err) : 0;
}

static int set_user(const char *name, const char *other, const char *text)
{
	char path[PATH_MAX];
	int err = optin__user_path(name, path);

	if (err)
		return explain("the user's home", err);
	/* Another one's (-EEXIST) is one made by hand. */
	err = managed_file__check(NULL, path);
	if (err < 0 && err != -EEXIST)
		return explain(path, err);
	if (!err && (err = write_or_explain(NULL, path, text)))
		return err;
	return drop_user(other);
}

/* What stands between the opt-in and its effect. */
static void warn(const struct optin_options *options)
{
	const char *value = getenv(OPTIN_VARIABLE), *shell = getenv("SHELL");
	char agent[PATH_MAX];
	bool known = optin__agent(options->root, agent);

	fflush(stdout);
	if (!*agent)
		fprintf(stderr, "note: the library is not installed: install the package "
				"libcupti-usdt\n");
	else if (!known)
		fprintf(stderr,
			"note: the loader does not find %s by its name yet: run ldconfig as root\n",
			agent);
	if (options->root)
		return;
	if (access(OPTIN_PROFILE, R_OK))
		fprintf(stderr, "note: " OPTIN_PROFILE " is not there: install the package "
				"cuda-trace, or see cuda-trace enable --howto\n");
	if (optin__off())
		fprintf(stderr, "note: CUDA_TRACE=off is set here and takes precedence\n");
	if (value && !optin__ours(value))
		fprintf(stderr, "note: " OPTIN_VARIABLE
				" is already set here, to another library, and is not changed\n");
	if (shell && strlen(shell) > 4 && !strcmp(shell + strlen(shell) - 4, "/zsh") &&
	    access("/etc/zprofile", F_OK))
		fprintf(stderr, "note: zsh may not read /etc/profile.d: see cuda-trace enable "
				"--howto zsh\n");
}

/* An image's logins are nobody's yet. */
static void print_enabled(const char *whom, const struct optin_options *options)
{
	if (options->root || !access(OPTIN_PROFILE, R_OK))
		printf("Enabled for %s: CUDA programs load the library from the next login on%s\n",
		       whom, options->root ? "." : "; in this shell:\n  . " OPTIN_PROFILE);
	else
		printf("Enabled for %s, but without effect so far: no login shell reads it.\n",
		       whom);
}

static int enable_user(const struct optin_options *options)
{
	const char *sudo = getenv("SUDO_USER");

	if (set_user("enabled", "disabled", "; cuda-trace disable removes it.\n"))
		return -EIO;
	print_enabled("this user", options);
	if (!geteuid() && sudo && strcmp(sudo, "root"))
		fprintf(stderr, "note: this user is root; to enable it for your own programs run "
				"it without sudo, for all users with --system\n");
	warn(options);
	return 0;
}

static int enable_system(const struct optin_options *options)
{
	if (!optin__system(options->root) &&
	    write_or_explain(options->root, OPTIN_SYSTEM,
			     " --system; cuda-trace disable --system removes it.\n"))
		return -EIO;
	print_enabled("all users", options);
	printf("Users who do not want it can run `cuda-trace disable`.\n");
	warn(options);
	return 0;
}

static int disable_user(const struct optin_options *options)
{
	if (set_user("disabled", "enabled", "/disable; cuda-trace enable removes it.\n"))
		return -EIO;
	printf("Disabled for this user, from the next login on; in this shell: "
	       "unset " OPTIN_VARIABLE "\n");
	return 0;
}

static int disable_system(const struct optin_options *options)
{
	int err = managed_file__remove(options->root, OPTIN_SYSTEM);

	if (err == -EEXIST && !options->root)
		err = managed_file__drop(OPTIN_SYSTEM);
	if (err && err != -ENOENT)
		return explain(OPTIN_SYSTEM, err);
	printf(err ? "It was not enabled for the system.\n"
		   : "Disabled for the system. It stays enabled for users who enabled it "
		     "themselves.\n");
	return 0;
}

/* 0 = go on, else the exit status. */
static int parse(const struct option_usage *usage, struct optin_options *options, int argc,
		 char **argv, int *status)
{
	int scopes;

	if (!options__parse_alone(usage, options, argc, argv, status))
		return -1;
	scopes = options->system + options->cdi + !!options->service + !!options->howto;
	if (scopes > 1)
		*status = options__misuse(usage, "one of these options at a time");
	else if (options->root && (!scopes || options->howto))
		*status = options__misuse(usage, "--root goes with --system, --service or --cdi");
	else
		return 0;
	return -1;
}

int cmd_enable(int argc, char **argv)
{
	struct optin_options options = {};
	int status, err;

	if (parse(&enable_usage, &options, argc, argv, &status))
		return status;
	if (options.howto)
		return howto__print(options.howto) ? EXIT_USAGE : EXIT_OK;
	if (options.service)
		err = service__enable(options.root, options.service);
	else if (options.cdi)
		err = cdi__enable(options.root);
	else
		err = options.system ? enable_system(&options) : enable_user(&options);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_TROUBLE : EXIT_OK;
}

int cmd_disable(int argc, char **argv)
{
	struct optin_options options = {};
	int status, err;

	if (parse(&disable_usage, &options, argc, argv, &status))
		return status;
	if (options.service)
		err = service__disable(options.root, options.service);
	else if (options.cdi)
		err = cdi__disable(options.root);
	else
		err = options.system ? disable_system(&options) : disable_user(&options);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_TROUBLE : EXIT_OK;
}
