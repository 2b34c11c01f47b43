/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_POLICY_H
#define RUNOFF_ZAPHOD_POLICY_H

/*
 * What a scheduler adds to the rules of ZAPHOD, besides the hooks of include/runqueue.
 *
 * Before it includes state.h it defines its numbers
 *	TOTAL_BONUS		how many levels below its nice value a task without a bonus is,
 *	MAX_IA_BONUS		default of max_ia_bonus, in levels,
 *	MAX_IA_RANGE		range of that parameter,
 *	MAX_TPT_BONUS		default of max_tpt_bonus, in levels,
 *	MAX_TPT_RANGE		range of that parameter,
 *	PROMOTION_INTERVAL_MS	default of base_promotion_interval;
 * its statistics begin with ZAPHOD_STATISTICS.
 */

/*
 * Return whether the level of a task follows its entitlement (eb) and not its nice value (pb).
 * Called with the locks of the hooks of include/runqueue; the answer may change at any time.
 */
static bool policy_stands_by_entitlement(void);

#endif
