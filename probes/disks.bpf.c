/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the requests of some disks take, reads and writes apart: from the moment at which the
 * kernel allocates a request for a reader or writer until it is done, as the kernel's own counters
 * have it (block/blk-mq.c, blk_account_io_done).
 */
#define HISTOGRAMS 2

#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "include/histogram.h"

char _license[] SEC("license") = "GPL";

#define MOST_DISKS 64
#define OPERATION  0xff

/* Each is a major number above 32 bits of the first minor; the loader ends them with a 0. */
const volatile u64 disks[MOST_DISKS];

static bool is_watched(struct request *rq)
{
	u64 number = (u64)rq->q->disk->major << 32 | rq->q->disk->first_minor;

	for (u32 i = 0; i < MOST_DISKS && disks[i]; i++)
		if (disks[i] == number)
			return true;
	return false;
}

/* Whether its data are written but not yet flushed from the disk's cache: it is done once more. */
static bool is_in_sequence(struct request *rq)
{
	/* Before Linux 6.11 the bit was a macro. */
	u64 bit = bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ)
			  ? bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ)
			  : 4;

	return rq->rq_flags & (1ULL << bit);
}

SEC("tp_btf/block_io_done")
int BPF_PROG(done, struct request *rq)
{
	u32 operation = rq->cmd_flags & OPERATION;

	if ((operation != REQ_OP_READ && operation != REQ_OP_WRITE) || !is_watched(rq))
		return 0;
	if (rq->start_time_ns && !is_in_sequence(rq))
		add_time_to(operation, time_since(rq->start_time_ns));
	return 0;
}
