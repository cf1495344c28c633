// SPDX-License-Identifier: BSD-2-Clause
// A payload of NVTX's payload extension: its description up to a NUL, then the bytes.
#include <string.h>
#include "cuda-trace/base/payload_json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	char *schema = strndup((const char *)data, length), *text = NULL;
	size_t rest = length < size ? size - length - 1 : 0, written;
	uint8_t *payload = malloc(rest ? rest : 1);
	FILE *out = open_memstream(&text, &written);

	memcpy(payload, data + size - rest, rest);
	payload_json__write(out, schema, payload, rest);
	fclose(out);
	free(text);
	free(payload);
	free(schema);
	return 0;
}
