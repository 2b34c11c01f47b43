// SPDX-License-Identifier: GPL-2.0-only
/* Prints nanoseconds of a call of each callback: native CALLS. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLBACK(name) static __attribute__((noinline)) unsigned long long name(unsigned long long *context)

#include "callbacks.h"

static const struct {
	const char *name;
	u64 (*call)(u64 *context);
} CALLBACKS[] = { { "add", add }, { "charge", charge }, { "refill", refill }, { "mix", mix }, { "chase", chase } };

static double monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **words)
{
	long calls = count > 1 ? atol(words[1]) : 1000000;

	for (unsigned i = 0; i < sizeof(CALLBACKS) / sizeof(*CALLBACKS); i++) {
		u64 (*volatile call)(u64 *) = CALLBACKS[i].call;
		double start = monotonic_ns();

		for (long number = 0; number < calls; number++) {
			u64 context[] = { number, 7 };

			call(context);
		}
		printf("%s %.2f\n", CALLBACKS[i].name, (monotonic_ns() - start) / calls);
	}
	return 0;
}
