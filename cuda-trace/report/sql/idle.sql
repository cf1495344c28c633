-- SPDX-License-Identifier: BSD-2-Clause
-- Title: How busy each GPU was, with the work of all processes
-- Needs: CUPTI_ACTIVITY_KIND_KERNEL
-- What overlaps counts once. The window is one for all GPUs: from the first to the last launch,
-- wait or work of a GPU.
-- Spans: gpu_spans
SELECT globalPid, start, end, deviceId, 0 FROM CUPTI_ACTIVITY_KIND_KERNEL
UNION ALL SELECT globalPid, start, end, deviceId, 1 FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE coalesce(copyKind, 0) <= 10
UNION ALL SELECT globalPid, start, end, deviceId, 1 FROM CUPTI_ACTIVITY_KIND_MEMSET
UNION ALL SELECT globalPid, start, end, deviceId, 0 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
-- Table:
SELECT device, window_ns AS span_ns, busy_ns,
	round(100.0 * busy_ns / nullif(window_ns, 0), 2) AS busy_pct,
	window_ns - busy_ns AS idle_ns, gaps, longest_gap_ns,
	longest_gap_start_ns AS longest_gap_at_ns, copy_ns, uuid
FROM temp.gpu_spans ORDER BY device, uuid;
