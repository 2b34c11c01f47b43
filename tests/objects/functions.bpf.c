/* SPDX-License-Identifier: GPL-2.0 */
/* Each program uses a few functions of the kernel and returns what came of it. */
#include <scx/common.bpf.h>
#include <bpf_arena_common.bpf.h>

char _license[] SEC("license") = "GPL";

enum { EIGHT = 8 };

struct item {
	struct bpf_rb_node node;
	struct bpf_list_node link;
	struct bpf_refcount refs;
	u32 key;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 8);
} arena SEC(".maps");

private(LOCK) struct bpf_spin_lock lock;
private(LOCK) struct bpf_rb_root tree __contains(item, node);
private(LIST) struct bpf_spin_lock list_lock;
private(LIST) struct bpf_list_head list __contains(item, link);

const char name[] = "name";

static bool less(struct bpf_rb_node *one, const struct bpf_rb_node *two)
{
	return container_of(one, struct item, node)->key <
	       container_of(two, struct item, node)->key;
}

static int grow(u32 key)
{
	struct item *item = bpf_obj_new(typeof(*item));

	if (!item)
		return -ENOMEM;
	item->key = key;
	bpf_spin_lock(&lock);
	bpf_rbtree_add(&tree, &item->node, less);
	bpf_spin_unlock(&lock);
	return 0;
}

static u32 take_first(void)
{
	struct bpf_rb_node *node;
	struct item *item;
	u32 key;

	bpf_spin_lock(&lock);
	node = bpf_rbtree_first(&tree);
	if (!node) {
		bpf_spin_unlock(&lock);
		return 0;
	}
	node = bpf_rbtree_remove(&tree, node);
	bpf_spin_unlock(&lock);
	if (!node)
		return 0;
	item = container_of(node, struct item, node);
	key = item->key;
	bpf_obj_drop(item);
	return key;
}

SEC("syscall") int a_tree_has_an_order(void *ctx)
{
	u32 found = 0;
	int i;

	if (grow(5) || grow(2) || grow(9) || grow(1) || grow(5))
		return -ENOMEM;
	bpf_for(i, 0, 6)
		found = found * 10 + take_first();
	return found;
}

static int append(u32 key, bool is_front)
{
	struct item *item = bpf_obj_new(typeof(*item));

	if (!item)
		return -ENOMEM;
	item->key = key;
	bpf_spin_lock(&list_lock);
	if (is_front)
		bpf_list_push_front(&list, &item->link);
	else
		bpf_list_push_back(&list, &item->link);
	bpf_spin_unlock(&list_lock);
	return 0;
}

static u32 pop(bool is_front)
{
	struct bpf_list_node *link;
	struct item *item;
	u32 key;

	bpf_spin_lock(&list_lock);
	if (is_front)
		link = bpf_list_pop_front(&list);
	else
		link = bpf_list_pop_back(&list);
	bpf_spin_unlock(&list_lock);
	if (!link)
		return 0;
	item = container_of(link, struct item, link);
	key = item->key;
	bpf_obj_drop(item);
	return key;
}

SEC("syscall") int a_list_has_two_ends(void *ctx)
{
	u32 found;

	if (append(1, false) || append(2, true) || append(3, false) || append(4, true))
		return -ENOMEM;
	found = pop(true);
	found = found * 10 + pop(false);
	found = found * 10 + pop(false);
	found = found * 10 + pop(true);
	return found * 10 + pop(true);
}

/* One that is in the tree and in the list, and goes when it has left both. */
SEC("syscall") int one_is_in_two_places(void *ctx)
{
	struct item *item = bpf_obj_new(typeof(*item)), *other;
	u32 found;

	if (!item)
		return -ENOMEM;
	item->key = 7;
	other = bpf_refcount_acquire(item);
	bpf_spin_lock(&lock);
	bpf_rbtree_add(&tree, &item->node, less);
	bpf_spin_unlock(&lock);
	bpf_spin_lock(&list_lock);
	bpf_list_push_back(&list, &other->link);
	bpf_spin_unlock(&list_lock);
	found = take_first();
	found = found * 10 + pop(true);
	return found * 10 + pop(true);
}

SEC("syscall") int cpus_are_in_sets(void *ctx)
{
	struct bpf_cpumask *one = bpf_cpumask_create(), *two = bpf_cpumask_create();
	u32 found = 0;

	if (!one || !two)
		goto out;
	found = bpf_cpumask_empty(cast_mask(one));
	found = found << 1 | bpf_cpumask_test_and_set_cpu(1, one);
	found = found << 1 | bpf_cpumask_test_and_set_cpu(1, one);
	bpf_cpumask_set_cpu(EIGHT * EIGHT * EIGHT, one);
	found = found << 4 | bpf_cpumask_first(cast_mask(one));
	found = found << 4 | bpf_cpumask_first_zero(cast_mask(one));
	bpf_cpumask_setall(two);
	found = found << 1 | bpf_cpumask_full(cast_mask(two));
	found = found << 1 | bpf_cpumask_subset(cast_mask(one), cast_mask(two));
	found = found << 1 | bpf_cpumask_subset(cast_mask(two), cast_mask(one));
	found = found << 1 | bpf_cpumask_and(two, cast_mask(one), cast_mask(two));
	found = found << 1 | bpf_cpumask_equal(cast_mask(one), cast_mask(two));
	bpf_cpumask_xor(two, cast_mask(one), cast_mask(two));
	found = found << 1 | bpf_cpumask_empty(cast_mask(two));
	found = found << 4 | bpf_cpumask_first(cast_mask(two));
	found = found << 1 | bpf_cpumask_intersects(cast_mask(one), cast_mask(two));
	bpf_cpumask_or(two, cast_mask(one), cast_mask(two));
	found = found << 1 | bpf_cpumask_test_and_clear_cpu(1, two);
	found = found << 1 | bpf_cpumask_test_cpu(1, cast_mask(two));
	bpf_cpumask_copy(two, cast_mask(one));
	found = found << 2 | bpf_cpumask_weight(cast_mask(two));
	bpf_cpumask_clear(two);
	found = found << 1 | bpf_cpumask_empty(cast_mask(two));
out:
	if (one)
		bpf_cpumask_release(one);
	if (two)
		bpf_cpumask_release(two);
	return found;
}

SEC("syscall") int cpus_have_their_turn(void *ctx)
{
	struct bpf_cpumask *mask = bpf_cpumask_create();
	u32 found = 0;
	int i;

	if (!mask)
		return -ENOMEM;
	bpf_cpumask_setall(mask);
	/* Where it begins depends on what else has asked: after a whole turn it is there again. */
	found = bpf_cpumask_any_distribute(cast_mask(mask));
	bpf_for(i, 0, 4)
		found ^= bpf_cpumask_any_distribute(cast_mask(mask)) << (4 * (i + 1));
	found = (found & 0xf) == (found >> 16 & 0xf);
	bpf_cpumask_clear(mask);
	found = found << 4 | bpf_cpumask_any_distribute(cast_mask(mask));
	bpf_cpumask_set_cpu(2, mask);
	found = found << 4 | bpf_cpumask_any_and_distribute(cast_mask(mask), cast_mask(mask));
	bpf_cpumask_release(mask);
	return found;
}

SEC("syscall") int numbers_are_looped_over(void *ctx)
{
	struct bpf_iter_num it;
	u32 found = 0;
	int *each;

	found = bpf_iter_num_new(&it, 5, 2) == -EINVAL;
	found = found << 1 | (bpf_iter_num_next(&it) == NULL);
	bpf_iter_num_destroy(&it);
	found = found << 1 | (bpf_iter_num_new(&it, 0, 1 << 30) == -E2BIG);
	bpf_iter_num_destroy(&it);
	found = found << 1 | (bpf_iter_num_new(&it, -2, 3) == 0);
	while ((each = bpf_iter_num_next(&it)))
		found = found * 7 + *each + 3;
	bpf_iter_num_destroy(&it);
	return found;
}

SEC("syscall") int a_text_is_made(void *ctx)
{
	char text[64] = {};
	u64 values[4];
	u32 sum = 0;
	long length;
	int i;

	values[0] = -7;
	values[1] = 255;
	values[2] = -1;
	values[3] = (u64)name;
	length = bpf_snprintf(text, sizeof(text), "[%4d|%-5x|%lu|%s|%%]", values, sizeof(values));
	bpf_for(i, 0, sizeof(text))
		sum = sum * 31 + text[i];
	return sum ^ length << 16;
}

SEC("syscall") int a_text_is_cut(void *ctx)
{
	char text[8] = {};
	u64 values[] = {123456789};
	long length = bpf_snprintf(text, sizeof(text), "%ld.", values, sizeof(values));

	return text[6] << 16 | text[7] << 8 | length;
}

SEC("syscall") int pages_come_and_go(void *ctx)
{
	u64 __arena *page;
	u64 __arena *other;
	u32 found = 0;

	page = bpf_arena_alloc_pages(&arena, NULL, 2, NUMA_NO_NODE, 0);
	if (!page)
		return -ENOMEM;
	found = page[0] == 0;
	page[512] = 41;
	found = found << 4 | (page[512] == 41);
	other = bpf_arena_alloc_pages(&arena, NULL, 9, NUMA_NO_NODE, 0);
	found = found << 4 | (other != NULL);
	bpf_arena_free_pages(&arena, (void __arena *)page, 2);
	page = bpf_arena_alloc_pages(&arena, NULL, 3, NUMA_NO_NODE, 0);
	if (!page)
		return -ENOMEM;
	found = found << 4 | (page[512] == 0);
	bpf_arena_free_pages(&arena, (void __arena *)page, 3);
	return found;
}

static long step(u64 index, u32 *sum)
{
	*sum += index;
	return index == 6;
}

SEC("syscall") int functions_are_repeated(void *ctx)
{
	u32 sum = 0, found;

	found = bpf_loop(20, step, &sum, 0);
	found = found << 8 | sum;
	sum = 0;
	found = found << 8 | bpf_loop(3, step, &sum, 0);
	return found << 4 | (bpf_loop(1 << 24, step, &sum, 0) == -E2BIG);
}
