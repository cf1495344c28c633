-- SPDX-License-Identifier: BSD-2-Clause
-- Title: NVTX ranges
-- Recorded: NVTX ranges are recorded by cuda-trace record -e kernels,copies,nvtx -- PROGRAM
-- Needs: NVTX_EVENTS
-- Table:
SELECT sum(e.end - e.start) AS total_ns, count(*) AS ranges,
	cast(avg(e.end - e.start) AS INTEGER) AS mean_ns, min(e.end - e.start) AS min_ns,
	max(e.end - e.start) AS max_ns, coalesce(d.value, '') AS domain,
	coalesce(e.text, s.value, '') AS range
FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId
	LEFT JOIN StringIds AS d ON d.id = e.domainId AND e.domainId <> 0
WHERE e.eventType IN (59, 60) AND e.end >= e.start
GROUP BY domain, range ORDER BY 1 DESC, range;
