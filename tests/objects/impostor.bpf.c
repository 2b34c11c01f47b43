/* SPDX-License-Identifier: GPL-2.0 */
/* First come, first served, under the name of another scheduler and without a description. */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

volatile u64 queued;

void BPF_STRUCT_OPS(impostor_enqueue, struct task_struct *p, u64 enq_flags)
{
	__sync_fetch_and_add(&queued, 1);
	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
}

SCX_OPS_DEFINE(impostor_ops, .enqueue = (void *)impostor_enqueue, .name = "bfs");
