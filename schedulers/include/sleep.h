/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_SLEEP_H
#define RUNOFF_SLEEP_H

#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_DEAD	     0x80
#define TASK_NOLOAD	     0x400

/* Kernel threads that only wait for work have TASK_NOLOAD set, which did not exist in 2004. */
static inline bool is_uninterruptible(u32 state)
{
	return (state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD);
}

#endif
