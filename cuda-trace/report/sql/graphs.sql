-- SPDX-License-Identifier: BSD-2-Clause
-- Title: CUDA graphs, by time on the GPU
-- Recorded: whole graphs are recorded by cuda-trace record -e kernels,graphs -- PROGRAM
-- Needs: CUPTI_ACTIVITY_KIND_GRAPH_TRACE
-- Group: graph_sums
SELECT globalPid, graphExecId AS graph, end - start AS ns FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
-- Table:
SELECT total_ns, count AS launches, mean_ns, p50_ns, p99_ns, min_ns, max_ns,
	globalPid / 0x1000000 % 0x1000000 AS pid, graph
FROM temp.graph_sums ORDER BY total_ns DESC, pid, graph;
