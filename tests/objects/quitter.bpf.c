/* SPDX-License-Identifier: GPL-2.0 */
/* Finds a fault in itself with the first task that the kernel hands to it, while it is being attached. */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

UEI_DEFINE(uei);

s32 BPF_STRUCT_OPS(quitter_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	scx_bpf_error("not with %s", p->comm);
	return 0;
}

void BPF_STRUCT_OPS(quitter_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

SCX_OPS_DEFINE(quitter_ops, .init_task = (void *)quitter_init_task, .exit = (void *)quitter_exit, .name = "quitter");
