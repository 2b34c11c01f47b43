/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callbacks like those of a scheduler, for the machine of crates/bpfvm and for this one: small ones, and loops of 256.
 * Each gets the address of its arguments, as the kernel calls what is in a table.
 */
typedef unsigned long long u64;

#define COUNT 256

struct task {
	u64 vtime, slice, weight, ran;
};

static struct task tasks[COUNT];
static u64 now;

CALLBACK(add)
{
	return context[0] + context[1];
}

CALLBACK(charge)
{
	struct task *task = &tasks[context[0] % COUNT];

	task->ran += context[1];
	task->vtime += context[1] * 100 / (task->weight + 1);
	return task->vtime;
}

CALLBACK(refill)
{
	struct task *task = &tasks[context[0] % COUNT];

	if (task->vtime + 20000 < now)
		task->vtime = now - 20000;
	task->slice = context[1] > 100 ? 20000 : 5000;
	now += 3;
	return task->slice;
}

CALLBACK(mix)
{
	u64 sum = context[0];

	for (int i = 0; i < COUNT; i++) {
		sum = (sum ^ i) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 29;
	}
	return sum;
}

CALLBACK(chase)
{
	u64 at = context[0] % COUNT;

	for (int i = 0; i < COUNT; i++) {
		tasks[at].ran += i;
		at = (tasks[at].ran + at * 5 + 1) % COUNT;
	}
	return at;
}
