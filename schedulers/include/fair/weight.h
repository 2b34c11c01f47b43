/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_WEIGHT_H
#define RUNOFF_FAIR_WEIGHT_H

/*
 * Fair schedulers share the CPU in proportion to weights. One nice level is a factor of about 1.25,
 * which moves about a tenth of the CPU between two tasks.
 */
#define NICE_0_WEIGHT 1024
#define LOAD_OF_ONE   NICE_0_WEIGHT

#include "policy.h"
#include "include/runqueue/state.h"

#define NICE_LEVELS 40

/* clang-format off */
static const u32 weights[NICE_LEVELS] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	 9548,  7620,  6100,  4904,  3906,  3121,  2501,  1991,  1586,  1277,
	 1024,   820,   655,   526,   423,   335,   272,   215,   172,   137,
	  110,    87,    70,    56,    45,    36,    29,    23,    18,    15,
};
/* clang-format on */

static u32 weight_of(const struct task_struct *p)
{
	u32 level = p->static_prio - BEST_LEVEL;

	if (p->policy == SCHED_IDLE)
		return policy_idle_weight();
	return weights[level < NICE_LEVELS ? level : NICE_LEVELS - 1];
}

/* How far @ns on the CPU take a task of @weight in virtual time. */
static u64 virtual_ns(u64 ns, u32 weight)
{
	return weight == NICE_0_WEIGHT ? ns : ns * NICE_0_WEIGHT / weight;
}

/* Whether @a is earlier than @b in virtual time. */
static bool is_before(u64 a, u64 b)
{
	return time_before(a, b);
}

#endif
