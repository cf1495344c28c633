/* SPDX-License-Identifier: BSD-2-Clause */
/* NVTX ranges and marks, and their payloads: part of probes.h, which includes it. */
#ifndef LIBCUPTI_USDT_NVTX_RECORDS_H
#define LIBCUPTI_USDT_NVTX_RECORDS_H

#include "probes.h"

/* head.correlation is 0. A range is sent once, when it ends; as NVTX_OPEN also when it begins, with
 * the same start, tid of that, and end the same as start, and without its payload. */
struct cuda_nvtx {
	struct cuda_record head;
	__u64 start, end; /* ns; the same for a mark */
	__u64 range;	  /* id of a start/end range, else 0 */
	__u32 tid;	  /* of the end */
	__u32 text;	  /* id of a cuda:name, 0 = none */
	__u32 domain;	  /* id of a cuda:name, 0 = the default domain */
	__u32 color;	  /* ARGB, 0 = none */
	__u32 category;
	__u8 kind;	   /* 1 mark, 2 push/pop range, 3 start/end range */
	__u8 payload_kind; /* enum cuda_nvtx_payload_kind */
	__u8 pad[2];
	__u32 depth;	 /* of a push/pop range: how many ranges of its thread enclose it */
	__u32 start_tid; /* of the start; 0 = an older library, which does not say */
	__u64 payload;	 /* its bits; CUDA_NVTX_SCHEMA: the id of its struct cuda_nvtx_payload */
	__u32 category_name; /* id of a cuda:name, 0 = none */
	__u32 payload_parts; /* CUDA_NVTX_SCHEMA: how many struct cuda_nvtx_payload there are */
};

/* As nvtxPayloadType_t numbers them, but for the last. Floats are in the lower 32 bits. */
enum cuda_nvtx_payload_kind {
	CUDA_NVTX_NO_PAYLOAD = 0,
	CUDA_NVTX_UINT64 = 1,
	CUDA_NVTX_INT64 = 2,
	CUDA_NVTX_DOUBLE = 3,
	CUDA_NVTX_UINT32 = 4,
	CUDA_NVTX_INT32 = 5,
	CUDA_NVTX_FLOAT = 6,
	CUDA_NVTX_SCHEMA = 7, /* of the payload extension: described by a schema */
};

/* A part of a payload of the payload extension. The schema is a text; libcupti-usdt(7) says how it
 * is to be read. head.correlation is 0. */
#define CUDA_NVTX_PART	   48  /* bytes of a payload in one part */
#define CUDA_NVTX_BYTES	   512 /* of a payload at most, its strings included */
#define CUDA_NVTX_OF_EVENT 4   /* payloads of an event at most */
struct cuda_nvtx_payload {
	struct cuda_record head;
	__u32 tid;    /* as in the struct cuda_nvtx that follows */
	__u32 id;     /* of the event's payloads: payload of that */
	__u32 schema; /* id of a cuda:name */
	__u16 bytes;  /* of this payload as a whole */
	__u16 offset; /* of this part in it */
	__u8 number;  /* which of the event's payloads it is */
	__u8 size;    /* bytes in data */
	__u8 pad[6];
	__u8 data[CUDA_NVTX_PART];
};

#endif
