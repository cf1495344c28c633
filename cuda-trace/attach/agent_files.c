// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds copies of the library through /proc. A file is known by device and inode, never by its
 * path: the same path means another file in each container. It is kept open, so that everybody
 * attaches to the very file that was examined, and released when two looks at all processes have
 * found nobody who maps it.
 *
 * Any user can have files of that name, so limits are each user's: what one does never hides
 * another one's processes.
 */
#include "cuda-trace/attach/agent_files.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/attach/probe_sites.h"
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/foreign_mount.h"
#include "cuda-trace/foreign/left_out.h"
#include "libcupti-usdt/probes.h"

#define MAX_FILES      8192
#define MAX_USER_FILES 512  /* of any user but root */
#define SPARE_FILES    1024 /* of MAX_FILES, for root alone */
/* In one scan, what finding and attaching to files of one user may take; at the first one, when
 * nothing is traced yet. */
#define USER_SCAN_NS  (100 * 1000000ull)
#define USER_FIRST_NS (300 * 1000000ull)
#define MAX_SPENDERS  64
#define SUSPECT_NS    (50 * 1000000L) /* the same, while some may be mapped by nobody */
#define SCAN_NS	      (10 * 1000000L) /* of each second, once everything was looked at */
#define YOUNG_SCANS   10 /* a new process may load CUDA late: looked at more often at first */
#define MAX_PROCESSES 65536

struct seen_process {
	uint32_t pid;
	uint32_t looks;
};

struct agent_file {
	struct foreign_file file;
	uid_t user;	 /* who was first seen to map it */
	uint32_t mapper; /* a process that was seen to; 0 = none any more, since the round: */
	uint32_t round;
	uint64_t since; /* ns, monotonic: when it was attached to */
	bool is_chosen; /* it is kept without a process */
};

/* Who has taken how much time of this scan. */
struct spender {
	uid_t user;
	uint64_t ns;
};

struct targets {
	struct targets_sink sink;
	struct left_out *left_out;
	struct agent_file *files;
	uint32_t file_count, file_capacity;
	struct spender spenders[MAX_SPENDERS];
	unsigned int spender_count;
	char name[NAME_MAX + 2];   /* "/NAME" of the one that was chosen; "" = none */
	struct seen_process *seen; /* ordered by pid, as /proc is */
	size_t seen_count;
	uint32_t cursor;   /* pid where the next scan of old processes goes on */
	uint32_t round;	   /* how often all processes have been looked at */
	uint32_t suspects; /* files that nobody may map any more */
	bool scanned;
};

int agent_files__agent_path(char path[PATH_MAX], bool quiet)
{
	const char *given = getenv("CUDA_TRACE_AGENT");
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = n > 0 ? strrchr(self, '/') : NULL;

	if (given && *given) {
		if (realpath(given, path))
			return 0;
		fprintf(stderr, "cuda-trace: CUDA_TRACE_AGENT=%s: %s\n", given, strerror(errno));
		return -ENOENT;
	}
	if (slash) {
		snprintf(slash + 1, sizeof(self) - (slash + 1 - self), "%s", CUDA_AGENT_NAME);
		if (realpath(self, path))
			return 0;
	}
	if (realpath(AGENTDIR "/" CUDA_AGENT_NAME, path))
		return 0;
	if (quiet)
		return -ENOENT;
	fprintf(stderr,
		"cuda-trace: %s is not there: install the package libcupti-usdt, or set "
		"CUDA_TRACE_AGENT to the library's path\n",
		AGENTDIR "/" CUDA_AGENT_NAME);
	return -ENOENT;
}

struct targets *agent_files__new(const struct targets_sink *sink, struct left_out *left_out)
{
	struct targets *targets = calloc(1, sizeof(struct targets));

	if (!targets)
		return NULL;
	targets->sink = *sink;
	targets->left_out = left_out;
	targets->round = 1;
	return targets;
}

void agent_files__free(struct targets *targets)
{
	if (!targets)
		return;
	for (size_t i = 0; i < targets->file_count; i++)
		foreign_file__close(&targets->files[i].file);
	free(targets->files);
	free(targets->seen);
	free(targets);
}

static struct agent_file *find_file(struct targets *targets, const struct foreign_file *file)
{
	for (size_t i = 0; i < targets->file_count; i++)
		if (foreign_file__is_same(&targets->files[i].file, file))
			return &targets->files[i];
	return NULL;
}

/* Why there is no place for one more of this user; NULL = there is. */
static const char *full(const struct targets *targets, uid_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < targets->file_count; i++)
		count += targets->files[i].user == user;
	if (user && count >= MAX_USER_FILES)
		return "more than 512 copies of the library";
	if (targets->file_count >= (user ? MAX_FILES - SPARE_FILES : MAX_FILES))
		return "too many copies of the library";
	return NULL;
}

/* NULL = there are too many users for this scan. */
static struct spender *spender_of(struct targets *targets, uid_t user)
{
	for (unsigned int i = 0; i < targets->spender_count; i++)
		if (targets->spenders[i].user == user)
			return &targets->spenders[i];
	if (targets->spender_count == MAX_SPENDERS)
		return NULL;
	targets->spenders[targets->spender_count] = (struct spender){user, 0};
	return &targets->spenders[targets->spender_count++];
}

/* Root's files wait for nobody: who can run as root needs no such attack. */
static bool may_spend(struct targets *targets, uid_t user)
{
	const struct spender *spender = user ? spender_of(targets, user) : NULL;

	return !user ||
	       (spender && spender->ns < (targets->scanned ? USER_SCAN_NS : USER_FIRST_NS));
}

/* Takes the file over, which is identified only, or closes it. NULL = it is not one that is
 * attached to. */
static struct agent_file *add_file(struct targets *targets, struct foreign_file *file, uid_t user)
{
	struct probe_site site;
	struct agent_file *added;
	const char *reason = full(targets, user);
	int err;

	if (reason) {
		left_out__add(targets->left_out, LEFT_OUT_FILES, user, file->inode, reason);
		foreign_file__close(file);
		return NULL;
	}
	if (foreign_file__open_identified(file))
		return NULL;
	err = probe_sites__read(file->path, CUDA_PROVIDER, &site, 1);
	if (err <= 0) {
		if (err != -EALREADY)
			left_out__add(targets->left_out, LEFT_OUT_FILES, user, file->inode,
				      err == -ENOENT || err == -ENOEXEC
					      ? "its name is the library's, but it has no probes"
					      : "its probes cannot be read");
		foreign_file__close(file);
		return NULL;
	}
	if (!array_grow__for_one(targets->files, targets->file_capacity, targets->file_count)) {
		foreign_file__close(file);
		return NULL;
	}
	added = &targets->files[targets->file_count++];
	*added = (struct agent_file){.file = *file, .user = user, .round = targets->round};
	targets->sink.found(targets->sink.context, added->file.path);
	added->since = monotonic__ns();
	return added;
}

/* The known file that this one is, or a new one; NULL: not now. The caller's `file` is owned by it
 * afterwards, or closed. */
static struct agent_file *adopt_file(struct targets *targets, struct foreign_file *file, uid_t user)
{
	struct agent_file *known = find_file(targets, file);
	struct spender *spender;
	uint64_t before;

	if (known) {
		foreign_file__close(file);
		return known;
	}
	if (!may_spend(targets, user)) {
		/* A later look will find it. */
		left_out__add(targets->left_out, LEFT_OUT_FILES, user, file->inode, LEFT_OUT_LATER);
		foreign_file__close(file);
		return NULL;
	}
	left_out__return(targets->left_out, LEFT_OUT_FILES, user, file->inode);
	before = monotonic__ns();
	known = add_file(targets, file, user);
	spender = spender_of(targets, user);
	if (spender)
		spender->ns += monotonic__ns() - before;
	return known;
}

uint64_t agent_files__since(const struct targets *targets, const char *path)
{
	for (size_t i = 0; i < targets->file_count; i++)
		if (!strcmp(targets->files[i].file.path, path))
			return targets->files[i].since;
	return monotonic__ns();
}

const char *agent_files__add_named(struct targets *targets, const char *path)
{
	const char *name = strrchr(path, '/');
	struct foreign_file file;
	struct agent_file *added;

	/* An open file has its number for a name. */
	if (strncmp(path, "/proc/self/", 11) && name && strlen(name) < sizeof(targets->name))
		strcpy(targets->name, name);
	if (foreign_file__open_ours(&file, path))
		return NULL;
	added = find_file(targets, &file);
	if (added)
		foreign_file__close(&file);
	else
		added = add_file(targets, &file, 0);
	if (!added)
		return NULL;
	added->is_chosen = true;
	return added->file.path;
}

static void forget_mapper(struct targets *targets, uint32_t pid)
{
	for (size_t i = 0; i < targets->file_count; i++) {
		if (targets->files[i].mapper != pid)
			continue;
		targets->files[i].mapper = 0;
		targets->files[i].round = targets->round;
	}
}

/* Those that nobody maps any more: all processes have been looked at since the last one that did.
 */
static void release_unmapped(struct targets *targets)
{
	size_t kept = 0;

	targets->suspects = 0;
	for (size_t i = 0; i < targets->file_count; i++) {
		struct agent_file *file = &targets->files[i];

		if (file->mapper && kill(file->mapper, 0) && errno == ESRCH)
			forget_mapper(targets, file->mapper);
		if (file->is_chosen || file->mapper || targets->round - file->round < 2) {
			targets->suspects += !file->is_chosen && !file->mapper;
			targets->files[kept++] = *file;
			continue;
		}
		targets->sink.gone(targets->sink.context, file->file.path);
		foreign_file__close(&file->file);
	}
	targets->file_count = kept;
}

static bool ends_in(const char *path, size_t length, const char *name)
{
	size_t tail = strlen(name);

	return tail && length >= tail && !strncmp(path + length - tail, name, tail);
}

/* Does the mapped path end in a agent's name? Cuts " (deleted)" off. */
static bool is_agent(const struct targets *targets, char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);

	if (ends_in(path, length, deleted))
		length -= sizeof(deleted) - 1;
	/* A copy in memory is what cuda-trace attach brings to another mount namespace. */
	if (!ends_in(path, length, "/" CUDA_AGENT_NAME) &&
	    !ends_in(path, length, "/memfd:" CUDA_AGENT_NAME) &&
	    !ends_in(path, length, targets->name))
		return false;
	path[length] = 0;
	return true;
}

/* "range permissions offset device inode   path"; false: none that can be executed and has the
 * name. */
static bool read_line(const struct targets *targets, char *line, char range[40], const char **path)
{
	char permissions[8];
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if ((!strstr(line, CUDA_AGENT_NAME) && (!*targets->name || !strstr(line, targets->name))) ||
	    sscanf(line, "%39s %7s %*s %*s %*s %n", range, permissions, &at) != 2 || !at ||
	    permissions[2] != 'x' || !is_agent(targets, line + at))
		return false;
	*path = line + at;
	return true;
}

void agent_files__look(struct targets *targets, uint32_t pid)
{
	char name[32], range[40], *line = NULL, mapped[sizeof(((struct foreign_file *)0)->path)];
	bool has_agent = false;
	const char *path;
	size_t size = 0;
	struct stat st;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	forget_mapper(targets, pid);
	while (maps && getline(&line, &size, maps) > 0) {
		struct agent_file *known;
		struct foreign_file file;

		if (!read_line(targets, line, range, &path))
			continue;
		if (!has_agent && fstat(fileno(maps), &st))
			st.st_uid = 0;
		if (!foreign_file__identify(&file, pid, range, path)) {
			if (file.is_users)
				left_out__add(targets->left_out, LEFT_OUT_FILES, st.st_uid,
					      file.inode, FOREIGN_MOUNT_REASON);
			continue;
		}
		known = adopt_file(targets, &file, st.st_uid);
		if (!known)
			continue;
		known->mapper = pid;
		memcpy(mapped, known->file.path, sizeof(mapped));
		has_agent = true;
	}
	free(line);
	if (maps)
		fclose(maps);
	targets->sink.look(targets->sink.context, pid, has_agent ? mapped : NULL);
}

static long now_ns(void)
{
	struct timespec now;

	/* Not the wall clock: on a busy machine that runs without us. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static size_t list_processes(struct seen_process **list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	*list = NULL;
	while (proc && n < MAX_PROCESSES && (entry = readdir(proc))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (*end || !pid)
			continue;
		if (!array_grow__counted(*list, n))
			break;
		(*list)[n++] = (struct seen_process){.pid = pid};
	}
	if (proc)
		closedir(proc);
	return n;
}

/* /proc lists by number, so both lists are in order. A number that was used again meanwhile keeps
 * its count: the turn of the old ones reaches it, too. */
static void carry_over(const struct targets *targets, struct seen_process *list, size_t n)
{
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		while (old < targets->seen_count && targets->seen[old].pid < list[i].pid)
			old++;
		if (old < targets->seen_count && targets->seen[old].pid == list[i].pid)
			list[i].looks = targets->seen[old].looks;
	}
}

/* Those that run for long, in turn, from where the scan before has ended. */
static void look_at_old(struct targets *targets, const struct seen_process *list, size_t n,
			long until)
{
	size_t turn = 0;

	while (turn < n && list[turn].pid <= targets->cursor)
		turn++;
	for (size_t i = 0; i < n && now_ns() < until; i++) {
		if (turn + i == n)
			targets->round++;
		targets->cursor = list[(turn + i) % n].pid;
		agent_files__look(targets, targets->cursor);
	}
}

void agent_files__scan(struct targets *targets)
{
	long until = now_ns() + (targets->suspects ? SUSPECT_NS : SCAN_NS);
	struct seen_process *list;
	size_t n = list_processes(&list);

	targets->spender_count = 0;
	carry_over(targets, list, n);
	/* The newest first: numbers rise, and what runs for long has been looked at. */
	for (size_t i = n; i-- > 0;) {
		if (targets->scanned && (list[i].looks >= YOUNG_SCANS || now_ns() > until))
			continue;
		list[i].looks = targets->scanned ? list[i].looks + 1 : YOUNG_SCANS;
		agent_files__look(targets, list[i].pid);
	}
	if (targets->scanned)
		look_at_old(targets, list, n, until);
	release_unmapped(targets);
	free(targets->seen);
	targets->seen = list;
	targets->seen_count = n;
	targets->scanned = true;
}
