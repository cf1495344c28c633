-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Calls that failed
-- Needs: CUPTI_ACTIVITY_KIND_RUNTIME
-- 600 is "not ready": the answer of a query, and no failure.
-- Table:
SELECT count(*) AS failures, returnValue AS code,
	CASE eventClass WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' ELSE 'other' END AS api,
	min(start) AS first_ns, max(start) AS last_ns,
	globalTid / 0x1000000 % 0x1000000 AS pid, coalesce(value, '[string ' || nameId || ']') AS call
FROM CUPTI_ACTIVITY_KIND_RUNTIME LEFT JOIN StringIds ON id = nameId
WHERE returnValue NOT IN (0, 600)
GROUP BY pid, nameId, eventClass, returnValue ORDER BY failures DESC, call;
