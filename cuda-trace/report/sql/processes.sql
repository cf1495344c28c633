-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Processes
-- Needs: CUDA_TRACE_PROCESSES
-- Table:
SELECT pid, name, uid, start AS seen_from_ns, end AS seen_until_ns,
	CASE state WHEN 0 THEN 'dormant' WHEN 1 THEN 'active' WHEN 2 THEN 'yielded'
		WHEN 3 THEN 'inert' WHEN 4 THEN 'ended' ELSE 'unknown' END AS state,
	source, cuptiVersion AS cupti, cuptiPath AS libcupti, message
FROM CUDA_TRACE_PROCESSES ORDER BY start, pid;
