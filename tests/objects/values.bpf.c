/* SPDX-License-Identifier: GPL-2.0 */
/* Each program does something with the values of maps and returns what came of it. */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

struct item {
	struct bpf_list_node link;
	u32 key;
};

struct shelf {
	struct bpf_timer timer;
	struct bpf_spin_lock lock;
	struct bpf_cpumask __kptr *mask;
	struct bpf_list_head items __contains(item, link);
	u64 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, u32);
	__type(value, struct shelf);
} shelves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, u64);
	__type(value, struct shelf);
} named SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

u32 shown;

static struct shelf *shelf(u32 number)
{
	return bpf_map_lookup_elem(&shelves, &number);
}

SEC("syscall") int pointers_are_exchanged(void *ctx)
{
	struct bpf_cpumask *mask = bpf_cpumask_create(), *before;
	struct shelf *value = shelf(0);
	u32 found = 0;

	if (!mask)
		return -ENOMEM;
	if (!value) {
		bpf_cpumask_release(mask);
		return -ENOENT;
	}
	bpf_cpumask_set_cpu(1, mask);
	before = bpf_kptr_xchg(&value->mask, mask);
	found = before != NULL;
	if (before)
		bpf_cpumask_release(before);
	bpf_rcu_read_lock();
	mask = value->mask;
	found = found << 4 | (mask ? bpf_cpumask_first(cast_mask(mask)) : 9);
	bpf_rcu_read_unlock();
	before = bpf_kptr_xchg(&value->mask, NULL);
	found = found << 4 | (before != NULL);
	if (before)
		bpf_cpumask_release(before);
	return found << 4 | (value->mask != NULL);
}

/* A copy leaves the pointer in the value out; what it pointed to goes with the old value. */
SEC("syscall") int an_update_ends_what_a_value_owns(void *ctx)
{
	struct bpf_cpumask *mask = bpf_cpumask_create(), *before;
	struct shelf new = {.number = 3}, *value;
	u64 key = 77;
	u32 found;

	if (!mask)
		return -ENOMEM;
	bpf_map_update_elem(&named, &key, &new, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&named, &key);
	if (!value) {
		bpf_cpumask_release(mask);
		return -ENOENT;
	}
	before = bpf_kptr_xchg(&value->mask, mask);
	if (before)
		bpf_cpumask_release(before);
	found = value->mask != NULL;
	new.number = 4;
	bpf_map_update_elem(&named, &key, &new, BPF_EXIST);
	value = bpf_map_lookup_elem(&named, &key);
	if (!value)
		return -ENOENT;
	found = found << 4 | (value->mask != NULL);
	found = found << 4 | value->number;
	return found << 4 | -bpf_map_delete_elem(&named, &key);
}

SEC("syscall") int an_array_ends_what_a_value_owned(void *ctx)
{
	struct bpf_cpumask *mask = bpf_cpumask_create(), *before;
	struct shelf new = {.number = 5}, *value = shelf(2);
	u32 key = 2, found;

	if (!mask)
		return -ENOMEM;
	if (!value) {
		bpf_cpumask_release(mask);
		return -ENOENT;
	}
	before = bpf_kptr_xchg(&value->mask, mask);
	if (before)
		bpf_cpumask_release(before);
	bpf_map_update_elem(&shelves, &key, &new, BPF_ANY);
	found = value->mask != NULL;
	return found << 4 | value->number;
}

static int fire(void *map, u32 *key, struct shelf *value)
{
	shown += *key + 10;
	value->number++;
	return 0;
}

SEC("syscall") int timers_are_started_and_stopped(void *ctx)
{
	struct shelf *value = shelf(1);
	u32 found = 0;

	if (!value)
		return -ENOENT;
	found = found << 4 | (bpf_timer_start(&value->timer, 1000, 0) == -EINVAL);
	found = found << 4 | -bpf_timer_init(&value->timer, &shelves, CLOCK_MONOTONIC);
	found = found << 5 | -bpf_timer_init(&value->timer, &shelves, CLOCK_MONOTONIC);
	found = found << 4 | (bpf_timer_start(&value->timer, 1000, 0) == -EINVAL);
	found = found << 4 | -bpf_timer_set_callback(&value->timer, fire);
	found = found << 4 | -bpf_timer_start(&value->timer, 3600000000000ULL, 0);
	found = found << 4 | bpf_timer_cancel(&value->timer);
	return found << 4 | bpf_timer_cancel(&value->timer);
}

SEC("syscall") int timers_end_later(void *ctx)
{
	struct shelf new = {}, *one = shelf(2), *two;
	u64 key = 78;
	u32 found;

	bpf_map_update_elem(&named, &key, &new, BPF_ANY);
	two = bpf_map_lookup_elem(&named, &key);
	if (!one || !two)
		return -ENOENT;
	found = bpf_timer_init(&one->timer, &shelves, CLOCK_MONOTONIC);
	found |= bpf_timer_set_callback(&one->timer, fire);
	found |= bpf_timer_start(&one->timer, 2000000, 0);
	found |= bpf_timer_init(&two->timer, &named, CLOCK_MONOTONIC);
	found |= bpf_timer_set_callback(&two->timer, fire);
	return found | bpf_timer_start(&two->timer, 1000000, BPF_F_TIMER_CPU_PIN);
}

SEC("syscall") int a_value_takes_its_list_along(void *ctx)
{
	struct item *item = bpf_obj_new(typeof(*item));
	struct shelf new = {}, *value;
	u64 key = 79;

	if (!item)
		return -ENOMEM;
	bpf_map_update_elem(&named, &key, &new, BPF_ANY);
	value = bpf_map_lookup_elem(&named, &key);
	if (!value) {
		bpf_obj_drop(item);
		return -ENOENT;
	}
	bpf_spin_lock(&value->lock);
	bpf_list_push_back(&value->items, &item->link);
	bpf_spin_unlock(&value->lock);
	return bpf_map_delete_elem(&named, &key);
}

SEC("syscall") int a_record_is_written(void *ctx)
{
	u32 *record = bpf_ringbuf_reserve(&records, 12, 0), found, more = 6;

	if (!record)
		return -ENOMEM;
	record[0] = 1;
	bpf_ringbuf_submit(record, 0);
	found = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);
	found = found << 8 | -bpf_ringbuf_output(&records, &more, sizeof(more), 0);
	record = bpf_ringbuf_reserve(&records, 8, 0);
	if (record)
		bpf_ringbuf_discard(record, 0);
	found = found << 8 | bpf_ringbuf_query(&records, BPF_RB_PROD_POS);
	record = bpf_ringbuf_reserve(&records, 4080, 0);
	if (record)
		bpf_ringbuf_discard(record, 0);
	return found << 4 | (record != NULL);
}

static long count(struct bpf_map *map, u32 *key, struct shelf *value, u32 *sum)
{
	*sum = *sum * 10 + *key + 1;
	return *key == 1;
}

SEC("syscall") int elements_are_shown(void *ctx)
{
	u32 sum = 0;
	long shown = bpf_for_each_map_elem(&shelves, count, &sum, 0);

	return sum << 8 | shown;
}
