/* SPDX-License-Identifier: GPL-2.0-only */
/* A server and its client, which talk over 127.0.0.1 and over ::1. */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void serve(int listener)
{
	char byte;
	int client = accept(listener, NULL, NULL);

	if (client < 0)
		err(1, "accept");
	while (read(client, &byte, 1) == 1)
		if (write(client, &byte, 1) != 1)
			err(1, "write of the server");
}

static void talk(int family, const struct sockaddr *address, socklen_t size)
{
	int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0);
	char byte = 'x';
	int turn;

	if (bind(listener, address, size) || listen(listener, 1))
		err(1, "bind");
	if (!fork()) {
		close(client);
		serve(listener);
		_exit(0);
	}
	if (connect(client, address, size))
		err(1, "connect");
	for (turn = 0; turn < 100; turn++)
		if (write(client, &byte, 1) != 1 || read(client, &byte, 1) != 1)
			err(1, "round trip");
	close(client);
	wait(NULL);
	printf("%d round trips\n", turn);
}

int main(void)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(6379)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(6379)};

	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	six.sin6_addr = in6addr_loopback;
	talk(AF_INET, (struct sockaddr *)&four, sizeof(four));
	talk(AF_INET6, (struct sockaddr *)&six, sizeof(six));
	return 0;
}
