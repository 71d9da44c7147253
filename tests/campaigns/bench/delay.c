/* bench/delay.c - a way to a server that takes a millisecond longer, until standard input ends.
 *
 * usage: delay SOCKET MS
 * Prints the URL of a loopback port whose answers come so much later. */
#include <stdio.h>
#include <stdlib.h>

#include "proxy.h"

int main(int argc, char **argv)
{
    struct proxy *proxy = argc == 3 ? proxy_start(argv[1]) : NULL;
    if (proxy == NULL) {
        fputs("usage: delay SOCKET MS\n", stderr);
        return 2;
    }
    struct proxy_fault fault = {.action = PROXY_DELAY, .direction = PROXY_REPLY};
    fault.ms = (int)strtol(argv[2], NULL, 10);
    proxy_set(proxy, &fault);
    puts(proxy_tcp_url(proxy));
    fflush(stdout);
    while (getchar() != EOF) {
    }
    proxy_stop(proxy);
    return 0;
}
