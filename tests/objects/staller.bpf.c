/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does the kernel's own first come, first served, but forgets every task named "stallme", so that
 * the watchdog has to eject it after two seconds.
 */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

static bool forgotten(const struct task_struct *p)
{
	static const char name[] = "stallme";

	return !bpf_strncmp(p->comm, sizeof(name), name);
}

void BPF_STRUCT_OPS(staller_enqueue, struct task_struct *p, u64 enq_flags)
{
	if (!forgotten(p))
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
}

UEI_DEFINE(uei);

void BPF_STRUCT_OPS(staller_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(staller_ops, .enqueue = (void *)staller_enqueue, .exit = (void *)staller_exit,
	       .timeout_ms = 2000, .name = "staller");
