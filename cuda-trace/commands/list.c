// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace list: CUDA processes and how each can be traced.
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/proc/cgroup.h"
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/inject/injection_target.h"
#include "cuda-trace/origin/origin.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/rank.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/capture/session.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/capture/yields.h"
#include "cuda-trace/cli/writer.h"
#include <linux/capability.h>

/* Agents look for consumers four times a second at least. */
#define ANSWER_MS 300
/* Another tool may be attached to the same hello probe already, so that the agent sees no new
 * request; once a second it reports its names and state without one. */
#define ANSWERS 5
#define MAX	4096
/* Container engines that do not answer by then give no names. */
#define NAMES_MS 3000

struct list_options {
	bool json;
	bool wide;
};

static const struct option_row rows[] = {
	{OPTION_FLAG, 'j', "json", NULL, "JSON instead of text, one object per line",
	 offsetof(struct list_options, json)},
	{OPTION_FLAG, 'w', "wide", NULL, "text: all columns", offsetof(struct list_options, wide)},
	{},
};

static const struct option_usage usage = {
	.command = "list",
	.summary = "Lists CUDA processes, their libcupti, and how each can be traced.",
	.synopsis = (const char *const[]){"[OPTIONS]", NULL},
	.tables = (const struct option_row *const[]){rows, NULL},
	.examples = "  sudo cuda-trace list\n"
		    "  sudo cuda-trace list --json | jq -r 'select(.guest | not) | .pid'\n",
};

enum {
	PID,
	PROCESS,
	USER,
	STATE,
	SOURCE,
	CUPTI_VERSION,
	CUPTI_PATH,
	HOLDER,
	PRIME,
	RANK,
	ORIGIN,
	ORIGIN_NAME,
	CONTAINER = ORIGIN_NAME + ORIGIN_NAME_COUNT,
	CGROUP,
	AGENT,
	NOTE,
	COLUMN_COUNT
};

static const struct column columns[COLUMN_COUNT] = {
	[PID] = {"pid", "PID", 8, 0},
	[PROCESS] = {"process", "PROCESS", 15, COLUMN_LEFT},
	[USER] = {"user", "USER", 10, COLUMN_LEFT},
	[STATE] = {"state", "STATE", 8, COLUMN_LEFT},
	[SOURCE] = {"source", "SOURCE", 6, COLUMN_LEFT},
	[CUPTI_VERSION] = {"cupti_version", "CUPTI", 7, 0},
	[CUPTI_PATH] = {"cupti_path", "LIBCUPTI", 40, COLUMN_LEFT | COLUMN_WIDE},
	[HOLDER] = {"holder", "HOLDER", 16, COLUMN_LEFT | COLUMN_WIDE},
	[PRIME] = {"prime_us", "PRIME", 0, COLUMN_JSON},
	[RANK] = {"rank", "RANK", 5, COLUMN_WIDE},
	[ORIGIN] = {"origin", "ORIGIN", 20, COLUMN_LEFT | COLUMN_WHOLE},
#define ORIGIN_COLUMN(field, size, key) [ORIGIN_NAME + ORIGIN_##field] = {key, "", 0, COLUMN_JSON},
	ORIGIN_NAMES(ORIGIN_COLUMN)
#undef ORIGIN_COLUMN
		[CONTAINER] = {"container", "CONTAINER", 12, COLUMN_LEFT | COLUMN_WIDE},
	[CGROUP] = {"cgroup", "CGROUP", 40, COLUMN_LEFT | COLUMN_WIDE},
	[AGENT] = {"guest", "AGENT", 0, COLUMN_JSON},
	[NOTE] = {"note", "NOTE", 0, COLUMN_LEFT},
};

struct entry {
	uint32_t pid;
	struct inspection seen;
	struct cuda_status status;	      /* .version 0 = the agent did not answer */
	char reason[TARGET_REASON_SIZE + 64]; /* without the agent: can it be loaded now? */
	char cgroup[512];
};

struct list {
	struct entry *entries;
	uint32_t count;
};

/* How a process without the library would be attached to. */
static void say_attach(struct entry *entry)
{
	struct injection_target target;
	int err = injection_target__open(&target, entry->pid);

	injection_target__close(&target);
	if (err && err != -EAGAIN)
		snprintf(entry->reason, sizeof(entry->reason), "no GPU times: %s", target.reason);
	else
		snprintf(entry->reason, sizeof(entry->reason),
			 "-p or --attach loads the library, for GPU times");
}

/* While agents answer, engines do, too. */
static void request_names(const struct entry *entry)
{
	struct origin origin;

	origin__find(entry->pid, entry->cgroup, &origin);
}

static void find_processes(struct list *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *found;

	while (proc && list->count < MAX && (found = readdir(proc))) {
		struct entry *entry = &list->entries[list->count];
		char *end;
		unsigned long pid = strtoul(found->d_name, &end, 10);

		if (*end || !pid || process_maps__process(pid, &entry->seen))
			continue;
		if (!entry->seen.cuda && !entry->seen.agent)
			continue;
		entry->pid = pid;
		if (!entry->seen.agent)
			say_attach(entry);
		cgroup__of(pid, 0, entry->cgroup, sizeof(entry->cgroup));
		request_names(entry);
		list->count++;
	}
	if (proc)
		closedir(proc);
}

static void on_status(void *context, struct process *process)
{
	struct list *list = context;

	for (uint32_t i = 0; i < list->count; i++)
		if (list->entries[i].pid == process->pid)
			list->entries[i].status = process->status;
}

static void on_record(void *context, struct process *process, const struct cuda_record *record)
{
}

static bool can_ask(void)
{
	return privileges__has(CAP_SYS_ADMIN) ||
	       (privileges__has(CAP_BPF) && privileges__has(CAP_PERFMON));
}

static bool all_answered(const struct list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->entries[i].seen.agent && !list->entries[i].seen.asleep &&
		    !list->entries[i].status.version)
			return false;
	return true;
}

static void wait_for_answers(struct session *session, const struct list *list)
{
	uint64_t until = monotonic__ms() + ANSWER_MS;

	while (!all_answered(list) && monotonic__ms() < until)
		session__poll(session, 20);
}

/* Attaching to cuda:status alone makes agents tell their state, and switches nothing on. */
static void ask_agents(struct list *list)
{
	const struct session_options options = {.uid = -1};
	const struct sink sink = {
		.context = list,
		.process_status = on_status,
		.record = on_record,
	};
	struct session *session;

	if (all_answered(list) || !can_ask())
		return;
	session = session__open(&options, &sink);
	if (session && !session__attach(session))
		for (int i = 0; i < ANSWERS && !all_answered(list); i++) {
			if (i)
				session__say_hello(session);
			wait_for_answers(session, list);
		}
	session__close(session);
}

static const char *note(const struct entry *entry)
{
	const char *trouble = agent_state__no_times(&entry->status);
	static char yields[160];

	if (!entry->seen.agent)
		return entry->reason;
	if (entry->seen.asleep)
		return "dormant; the first tool that attaches activates it";
	if (entry->status.version && entry->status.state == CUDA_STATE_YIELDED)
		return yields__text(&entry->status, entry->status.holder, yields, sizeof(yields));
	if (trouble)
		return trouble;
	if (entry->status.version)
		return "";
	return can_ask() ? "the injection library did not answer"
			 : "its state needs CAP_BPF and CAP_PERFMON";
}

static void put(struct writer *writer, const struct entry *entry)
{
	struct cell cells[COLUMN_COUNT] = {};
	const struct cuda_status *status = &entry->status;
	const struct passwd *user = getpwuid(entry->seen.uid);
	char container[16], uid[16], place[ORIGIN_TEXT_SIZE];
	struct origin origin;
	struct rank rank;

	cgroup__container(entry->cgroup, container, sizeof(container));
	origin__find(entry->pid, entry->cgroup, &origin);
	snprintf(uid, sizeof(uid), "%u", entry->seen.uid);
	cells[PID] = cell_number(entry->pid);
	rank__of_process(&rank, entry->pid);
	if (rank.known)
		cells[RANK] = cell_number(rank.rank);
	cells[PROCESS] = cell_text(entry->seen.comm);
	cells[USER] = cell_text(user ? user->pw_name : uid);
	cells[STATE] = cell_text(!entry->seen.agent   ? "none"
				 : entry->seen.asleep ? "dormant"
						      : agent_state__key(status));
	cells[SOURCE] =
		cell_text(entry->seen.agent && !agent_state__trouble(status) ? "cupti" : "driver");
	if (status->version) {
		cells[CUPTI_VERSION] = cell_number(status->cupti_version);
		cells[CUPTI_PATH] = cell_text(status->cupti_path);
		cells[PRIME] = cell_number(status->prime_us);
	}
	if (*status->holder)
		cells[HOLDER] = cell_text(status->holder);
	if (*container)
		cells[CONTAINER] = cell_text(container);
	if (*origin__text(&origin, place))
		cells[ORIGIN] = cell_text(place);
	else
		cells[ORIGIN] = cells[CONTAINER];
	for (int name = 0; name < ORIGIN_NAME_COUNT; name++)
		if (*origin__name(&origin, name))
			cells[ORIGIN_NAME + name] = cell_text(origin__name(&origin, name));
	if (*entry->cgroup)
		cells[CGROUP] = cell_text(entry->cgroup);
	cells[AGENT] = cell_bool(entry->seen.agent);
	cells[NOTE] = cell_text(note(entry));
	writer__row(writer, cells);
}

int cmd_list(int argc, char **argv)
{
	struct list_options options = {};
	struct list list = {};
	int status;
	struct writer writer = {.file = stdout, .columns = columns, .count = COLUMN_COUNT};

	if (!options__parse_alone(&usage, &options, argc, argv, &status))
		return status;
	list.entries = calloc(MAX, sizeof(*list.entries));
	if (!list.entries)
		return EXIT_TROUBLE;
	find_processes(&list);
	ask_agents(&list);
	origin__wait(NAMES_MS);
	writer.json = options.json;
	writer.wide = options.wide;
	for (uint32_t i = 0; i < list.count; i++)
		put(&writer, &list.entries[i]);
	if (!list.count)
		fprintf(stderr, "cuda-trace: no process uses CUDA now%s\n",
			geteuid() ? " (among those that this user may examine)" : "");
	free(list.entries);
	return EXIT_OK;
}
