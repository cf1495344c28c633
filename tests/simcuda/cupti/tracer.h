/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the simulated libcupti: what its files share. */
#ifndef TESTS_SIMCUDA_CUPTI_TRACER_H
#define TESTS_SIMCUDA_CUPTI_TRACER_H

#include <pthread.h>
#include "tests/simcuda/bridge.h"
#include "tests/simcuda/cupti.h"

enum fault_mode { FAULT_NONE, FAULT_HANG, FAULT_SLOW, FAULT_RACE };

struct settings {
	uint32_t version; /* 1208 is 12.8 */
	uint32_t number;  /* what cuptiGetVersion says */
	CUptiResult subscribe_error;
	uint64_t subscribe_errors; /* how often, 0: always */
	enum fault_mode subscribe, flush, disable;
	uint64_t subscribe_ms, flush_ms, starve_ms, table_ms, inversion_ms, pass_ms;
	CUptiResult unified_error;
	uint64_t drop, bad_times, state_fatal;
	int64_t clock_offset;
	bool no_records;
	char other_subscriber[64];
};

const struct settings *settings__get(void);
size_t version__size(uint32_t kind);

/* The simulated driver, loaded if need be; NULL: none, or a real one. */
struct simcuda_bridge *bridge__get(void);
void fault__log(const char *what);
/* One line of the whole state, at each change of it. */
void state__log(const char *what);

void subscriber__callback(int domain, uint32_t cbid, const void *data);
bool subscriber__wants(int domain, uint32_t cbid);
uint32_t subscriber__callbacks(void);
bool subscriber__present(void);
void subscriber__fatal(void);
bool subscriber__without_table(void);
/* Looks or looks away, by whether anything is on. Called with no lock held. */
void hooks__update(void);
void hooks__start(void);
void hooks__record(const struct simcuda_record *record);

bool activity__api_wanted(uint32_t domain, uint32_t cbid);
uint64_t activity__kinds(void);
bool activity__is_inverted(void);
void activity__graph(void);
void sleep_ms(uint64_t ms);
bool pc_sampling__is_enabled(void);
void pc_sampling__context_ends(CUcontext context);
/* Between the callbacks of a launch's entry and exit. */
void pc_sampling__launch_begins(void);
void pc_sampling__launch_ends(void);
bool pc_sampling__sees_launch(void); /* of some thread */
/* What CUPTI shows of a module is what the driver's compiler made of it. */
/* SIMCUDA_PC_CUBIN: files that stand for every module, at least one; false: there is none. */
unsigned int cubins__count(void);
bool cubins__read(unsigned int which, CUpti_ModuleResourceData *module);
/* The checksum that samples of that function have. */
uint64_t cubins__sampled(const char *function);
void pc_sampling__compile(unsigned int which, CUpti_ModuleResourceData *module);
bool activity__any(void);
void activity__off(void);

/* Puts a record into one of the client's buffers, as soon as the work is known. */
void buffers__add(const struct simcuda_record *record);
/* Returns the buffers whose work is done; with force all of them. */
void buffers__flush(bool force);
void buffers__start(void);
bool buffers__in_callback(void);
void buffers__counts(uint64_t *records, uint64_t *dropped, uint64_t *out);
uint64_t attribute__get(int attribute);

/* Was this unified memory counter configured? */
bool unified__wanted(uint32_t counter);
CUptiResult unified__ready(void);

uint64_t clock__now(void);
int64_t clock__offset(void);

/* Writes the record in the layout of the library's version; offset goes onto every time. */
size_t record__write(const struct simcuda_record *record, int64_t offset, bool unfinished,
		     uint8_t *target);

#endif
