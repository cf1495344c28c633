// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples as rows: one for each instruction and reason, and the tree of stacks node by node. Texts
 * come from traced programs; db__string() cleans them.
 */
#include "cuda-trace/profile/pc/pc_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/recording/older_recording.h"
#include "cuda-trace/recording/store_db.h"
#include "cuda-trace/recording/store_import.h"
#include "cuda-trace/base/text.h"

static int64_t string_id(struct db *db, const char *text)
{
	return text ? db__string(db, text, strlen(text)) : DB_NULL;
}

static int put_instruction(struct db *db, const struct pc_table *table,
			   const struct pc_instruction *instruction)
{
	const struct pc_function *function = &table->functions[instruction->at.function];
	int err = 0;

	for (uint32_t i = 0; i < PC_MAX_REASONS && !err; i++) {
		int64_t values[] = {
			instruction->counts.reasons[i],
			string_id(db, function->of.name),
			function->of.cubin,
			instruction->at.offset,
			string_id(db, instruction->at.file),
			instruction->at.line ? instruction->at.line : DB_NULL,
			0,
			string_id(db, instruction->text),
		};

		if (!instruction->counts.reasons[i])
			continue;
		values[6] = string_id(db, pc_table__reason(table, i));
		err = values[1] < 0 || values[6] < 0 ? -ENOMEM
						     : db__insert(db, DB_PC_SAMPLES, values);
	}
	return err;
}

static int put_tree(struct db *db, const struct stacks *tree)
{
	int err = 0;

	for (size_t i = 1; i < tree->count && !err; i++) {
		const struct stacks_node *node = &tree->nodes[i];
		int64_t name = string_id(db, node->name);
		const int64_t values[] = {i, node->parent, name, node->leaf ? node->ns : 0};

		err = name < 0 ? -ENOMEM : db__insert(db, DB_PC_STACKS, values);
	}
	return err;
}

static int put_lost(struct db *db, const char *stage, const char *reason, const char *text,
		    uint64_t count)
{
	return count ? db__run(db, "INSERT INTO CUDA_TRACE_LOST VALUES (?,?,?,?)", "ttti", stage,
			       reason, text, (int64_t)count)
		     : 0;
}

static int put_losses(struct db *db, const struct pc_table *table,
		      const struct session_lost_counts *lost)
{
	const struct {
		const char *stage, *key, *text;
		uint64_t count;
	} rows[] = {
#define AGENT_ROW(name, key, text) {"process", key, text, lost->agent[CUDA_LOST_##name]},
		CUDA_LOST_REASONS(AGENT_ROW)
#undef AGENT_ROW
#define SESSION_ROW(name, key, text) {"collect", key, text, lost->session[SESSION_LOST_##name]},
			SESSION_LOST_REASONS(SESSION_ROW)
#undef SESSION_ROW
				{"process", "pc_dropped", "samples that the GPU dropped",
				 table->dropped},
		{"process", "pc_other",
		 "samples of kernels that are not the program's, or that CUPTI did not know",
		 table->other},
		{"process", "pc_overflows", "windows that are incomplete", table->overflows},
		{"process", "pc_unplaced", "samples that CUPTI did not report one by one",
		 pc_table__unplaced(table)},
		{"collect", "pc_no_room", "samples of instructions beyond the tables' limits",
		 table->unkept},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = put_lost(db, rows[i].stage, rows[i].key, rows[i].text, rows[i].count);
	return err;
}

static int put_meta(struct db *db, uint64_t duration_ns)
{
	static const char insert[] = "INSERT INTO META_DATA_EXPORT VALUES (?,?)";
	char schema[32], utc[32] = "";
	time_t now = time(NULL), begun = now - duration_ns / 1000000000;
	struct tm tm;
	int err;

	snprintf(schema, sizeof(schema), "%d.%d.%d", DB_SCHEMA_MAJOR, DB_SCHEMA_MINOR,
		 DB_SCHEMA_MICRO);
	if (gmtime_r(&begun, &tm))
		strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%S", &tm);
	err = db__run(db, insert, "tt", "EXPORT_PRODUCT_NAME", "cuda-trace");
	err = err ? err : db__run(db, insert, "tt", "EXPORT_PRODUCT_VERSION", VERSION);
	err = err ? err : db__run(db, insert, "tt", "EXPORT_SCHEMA_VERSION", schema);
	err = err ? err
		  : db__run(db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?,?,NULL,0)",
			    "it", (int64_t)begun * 1000000000, utc);
	return err ? err
		   : db__run(db, "INSERT INTO ANALYSIS_DETAILS VALUES (?,?,0,?)", "iii", 1ll << 48,
			     (int64_t)duration_ns, (int64_t)duration_ns);
}

static int fill(const char *path, const struct pc_table *table, const struct stacks *tree,
		const struct session_lost_counts *lost, uint64_t duration_ns)
{
	struct db *db;
	int err = db__create(&db, path);

	if (err)
		return err;
	for (uint32_t i = 0; i < table->instruction_count && !err; i++)
		err = put_instruction(db, table, &table->instructions[i]);
	err = err ? err : put_tree(db, tree);
	err = err ? err : put_losses(db, table, lost);
	err = err ? err : put_meta(db, duration_ns);
	err = err ? err : db__finish(db);
	db__close(db);
	return err;
}

int pc_store__write(const char *path, const struct pc_table *table, const struct stacks *tree,
		    const struct session_lost_counts *lost, uint64_t duration_ns)
{
	char *partial = NULL, shown[256];
	int err;

	if (import__check_path(path))
		return -EINVAL;
	if (asprintf(&partial, "%s.unfinished", path) < 0)
		return -ENOMEM;
	unlink(partial);
	err = fill(partial, table, tree, lost, duration_ns);
	if (!err)
		err = older_recording__replace(partial, path);
	if (err) {
		fprintf(stderr, "cuda-trace profile: cannot write %s: %s\n",
			text__show(shown, sizeof(shown), path, 60), strerror(-err));
		unlink(partial);
	}
	free(partial);
	return err;
}
