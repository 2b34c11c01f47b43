/* SPDX-License-Identifier: GPL-2.0 */
/* First come, first served, with constants that nothing describes, as most schedulers have them. */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

const volatile bool refuse;
const volatile u16 slice_ms = 20;
const volatile s32 nudge = -1;
const volatile u64 limits[4];
const volatile u64 __own = 7;
volatile u64 queued;

void BPF_STRUCT_OPS(plain_enqueue, struct task_struct *p, u64 enq_flags)
{
	queued += limits[queued & 3] + nudge + __own;
	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, slice_ms * 1000000ULL, enq_flags);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(plain_init)
{
	return refuse ? -EPERM : 0;
}

SCX_OPS_DEFINE(plain_ops, .enqueue = (void *)plain_enqueue, .init = (void *)plain_init,
	       .name = "plain");
