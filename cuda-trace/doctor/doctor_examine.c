// SPDX-License-Identifier: BSD-2-Clause
/*
 * The report of `cuda-trace doctor -p PID`. The process may be in a container: its paths are
 * looked up below its own root. Called by cmd_doctor; one thread.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/doctor/doctor_examine.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_image.h"
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/doctor/doctor_live.h"
#include "cuda-trace/doctor/doctor_process.h"
#include "cuda-trace/doctor/doctor_profiling.h"
#include "cuda-trace/doctor/doctor_report.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/capture/agent_state.h"
#include "cuda-trace/inject/injection_target.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/foreign/foreign_file.h"

static void choose(struct libraries *libraries, const struct cuda_process *process,
		   const char *mapped, struct choice *choice)
{
	const struct choice_inputs inputs = {
		.named = process->override,
		.mapped = mapped,
		.cudart = process->cudart.path,
		.cuda_home = process->cuda_home,
		.loader_path = process->loader_path,
		.packages = process->packages,
		.programs = {process->called, process->program},
		.environments = {process->virtual_env, process->conda_prefix},
		.driver_major = libraries->driver_major,
	};

	choice__make(libraries, &inputs, choice);
}

/* Whether the library can be loaded into the process as it runs; false: it cannot, and that is
 * said. */
static bool report_attach(uint32_t pid, struct findings *findings)
{
	struct injection_target target;
	int err = injection_target__open(&target, pid);
	char attach[64];

	injection_target__close(&target);
	snprintf(attach, sizeof(attach), "sudo cuda-trace stat -p %u", pid);
	if (err && err != -EAGAIN) {
		findings__add(findings, FINDING_PROBLEM, "attach", NULL,
			      "the injection library cannot be loaded into the running process: %s",
			      target.reason);
		return false;
	}
	findings__add(
		findings, FINDING_OK, "attach", attach,
		"the injection library is not loaded, and can be: any command with -p does so");
	return true;
}

/* Why a CUDA process runs without the agent. */
static void report_absent(const struct libraries *libraries, const struct cuda_process *process,
			  struct findings *findings)
{
	const char *name = strrchr(process->injection, '/');
	char again[64];

	snprintf(again, sizeof(again), "sudo cuda-trace doctor -p %u", process->pid);
	name = name ? name + 1 : process->injection;
	if (!*process->libcuda.path)
		findings__add(findings, FINDING_NOTE, "no_cuda", NULL,
			      "the process has not loaded the CUDA driver (yet): there is nothing "
			      "to trace");
	else if (report_attach(process->pid, findings))
		return;
	else if (!process->environment_known)
		findings__add(findings, FINDING_PROBLEM, "guest_absent", again,
			      "the injection library is not loaded; this user may not read the "
			      "environment that it started with");
	else if (!*process->injection)
		findings__add(findings, FINDING_PROBLEM, "guest_absent",
			      "cuda-trace enable, then start the program again",
			      "the injection library is not loaded: the program was started "
			      "without CUDA_INJECTION64_PATH");
	else if (strcmp(name, "libcupti-usdt.so"))
		findings__add(findings, FINDING_PROBLEM, "guest_absent",
			      "start the program without the other tool",
			      "the injection library is not loaded: CUDA_INJECTION64_PATH is %s, "
			      "another tool's",
			      process->injection);
	else if (*process->injection == '/' &&
		 !filetree__exists(libraries->tree, process->injection))
		findings__add(findings, FINDING_PROBLEM, "guest_absent",
			      process->same_root
				      ? "reinstall libcupti-usdt, then start the program again"
				      : "start the container with --device cuda-trace/load=guest",
			      "the injection library is not loaded: %s does not exist in the "
			      "process's file system",
			      process->injection);
	else
		findings__add(
			findings, FINDING_PROBLEM, "guest_absent", "start the program again",
			"the injection library is not loaded although CUDA_INJECTION64_PATH is %s: "
			"cuInit() has not been called yet, or the file could not be loaded",
			process->injection);
}

static const char *reason_text(uint32_t reason)
{
	switch (reason) {
	case CUDA_INERT_NO_CUPTI:
		return "no usable libcupti was found";
	case CUDA_INERT_OFF:
		return "switched off by its environment (CUDA_TRACE=off)";
	case CUDA_INERT_SECURE:
		return "the program is setuid, setgid or has file capabilities";
	case CUDA_INERT_FORKED:
		return "this is a forked child, in which CUDA does not work";
	case CUDA_INERT_FATAL:
		return "CUPTI reported a fatal state";
	case CUDA_INERT_UNSUITABLE:
		return "the libcupti that was found is not suitable";
	case CUDA_INERT_SANDBOXED:
		return "the program has restricted its own system calls since cuInit() (seccomp)";
	default:
		return "for a reason that this version does not know";
	}
}

static void add_text(struct json_object *facts, const char *key, const char *text, size_t size)
{
	char raw[FILETREE_PATH_MAX], shown[4 * sizeof(raw) + 4];

	/* The structure came from the process: it need not end its texts. */
	snprintf(raw, sizeof(raw), "%.*s", (int)size, text);
	json_object_object_add(
		facts, key,
		*raw ? json_object_new_string(text__show(shown, sizeof(shown), raw, 0)) : NULL);
}

static struct json_object *state_facts(const struct cuda_status *status)
{
	struct json_object *facts = json_object_new_object();

	json_object_object_add(facts, "state", json_object_new_int(status->state));
	json_object_object_add(facts, "reason", json_object_new_int(status->reason));
	json_object_object_add(facts, "driver_version",
			       json_object_new_int64(status->driver_version));
	json_object_object_add(facts, "cupti_version",
			       json_object_new_int64(status->cupti_version));
	json_object_object_add(facts, "prime_us", json_object_new_int64(status->prime_us));
	json_object_object_add(facts, "activations", json_object_new_int64(status->activations));
	json_object_object_add(facts, "subscribing",
			       json_object_new_boolean(status->subscribing != 0));
	add_text(facts, "cupti_path", status->cupti_path, sizeof(status->cupti_path));
	add_text(facts, "holder", status->holder, sizeof(status->holder));
	return facts;
}

static void report_search(const struct cuda_status *status, struct findings *findings)
{
	char search[sizeof(status->search) + 1], *line, *rest = search;

	snprintf(search, sizeof(search), "%.*s", (int)sizeof(status->search), status->search);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			findings__add(findings, FINDING_OK, "search", NULL,
				      "the injection library searched: %s", line);
}

/* When CUPTI was initialised. */
static void report_first(const struct cuda_status *status, struct findings *findings)
{
	if (status->prime_us)
		findings__add(findings, FINDING_OK, "primed", NULL, "initialising CUPTI took %u us",
			      status->prime_us);
	else if (status->state == CUDA_STATE_DORMANT && status->subscribing)
		findings__add(findings, FINDING_NOTE, "subscribing", "start the program again",
			      "CUPTI has not returned from its first call");
	else if (agent_state__is_unprimed(status))
		findings__add(findings, FINDING_OK, "primed", NULL,
			      "CUPTI is not initialised yet; that happens when a tool first "
			      "requests GPU times");
}

static void report_state(uint32_t pid, const struct image *image, const struct cuda_status *status,
			 struct findings *findings)
{
	char command[128];

	switch (status->state) {
	case CUDA_STATE_DORMANT:
	case CUDA_STATE_ACTIVE:
		findings__add_facts(findings, FINDING_OK, "state", NULL, state_facts(status),
				    "the injection library is %s, with %.256s (API %u); GPU times "
				    "can be traced",
				    status->state == CUDA_STATE_ACTIVE ? "active" : "dormant",
				    status->cupti_path, status->cupti_version);
		break;
	case CUDA_STATE_YIELDED:
		findings__add_facts(findings, FINDING_PROBLEM, "state",
				    "end the other profiler, then attach again",
				    state_facts(status),
				    "another CUPTI client uses this process%s%.64s: no GPU times "
				    "until it leaves",
				    *status->holder ? ": " : "", status->holder);
		break;
	default:
		image__install_command(image, command, sizeof(command));
		findings__add_facts(
			findings, FINDING_PROBLEM, "state",
			status->reason == CUDA_INERT_NO_CUPTI ||
					status->reason == CUDA_INERT_UNSUITABLE
				? command
				: NULL,
			state_facts(status),
			"the injection library does nothing in this process: %s%s%.128s",
			reason_text(status->reason), *status->message ? ": " : "", status->message);
	}
	report_first(status, findings);
	report_search(status, findings);
}

static void report_loaded(struct libraries *libraries, const struct cuda_process *process,
			  struct findings *findings)
{
	struct cuda_status status;
	struct image image;
	char said[512], again[64];
	struct foreign_file file;
	int err;

	struct inspection seen;

	snprintf(again, sizeof(again), "sudo cuda-trace doctor -p %u", process->pid);
	findings__add(findings, process->agent.deleted ? FINDING_NOTE : FINDING_OK, "guest_loaded",
		      process->agent.deleted ? "start the program again to get the new one" : NULL,
		      "the injection library is loaded: %s%s", process->agent.path,
		      process->agent.deleted ? ", replaced or removed since" : "");
	if (!process->off && !process_maps__process(process->pid, &seen) && seen.asleep) {
		findings__add(findings, FINDING_OK, "asleep", NULL,
			      "it is dormant: no thread, no libcupti; the first tool that attaches "
			      "activates it");
		return;
	}
	if (process->agent.deleted ||
	    foreign_file__open(&file, process->pid, process->agent.path, false))
		file.fd = -1;
	err = live__status(process->pid, file.fd < 0 ? NULL : file.path, &status, said,
			   sizeof(said));
	foreign_file__close(&file);
	if (err == -ETIMEDOUT)
		findings__add(findings, FINDING_PROBLEM, "state", NULL,
			      "the injection library did not report its state within %d ms: the "
			      "process may be "
			      "stopped, or inert (set-user-ID, CUDA_TRACE=off)",
			      LIVE_WAIT_MS);
	else if (err)
		findings__add(findings, FINDING_NOTE, "state", again,
			      "the injection library's state could not be read: %s",
			      *said ? said : strerror(-err));
	if (err)
		return;
	image__read(libraries->tree, &image);
	report_state(process->pid, &image, &status, findings);
}

static void report_choice(struct libraries *libraries, const struct cuda_process *process,
			  const struct choice *choice, struct findings *findings)
{
	struct json_object *facts = report__choice_facts(choice);
	struct choice foretold;
	char cuda[16];

	/* The agent itself may have mapped it; then it says nothing about the order. */
	choose(libraries, process, NULL, &foretold);
	add_text(facts, "without_mapped", foretold.path, sizeof(foretold.path));
	if (choice->found) {
		findings__add_facts(findings, FINDING_OK, "libcupti", NULL, facts,
				    "the injection library's choice here: %s (CUDA %s): %s",
				    choice__file(choice), library__cuda(choice->found, cuda),
				    choice->why);
		report__choice_flaws(choice, findings);
	} else {
		findings__add_facts(
			findings, FINDING_PROBLEM, "libcupti", NULL, facts,
			"no libcupti that the injection library would use in this process%s%s",
			choice->refused ? ": " : "",
			choice->refused ? library__verdict_text(choice->refused->verdict)
					: "; a process in a container gets this machine's, if it "
					  "has one for its driver");
	}
}

static void report_collision(const struct cuda_process *process, struct findings *findings)
{
	findings__add(findings, FINDING_PROBLEM, "two_libcupti", NULL,
		      "process %u has mapped %u different copies of libcupti: they conflict in the "
		      "driver",
		      process->pid, process->libcupti_count);
}

static void report_cudart(const struct cuda_process *process, const struct choice *choice,
			  struct findings *findings)
{
	unsigned int cudart = choice__major(process->cudart.path, "libcudart");

	if (choice->found && cudart && choice->found->cuda_major &&
	    choice->found->cuda_major < cudart)
		findings__add(findings, FINDING_NOTE, "older_than_cudart", NULL,
			      "process %u: libcupti of CUDA %u, but libcudart of %u: this libcupti "
			      "does not know newer launch calls of the runtime API",
			      process->pid, choice->found->cuda_major, cudart);
}

static void report_fit(struct libraries *libraries, const struct cuda_process *process,
		       struct choice *choice, struct findings *findings)
{
	choose(libraries, process, process->libcupti.path, choice);
	if (process->libcupti_count > 1)
		report_collision(process, findings);
	report_choice(libraries, process, choice, findings);
	report_cudart(process, choice, findings);
	profiling__report_library(libraries, choice, findings);
}

void examine__process(struct libraries *libraries, const struct cuda_process *process,
		      struct findings *findings)
{
	struct choice choice;

	findings__add(findings, FINDING_OK, "process", NULL, "%u is %s of user %u%s", process->pid,
		      process->comm, process->uid,
		      process->same_root ? "" : ", in a file system of its own (a container)");
	if (process->off)
		findings__add(findings, FINDING_PROBLEM, "off",
			      "start the program without CUDA_TRACE=off",
			      "CUDA_TRACE=off is in its environment: the injection library stays "
			      "inactive");
	/* First what has a time limit, then what waits for the agent's answer. */
	report_fit(libraries, process, &choice, findings);
	if (*process->agent.path)
		report_loaded(libraries, process, findings);
	else
		report_absent(libraries, process, findings);
	report__libraries(libraries, &choice, findings);
}

void examine__briefly(struct libraries *libraries, const struct cuda_process *process,
		      struct findings *findings)
{
	unsigned int cudart = choice__major(process->cudart.path, "libcudart");
	struct choice choice = {.found = NULL};
	char runtime[32] = "no libcudart";

	/* The paths of a container's process mean nothing here. */
	if (process->same_root)
		choose(libraries, process, process->libcupti.path, &choice);
	if (cudart)
		snprintf(runtime, sizeof(runtime), "libcudart %u", cudart);
	findings__add(findings, FINDING_OK, "process", NULL,
		      "process %u (%s)%s: injection library %s, %s, libcupti %s%s%s", process->pid,
		      process->comm, process->same_root ? "" : " in a file system of its own",
		      *process->agent.path ? "loaded" : "not loaded", runtime,
		      *process->libcupti.path ? process->libcupti.path : "not loaded",
		      choice.found && !*process->libcupti.path ? ", the injection library's choice "
							       : "",
		      choice.found && !*process->libcupti.path ? choice__file(&choice) : "");
	report_cudart(process, &choice, findings);
	if (process->libcupti_count > 1)
		report_collision(process, findings);
}
