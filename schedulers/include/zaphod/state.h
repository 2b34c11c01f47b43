/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_STATE_H
#define RUNOFF_ZAPHOD_STATE_H

#include "include/runqueue/statistics.h"

/*
 * ZAPHOD by Peter Williams: priorities or entitlements, with bonuses for interactive tasks and for
 * those that wait too long. HYDRA has the same with other numbers, so they are defined by the
 * scheduler that includes this file (policy.h).
 */

/* What a task has had since it was first seen. */
struct zaphod_totals {
	STATISTIC("Time asleep (ns).")
	u64 sleep_ns;
	STATISTIC("Time on a CPU (ns).")
	u64 cpu_ns;
	STATISTIC("Time waiting for a CPU (ns).")
	u64 delay_ns;
	STATISTIC("Cycles from one sleep to the next.")
	u64 cycles;
	STATISTIC("Wake-ups out of an interrupt.")
	u64 interrupt_wakeups;
	STATISTIC("Runs that it ended by going to sleep.")
	u64 voluntary_switches;
	STATISTIC("Runs that ended with the slice or for a better task.")
	u64 involuntary_switches;
};

struct zaphod_task {
	struct zaphod_totals totals;
	s64 slice_ns;
	/* Time per cycle from one sleep to the next; in balance 15 times the mean. */
	u64 sleep_ns;
	u64 cpu_ns;
	u64 delay_ns;
	/* Proportions of its time: running, and asleep if it had a CPU to itself. */
	u32 usage;
	u32 sleepiness;
	/* The proportion that it may use before it gets a worse level. */
	u32 soft_cap;
	u32 usage_per_share;
	/* In 256ths. */
	u16 ia_bonus;
	u8 tpt_bonus;
	u8 entitled_level;
	bool slept_uninterruptibly;
};

struct zaphod_cpu {
	/* 16 times the average number of tasks. */
	u32 nr_running;
	/* The greatest usage per share seen lately: that task is entitled to least. */
	u32 yardstick;
	u64 yardstick_decays_at;
	u64 sampled_at;
};

/* The first members of the statistics of every scheduler with these rules. */
#define ZAPHOD_STATISTICS                                                       \
	RUNQUEUE_STATISTICS                                                     \
	STATISTIC("Time tasks ran (ns).")                                       \
	u64 busy_ns;                                                            \
	STATISTIC("Time tasks waited for the CPU on which they then ran (ns).") \
	u64 delay_ns;                                                           \
	STATISTIC("Times all that waited on a CPU were moved up one level.")    \
	u64 promotions;

PARAMETER("ms", "1..1000", "How long a task may run before its equals get a turn.")
TURN volatile u32 time_slice = 100;

PARAMETER("ms", "1..10000",
	  "Time between two promotions, which move all that wait up one level; less makes nice "
	  "milder.")
volatile u32 base_promotion_interval = PROMOTION_INTERVAL_MS;

PARAMETER("levels", MAX_IA_RANGE, "The most that sleeping a lot can lift a task; 0 is nothing.")
volatile u32 max_ia_bonus = MAX_IA_BONUS;

PARAMETER("1", MAX_IA_RANGE,
	  "What a new task starts with, in 256ths of a level as in the original.")
volatile u32 initial_ia_bonus = 1;

PARAMETER("levels", MAX_TPT_RANGE,
	  "The most that waiting longer than its turn can lift a task; 0 is nothing.")
volatile u32 max_tpt_bonus = MAX_TPT_BONUS;

PARAMETER("ppt", "0..1000", "A task that sleeps more than this part of its time is interactive.")
volatile u32 ia_threshold = 900;

PARAMETER("ppt", "0..1000", "A task that runs more than this part of the time is a CPU hog.")
volatile u32 cpu_hog_threshold = 900;

PARAMETER("pid", "0..4194304",
	  "Process to put under soft_cap with its threads and later children, for good; 0: none.")
volatile u32 capped_process = 0;

PARAMETER("ppt", "0..1000",
	  "What capped_process may use of a CPU before it is put behind all others; 0 lets it run "
	  "only on an otherwise idle CPU, 1000 disables the cap.")
volatile u32 soft_cap = 1000;

#endif
