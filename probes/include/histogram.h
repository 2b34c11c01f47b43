/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_HISTOGRAM_H
#define RUNOFF_HISTOGRAM_H

/*
 * A histogram of times whose buckets are at most an eighth wide: below 8 ns each value has its own,
 * above every power of two is split into eight. crates/agent/src/probe/histogram.rs reads it.
 */
#define SPLIT_BITS 3
#define BUCKETS	   ((64 - SPLIT_BITS + 1) << SPLIT_BITS)

struct histogram {
	u64 sum_ns;
	u64 max_ns;
	u64 buckets[BUCKETS];
};

/* One for each CPU, so that nothing is shared while the workload runs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct histogram);
} times SEC(".maps");

static __always_inline u32 log2_of(u64 value)
{
	u32 bits = 0;

	for (u32 half = 32; half; half /= 2) {
		if (value >> half) {
			value >>= half;
			bits += half;
		}
	}
	return bits;
}

static __always_inline u32 bucket_of(u64 ns)
{
	u32 octave;

	if (ns < 1 << SPLIT_BITS)
		return ns;
	octave = log2_of(ns) - SPLIT_BITS;
	return ((octave + 1) << SPLIT_BITS) + ((ns >> octave) & ((1 << SPLIT_BITS) - 1));
}

static __always_inline void add_time(u64 ns)
{
	u32 first = 0, bucket = bucket_of(ns);
	struct histogram *mine = bpf_map_lookup_elem(&times, &first);

	if (!mine || bucket >= BUCKETS)
		return;
	mine->sum_ns += ns;
	if (ns > mine->max_ns)
		mine->max_ns = ns;
	mine->buckets[bucket]++;
}

#endif
