/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Asks the kernel for the address of one of its symbols. The kernel finds it among hundreds of
 * thousands by bisection (Linux kernel/kallsyms.c, kallsyms_lookup_names); a reader of
 * /proc/kallsyms makes it print them all.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

/* Padded with zeros. */
const volatile char name[128];

u64 address;

SEC("syscall")
int look_up(void *ctx)
{
	return bpf_kallsyms_lookup_name((const char *)name, sizeof(name), 0, &address);
}
