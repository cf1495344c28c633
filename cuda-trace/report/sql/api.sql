-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Calls of the CUDA API, by time on the host
-- Needs: CUPTI_ACTIVITY_KIND_RUNTIME
-- Group: api_sums
SELECT nameId AS name, eventClass AS class, returnValue <> 0 AS failed, end - start AS ns
FROM CUPTI_ACTIVITY_KIND_RUNTIME;
-- Table:
-- Driver calls mostly lie within runtime calls: a share of both together would count time twice.
SELECT round(100.0 * sum(total_ns) / nullif(sum(sum(total_ns)) OVER (PARTITION BY class), 0), 2)
		AS time_pct,
	sum(total_ns) AS total_ns, sum(count) AS calls,
	sum(CASE WHEN failed THEN count ELSE 0 END) AS failed,
	cast(sum(total_ns) / nullif(sum(count), 0) AS INTEGER) AS mean_ns,
	min(min_ns) AS min_ns, max(max_ns) AS max_ns,
	CASE class WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' ELSE 'other' END AS api,
	coalesce(value, '[string ' || name || ']') AS call
FROM temp.api_sums LEFT JOIN StringIds ON id = name
GROUP BY name, class ORDER BY sum(total_ns) DESC, call;
