/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scheduler in name only, as small as objects get. Compiled by
 * clang -g -O2 -target bpf, its section .BTF is corpus/btf/scheduler.
 */
#include "../schedulers/include/describe.h"

#define SEC(name) __attribute__((section(name), used))

typedef unsigned char u8;
typedef unsigned long long u64;

PARAMETER("ms", "-5..1000", "How long.")
volatile short slice_ms SEC(".data") = 20;

CHOICE("2.6.8, 2.6.31", "Which.")
const volatile u8 era SEC(".rodata") = 1;

MACHINE("core_of_cpu")
const volatile u64 cores[4] SEC(".rodata") = {0};

struct inner {
	STATISTIC("Ended.")
	u64 ends;
};

struct counted {
	STATISTIC("Begun.")
	u64 begins;
	struct inner inner;
};

struct {
	int (*type)[6];
	int (*max_entries)[1];
	unsigned int *key;
	struct counted *value;
} stats SEC(".maps");

struct sched_ext_ops {
	void (*tick)(void);
	u64 hotplug_seq;
	char name[128];
};

SCHEDULER("It does nothing.")
struct sched_ext_ops seed SEC(".struct_ops.link") = {.name = "seed"};

char _license[] SEC("license") = "GPL";
