// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace doctor: why something is missing, and the one command that fixes it. Read-only.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/inventory/driver_inventory.h"
#include "cuda-trace/inventory/elf_reader.h"
#include "cuda-trace/doctor/doctor_driver.h"
#include "cuda-trace/doctor/doctor_examine.h"
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_image.h"
#include "cuda-trace/doctor/doctor_kernel.h"
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/doctor/doctor_injection.h"
#include "cuda-trace/inventory/packages.h"
#include "cuda-trace/doctor/doctor_process.h"
#include "cuda-trace/doctor/doctor_profiling.h"
#include "cuda-trace/doctor/doctor_report.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/base/text.h"

/* Without --deep the answer comes within two seconds, complete or not. */
#define SEARCH_NS	 800000000ull
#define READ_NS		 300000000ull
#define CHECK_NS	 600000000ull
#define PACKAGES_NS	 1000000000ull
#define PACKAGES_DEEP_NS 3000000000ull
#define ENTRIES_MAX	 2000000
#define FOLDER_MAX	 4096

struct doctor_options {
	const char *root;
	uint32_t pid;
	bool deep;
	bool json;
};

#define AT(field) offsetof(struct doctor_options, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "What to look at (default: this machine)", 0},
	{OPTION_TEXT, 0, "root", "DIR", "the image or chroot below DIR; runs nothing in it",
	 AT(root)},
	{OPTION_PID, 'p', "pid", "PID", "one process, with the files that it sees", AT(pid)},
	{OPTION_FLAG, 0, "deep", NULL, "search everywhere, however long it takes", AT(deep)},
	{OPTION_HEADING, 0, NULL, NULL, "Output", 0},
	{OPTION_FLAG, 'j', "json", NULL, "one JSON object per line", AT(json)},
	{},
};

static const struct option_row *const tables[] = {rows, NULL};
static const char *const synopsis[] = {"[--deep] [--json]", "--root DIR [--deep] [--json]",
				       "-p PID [--json]", NULL};
static const struct option_usage usage = {
	.command = "doctor",
	.summary =
		"Finds out why something cannot be traced, and prints the command that fixes it.",
	.synopsis = synopsis,
	.tables = tables,
	.examples = "  cuda-trace doctor\n"
		    "  cuda-trace doctor --root /srv/images/train\n"
		    "  cuda-trace doctor -p $(pgrep -n python3)\n",
};

/* On a terminal only: where the search is now, each time over the same line. */
static void show_progress(const char *path)
{
	static uint64_t last;
	uint64_t now = monotonic__ns();
	char shown[4 * 60 + 8];

	if (now - last < 100000000)
		return;
	last = now;
	fprintf(stderr, "\r\033[K%s", text__show(shown, sizeof(shown), path, 60));
}

static int add_mapped(void *context, const struct cuda_process *process)
{
	if (process->same_root && *process->libcupti.path)
		libraries__add(context, process->libcupti.path, LIBRARY_SOURCE_MAPPED);
	return 0;
}

static void search(struct libraries *libraries, const struct doctor_options *options)
{
	struct filetree *tree = libraries->tree;
	bool progress = options->deep && isatty(STDERR_FILENO);

	if (!options->deep) {
		filetree__budget(tree, SEARCH_NS, ENTRIES_MAX);
		tree->folder_max = FOLDER_MAX;
	}
	libraries__search(libraries, options->deep, progress ? show_progress : NULL);
	if (progress)
		fprintf(stderr, "\r\033[K");
	libraries->packages = packages__read(tree, options->deep ? PACKAGES_DEEP_NS : PACKAGES_NS);
	filetree__budget(tree, options->deep ? 0 : CHECK_NS, options->deep ? 0 : ENTRIES_MAX);
	if (tree->own)
		doctor_process__each(add_mapped, libraries);
	libraries__check(libraries);
	/* What the choice still asks for are single files, if the tree is no trap. */
	filetree__budget(tree, options->deep ? 0 : CHECK_NS, options->deep ? 0 : ENTRIES_MAX);
}

struct examination {
	struct libraries *libraries;
	struct findings *findings;
};

static int examine_one(void *context, const struct cuda_process *process)
{
	struct examination *examination = context;

	examine__briefly(examination->libraries, process, examination->findings);
	return 0;
}

static void report_processes(struct libraries *libraries, struct findings *findings)
{
	struct examination examination = {libraries, findings};
	unsigned int denied = doctor_process__each(examine_one, &examination);

	if (denied)
		findings__add(findings, FINDING_NOTE, "processes_denied",
			      geteuid() ? "sudo cuda-trace doctor" : NULL,
			      "%u process%s of other users could not be examined", denied,
			      denied == 1 ? "" : "es");
}

static void report_choice(struct libraries *libraries, struct choice *choice,
			  struct findings *findings)
{
	struct choice_inputs inputs = {.driver_major = libraries->driver_major};
	struct image image;
	char command[128], cuda[16];

	choice__make(libraries, &inputs, choice);
	if (choice->found) {
		findings__add(findings, FINDING_OK, "libcupti", NULL,
			      "for a program with a static CUDA runtime, the injection library "
			      "uses %s (CUDA %s): %s",
			      choice__file(choice), library__cuda(choice->found, cuda),
			      choice->why);
		report__choice_flaws(choice, findings);
		return;
	}
	image__read(libraries->tree, &image);
	if (!image.cuda_major && libraries->driver_major)
		snprintf(command, sizeof(command), "install CUPTI of CUDA %u: cuda-cupti-%u-Y",
			 libraries->driver_major, libraries->driver_major);
	else
		image__install_command(&image, command, sizeof(command));
	findings__add(findings, libraries__usable(libraries) ? FINDING_NOTE : FINDING_PROBLEM,
		      "libcupti", command,
		      libraries__usable(libraries)
			      ? "programs that bring their own libcupti get GPU times; for others, "
				"the injection library finds none"
			      : "no usable libcupti on this machine: launches and sizes are "
				"traced, GPU times are not");
}

static void examine_machine(struct libraries *libraries, const struct doctor_options *options,
			    struct findings *findings)
{
	struct choice choice;
	struct driver driver;

	driver__read(libraries->tree, &driver);
	libraries->driver_major = driver.cuda / 1000;
	libraries->machine = elf__own_machine();
	libraries->ask = true;
	driver__report(libraries->tree, &driver, findings);
	profiling__report(libraries->tree, findings);
	search(libraries, options);
	report_choice(libraries, &choice, findings);
	profiling__report_library(libraries, &choice, findings);
	report__libraries(libraries, &choice, findings);
	report__headers(libraries, findings);
	report__coverage(libraries, findings);
	report_processes(libraries, findings);
	if (kernel__report(libraries->tree, findings))
		kernel__test_live(findings);
	else
		findings__add(findings, FINDING_NOTE, "live", "sudo cuda-trace doctor",
			      "the live test was not run: this user may not trace");
	injection__report(libraries->tree, findings);
}

static void examine_root(struct libraries *libraries, const struct doctor_options *options,
			 struct findings *findings)
{
	struct image image;

	if (!options->deep)
		filetree__budget(libraries->tree, READ_NS, ENTRIES_MAX);
	image__read(libraries->tree, &image);
	libraries->machine = image__machine(libraries->tree);
	search(libraries, options);
	image__report(libraries, &image, findings);
	report__headers(libraries, findings);
	report__coverage(libraries, findings);
}

static int examine_pid(struct libraries *libraries, const struct doctor_options *options,
		       struct findings *findings)
{
	struct cuda_process process;
	struct filetree own;
	struct driver driver;
	int err = doctor_process__read(options->pid, &process);

	if (err) {
		fprintf(stderr, "cuda-trace doctor: process %u: %s\n", options->pid,
			strerror(-err));
		return err;
	}
	if (!filetree__open(&own, NULL)) {
		driver__read(&own, &driver);
		libraries->driver_major = driver.cuda / 1000;
		profiling__report_process(&own, options->pid, findings);
		filetree__close(&own);
	}
	libraries->machine = elf__own_machine();
	search(libraries, options);
	examine__process(libraries, &process, findings);
	report__coverage(libraries, findings);
	return 0;
}

static int open_tree(struct filetree *tree, const struct doctor_options *options)
{
	char path[64];
	const char *dir = options->root;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/root", options->pid);
	if (options->pid)
		dir = path;
	err = filetree__open(tree, dir);
	tree->pid = options->pid;
	if (err)
		fprintf(stderr, "cuda-trace doctor: %s: %s\n", dir ?: "/",
			err == -ENOSYS ? "this needs openat2(), Linux 5.6 or newer"
				       : strerror(-err));
	return err;
}

static int examine(struct filetree *tree, const struct doctor_options *options)
{
	struct libraries libraries = {.tree = tree};
	struct findings *findings;
	char subject[FILETREE_PATH_MAX + 64] = "cuda-trace doctor";
	int err = 0, status;

	if (options->root)
		snprintf(subject, sizeof(subject), "cuda-trace doctor --root %s", options->root);
	else if (options->pid)
		snprintf(subject, sizeof(subject), "cuda-trace doctor -p %u", options->pid);
	findings = findings__new(subject);
	if (!findings)
		return EXIT_TROUBLE;
	if (options->root)
		examine_root(&libraries, options, findings);
	else if (options->pid)
		err = examine_pid(&libraries, options, findings);
	else
		examine_machine(&libraries, options, findings);
	if (!err && options->json)
		findings__write_json(findings, stdout);
	else if (!err)
		findings__write_text(findings, stdout);
	status = err || findings__count(findings, FINDING_PROBLEM) ? EXIT_TROUBLE : EXIT_OK;
	libraries__free(&libraries);
	findings__free(findings);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_options options = {.root = NULL};
	struct filetree tree;
	int status;

	if (!options__parse_alone(&usage, &options, argc, argv, &status))
		return status;
	if (options.root && options.pid)
		return options__misuse(&usage, "either --root or -p");
	if (options.pid && kill(options.pid, 0) && errno == ESRCH) {
		fprintf(stderr, "cuda-trace doctor: there is no process %u\n", options.pid);
		return EXIT_TROUBLE;
	}
	if (open_tree(&tree, &options))
		return EXIT_TROUBLE;
	status = examine(&tree, &options);
	filetree__close(&tree);
	return status;
}
