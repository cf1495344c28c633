// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads /proc/PID of CUDA processes. They may end at any time, and their maps and environment
 * hold what they like. Called by cmd_doctor and its reports; one thread.
 */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "cuda-trace/doctor/doctor_process.h"
#include "libcupti-usdt/probes.h"

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Copies of wheels have a hash in their names: libcudart-9335f6a2.so.12 */
static bool is_library(const char *name, const char *stem)
{
	size_t n = strlen(stem);

	if (strncmp(name, stem, n))
		return false;
	if (name[n] == '-')
		n += 1 + strspn(name + n + 1, "0123456789abcdef");
	return begins(name + n, ".so") && (!name[n + 3] || name[n + 3] == '.');
}

static struct mapped *wanted_by(struct cuda_process *process, const char *name)
{
	if (!strcmp(name, CUDA_AGENT_NAME))
		return &process->agent;
	if (is_library(name, "libcuda"))
		return &process->libcuda;
	if (is_library(name, "libcudart"))
		return &process->cudart;
	if (is_library(name, "libcupti"))
		return &process->libcupti;
	return NULL;
}

/* "start-end perms offset major:minor inode   /path" */
static void read_mapping(struct cuda_process *process, char *line)
{
	static const char deleted[] = " (deleted)";
	unsigned int major, minor;
	struct mapped *mapped;
	unsigned long ino;
	char *path, *name;
	int at = 0;
	size_t n;

	if (sscanf(line, "%*s %*s %*s %x:%x %lu %n", &major, &minor, &ino, &at) < 3 || !at)
		return;
	path = line + at;
	path[strcspn(path, "\n")] = '\0';
	if (*path != '/')
		return;
	n = strlen(path);
	if (n > sizeof(deleted) && !strcmp(path + n - sizeof(deleted) + 1, deleted))
		path[n - sizeof(deleted) + 1] = '\0';
	name = strrchr(path, '/') + 1;
	mapped = wanted_by(process, name);
	if (!mapped || (mapped->ino == ino && *mapped->path))
		return;
	process->libcupti_count += mapped == &process->libcupti;
	if (*mapped->path)
		return;
	snprintf(mapped->path, sizeof(mapped->path), "%s", path);
	mapped->dev = makedev(major, minor);
	mapped->ino = ino;
	mapped->deleted = strlen(path) != n;
}

static FILE *open_proc(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return fopen(path, "re");
}

static void read_packages(struct cuda_process *process, const char *line)
{
	const char *path = strchr(line, '/'), *end = path ? strstr(path, "-packages/") : NULL;

	if (end && !*process->packages)
		snprintf(process->packages, sizeof(process->packages), "%.*s-packages",
			 (int)(end - path), path);
}

/* The name that execve() got lies in the process's own memory. */
static void read_called(struct cuda_process *process)
{
	FILE *auxv = open_proc(process->pid, "auxv"), *memory = open_proc(process->pid, "mem");
	uint64_t entry[2];

	while (auxv && fread(entry, sizeof(entry), 1, auxv) == 1 && entry[0] != AT_NULL)
		if (entry[0] == AT_EXECFN && memory &&
		    pread(fileno(memory), process->called, sizeof(process->called) - 1, entry[1]) <
			    0)
			process->called[0] = '\0';
	if (auxv)
		fclose(auxv);
	if (memory)
		fclose(memory);
}

static void read_program(struct cuda_process *process)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/exe", process->pid);
	length = readlink(path, process->program, sizeof(process->program) - 1);
	process->program[length > 0 ? length : 0] = '\0';
	read_called(process);
}

/* Of a process that only changed its root, maps has paths as we see them, not as it does. */
static void strip_root(struct cuda_process *process, const char *root)
{
	struct mapped *all[] = {&process->libcuda, &process->cudart, &process->libcupti,
				&process->agent};
	size_t n = strlen(root), i;

	if (n < 2)
		return;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strncmp(all[i]->path, root, n) && all[i]->path[n] == '/')
			memmove(all[i]->path, all[i]->path + n, strlen(all[i]->path + n) + 1);
}

static int read_maps(struct cuda_process *process)
{
	FILE *file = open_proc(process->pid, "maps");
	char *line = NULL;
	size_t capacity = 0;
	int err = 0;

	if (!file)
		return -errno;
	errno = 0;
	while (getline(&line, &capacity, file) > 0) {
		if (strstr(line, "/libcu"))
			read_mapping(process, line);
		read_packages(process, line);
	}
	/* Another user's maps can be opened, but read as empty or not at all. */
	if (ferror(file))
		err = -(errno ?: EIO);
	free(line);
	fclose(file);
	return err;
}

static void take(char *out, size_t size, const char *line, const char *name)
{
	if (begins(line, name))
		snprintf(out, size, "%s", line + strlen(name));
}

static void read_environment(struct cuda_process *process)
{
	FILE *file = open_proc(process->pid, "environ");
	char *line = NULL, trace[16] = "";
	size_t capacity = 0;

	if (!file)
		return;
	while (getdelim(&line, &capacity, '\0', file) > 0) {
		process->environment_known = true;
		process->injection_set |= begins(line, "CUDA_INJECTION64_PATH=");
		take(process->injection, sizeof(process->injection), line,
		     "CUDA_INJECTION64_PATH=");
		take(process->override, sizeof(process->override), line, "CUDA_TRACE_LIBCUPTI=");
		take(process->loader_path, sizeof(process->loader_path), line, "LD_LIBRARY_PATH=");
		take(process->virtual_env, sizeof(process->virtual_env), line, "VIRTUAL_ENV=");
		take(process->conda_prefix, sizeof(process->conda_prefix), line, "CONDA_PREFIX=");
		take(trace, sizeof(trace), line, "CUDA_TRACE=");
		if (!begins(line, "CUDA_PATH=") || !*process->cuda_home)
			take(process->cuda_home, sizeof(process->cuda_home), line, "CUDA_PATH=");
		take(process->cuda_home, sizeof(process->cuda_home), line, "CUDA_HOME=");
	}
	process->off = !strcmp(trace, "off") || !strcmp(trace, "0");
	free(line);
	fclose(file);
}

static void read_identity(struct cuda_process *process)
{
	char path[64], line[256], root[FILETREE_PATH_MAX];
	struct stat own, other;
	ssize_t n;
	FILE *file = open_proc(process->pid, "comm");

	if (file && fgets(line, sizeof(line), file))
		snprintf(process->comm, sizeof(process->comm), "%.*s", (int)strcspn(line, "\n"),
			 line);
	if (file)
		fclose(file);
	file = open_proc(process->pid, "status");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %u", &process->uid) == 1)
			break;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%u/root", process->pid);
	process->same_root = !stat(path, &other) && !stat("/", &own) &&
			     own.st_dev == other.st_dev && own.st_ino == other.st_ino;
	n = readlink(path, root, sizeof(root) - 1);
	root[n > 0 ? n : 0] = '\0';
	strip_root(process, root);
}

int doctor_process__read(uint32_t pid, struct cuda_process *process)
{
	char path[64];
	int err;

	memset(process, 0, sizeof(*process));
	process->pid = pid;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (access(path, F_OK))
		return -ESRCH;
	err = read_maps(process);
	if (err)
		return err;
	read_identity(process);
	read_environment(process);
	read_program(process);
	return 0;
}

unsigned int doctor_process__each(cuda_process_fn each, void *context)
{
	struct cuda_process *process = malloc(sizeof(*process));
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	unsigned int denied = 0;
	int err;

	while (process && dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		memset(process, 0, sizeof(*process));
		process->pid = strtoul(entry->d_name, NULL, 10);
		err = read_maps(process);
		denied += err == -EACCES || err == -EPERM;
		if (err ||
		    (!*process->libcuda.path && !*process->libcupti.path && !*process->agent.path))
			continue;
		read_identity(process);
		read_environment(process);
		if (each(context, process))
			break;
	}
	if (dir)
		closedir(dir);
	free(process);
	return denied;
}
