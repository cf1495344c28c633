/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool: the append-only file that a recording is written to before it becomes a database.
 * Blocks with a checksum, in the order of writing, so that whatever moment the tool or the machine
 * dies at, everything before the last block is there. Written by one caller; a thread of the
 * spool's own does the writing, so that a slow disk does not stop the reading of events.
 */
#ifndef CUDA_TRACE_RECORDING_STORE_SPOOL_H
#define CUDA_TRACE_RECORDING_STORE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "bpf/event.h"
#include "cuda-trace/capture/process.h"
#include "cuda-trace/origin/origin.h"
#include "libcupti-usdt/probes.h"

#define SPOOL_VERSION 1
#define SPOOL_MAGIC   0x6b636c6274736463ull /* "cdstblck" */
#define SPOOL_BLOCK   (512 * 1024)	    /* bytes of payload at most */

enum spool_flags {
	SPOOL_EVENTS = 1, /* events only: may be dropped by a ring; else names, processes, states */
	SPOOL_DROPPED = 2, /* the file system has the payload's blocks back */
	SPOOL_GRAPHS = 4,  /* events only, which describe graphs: a ring keeps them */
};

/* In front of each block. */
struct spool_block {
	uint64_t magic;
	uint32_t bytes;	  /* of payload */
	uint32_t records; /* events in it */
	uint64_t time;	  /* CLOCK_MONOTONIC at the first entry */
	uint32_t flags;
	uint32_t crc; /* crc32 of this header with crc = 0, then of the payload unless dropped */
};
_Static_assert(sizeof(struct spool_block) == 32, "file layout");

enum spool_kind {
	SPOOL_SESSION = 1,   /* struct spool_session, then the command line; the first entry */
	SPOOL_PROCESS = 2,   /* struct spool_process */
	SPOOL_NAME = 3,	     /* u32 id, u32 length, text */
	SPOOL_RECORD = 4,    /* struct cuda_record ... */
	SPOOL_STATUS = 5,    /* struct cuda_status */
	SPOOL_LOST = 6,	     /* struct spool_lost: totals so far */
	SPOOL_ENDED = 7,     /* the process ended; u64 time */
	SPOOL_FINISHED = 8,  /* the recording ended properly; u64 time */
	SPOOL_MODULE = 9,    /* struct spool_module, path */
	SPOOL_FUNCTION = 10, /* of Python: struct spool_function, file, name */
	SPOOL_FRAME = 11,    /* struct spool_frame */
	SPOOL_SYMBOL = 12,   /* u32 frame, name: found later than the frame */
	SPOOL_STACK = 13,    /* struct spool_stack, u32 frames */
	SPOOL_PERIOD = 14,   /* u32: one in so many launches has a stack from now on */
	SPOOL_SOURCE = 15,   /* u32 enum event_source: what comes of the process from now on */
	SPOOL_COMM = 16,     /* struct event_collective: a communicator of NCCL was made */
	SPOOL_ORIGIN = 17,   /* struct spool_origin */
	SPOOL_TEXT = 18,     /* u32 number, text: of thread states */
	SPOOL_LINE = 19,     /* u32 frame, u32 line, path: found later than the frame */
	SPOOL_BEGIN = 20,    /* struct spool_begin: it was recorded from then on */
	SPOOL_TRIGGER = 21,  /* struct spool_trigger, condition, NUL, text: the last one counts */
	SPOOL_INLINED = 22,  /* struct spool_inlined, path, name: found later than the frame */
	SPOOL_MPS = 23,	     /* a byte: an MPS server runs */
};

/* What is found of frames when recording is over. */
#define SPOOL_IS_NAME(kind) \
	((kind) == SPOOL_SYMBOL || (kind) == SPOOL_LINE || (kind) == SPOOL_INLINED)

/* Numbers are those of one recording, from 1. */
struct spool_module {
	uint32_t number;
	uint32_t build_id_size;
	uint8_t build_id[32];
};

struct spool_function {
	uint32_t number;
	uint32_t file_bytes; /* of the text behind, the rest is the name */
};

struct spool_frame {
	uint32_t number;
	uint32_t module;   /* 0 = unknown, or Python */
	uint32_t function; /* of Python, else 0 */
	int32_t line;	   /* of Python; 0 = not known */
	uint64_t address;
};

/* Frames of the host's code, then of Python's, each from the innermost one on. */
#define SPOOL_FRAME_ENTRY \
	0x80000000u /* of Python: the outermost of a call of the evaluation loop */
struct spool_stack {
	uint32_t number;
	uint16_t frames, python_frames;
};

/* A function that was inlined at a frame's address: level 0 is the innermost, and they come in that
 * order. Where it is called: path and line. */
struct spool_inlined {
	uint32_t frame, level;
	uint32_t line;	     /* 0 = not known */
	uint32_t path_bytes; /* of the text behind, the rest is the name */
};

/* Among the records: the stack of a launch. Without times, it ends before them. */
#define SPOOL_SAMPLE 0x8000 /* .kind */
struct spool_sample {
	struct cuda_record head;
	uint32_t stack;
	uint32_t tid;
	uint64_t start, end; /* ns, of a call that created or changed nodes of a graph; else 0 */
};

/* Among the records: a call of NCCL, or the end of a group of them. The correlation id is that of
 * the kernel: it is known once the launch has come, and 0 in a spool. */
#define SPOOL_COLLECTIVE 0x8001 /* .kind */
struct spool_collective {
	struct cuda_record head;
	struct event_collective call;
};

/* Among the records, of no process: what a thread did, see CUDA_TRACE_THREAD_STATES in
 * docs/reference/schema.md. Texts are numbers of SPOOL_TEXT, 0 = none. That with the number 0 says
 * what is missing of all of them. */
#define SPOOL_THREAD 0x8002 /* .kind */
struct spool_thread {
	struct cuda_record head;
	uint64_t start, end;
	uint64_t off_ns, delay_ns;
	uint32_t pid, tid;
	uint32_t waker_pid, waker_tid;
	uint32_t text, function, waker, rival;
	uint16_t state, cause;
	uint32_t pad;
};

/* Likewise: what the meter of a GPU counted. failed: readings until then, of all meters. */
#define SPOOL_ENERGY 0x8003 /* .kind */
struct spool_energy {
	struct cuda_record head;
	uint64_t start, end;
	uint64_t millijoules, failed;
	uint8_t uuid[16];
};

struct spool_entry {
	uint16_t size;	  /* of entry and payload, a multiple of 8 */
	uint8_t kind;	  /* enum spool_kind */
	uint8_t group;	  /* of records: enum cuda_group of the batch that they came in */
	uint32_t process; /* number of the process in this file, from 1; 0 = none */
	uint8_t data[];
};
_Static_assert(sizeof(struct spool_entry) == 8, "file layout");

struct spool_session {
	uint32_t version;	 /* SPOOL_VERSION */
	uint32_t probes_version; /* CUDA_PROBES_VERSION: the layout of records */
	uint64_t monotonic;	 /* the file's time 0 */
	uint64_t utc;		 /* ns since 1970 at that moment */
	uint64_t boottime;	 /* CLOCK_BOOTTIME at that moment */
};

/* The file's time 0 instead of that of the session. */
struct spool_begin {
	uint64_t monotonic, utc; /* ns */
};

/* Why the flight recorder wrote its file. */
struct spool_trigger {
	uint64_t monotonic, utc; /* ns */
};

struct spool_process {
	uint64_t instance;
	uint64_t cgroup;
	uint64_t time;
	uint32_t pid;
	uint32_t uid;
	char comm[16];
	struct rank rank;
};

struct spool_origin {
	char cgroup[512]; /* path below the mount */
	char container[16];
	struct origin origin;
};

struct spool_lost {
	uint64_t agent[16];
	uint64_t session[16];
	uint64_t spool; /* records that found no space on the disk */
};

struct spool;

/* Says that the spool of this recording is there, and how several recorders get a file each. */
void spool__say_taken(const char *recording);
/* What was done to the names in the folder of `path` survives a power cut from now on. */
void spool__sync_folder(const char *path);
/* Makes the file (it must not exist). Never follows a link in the last part of the path. */
int spool__create(struct spool **spool, const char *path);
/* Of a ring: what describes graphs is kept, whatever its age. The other files have no blocks of
 * their own for that. */
void spool__keep_graphs(struct spool *spool);
/* Adds an entry; -ENOSPC and so on once the file cannot grow: then nothing is added any more. */
int spool__put(struct spool *spool, enum spool_kind kind, uint32_t process, const void *data,
	       size_t size, const void *more, size_t more_size);
int spool__put_record(struct spool *spool, uint8_t group, uint32_t process,
		      const struct cuda_record *record);
/* Hands over what is older than 250 ms; call it a few times a second. */
int spool__tick(struct spool *spool, uint64_t now);
/* Gives events older than `time` back to the file system; -EOPNOTSUPP where that cannot be. */
int spool__drop_before(struct spool *spool, uint64_t time);
/* Everything that was put is in the file when it returns. */
int spool__flush(struct spool *spool);
uint64_t spool__bytes(const struct spool *spool);
uint64_t spool__refused(const struct spool *spool);
/* Flushes, syncs, closes, frees; the file stays. */
int spool__close(struct spool *spool);

/* Reading: hands each block in turn to the caller. */
struct spool_reader;

struct spool_damage {
	uint64_t bytes;	 /* skipped, because no valid block was there */
	uint64_t places; /* in how many stretches */
	bool torn;	 /* the file ends inside a block: normal after a crash */
};

int spool_reader__open(struct spool_reader **reader, const char *path);
/* 1 and a block, 0 at the end, -errno. The payload stays valid until the next call. */
int spool_reader__next(struct spool_reader *reader, struct spool_block *block,
		       const uint8_t **payload);
void spool_reader__damage(const struct spool_reader *reader, struct spool_damage *damage);
uint64_t spool_reader__size(const struct spool_reader *reader);
uint64_t spool_reader__position(const struct spool_reader *reader);
void spool_reader__close(struct spool_reader *reader);

#endif
