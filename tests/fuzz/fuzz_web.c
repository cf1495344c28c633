// SPDX-License-Identifier: BSD-2-Clause
// The file of metrics --web-config.
#include "cuda-trace/metrics/metrics_web.h"
#include "tests/fuzz/fuzz.h"

static void on_header(void *context, const char *name, const char *value)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config *config = web_config__open(fuzz__path(data, size));

	if (!config)
		return 0;
	web_config__each_header(config, on_header, NULL);
	web_config__lookup(config, "user", "password");
	web_config__close(config);
	return 0;
}
