/* bench/bench.c - one measurement of one side; runner.py pairs and repeats them.
 *
 * usage: bench product|floor VERB KEY=VALUE...
 * Prints one JSON object: how many runs, how many seconds, or microseconds at percentiles. */
#include <stdio.h>
#include <string.h>

#include "flow.h"

static void rate_print(size_t count, double seconds)
{
    printf("{\"count\": %zu, \"seconds\": %.9f}\n", count, seconds);
}

static void enqueue(const struct side *side, const struct knobs *knobs)
{
    rate_print(knobs->count, crowd_run(&side->producer, knobs));
}

static void drain(const struct side *side, const struct knobs *knobs)
{
    rate_print(knobs->stop_after > 0 ? knobs->stop_after : knobs->count,
               crowd_run(&side->drainer, knobs));
}

static void mixed(const struct side *side, const struct knobs *knobs)
{
    size_t count = 0;
    double seconds = flow_run(side, knobs, &count);
    rate_print(count, seconds);
}

static void start(const struct side *side, const struct knobs *knobs)
{
    double *us = flow_starts(side, knobs);
    size_t count = knobs->count;
    printf("{\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f}\n", count, us[count / 2],
           us[count * 99 / 100], us[count * 999 / 1000]);
}

static void idle(const struct side *side, const struct knobs *knobs)
{
    flow_idle(side, knobs);
    puts("{}");
}

static void codec(const struct side *side, const struct knobs *knobs)
{
    rate_print(knobs->count, side->codec(knobs->count));
}

static const struct verb {
    const char *name;
    void (*run)(const struct side *side, const struct knobs *knobs);
} verbs[] = {
    {"enqueue", enqueue}, {"drain", drain}, {"mixed", mixed},
    {"start", start},     {"idle", idle},   {"codec", codec},
};

int main(int argc, char **argv)
{
    const struct side *side =
        argc > 2 && strcmp(argv[1], "floor") == 0 ? &floor_side : &product_side;
    for (size_t i = 0; argc > 2 && i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(argv[2], verbs[i].name) == 0) {
            struct knobs knobs = knobs_parse(argv + 3, (size_t)argc - 3);
            verbs[i].run(side, &knobs);
            return 0;
        }
    }
    fputs("usage: bench product|floor enqueue|drain|mixed|start|idle|codec KEY=VALUE...\n", stderr);
    return 2;
}
