/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_DESCRIBE_H
#define RUNOFF_DESCRIBE_H

/*
 * A scheduler describes itself in BTF declaration tags. Programs that load, list or document it
 * read them from the object, so nothing is written down twice. Fields are separated by " | ".
 */
#define DESCRIBE(text) __attribute__((btf_decl_tag(text)))

/* On the struct sched_ext_ops: what the scheduler is. */
#define SCHEDULER(sentence) DESCRIBE("scheduler | " sentence)

/* On the struct sched_ext_ops: an operation that is left out where the kernel has @function. */
#define LEFT_OUT(operation, function) DESCRIBE("left out | " operation " | " function)

/*
 * On a global integer: a number the user may choose. "const volatile" makes it fixed once loaded,
 * "volatile" changeable while the scheduler runs. Its initial value is the default, which must lie
 * within the range "min..max". The unit is one word, "1" for a bare number.
 */
#define PARAMETER(unit, range, sentence) DESCRIBE("parameter | " unit " | " range " | " sentence)

/*
 * With a PARAMETER in ms or us: it is how long a task may run while its equals wait, so the last of
 * N tasks waits N times as long.
 */
#define TURN DESCRIBE("turn")

/* With a PARAMETER without a unit: it is how many such turns some tasks have in one. */
#define TURNS_IN_ONE DESCRIBE("turns in one")

/*
 * On a global unsigned integer: one of several named ways, e.g. CHOICE("pb, eb", "..."). The value
 * is the position of the name, counted from 0; users only ever see the names.
 */
#define CHOICE(names, sentence) DESCRIBE("choice | " names " | " sentence)

/* On a member of the value of the per-CPU array map "stats": what this u64 counts. */
#define STATISTIC(sentence) DESCRIBE("statistic | " sentence)

/* On a const volatile global: a fact about the machine that the loader fills in; see machine.h. */
#define MACHINE(fact) DESCRIBE("machine | " fact)

#endif
