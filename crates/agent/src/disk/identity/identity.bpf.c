/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whom each request of one ublk disk belongs to. The driver's descriptors do not tell; here every
 * request passes in the context of the task that submits it, with its tag and before the driver
 * has it (Linux block/blk-mq.c, blk_account_io_start), so what the server reads when it is handed
 * the tag is of that very request.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

/* As many as a queue of ublk has at most. */
#define TAGS 4096

/* "ublkbN", padded with zeros. */
const volatile u64 disk_name[2];

struct origin {
	u32 task;
	u16 priority;
	u16 sync;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TAGS);
	__type(key, u32);
	__type(value, struct origin);
} origins SEC(".maps");

/* Tasks that have used the disk: the exits of others interest nobody. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u8);
} users SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} exits SEC(".maps");

static bool is_ours(struct request *rq)
{
	u64 name[2] = {};

	bpf_core_read(name, sizeof(name), &rq->q->disk->disk_name);
	return name[0] == disk_name[0] && name[1] == disk_name[1];
}

SEC("tp_btf/block_io_start")
int BPF_PROG(io_start, struct request *rq)
{
	u32 task = (u32)bpf_get_current_pid_tgid();
	u32 tag = rq->tag;
	struct origin *origin;
	u64 sync = 1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC);
	u64 write_through = 1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_FUA) |
			    1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);
	u8 known = 1;

	if (!is_ours(rq))
		return 0;
	origin = bpf_map_lookup_elem(&origins, &tag);
	if (!origin)
		return 0;
	origin->task = task;
	origin->priority = BPF_CORE_READ(rq, bio, bi_ioprio);
	/* include/linux/blk_types.h, op_is_sync; reads are always so. */
	origin->sync = (rq->cmd_flags & (sync | write_through)) != 0;
	bpf_map_update_elem(&users, &task, &known, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *p)
{
	u32 task = p->pid;

	if (!bpf_map_delete_elem(&users, &task))
		bpf_ringbuf_output(&exits, &task, sizeof(task), 0);
	return 0;
}
