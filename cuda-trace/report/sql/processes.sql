-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Processes
-- Needs: CUDA_TRACE_PROCESSES
-- Table:
SELECT pid, name, uid, start AS seen_from_ns, end AS seen_until_ns,
	CASE state WHEN 0 THEN 'dormant' WHEN 1 THEN 'active' WHEN 2 THEN 'yielded'
		WHEN 3 THEN 'inert' WHEN 4 THEN 'ended' ELSE 'unknown' END AS state,
	source, cuptiVersion AS cupti, cuptiPath AS libcupti,
	coalesce(k8s_namespace_name || '/' || k8s_pod_name || coalesce('/' || k8s_container_name, ''),
		container_name, 'slurm:' || slurm_job_id || coalesce('.' || slurm_step_id, ''),
		container, systemd_unit) AS origin, message
FROM CUDA_TRACE_PROCESSES LEFT JOIN CUDA_TRACE_ORIGINS USING (globalPid, instance)
ORDER BY start, pid;
