/* SPDX-License-Identifier: GPL-2.0 */
/* The first process of a guest in tests: mounts the image, runs one command in it, ends the guest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void insert(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/modules/%s", name);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || syscall(SYS_finit_module, file, "", 0))
		printf("not inserted: %s: %m\n", path);
	close(file);
}

static void insert_all(void)
{
	char name[200];
	FILE *order = fopen("/modules/order", "r");

	while (order && fgets(name, sizeof(name), order)) {
		name[strcspn(name, "\n")] = 0;
		insert(name);
	}
}

int main(void)
{
	mount("proc", "/proc", "proc", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	insert_all();
	if (mount("/dev/pmem0", "/image", "ext4", 0, NULL))
		printf("not mounted: %m\n");
	mount("/proc", "/image/proc", NULL, MS_BIND, NULL);
	mount("/dev", "/image/dev", NULL, MS_BIND, NULL);
	fflush(stdout);
	if (fork() == 0) {
		if (chroot("/image") || chdir("/"))
			_exit(125);
		execl("/bin/sh", "sh", "-c", COMMAND, NULL);
		_exit(126);
	}
	int status = -1;
	wait(&status);
	printf("status %d\n", status);
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
}
