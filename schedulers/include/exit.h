/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_EXIT_H
#define RUNOFF_EXIT_H

/*
 * Where the loader of a scheduler finds why the kernel took it down. The loader makes room for the
 * kernel's dump, or there is none.
 */
UEI_DEFINE(uei);

void BPF_STRUCT_OPS(note_exit, struct scx_exit_info *info)
{
	UEI_RECORD(uei, info);
}

#define EXIT_OPS .exit = (void *)note_exit

#endif
