// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owners of libcupti files: dpkg's lists, a wheel's dist-info, conda's records; on the machine
 * itself also rpm, whose database only rpm can read. Called by doctor_libraries; one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/doctor_libraries.h"
#include "cuda-trace/doctor_owner.h"

#define DPKG "/var/lib/dpkg"

struct search {
	struct filetree *tree;
	struct library *library;
	char found[256]; /* of a file name: package, NAME-VERSION, … */
};

static bool field(const char *line, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	if (strncmp(line, name, n))
		return false;
	line += n + strspn(line + n, " ");
	snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

/* Only what stands as installed: a removed package keeps its entry until it is purged. */
bool owner__dpkg_version(const struct filetree *tree, const char *package, char *out, size_t size)
{
	char *line = NULL, name[256] = "", version[128] = "", status[64] = "";
	FILE *file = filetree__stream(tree, DPKG "/status");
	size_t room = 0;
	bool found = false;
	ssize_t n;

	if (!file)
		return false;
	while (!found && (n = getline(&line, &room, file)) > 0) {
		if (*line != '\n') {
			field(line, "Package:", name, sizeof(name));
			field(line, "Version:", version, sizeof(version));
			field(line, "Status:", status, sizeof(status));
			continue;
		}
		found = !strcmp(name, package) && strstr(status, " installed");
		if (!found)
			*name = *version = *status = '\0';
	}
	if (!found) /* the last paragraph may end without an empty line */
		found = !strcmp(name, package) && strstr(status, " installed");
	if (found)
		snprintf(out, size, "%s", version);
	free(line);
	fclose(file);
	return found;
}

static bool names_file(const struct library *library, const char *path)
{
	size_t i;

	if (!strcmp(path, library->path) || (library->real && !strcmp(path, library->real)))
		return true;
	for (i = 0; i < library->name_count; i++)
		if (!strcmp(path, library->names[i]))
			return true;
	/* A merged /usr: dpkg may know the file by its old place. */
	return !strncmp(library->path, "/usr/lib", 8) && !strcmp(path, library->path + 4);
}

static int visit_list(void *context, const char *path)
{
	struct search *search = context;
	FILE *file = filetree__stream(search->tree, path);
	char *line = NULL;
	size_t room = 0;
	const char *name;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = names_file(search->library, line);
	}
	free(line);
	if (file)
		fclose(file);
	if (!found)
		return 0;
	name = strrchr(path, '/') + 1;
	snprintf(search->found, sizeof(search->found), "%.*s", (int)strcspn(name, ":"), name);
	if (strlen(search->found) > 5 &&
	    !strcmp(search->found + strlen(search->found) - 5, ".list"))
		search->found[strlen(search->found) - 5] = '\0';
	return 1;
}

static void find_dpkg(struct filetree *tree, struct library *library)
{
	/* A libcupti comes in packages of such names; reading all lists would take a second. */
	static const char *const lists[] = {"*cupti*.list", "cuda*.list", "nvhpc*.list",
					    "nsight*.list", "nvidia*.list"};
	struct search search = {.tree = tree, .library = library};
	char pattern[64], version[96];
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && !*search.found; i++) {
		snprintf(pattern, sizeof(pattern), DPKG "/info/%s", lists[i]);
		filetree__glob(tree, pattern, visit_list, &search);
	}
	if (*search.found && owner__dpkg_version(tree, search.found, version, sizeof(version)))
		snprintf(library->owner, sizeof(library->owner), "%.60s %.80s", search.found,
			 version);
}

static int take_name(void *context, const char *path)
{
	struct search *search = context;

	snprintf(search->found, sizeof(search->found), "%s", strrchr(path, '/') + 1);
	return 1;
}

/* ".../site-packages/nvidia/…" has its records beside: nvidia_cuda_cupti_cu12-12.4.127.dist-info */
static void find_wheel(struct filetree *tree, struct library *library)
{
	const char *const names[] = {"nvidia_cuda_cupti*", library->source == LIBRARY_SOURCE_TRITON
								   ? "*triton-*"
								   : "torch-*"};
	const char *within = library->source == LIBRARY_SOURCE_TRITON ? "/triton/"
			     : strstr(library->path, "/torch/lib/")   ? "/torch/lib/"
								      : "/nvidia/";
	struct search search = {.tree = tree, .library = library};
	const char *end = strstr(library->path, within);
	char pattern[FILETREE_PATH_MAX], *at, *dash;

	if (!end)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/%s.dist-info", (int)(end - library->path),
		 library->path, names[strcmp(within, "/nvidia/") != 0]);
	filetree__glob(tree, pattern, take_name, &search);
	/* NAME-VERSION.dist-info */
	at = strstr(search.found, ".dist-info");
	dash = strchr(search.found, '-');
	if (!at || !dash || dash > at)
		return;
	*at = '\0';
	*dash = ' ';
	snprintf(library->owner, sizeof(library->owner), "%.140s (pip)", search.found);
}

static void find_conda(struct filetree *tree, struct library *library)
{
	struct search search = {.tree = tree, .library = library};
	const char *end = strstr(library->path, "/targets/");
	char pattern[FILETREE_PATH_MAX], *version, *build;

	if (!end)
		end = strstr(library->path, "/lib/");
	if (!end)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/conda-meta/cuda-cupti-[0-9]*.json",
		 (int)(end - library->path), library->path);
	filetree__glob(tree, pattern, take_name, &search);
	version = strstr(search.found, "cuda-cupti-");
	if (!version)
		return;
	version += strlen("cuda-cupti-");
	build = strchr(version, '-');
	snprintf(library->owner, sizeof(library->owner), "cuda-cupti %.*s (conda)",
		 build ? (int)(build - version) % 64 : 16, version);
}

/* One line of a program's output, waited for half a second at most. */
static void first_line(char *const argv[], char *out, size_t size)
{
	static char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
	posix_spawn_file_actions_t actions;
	struct pollfd poll_in = {.events = POLLIN};
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!posix_spawn(&pid, argv[0], &actions, NULL, argv, environment)) {
		poll_in.fd = ends[0];
		if (poll(&poll_in, 1, 500) > 0 && (n = read(ends[0], out, size - 1)) > 0) {
			out[n] = '\0';
			out[strcspn(out, "\n")] = '\0';
		}
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	close(ends[1]);
}

static void find_rpm(struct filetree *tree, struct library *library)
{
	char *argv[] = {"/usr/bin/rpm",
			"-qf",
			"--qf",
			"%{NAME} %{VERSION}-%{RELEASE}\\n",
			"--",
			library->real ?: library->path,
			NULL};
	char line[160] = "";

	if (!tree->own || !filetree__exists(tree, "/usr/bin/rpm") ||
	    (!filetree__exists(tree, "/var/lib/rpm/rpmdb.sqlite") &&
	     !filetree__exists(tree, "/usr/lib/sysimage/rpm/rpmdb.sqlite") &&
	     !filetree__exists(tree, "/var/lib/rpm/Packages")))
		return;
	first_line(argv, line, sizeof(line));
	if (*line && !strstr(line, "not owned"))
		snprintf(library->owner, sizeof(library->owner), "%s", line);
}

void owner__find(struct filetree *tree, struct library *library)
{
	if (strstr(library->path, "-packages/")) {
		find_wheel(tree, library);
		return;
	}
	if (library->source == LIBRARY_SOURCE_CONDA) {
		find_conda(tree, library);
		return;
	}
	find_dpkg(tree, library);
	if (!*library->owner)
		find_rpm(tree, library);
}
