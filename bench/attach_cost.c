/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first process of a guest of attach_cost.py: prints how long the agent takes to attach
 * schedulers. Each line on the second serial port is a name and nanoseconds, which are instructions
 * under the virtual clock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGENT "/bin/runoff-agent"

static FILE *told;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Starts the agent with pipes for its standard streams. */
static pid_t start(char *const words[], FILE **input, FILE **output)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	pid_t child = fork();
	if (child == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(AGENT, words);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	*input = fdopen(in[1], "w");
	*output = fdopen(out[0], "r");
	return child;
}

/* Reads until a line with this beginning; the end of the output ends the guest. */
static void await(FILE *output, const char *beginning)
{
	static char line[1 << 20];

	do {
		if (!fgets(line, sizeof(line), output)) {
			fprintf(told, "lost %s\n", beginning);
			fflush(told);
			reboot(RB_AUTOBOOT);
		}
	} while (strncmp(line, beginning, strlen(beginning)));
}

/* Measures from the start of an own process to the first line of its output, which comes when the
 * scheduler is attached. */
static void attach_once(char *scheduler)
{
	FILE *input, *output;
	char *words[] = {AGENT, "attach", scheduler, NULL};
	long begun = now_ns();
	pid_t child = start(words, &input, &output);

	await(output, "{");
	fprintf(told, "%s process %ld\n", scheduler, now_ns() - begun);
	fflush(told);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	fclose(input);
	fclose(output);
}

/* Attaches and detaches again and again in one process. */
static void attach_in_session(char *scheduler, int times)
{
	FILE *input, *output;
	char *words[] = {AGENT, "session", NULL};
	pid_t child = start(words, &input, &output);

	await(output, "{\"type\":\"hello\"");
	for (int nth = 1; nth <= times; nth++) {
		long begun = now_ns();

		fprintf(input,
			"{\"type\":\"check\",\"id\":\"x\",\"scheduler\":"
			"{\"kind\":\"builtin\",\"name\":\"%s\",\"parameters\":{}}}\n",
			scheduler);
		fflush(input);
		await(output, "{\"type\":\"checked\"");
		fprintf(told, "%s session-%d %ld\n", scheduler, nth, now_ns() - begun);
		fflush(told);
	}
	fclose(input);
	waitpid(child, NULL, 0);
	fclose(output);
}

int main(void)
{
	char names[4096] = "";

	mkdir("/sys/fs", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	mount("tmpfs", "/run", "tmpfs", 0, NULL);
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	told = fopen("/dev/ttyS1", "w");
	FILE *wanted = fopen("/schedulers", "r");
	if (!told || !wanted || !fread(names, 1, sizeof(names) - 1, wanted))
		return 1;
	for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
		attach_once(name);
		attach_in_session(name, 3);
	}
	fprintf(told, "end\n");
	fflush(told);
	sync();
	reboot(RB_AUTOBOOT);
}
