/* SPDX-License-Identifier: GPL-2.0 */
/* A program that leaves a scheduler to a daemon and exits: the daemon is the guest's agent, which attaches one. */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	if (fork())
		exit(0);
	setsid();
	if (fork())
		exit(0);
	/* The agent ends when its parent does; by now that is who waits for orphans. */
	sleep(1);
	execl("/init", "runoff-agent", "attach", "bfs", (char *)NULL);
	_exit(126);
}
