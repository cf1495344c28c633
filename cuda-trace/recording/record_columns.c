// SPDX-License-Identifier: BSD-2-Clause
/* The lists of columns as data, and the conversions between rows and records. */
#include "cuda-trace/recording/record_columns.h"
#include <errno.h>
#include <string.h>

#define EVENT_CLASS_RUNTIME  0
#define EVENT_CLASS_DRIVER   1
#define UNKNOWN_MEMORY	     7
#define SQL_WIDTH	     100

#define INT		     "INTEGER"
#define REQ		     "INTEGER NOT NULL"

#define FIELD(record, field) ((struct record *)0)->field
#define NEGATIVE(record, field) \
	((__typeof__(FIELD(record, field)))(-1) < (__typeof__(FIELD(record, field)))1)
#define COLUMN_OF_FIELD(column, type, use, as, record, field) \
	{#column,                                             \
	 type,                                                \
	 COLUMN_##use,                                        \
	 AS_##as,                                             \
	 sizeof(FIELD(record, field)),                        \
	 NEGATIVE(record, field),                             \
	 offsetof(struct record, field)},
#define OTHER_COLUMN(column, type, use) {#column, type, COLUMN_##use, AS_NONE, 0, false, 0},

#define COLUMNS(name, table, tail, kind)                                           \
	static const struct record_column columns_of_##name[] = {                  \
		COLUMNS_##name(COLUMN_OF_FIELD, OTHER_COLUMN)};                    \
	_Static_assert(sizeof(columns_of_##name) / sizeof(columns_of_##name[0]) <= \
			       RECORD_COLUMNS_MAX,                                 \
		       "columns");
RECORD_TABLES(COLUMNS)

const struct record_table record_tables[DB_TABLE_COUNT] = {
#define TABLE(name, table, tail, kind)                        \
	{#table, tail, CUDA_RECORD_##kind, columns_of_##name, \
	 sizeof(columns_of_##name) / sizeof(columns_of_##name[0])},
	RECORD_TABLES(TABLE)};

char *record_columns__declaration(enum db_table table)
{
	const struct record_table *of = &record_tables[table];
	sqlite3_str *sql = sqlite3_str_new(NULL);
	int line = 0;

	sqlite3_str_appendf(sql, "CREATE TABLE %s (", of->name);
	for (int i = 0; i < of->count; i++) {
		const struct record_column *column = &of->columns[i];
		int width = strlen(column->name) + strlen(column->type) + 3;

		if (i && sqlite3_str_length(sql) - line + width > SQL_WIDTH) {
			line = sqlite3_str_length(sql) - 8; /* a tab's width */
			sqlite3_str_appendf(sql, ",\n\t%s %s", column->name, column->type);
		} else {
			sqlite3_str_appendf(sql, "%s%s %s", i ? ", " : "", column->name,
					    column->type);
		}
	}
	sqlite3_str_appendf(sql, "%s)", of->tail);
	return sqlite3_str_finish(sql);
}

static int64_t get_field(const struct record_column *column, const void *record)
{
	const char *field = (const char *)record + column->offset;
	uint64_t value = 0;

	/* Little-endian machines only, as the probes' records are read in place. */
	memcpy(&value, field, column->size);
	if (column->negative && column->size == 4)
		return (int32_t)value;
	return (int64_t)value;
}

static void set_field(const struct record_column *column, void *record, int64_t value)
{
	memcpy((char *)record + column->offset, &value, column->size);
}

/* 0, 1, 1 << 16, 2 << 16 ... ↔ 0, 2, 3, 4 ... */
static int64_t overhead_type(uint64_t kind)
{
	return kind >> 16 ? (int64_t)(kind >> 16) + 2 : kind == 1 ? 2 : 0;
}

static int64_t overhead_kind(int64_t type)
{
	return type >= 3 && type < 10 ? (type - 2) << 16 : type == 2;
}

void record_columns__to_row(enum db_table table, const void *record, uint64_t epoch,
			    int64_t global_pid, union record_row *row)
{
	const struct record_table *of = &record_tables[table];

	for (int i = 0; i < of->count; i++) {
		const struct record_column *column = &of->columns[i];
		int64_t value = column->size ? get_field(column, record) : 0;

		switch ((enum column_conversion)column->conversion) {
		case AS_NONE:
			value = column->use == COLUMN_ZERO ? 0 : DB_NULL;
			break;
		case AS_NUMBER:
			break;
		case AS_OPTIONAL:
			value = value ? value : DB_NULL;
			break;
		case AS_TIME:
			value = (int64_t)((uint64_t)value - epoch);
			break;
		case AS_PROCESS:
			value = global_pid;
			break;
		case AS_THREAD:
			value = global_pid | (value & 0xffffff);
			break;
		case AS_DOMAIN:
			value = value == CUDA_DOMAIN_RUNTIME ? EVENT_CLASS_RUNTIME
							     : EVENT_CLASS_DRIVER;
			break;
		case AS_MEMORY:
			value = value ? value - 1 : UNKNOWN_MEMORY;
			break;
		case AS_OVERHEAD:
			value = overhead_type(value);
			break;
		case AS_FROM_1:
			value++;
			break;
		case AS_FROM_MINUS_1:
			value--;
			break;
		}
		row->values[i] = value;
	}
}

static int64_t field_of(const struct record_column *column, int64_t value, uint64_t epoch)
{
	switch ((enum column_conversion)column->conversion) {
	case AS_TIME:
		return (int64_t)((uint64_t)value + epoch);
	case AS_THREAD:
		return value & 0xffffff;
	case AS_DOMAIN:
		return value ? CUDA_DOMAIN_DRIVER : CUDA_DOMAIN_RUNTIME;
	case AS_MEMORY:
		return value < 0 || value >= UNKNOWN_MEMORY ? 0 : value + 1;
	case AS_OVERHEAD:
		return overhead_kind(value);
	case AS_FROM_1:
		return value - 1;
	case AS_FROM_MINUS_1:
		return value + 1;
	default:
		return value;
	}
}

/* To whoever reads it: other NULLs are 0. */
static bool may_be_null(const struct record_column *column)
{
	return column->conversion == AS_NONE || column->conversion == AS_MEMORY;
}

void record_columns__from_row(const struct record_selection *selection, const int64_t *values,
			      uint64_t epoch, union record_row *row, union any_record *record)
{
	const struct record_table *of = &record_tables[selection->table];

	for (int i = 0; i < of->count; i++)
		row->values[i] = may_be_null(&of->columns[i]) ? DB_NULL : 0;
	if (record)
		memset(record, 0, sizeof(*record));
	for (int i = 0; i < selection->count; i++) {
		const struct record_column *column = &of->columns[selection->columns[i]];

		row->values[selection->columns[i]] = values[i];
		if (record && column->size && column->conversion != AS_PROCESS)
			set_field(column, record, field_of(column, values[i], epoch));
	}
}

static bool has_column(sqlite3_stmt *all, const char *name)
{
	for (int i = 0; i < sqlite3_column_count(all); i++)
		if (!strcmp(sqlite3_column_name(all, i), name))
			return true;
	return false;
}

/* The place of a column in a selection: 0 process or thread, 1 start, 2 others. */
static int place_of(const struct record_column *column)
{
	if (column->conversion == AS_PROCESS || column->conversion == AS_THREAD)
		return 0;
	return strcmp(column->name, "start") ? 2 : 1;
}

static void choose_columns(sqlite3_stmt *all, enum column_use use,
			   struct record_selection *selection)
{
	const struct record_table *of = &record_tables[selection->table];

	for (int place = 0; place < 3; place++)
		for (int i = 0; i < of->count; i++)
			if (of->columns[i].use >= use && place_of(&of->columns[i]) == place &&
			    has_column(all, of->columns[i].name))
				selection->columns[selection->count++] = i;
}

int record_columns__select(sqlite3 *db, enum db_table table, const char *source,
			   enum column_use use, struct record_selection *selection, char **sql)
{
	const struct record_table *of = &record_tables[table];
	sqlite3_stmt *all = NULL;
	char *text = sqlite3_mprintf("SELECT * FROM %s", source);
	int code = text ? sqlite3_prepare_v2(db, text, -1, &all, NULL) : SQLITE_NOMEM;
	sqlite3_str *out;

	sqlite3_free(text);
	*selection = (struct record_selection){.table = table};
	if (code)
		return code == SQLITE_NOMEM ? -ENOMEM : -ENOENT;
	choose_columns(all, use, selection);
	sqlite3_finalize(all);
	if (selection->count < 2 || place_of(&of->columns[selection->columns[0]]) != 0 ||
	    place_of(&of->columns[selection->columns[1]]) != 1)
		return -ENOENT;
	out = sqlite3_str_new(db);
	for (int i = 0; i < selection->count; i++) {
		const struct record_column *column = &of->columns[selection->columns[i]];

		sqlite3_str_appendall(out, i ? ", " : "SELECT ");
		if (may_be_null(column))
			sqlite3_str_appendf(out, "coalesce(\"%w\", %lld)", column->name,
					    (long long)DB_NULL);
		else
			sqlite3_str_appendf(out, "\"%w\"", column->name);
	}
	sqlite3_str_appendf(out, " FROM %s", source);
	*sql = sqlite3_str_finish(out);
	return *sql ? 0 : -ENOMEM;
}
