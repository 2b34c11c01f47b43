/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_POLICIES_H
#define RUNOFF_POLICIES_H

/* Of include/uapi/linux/sched.h, which has no types that the kernel would describe. */
#define SCHED_BATCH 3
#define SCHED_IDLE  5

#endif
