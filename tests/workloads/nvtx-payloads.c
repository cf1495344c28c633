// SPDX-License-Identifier: BSD-2-Clause
// NVTX events with payloads of every kind, categories with names, and a range that another thread
// ends. Written out as nvToolsExtPayload.h has it. The last line also has how many payloads are
// too large or of no known schema (payloads_lost), and the two threads of that range.
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/workloads/nvtx_client.h"

static const char help[] =
	"usage: nvtx-payloads [schemas N]\n"
	"NVTX events with payloads; or a mark after N schemas were registered.\n";

#define EXTENDED ((int32_t)0xDFBD0009)

struct payload_data {
	uint64_t schema;
	size_t size;
	const void *payload;
};

struct entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

struct schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct entry *entries;
	size_t count, static_size, alignment;
	uint64_t id;
	void *extension;
};

struct value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct values {
	uint64_t fields;
	const char *name;
	const struct value *entries;
	size_t count, size;
	uint64_t id;
	void *extension;
};

enum { SCHEMA, ENUM, MARK, PUSH, POP, START, END, SLOTS = 63 };
static intptr_t extension[SLOTS];

/* As the client of NVTX does at its first call of the extension. */
static void initialize_extension(void)
{
	struct {
		size_t id, count;
		intptr_t *slots;
	} segment = {0, SLOTS, extension};
	struct {
		uint16_t version, size, id, compatibility;
		size_t count;
		void *segments, *get_export;
		const void *more;
	} module = {3, sizeof(module), 2, 0x0104, 1, &segment, NULL, NULL};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*entry)(void *) = NULL;

	if (library)
		entry = (int (*)(void *))dlsym(library, "InitializeInjectionNvtxExtension");
	if (entry && !entry(&module))
		memset(extension, 0, sizeof(extension));
}

static uint64_t register_schema(void *domain, const struct schema *schema)
{
	return extension[SCHEMA]
		       ? ((uint64_t(*)(void *, const void *))extension[SCHEMA])(domain, schema)
		       : 0;
}

static uint64_t register_enum(void *domain, const struct values *values)
{
	return extension[ENUM]
		       ? ((uint64_t(*)(void *, const void *))extension[ENUM])(domain, values)
		       : 0;
}

static uint64_t call(int slot, void *domain, const struct payload_data *data, size_t count)
{
	return extension[slot] ? ((uint64_t(*)(void *, const void *, size_t))extension[slot])(
					 domain, data, count)
			       : 0;
}

static void end_with(void *domain, uint64_t range, const struct payload_data *data)
{
	if (extension[END])
		((void (*)(void *, uint64_t, const void *, size_t))extension[END])(domain, range,
										   data, 1);
}

static void event(int number, void *domain, const char *text, int32_t type, uint64_t payload,
		  int32_t count)
{
	struct attributes attributes = {.version = 3,
					.size = 48,
					.category = 7,
					.payload_type = type,
					.reserved = count,
					.payload = payload,
					.message_type = text ? 1 : 0,
					.message.ascii = text};

	if (core2[number])
		((int (*)(void *, const struct attributes *))core2[number])(domain, &attributes);
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void numbers(void *domain)
{
	float single = 0.5f;
	uint32_t word;

	memcpy(&word, &single, sizeof(word));
	event(DOMAIN_MARK_EX, domain, "unsigned long", 1, UINT64_MAX, 0);
	event(DOMAIN_MARK_EX, domain, "signed long", 2, (uint64_t)-5, 0);
	event(DOMAIN_MARK_EX, domain, "double", 3, bits_of(2.5), 0);
	/* The upper half is whatever was there. */
	event(DOMAIN_MARK_EX, domain, "unsigned", 4, 0xabcdef0100000007, 0);
	event(DOMAIN_MARK_EX, domain, "signed", 5, 0xabcdef0100000000 | (uint32_t)-7, 0);
	event(DOMAIN_MARK_EX, domain, "float", 6, 0xabcdef0100000000 | word, 0);
	event(DOMAIN_MARK_EX, domain, "minus zero", 3, bits_of(-0.0), 0);
	event(DOMAIN_MARK_EX, domain, "none", 0, 12, 0);
}

static void categories(void *domain)
{
	if (core[NAME_CATEGORY_A])
		((void (*)(uint32_t, const char *))core[NAME_CATEGORY_A])(7, "of all");
	if (core2[DOMAIN_NAME_CATEGORY_W])
		((void (*)(void *, uint32_t, const wchar_t *))core2[DOMAIN_NAME_CATEGORY_W])(
			domain, 7, L"of the dom\u00e4ne");
	event(DOMAIN_MARK_EX, domain, "in a category", 0, 0, 0);
	if (core[MARK_EX]) {
		struct attributes attributes = {
			.version = 3, .size = 48, .category = 7, .message_type = 1};

		attributes.message.ascii = "in another";
		((void (*)(const struct attributes *))core[MARK_EX])(&attributes);
	}
}

struct across {
	uint64_t range;
	pid_t tid;
};

static void *end_elsewhere(void *argument)
{
	struct across *across = argument;

	across->tid = (pid_t)syscall(SYS_gettid);
	end(across->range);
	return NULL;
}

static void across_threads(void)
{
	struct across across = {.range = start("across threads")};
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_elsewhere, &across))
		program__fail("no thread");
	pthread_join(thread, NULL);
	program__also("start_tid", (uint64_t)syscall(SYS_gettid));
	program__also("end_tid", (uint64_t)across.tid);
}

struct pair {
	uint16_t first, second;
};

struct operation {
	uint64_t communicator;
	int32_t rank;
	uint8_t operation;
	double value;
	const char *label;
	char fixed[8];
	struct pair pairs[2];
	float reals[3];
	uint32_t flags;
	uint16_t half;
	void *address;
};

static uint64_t schema_of_pair(void *domain)
{
	static const struct entry entries[] = {{.type = 14, .name = "first"},
					       {.type = 14, .name = "second;{%}"}};
	const struct schema schema = {.fields = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5,
				      .name = "pair",
				      .type = 1,
				      .entries = entries,
				      .count = 2};

	return register_schema(domain, &schema);
}

static uint64_t schema_of_operation(void *domain)
{
	static const struct value operations[] = {{"sum", 0, 0}, {"product", 1, 0}};
	static const struct value flags[] = {{"read", 1, 1}, {"write", 2, 1}};
	const struct values operation = {.fields = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4,
					 .name = "operation",
					 .entries = operations,
					 .count = 2,
					 .size = 1};
	const struct values flag = {.fields = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5,
				    .entries = flags,
				    .count = 2,
				    .size = 4,
				    .id = (1 << 24) + 5};
	const struct entry entries[] = {
		{.type = 18, .name = "communicator"},
		{.type = 5, .name = "rank"},
		{.type = register_enum(domain, &operation), .name = "operation"},
		{.type = 20, .name = "value"},
		{.type = 75, .name = "label"},
		{.type = 75, .name = "fixed", .detail = 8},
		{.type = schema_of_pair(domain), .flags = 1 << 4, .detail = 2, .name = "pairs"},
		{.type = 19, .flags = 1 << 4, .detail = 3, .name = "reals"},
		{.type = register_enum(domain, &flag), .name = "flags"},
		{.type = 42, .name = "half"},
		{.type = 23, .name = "address"},
	};
	const struct schema schema = {.fields = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6,
				      .name = "one operation",
				      .type = 1,
				      .entries = entries,
				      .count = 11,
				      .static_size = sizeof(struct operation)};

	return register_schema(domain, &schema);
}

static uint64_t schema_of_message(void *domain)
{
	static const struct entry entries[] = {
		{.flags = 1 << 10, .type = 75, .name = "message"},
		{.type = 17, .name = "step"},
		{.type = 17, .flags = 1 << 9, .name = "hidden"},
	};
	const struct schema schema = {.fields = 1 << 1 | 1 << 4 | 1 << 5,
				      .name = "a message",
				      .entries = entries,
				      .count = 3};

	return register_schema(domain, &schema);
}

static uint64_t schema_of_bytes(void *domain)
{
	static const struct entry entries[] = {
		{.type = 32, .flags = 1 << 4, .detail = 1000, .name = "bytes"}};
	const struct schema schema = {.fields = 1 << 4 | 1 << 5, .entries = entries, .count = 1};

	return register_schema(domain, &schema);
}

static void schemas(void *domain)
{
	static const uint8_t large[1000] = {1};
	const struct operation operation = {.communicator = 0xfedcba9876543210,
					    .rank = -3,
					    .operation = 1,
					    .value = 0.1,
					    .label = "a \"label\"\n",
					    .fixed = "fixed",
					    .pairs = {{1, 2}, {3, 65535}},
					    .reals = {1.5f, -2, 1e10f},
					    .flags = 3,
					    .half = 0x3e00,
					    .address = (void *)0xabc};
	const struct {
		const char *message;
		int64_t step, hidden;
	} message = {"said by its payload", 42, 1};
	struct payload_data of_operation = {schema_of_operation(domain), sizeof(operation),
					    &operation};
	/* ~0: as the schema says. */
	struct payload_data of_message = {schema_of_message(domain), (size_t)-1, &message};
	struct payload_data both[] = {of_operation, of_message};
	struct payload_data of_bytes = {schema_of_bytes(domain), sizeof(large), large};
	struct payload_data unknown = {12345, sizeof(operation), &operation};
	uint64_t range;

	event(DOMAIN_PUSH_EX, domain, "pushed", EXTENDED, (uintptr_t)&of_operation, 1);
	event(DOMAIN_MARK_EX, domain, "two", EXTENDED, (uintptr_t)both, 2);
	domain_pop(domain);
	call(MARK, domain, &of_message, 1);
	call(PUSH, domain, &of_operation, 1);
	call(POP, domain, &of_message, 1);
	range = call(START, domain, &of_message, 1);
	end_with(domain, range, &of_message);
	event(DOMAIN_MARK_EX, domain, "large", EXTENDED, (uintptr_t)&of_bytes, 1);
	event(DOMAIN_MARK_EX, domain, "unknown", EXTENDED, (uintptr_t)&unknown, 1);
	program__also("payloads_lost", 2);
}

/* Each is another, as its name is. */
static void many(void *domain, uint64_t count)
{
	const int64_t value = 7;
	struct payload_data data = {0, sizeof(value), &value};
	char name[32];

	for (uint64_t i = 0; i < count; i++) {
		const struct entry entry = {.type = 17, .name = name};
		const struct schema schema = {
			.fields = 1 << 4 | 1 << 5, .entries = &entry, .count = 1};
		uint64_t id;

		snprintf(name, sizeof(name), "value %llu", (unsigned long long)i);
		id = register_schema(domain, &schema);
		data.schema = id ? id : data.schema;
	}
	event(DOMAIN_MARK_EX, domain, "after many", EXTENDED, (uintptr_t)&data, 1);
}

int main(int argc, char **argv)
{
	struct program program;
	void *domain;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(help, stdout), 0;
	program__start(&program);
	initialize();
	initialize_extension();
	domain = domain_create("payloads");
	if (argc > 2) {
		many(domain, program__number(argv[2], "N"));
	} else {
		numbers(domain);
		categories(domain);
		across_threads();
		schemas(domain);
	}
	domain_destroy(domain);
	program__expect();
	return 0;
}
