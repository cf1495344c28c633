-- SPDX-License-Identifier: BSD-2-Clause
-- Title: What warps waited for (PC samples)
-- Recorded: samples are recorded by cuda-trace profile --pc --record FILE -- PROGRAM
-- Needs: CUDA_TRACE_PC_SAMPLES
-- Functions with most samples first, and in each the places and reasons with most.
-- Table:
SELECT sum(samples) AS samples,
	round(100.0 * sum(samples) / (SELECT sum(samples) FROM CUDA_TRACE_PC_SAMPLES), 2) AS percent,
	coalesce(r.value, '') AS reason,
	coalesce(f.value || ':' || line, printf('+0x%x', offset) || coalesce('  ' || s.value, '')) AS place,
	coalesce(k.value, '') AS function
FROM CUDA_TRACE_PC_SAMPLES LEFT JOIN StringIds AS k ON k.id = functionId
	LEFT JOIN StringIds AS f ON f.id = fileId LEFT JOIN StringIds AS r ON r.id = reasonId
	LEFT JOIN StringIds AS s ON s.id = sassId
GROUP BY functionId, place, reasonId
ORDER BY sum(sum(samples)) OVER (PARTITION BY functionId) DESC, function, 1 DESC, place, reason;
