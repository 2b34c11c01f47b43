/* SPDX-License-Identifier: GPL-2.0-only */
#define CALLBACK(name) __attribute__((section("syscall"), used)) unsigned long long name(unsigned long long *context)

#include "callbacks.h"

char _license[] __attribute__((section("license"), used)) = "GPL";
