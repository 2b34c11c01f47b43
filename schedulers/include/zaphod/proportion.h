/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_PROPORTION_H
#define RUNOFF_ZAPHOD_PROPORTION_H

/* ZAPHOD's numbers: a proportion is a fraction with 24 binary places. */
#define WHOLE (1U << 24)

static u32 of_thousand(u32 ppt)
{
	return (u64)ppt * WHOLE / 1000;
}

/* @part of @whole, which is not less. */
static u32 ratio(u64 part, u64 whole)
{
	if (part >= whole)
		return WHOLE;
	/* Twelve places at once leave more than the 24 that are wanted. */
	if (part >> 40) {
		part >>= 12;
		whole >>= 12;
	}
	if (part >> 40) {
		part >>= 12;
		whole >>= 12;
	}
	return (part << 24) / whole;
}

/* @proportion of a range of whole numbers that ends with @most; rounded, 1 gives @most. */
static u32 scale_round(u32 proportion, u32 most)
{
	return ((u64)(proportion / 2) * (2 * most + 1)) >> 24;
}

/*
 * scale_round of the square root of @proportion. The largest k with 2k <= sqrt(p) * (2 most + 1)
 * is the largest with 4k^2 <= p * (2 most + 1)^2, which needs no root.
 */
static u32 scale_round_root(u32 proportion, u32 most)
{
	u64 limit = (u64)proportion * (2 * most + 1) * (2 * most + 1);
	u32 k, root = 0;

	for (k = 1; k <= 10; k++) {
		if (k <= most && (4ULL * k * k) << 24 <= limit)
			root = k;
	}
	return root;
}

#endif
