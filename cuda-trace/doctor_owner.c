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

#define DPKG	  "/var/lib/dpkg"

#define OWNED_MAX 4096

/* A file of a Debian package; version "" = no longer installed. */
struct owned {
	char *path, *package;
	char version[96];
};

struct owners {
	struct filetree *tree;
	struct owned *list;
	size_t count;
};

struct search {
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
	char line[4096], name[256] = "", version[128] = "", status[64] = "";
	FILE *file = filetree__stream(tree, DPKG "/status");
	bool found = false;

	if (!file)
		return false;
	while (!found && filetree__line(file, line, sizeof(line))) {
		if (*line) {
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

static void append(struct owners *owners, const char *path, const char *package)
{
	struct owned *list;

	if (owners->count >= OWNED_MAX)
		return;
	list = reallocarray(owners->list, owners->count + 1, sizeof(*list));
	if (!list)
		return;
	owners->list = list;
	list += owners->count;
	list->path = strdup(path);
	list->package = strdup(package);
	list->version[0] = '\0';
	owners->count += list->path && list->package;
}

/* /var/lib/dpkg/info/PACKAGE[:ARCHITECTURE].list: a path a line. */
static int read_list(void *context, const char *path)
{
	struct owners *owners = context;
	FILE *file = filetree__stream(owners->tree, path);
	char line[FILETREE_PATH_MAX], package[256];

	snprintf(package, sizeof(package), "%s", strrchr(path, '/') + 1);
	package[strlen(package) - strlen(".list")] = '\0';
	package[strcspn(package, ":")] = '\0';
	while (file && filetree__line(file, line, sizeof(line)))
		if (strstr(line, "/libcupti"))
			append(owners, line, package);
	if (file)
		fclose(file);
	return filetree__exhausted(owners->tree);
}

struct owners *owners__read(struct filetree *tree)
{
	/* A libcupti comes in packages of such names; reading all lists would take a second. */
	static const char *const lists[] = {"*cupti*.list", "cuda*.list", "nvhpc*.list",
					    "nsight*.list", "nvidia*.list"};
	struct owners *owners = calloc(1, sizeof(*owners));
	struct owned *owned;
	char pattern[64];
	size_t i, k;

	if (!owners)
		return NULL;
	owners->tree = tree;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(pattern, sizeof(pattern), DPKG "/info/%s", lists[i]);
		filetree__glob(tree, pattern, read_list, owners);
	}
	for (i = 0; i < owners->count; i++) {
		owned = &owners->list[i];
		for (k = 0; k < i && strcmp(owners->list[k].package, owned->package); k++)
			;
		if (k < i)
			strcpy(owned->version, owners->list[k].version);
		else
			owner__dpkg_version(tree, owned->package, owned->version,
					    sizeof(owned->version));
	}
	return owners;
}

void owners__free(struct owners *owners)
{
	size_t i;

	if (!owners)
		return;
	for (i = 0; i < owners->count; i++) {
		free(owners->list[i].path);
		free(owners->list[i].package);
	}
	free(owners->list);
	free(owners);
}

static void find_dpkg(const struct owners *owners, struct library *library)
{
	const struct owned *owned;
	size_t i;

	for (i = 0; owners && i < owners->count; i++) {
		owned = &owners->list[i];
		if (!*owned->version || !names_file(library, owned->path))
			continue;
		snprintf(library->owner, sizeof(library->owner), "%.60s %.80s", owned->package,
			 owned->version);
		return;
	}
}

static int take_name(void *context, const char *path)
{
	struct search *search = context;

	snprintf(search->found, sizeof(search->found), "%s", strrchr(path, '/') + 1);
	return 1;
}

/* site-packages/nvidia/ has its records beside it: nvidia_cuda_cupti_cu12-12.4.127.dist-info */
static void find_wheel(struct filetree *tree, struct library *library)
{
	const char *const names[] = {"nvidia_cuda_cupti*", library->source == LIBRARY_SOURCE_TRITON
								   ? "*triton-*"
								   : "torch-*"};
	const char *within = library->source == LIBRARY_SOURCE_TRITON ? "/triton/"
			     : strstr(library->path, "/torch/lib/")   ? "/torch/lib/"
								      : "/nvidia/";
	struct search search = {.found = ""};
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
	struct search search = {.found = ""};
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

void owner__find(struct filetree *tree, const struct owners *owners, struct library *library)
{
	if (strstr(library->path, "-packages/")) {
		find_wheel(tree, library);
		return;
	}
	if (library->source == LIBRARY_SOURCE_CONDA) {
		find_conda(tree, library);
		return;
	}
	find_dpkg(owners, library);
	if (!*library->owner)
		find_rpm(tree, library);
}
