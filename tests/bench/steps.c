// SPDX-License-Identifier: BSD-2-Clause
/*
 * steps PID ADDRESS LAUNCHES [mean]: lets the launching thread of a launch-rate go one instruction
 * at a time, and says how many of a launch's instructions lie in which library:
 *
 *   launches=20 all=812 libcuda.so.1=640 libcupti.so.13=120 ...
 *
 * Medians over launches, or means where other calls are between some of them, from one time at
 * ADDRESS (cuLaunchKernel's) to the next. A count is the same on a busy machine and on an idle one,
 * which times are not.
 */
#include <dirent.h>
#include <elf.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME	  "launching" /* launch-rate calls its threads so */
#define LIBRARIES 64
#define MAPS	  512
#define LAUNCHES  1000
#define SECONDS	  6 /* at most: a step takes 10 us and more on a virtual machine */

static struct library {
	char name[64];
	uint32_t counts[LAUNCHES]; /* of each launch */
} libraries[LIBRARIES];
static int library_count = 1; /* [0]: all of them */

static struct map {
	uint64_t start, end;
	int file;
} maps[MAPS];
static int map_count;

static int library_of(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (int i = 1; i < library_count; i++)
		if (!strncmp(libraries[i].name, name, sizeof(libraries[i].name) - 1))
			return i;
	if (library_count == LIBRARIES)
		return 1;
	snprintf(libraries[library_count].name, sizeof(libraries[0].name), "%.63s",
		 *name ? name : "nameless");
	return library_count++;
}

static void read_maps(int pid)
{
	char path[64], line[4500], file[4100], rights[8];
	unsigned long long start, end;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "re");
	map_count = 0;
	while (in && map_count < MAPS && fgets(line, sizeof(line), in)) {
		*file = '\0';
		if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4099s", &start, &end, rights, file) <
			    3 ||
		    rights[2] != 'x')
			continue;
		maps[map_count++] = (struct map){start, end, library_of(file)};
	}
	if (in)
		fclose(in);
}

static int where(int pid, uint64_t address)
{
	static int last;

	for (int turn = 0; turn < 2; turn++) {
		if (last < map_count && address >= maps[last].start && address < maps[last].end)
			return maps[last].file;
		for (last = 0; last < map_count; last++)
			if (address >= maps[last].start && address < maps[last].end)
				return maps[last].file;
		read_maps(pid);
	}
	return library_of("elsewhere");
}

static int launching_thread(int pid)
{
	char path[300], name[32];
	struct dirent *entry;
	int found = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", pid, entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file) && !strcmp(name, NAME "\n"))
			found = atoi(entry->d_name);
		if (file)
			fclose(file);
	}
	if (folder)
		closedir(folder);
	return found;
}

static uint64_t position(int tid)
{
	struct user_regs_struct registers;
	struct iovec place = {&registers, sizeof(registers)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &place))
		return 0;
#ifdef __x86_64__
	return registers.rip;
#else
	return registers.pc;
#endif
}

static int step(int tid)
{
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) || waitpid(tid, &status, __WALL) < 0)
			return -1;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP);
	return WIFSTOPPED(status) ? 0 : -1;
}

/* How many launches were counted whole. */
static int count_launches(int pid, int tid, uint64_t entry, int wanted)
{
	time_t end = time(NULL) + SECONDS;
	uint64_t before = 0;
	int launch = -1;

	while (launch < wanted && time(NULL) <= end) {
		uint64_t at = position(tid);

		launch += at == entry;
		/* A string instruction stops once a turn, a memset of a buffer once a byte. */
		if (launch >= 0 && launch < wanted && at != before) {
			libraries[0].counts[launch]++;
			libraries[where(pid, at)].counts[launch]++;
		}
		before = at;
		if (step(tid))
			break;
	}
	return launch < 0 ? 0 : launch;
}

static int by_size(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b
		       ? -1
		       : *(const uint32_t *)a > *(const uint32_t *)b;
}

static uint32_t middle(uint32_t *counts, int launches, int mean)
{
	uint64_t sum = 0;

	qsort(counts, launches, sizeof(uint32_t), by_size);
	for (int i = 0; i < launches; i++)
		sum += counts[i];
	return mean ? sum / launches : counts[launches / 2];
}

static void say(int launches, int mean)
{
	printf("launches=%d", launches);
	for (int i = 0; i < library_count && launches; i++) {
		uint32_t count = middle(libraries[i].counts, launches, mean);

		if (!i || libraries[i].counts[launches - 1])
			printf(" %s=%u", i ? libraries[i].name : "all", count);
	}
	printf("\n");
}

/* Beside it, so that the two take turns without waking another CPU. */
static void move_to(int tid)
{
	cpu_set_t set;

	if (!sched_getaffinity(tid, sizeof(set), &set))
		sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int pid = argc >= 4 ? atoi(argv[1]) : 0, tid = launching_thread(pid), status, launches;
	uint64_t entry = argc >= 4 ? strtoull(argv[2], NULL, 16) : 0;
	int wanted = argc >= 4 ? atoi(argv[3]) : 0;

	if (!tid || !entry || wanted < 1 || wanted > LAUNCHES)
		return fputs("usage: steps PID ADDRESS LAUNCHES [mean]    (of a launch-rate)\n",
			     stderr),
		       2;
	move_to(tid);
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, &status, __WALL) < 0)
		return perror("steps: ptrace"), 1;
	launches = count_launches(pid, tid, entry, wanted);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	say(launches, argc > 4);
	return !launches;
}
