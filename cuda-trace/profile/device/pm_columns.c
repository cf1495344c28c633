// SPDX-License-Identifier: BSD-2-Clause
/*
 * Metrics were chosen to fit into one pass together, which PM sampling needs: on GH100 all columns
 * of each preset do. Those called "realtime" count as things happen; the others of an SM are handed
 * on when a warp ends, and a long kernel would show as nothing and then as more than everything.
 */
#include "cuda-trace/profile/device/pm_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_PEAK ".pct_of_peak_sustained_elapsed"
#define AVG	".avg" OF_PEAK
#define SUM	".sum" OF_PEAK
#define TPC	"TPC.TriageCompute."

const struct pm_column pm_columns[] = {
	{"busy", "BUSY", "time in which the GPU's compute engine had work", PM_RATIO,
	 "gr__cycles_active" SUM},
	{"sm", "SM", "SMs with at least one warp, mean over all", PM_RATIO,
	 "sm__cycles_active" AVG},
	{"occupancy", "OCC", "warps in flight, as a share of those that fit", PM_RATIO,
	 "sm__warps_active_realtime" AVG ",tpc__warps_active_shader_cs_realtime" AVG "," TPC
	 "tpc__warps_active_realtime" AVG ",sm__warps_active" AVG},
	{"issue", "ISSUE", "instructions issued, as a share of those that the SMs could issue",
	 PM_RATIO,
	 "sm__inst_executed_realtime" AVG "," TPC "sm__inst_executed_realtime" AVG
	 ",sm__inst_executed" AVG},
	{"tensor", "TENS", "time in which tensor cores worked, mean over all", PM_RATIO,
	 "sm__pipe_tensor_cycles_active_realtime" AVG "," TPC
	 "sm__pipe_tensor_cycles_active_realtime" AVG ",sm__pipe_tensor_cycles_active" AVG},
	{"fma", "FMA", "instructions of the FP32 pipes, as a share of the maximum", PM_RATIO,
	 TPC "sm__inst_executed_pipe_fma_realtime" AVG ",sm__inst_executed_pipe_fma" AVG},
	{"fp64", "FP64", "time in which the FP64 pipes worked", PM_RATIO,
	 TPC "sm__pipe_fp64_cycles_active_realtime" AVG ",sm__inst_executed_pipe_fp64" AVG},
	{"alu", "ALU", "instructions of the integer pipes, as a share of the maximum", PM_RATIO,
	 "sm__inst_executed_pipe_alu_realtime" AVG "," TPC "sm__inst_executed_pipe_alu_realtime" AVG
	 ",sm__inst_executed_pipe_alu" AVG},
	{"l1", "L1", "L1 and shared memory accesses, as a share of the maximum", PM_RATIO,
	 "SM_A.TriageCompute.l1tex__data_pipe_lsu_wavefronts" AVG
	 ",l1tex__data_pipe_lsu_wavefronts" AVG},
	{"l2", "L2", "L2 accesses, as a share of the maximum", PM_RATIO, "lts__t_sectors" AVG},
	{"l2_hits", "L2HIT", "L2 accesses that were hits", PM_RATIO,
	 "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct,lts__t_sector_hit_rate."
	 "pct"},
	{"dram_read", "MEM-R", "reading from memory, of its peak", PM_RATIO,
	 "dram__bytes_read" SUM ",dram__bytes_op_read" SUM},
	{"dram_write", "MEM-W", "writing to memory, of its peak", PM_RATIO,
	 "dram__bytes_write" SUM ",dram__bytes_op_write" SUM},
	{"dram_read_bytes", "RD/s", "bytes read from memory per second", PM_BYTES,
	 "dram__bytes_read.sum.per_second,dram__bytes_op_read.sum.per_second"},
	{"dram_write_bytes", "WR/s", "bytes written to memory per second", PM_BYTES,
	 "dram__bytes_write.sum.per_second,dram__bytes_op_write.sum.per_second"},
	{"pcie", "PCIE", "PCIe traffic, as a share of the link's maximum", PM_RATIO,
	 "pcie__throughput" AVG},
	{"pcie_read_bytes", "PCI-R", "bytes received over PCIe per second", PM_BYTES,
	 "pcie__read_bytes.sum.per_second"},
	{"pcie_write_bytes", "PCI-W", "bytes sent over PCIe per second", PM_BYTES,
	 "pcie__write_bytes.sum.per_second"},
	{"nvlink_receive", "NVLR%", "receiving over NVLink, of its peak", PM_RATIO,
	 "nvlrx__bytes" SUM},
	{"nvlink_transmit", "NVLT%", "sending over NVLink, of its peak", PM_RATIO,
	 "nvltx__bytes" SUM},
	{"nvlink_receive_bytes", "NVL-R", "bytes received over NVLink per second", PM_BYTES,
	 "nvlrx__bytes.sum.per_second"},
	{"nvlink_transmit_bytes", "NVL-T", "bytes sent over NVLink per second", PM_BYTES,
	 "nvltx__bytes.sum.per_second"},
	{},
};

const struct pm_preset pm_presets[] = {
	{"device", "what is busy: SMs, tensor cores, memory, L2, links",
	 "busy,sm,occupancy,issue,tensor,dram_read,dram_write,l2,pcie_read_bytes,pcie_write_bytes,"
	 "nvlink_receive_bytes,nvlink_transmit_bytes"},
	{"compute", "pipes of the SMs", "busy,sm,occupancy,issue,tensor,fma,fp64,alu"},
	{"memory", "caches and memory",
	 "busy,sm,l1,l2,l2_hits,dram_read,dram_write,dram_read_bytes,dram_write_bytes"},
	{"links", "PCIe and NVLink",
	 "busy,pcie,pcie_read_bytes,pcie_write_bytes,nvlink_receive,nvlink_transmit,"
	 "nvlink_receive_bytes,nvlink_transmit_bytes"},
	{},
};

static int add(struct pm_choice *choice, const struct pm_column *column)
{
	for (size_t i = 0; i < choice->count; i++)
		if (!strcmp(choice->columns[i].key, column->key))
			return 0;
	if (choice->count == PM_COLUMNS)
		return -1;
	choice->columns[choice->count++] = *column;
	return 0;
}

static int add_named(struct pm_choice *choice, const char *name, size_t length)
{
	for (const struct pm_column *column = pm_columns; column->key; column++)
		if (strlen(column->key) == length && !strncmp(column->key, name, length))
			return add(choice, column);
	return -1;
}

static int add_list(struct pm_choice *choice, const char *keys)
{
	while (*keys) {
		size_t length = strcspn(keys, ",");

		if (add_named(choice, keys, length))
			return -1;
		keys += length + (keys[length] == ',');
	}
	return 0;
}

/* Its unit stands in its rollup: sm__cycles_active.avg.pct_of_peak_sustained_elapsed. */
static int add_metric(struct pm_choice *choice, const char *word)
{
	const char *rollup = strrchr(word, '.'), *unit = strstr(word, "__");
	struct pm_column column = {
		.key = word, .title = "", .help = word, .unit = PM_OTHER, .metrics = word};

	if (!rollup || !unit)
		return -1;
	if (!strncmp(rollup, ".pct", 4))
		column.unit = PM_RATIO;
	else if (!strcmp(rollup, ".per_second") && strstr(word, "bytes"))
		column.unit = PM_BYTES;
	return add(choice, &column);
}

static int add_word(struct pm_choice *choice, const char *word)
{
	for (const struct pm_preset *preset = pm_presets; preset->name; preset++)
		if (!strcmp(preset->name, word))
			return add_list(choice, preset->columns);
	if (!add_named(choice, word, strlen(word)))
		return 0;
	return add_metric(choice, word);
}

int pm_choice__parse(struct pm_choice *choice, const char *list, char *unknown, size_t size)
{
	char *rest, *word;

	*choice = (struct pm_choice){.text = strdup(list && *list ? list : "device")};
	*unknown = 0;
	if (!choice->text)
		return -1;
	for (rest = choice->text; (word = strsep(&rest, ","));)
		if (*word && add_word(choice, word)) {
			snprintf(unknown, size, "%s", word);
			pm_choice__free(choice);
			return -1;
		}
	return choice->count ? 0 : -1;
}

void pm_choice__nearest(const char *word, struct nearest_words *nearest)
{
	for (const struct pm_preset *preset = pm_presets; preset->name; preset++)
		suggest__consider(nearest, preset->name, word, strlen(word));
	for (const struct pm_column *column = pm_columns; column->key; column++)
		suggest__consider(nearest, column->key, word, strlen(word));
}

bool pm_column__is_metric(const struct pm_column *column)
{
	return column->metrics == column->key;
}

void pm_choice__free(struct pm_choice *choice)
{
	free(choice->text);
	*choice = (struct pm_choice){};
}

const char *pm_column__metric(const struct pm_column *column, size_t n, char *out, size_t size)
{
	const char *at = column->metrics;

	for (; n && *at; n--)
		at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
	if (!*at)
		return NULL;
	snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
	return out;
}
