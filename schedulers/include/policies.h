/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_POLICIES_H
#define RUNOFF_POLICIES_H

/* From include/uapi/linux/sched.h: macros, so the kernel's BTF does not have them. */
#define SCHED_BATCH 3
#define SCHED_IDLE  5

#endif
