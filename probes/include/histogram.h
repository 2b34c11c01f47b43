/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_HISTOGRAM_H
#define RUNOFF_HISTOGRAM_H

/*
 * Histograms of times whose buckets are at most a 32nd wide: below 32 ns each value has its own,
 * above every power of two is split into 32. crates/probes/src/histogram.rs reads them.
 */
#define SPLIT_BITS 5
#define BUCKETS	   ((64 - SPLIT_BITS + 1) << SPLIT_BITS)

#ifndef HISTOGRAMS
#define HISTOGRAMS 1
#endif

struct histogram {
	u64 sum_ns;
	u64 max_ns;
	u64 buckets[BUCKETS];
};

/* One for each CPU, so that nothing is shared while the workload runs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HISTOGRAMS);
	__type(key, u32);
	__type(value, struct histogram);
} times SEC(".maps");

/*
 * Return the time since @then, 0 if that is later: it may be the time of another CPU, whose clock
 * can differ by less than a wake-up takes.
 */
static __always_inline u64 time_since(u64 then)
{
	s64 ns = bpf_ktime_get_ns() - then;

	return ns > 0 ? ns : 0;
}

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

static __always_inline void add_time_to(u32 histogram, u64 ns)
{
	u32 bucket = bucket_of(ns);
	struct histogram *mine = bpf_map_lookup_elem(&times, &histogram);

	if (!mine || bucket >= BUCKETS)
		return;
	mine->sum_ns += ns;
	if (ns > mine->max_ns)
		mine->max_ns = ns;
	mine->buckets[bucket]++;
}

/* Add to the only histogram. */
static __always_inline void add_time(u64 ns)
{
	add_time_to(0, ns);
}

#endif
