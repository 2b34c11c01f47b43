/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes steps in the control groups: make GROUP, remove GROUP, write FILE TEXT, work GROUP MILLISECONDS (a child
 * computes in it), many NUMBER (groups). Paths are from the topmost group; those that begin with own/ are from the group
 * of this process at its start.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char own[256];

static const char *at(const char *path, const char *file)
{
	static char whole[1024];
	int is_own = !strncmp(path, "own", 3);

	snprintf(whole, sizeof(whole), "/sys/fs/cgroup%s/%s%s", is_own ? own : "", is_own ? path + 3 : path, file);
	return whole;
}

static void put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(file);
}

static void make(const char *path)
{
	if (mkdir(path, 0755))
		err(1, "%s", path);
}

static void compute(int ms)
{
	struct timespec used;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static void work(const char *group, int ms)
{
	int status;

	if (!fork()) {
		put(at(group, "/cgroup.procs"), "0");
		compute(ms);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		errx(1, "no work was done in %s", group);
}

int main(int argc, char **argv)
{
	FILE *groups = fopen("/proc/self/cgroup", "r");
	char name[32];

	if (!groups || fscanf(groups, "0::%255s", own) != 1)
		err(1, "/proc/self/cgroup");
	for (argv++; *argv; argv += 2) {
		const char *step = argv[0], *path = argv[1];

		if (!strcmp(step, "make")) {
			make(at(path, ""));
		} else if (!strcmp(step, "remove")) {
			if (rmdir(at(path, "")))
				err(1, "%s", path);
		} else if (!strcmp(step, "many")) {
			for (int i = 0; i < atoi(path); i++) {
				snprintf(name, sizeof(name), "many%d", i);
				make(at(name, ""));
			}
		} else if (!strcmp(step, "write")) {
			put(at(path, ""), argv[2]);
			argv++;
		} else {
			work(path, atoi(argv[2]));
			argv++;
		}
	}
	return 0;
}
