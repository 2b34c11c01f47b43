/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_PROPORTION_H
#define RUNOFF_ZAPHOD_PROPORTION_H

/* ZAPHOD's numbers: a proportion is a fraction with 24 binary places. */
#define WHOLE (1U << 24)

static u32 of_thousand(u32 ppt)
{
	return (u64)ppt * WHOLE / 1000;
}

/* Return @part of @whole as a proportion, at most WHOLE. */
static u32 ratio(u64 part, u64 whole)
{
	if (part >= whole)
		return WHOLE;
	/* Twelve places less still leave more than the 24 that are wanted. */
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

/* Return @proportion of a range of whole numbers up to @most, rounded; WHOLE gives @most. */
static u32 scale_round(u32 proportion, u32 most)
{
	return ((u64)(proportion / 2) * (2 * most + 1)) >> 24;
}

/*
 * Return scale_round of the square root of @proportion, without a root: the largest k with
 * 2k <= sqrt(p) * (2 most + 1) is the largest one with 4k^2 <= p * (2 most + 1)^2.
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
