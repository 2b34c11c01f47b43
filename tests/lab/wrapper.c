/* SPDX-License-Identifier: GPL-2.0 */
/* Leaves a scheduler to a daemon and exits: the daemon, the guest's agent, attaches one. */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	if (fork())
		exit(0);
	setsid();
	if (fork())
		exit(0);
	/* The agent ends when its parent does, which is now the process that adopts orphans. */
	sleep(1);
	execl("/init", "runoff-agent", "attach", "bfs", (char *)NULL);
	_exit(126);
}
