-- SPDX-License-Identifier: BSD-2-Clause
-- Title: Lost, by reason
-- Needs: CUDA_TRACE_LOST
-- Table:
SELECT count AS lost, stage, reason, text AS meaning FROM CUDA_TRACE_LOST
ORDER BY count DESC, reason;
