-- SPDX-License-Identifier: BSD-2-Clause
-- Title: NVTX ranges
-- Recorded: NVTX ranges are recorded by cuda-trace record -e kernels,copies,nvtx -- PROGRAM
-- Needs: NVTX_EVENTS
-- Table:
SELECT sum(e.end - e.start) AS total_ns, count(*) AS ranges,
	cast(avg(e.end - e.start) AS INTEGER) AS mean_ns, min(e.end - e.start) AS min_ns,
	max(e.end - e.start) AS max_ns, coalesce(d.value, '') AS domain,
	coalesce(e.text, s.value, '') AS range,
	coalesce(c.name, e.category) AS category,
	nullif(sum(coalesce(e.jsonText, e.uint64Value, e.int64Value, e.doubleValue, e.uint32Value,
		e.int32Value, e.floatValue) IS NOT NULL), 0) AS payloads
FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId
	LEFT JOIN StringIds AS d ON d.id = e.domainId AND e.domainId <> 0
	LEFT JOIN (SELECT n.globalTid >> 24 AS process, coalesce(n.domainId, 0) AS domain,
			n.category AS category, max(coalesce(n.text, t.value)) AS name
		FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS t ON t.id = n.textId
		WHERE n.eventType = 33 GROUP BY 1, 2, 3) AS c
		ON c.process = e.globalTid >> 24 AND c.domain = coalesce(e.domainId, 0)
			AND c.category = e.category
WHERE e.eventType IN (59, 60) AND e.end >= e.start
GROUP BY 6, range, 8 ORDER BY 1 DESC, range;
