/* bench/work.c - one piece of the product's work and nothing beside it; compare.py counts what it
 * costs two builds.
 *
 * usage: work WHAT URL COUNT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product.h"
#include "side.h"

enum { MANY = 4096 }; /* runs in one call */

static void codec(const struct knobs *knobs)
{
    product_codec(knobs->count);
}

static void enqueue(const struct knobs *knobs)
{
    culex_client *client = product_client(knobs);
    product_enqueue(client, knobs, 0, knobs->count);
    culex_client_close(client);
}

static void enqueue_many(const struct knobs *knobs)
{
    struct knobs many = *knobs;
    many.batch = MANY;
    enqueue(&many);
}

static void drain(const struct knobs *knobs)
{
    crowd_run(&product_side.drainer, knobs);
}

static void drain_isolated(const struct knobs *knobs)
{
    struct knobs isolated = *knobs;
    isolated.isolation = CULEX_ISOLATION_PROCESS;
    crowd_run(&product_side.drainer, &isolated);
}

static const struct piece {
    const char *name;
    void (*run)(const struct knobs *knobs);
} pieces[] = {
    {"codec", codec},
    {"enqueue", enqueue},
    {"enqueue-many", enqueue_many},
    {"drain", drain},
    {"drain-isolated", drain_isolated},
};

int main(int argc, char **argv)
{
    struct knobs knobs = knobs_parse(NULL, 0);
    if (argc == 4) {
        knobs.url = argv[2];
        knobs.count = strtoul(argv[3], NULL, 10);
    }
    for (size_t i = 0; argc == 4 && i < sizeof pieces / sizeof pieces[0]; i++) {
        if (strcmp(argv[1], pieces[i].name) == 0) {
            pieces[i].run(&knobs);
            return 0;
        }
    }
    fputs("usage: work codec|enqueue|enqueue-many|drain|drain-isolated URL COUNT\n", stderr);
    return 2;
}
