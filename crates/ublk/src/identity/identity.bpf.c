/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the task of each request of one ublk disk, which the descriptors of the driver do not have.
 * Here every request passes in the context of the task that submits it, with its tag and before the
 * driver has it (Linux block/blk-mq.c, blk_account_io_start), so what the server reads when it gets
 * the tag belongs to that very request. Under an elevator of the kernel a request gets the
 * tag only when it is dispatched, and passes once more (blk_mq_start_request).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

/* The most tags that a queue of ublk has. */
#define TAGS 4096
/* The most requests that an elevator of the kernel has (kernel_queue.rs). */
#define WAITING 256
/* The tag of a request that has none. */
#define NO_TAG (~0U)

const volatile struct {
	/* "ublkbN", padded with zeros. */
	u64 name[2];
	/* Whether the names of tasks are wanted. */
	u64 names;
} disk;

struct origin {
	u64 asked_ns;
	u32 task;
	u32 cpu;
	u16 priority;
	u16 sync;
	char comm[16];
};

/* By tag; the server has it mapped into its memory. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TAGS);
	__type(key, u32);
	__type(value, struct origin);
} origins SEC(".maps");

/* By place: requests in an elevator of the kernel, which have no tag of the driver yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAITING);
	__type(key, u32);
	__type(value, struct origin);
} waiting SEC(".maps");

/* Tasks that have used the disk: only their exits are reported. */
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
	return name[0] == disk.name[0] && name[1] == disk.name[1];
}

SEC("tp_btf/block_io_start")
int BPF_PROG(io_start, struct request *rq)
{
	u32 task = (u32)bpf_get_current_pid_tgid();
	u32 tag = rq->tag;
	u32 place = rq->internal_tag;
	struct origin *origin;
	u64 sync = 1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC);
	u64 write_through = 1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_FUA) |
			    1ULL << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);
	u8 known = 1;

	if (!is_ours(rq))
		return 0;
	if (tag == NO_TAG)
		origin = bpf_map_lookup_elem(&waiting, &place);
	else
		origin = bpf_map_lookup_elem(&origins, &tag);
	if (!origin)
		return 0;
	origin->asked_ns = bpf_ktime_get_ns();
	origin->task = task;
	origin->cpu = bpf_get_smp_processor_id();
	if (disk.names)
		bpf_get_current_comm(origin->comm, sizeof(origin->comm));
	origin->priority = BPF_CORE_READ(rq, bio, bi_ioprio);
	/* include/linux/blk_types.h, op_is_sync; reads are always synchronous. */
	origin->sync = (rq->cmd_flags & (sync | write_through)) != 0;
	/* A lookup is cheaper than an update. */
	if (!bpf_map_lookup_elem(&users, &task))
		bpf_map_update_elem(&users, &task, &known, BPF_ANY);
	return 0;
}

/* An elevator of the kernel has dispatched the request, and the driver gets it next. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(issue, struct request *rq)
{
	u32 tag = rq->tag;
	u32 place = rq->internal_tag;
	struct origin *from, *to;

	if (place == NO_TAG || !is_ours(rq))
		return 0;
	from = bpf_map_lookup_elem(&waiting, &place);
	to = bpf_map_lookup_elem(&origins, &tag);
	if (from && to)
		*to = *from;
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
