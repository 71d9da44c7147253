/* bench/work.c - one piece of the product's work and nothing beside it; compare.py counts what it
 * costs two builds.
 *
 * usage: work WHAT URL COUNT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product.h"

static void codec(const char *url, size_t count)
{
    (void)url;
    product_codec(count);
}

static void enqueue(const char *url, size_t count)
{
    culex_client *client = product_client(url);
    product_enqueue(client, count);
    culex_client_close(client);
}

static void enqueue_many(const char *url, size_t count)
{
    culex_client *client = product_client(url);
    product_enqueue_many(client, count);
    culex_client_close(client);
}

static void drain(const char *url, size_t count)
{
    (void)count;
    product_drain(url, CULEX_ISOLATION_NONE);
}

static void drain_isolated(const char *url, size_t count)
{
    (void)count;
    product_drain(url, CULEX_ISOLATION_PROCESS);
}

static const struct piece {
    const char *name;
    void (*run)(const char *url, size_t count);
} pieces[] = {
    {"codec", codec},
    {"enqueue", enqueue},
    {"enqueue-many", enqueue_many},
    {"drain", drain},
    {"drain-isolated", drain_isolated},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < sizeof pieces / sizeof pieces[0]; i++) {
        if (strcmp(argv[1], pieces[i].name) == 0) {
            pieces[i].run(argv[2], strtoul(argv[3], NULL, 10));
            return 0;
        }
    }
    fputs("usage: work codec|enqueue|enqueue-many|drain|drain-isolated URL COUNT\n", stderr);
    return 2;
}
