/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_ISO_H
#define BFS_ISO_H

#include "include/online.h"
#include "state.h"

PARAMETER("%", "0..100",
	  "Share of all CPUs that isochronous tasks may take, over about 5 s, before they queue as "
	  "normal ones.")
volatile u32 iso_cpu = 70;

PARAMETER("pid", "0..4194304",
	  "Process to make isochronous with its threads and later children, for good; 0 is none.")
volatile u32 iso_process = 0;

/* CPUs whose ticks coincide may take away more than there is, so below 0 is none. */
static s64 iso_ticks;
static bool iso_refractory;

/*
 * Account for @ticks ticks of an isochronous task or another one; the constants are the original's.
 * There is more than one tick when a virtual machine gets its ticks late: it then sees only the
 * last of them.
 */
static void account_iso(bool is_iso, u64 ticks)
{
	s64 period = 5 * (1000000000ULL / tick_ns) * cpus_online + 1;
	s64 limit = period * iso_cpu;

	if (is_iso && !iso_refractory) {
		if (iso_ticks < 128 * period - 128)
			__sync_fetch_and_add(&iso_ticks, 100 * ticks);
	} else {
		s64 had = iso_ticks > 0 ? iso_ticks : 0;
		s64 decay = ((u64)had / period + 1) * ticks;

		if (had >= decay)
			__sync_fetch_and_sub(&iso_ticks, decay);
	}
	if (iso_refractory) {
		count(iso_refused_ticks);
		if (iso_ticks < period * (iso_cpu * 115 / 128))
			iso_refractory = false;
	} else if (iso_ticks > limit) {
		iso_refractory = true;
	}
}

#endif
