/* SPDX-License-Identifier: GPL-2.0 */
/* Reads past the end of an array, which the verifier must refuse. */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

static volatile u64 waits[4];

void BPF_STRUCT_OPS(rejected_enqueue, struct task_struct *p, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, waits[(u32)p->pid], enq_flags);
}

SCX_OPS_DEFINE(rejected_ops, .enqueue = (void *)rejected_enqueue, .name = "rejected");
