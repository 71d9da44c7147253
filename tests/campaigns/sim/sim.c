/* sim/sim.c - the campaign: seed after seed until enough steps are made.
 *
 *   sim [--store redis|sqlite] [--seed N] [--seeds N] [--steps N] [--seconds S]
 *       [--world-steps N] [--workers N] [--loud] [--hash] [--no-sometimes] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cast.h"
#include "world.h"

struct campaign {
    struct sim_options options;
    bool has_seed, prints_hash, needs_situations;
    uint64_t seeds, steps;
    double seconds;
    /* Totals. */
    uint64_t worlds, steps_made, runs, faults, kills, lost;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void world_live(struct campaign *campaign, struct sim_scripts *scripts)
{
    struct sim_world *world = sim_world_create(&campaign->options, scripts);
    sim_world_run(world);
    campaign->worlds++;
    campaign->steps_made += world->steps;
    campaign->runs += sim_oracle_count(world->oracle);
    campaign->lost += sim_oracle_lost(world->oracle);
    campaign->faults += world->faults;
    campaign->kills += world->kills;
    if (campaign->prints_hash)
        printf("seed %" PRIu64 " steps %" PRIu64 " hash %016" PRIx64 "\n", world->options.seed,
               world->steps, world->hash);
    sim_world_free(world);
}

static void totals_print(const struct campaign *campaign, double seconds)
{
    printf("sim: %s: %" PRIu64 " seeds, %" PRIu64 " steps, %" PRIu64 " runs, %" PRIu64
           " faults, %" PRIu64 " kills, %" PRIu64 " runs lost by rolling back, 0 violations, "
           "%.1f s, %.0f steps/s\n",
           campaign->options.is_sqlite ? "sqlite" : "redis", campaign->worlds, campaign->steps_made,
           campaign->runs, campaign->faults, campaign->kills, campaign->lost, seconds,
           (double)campaign->steps_made / seconds);
    fflush(stdout);
}

static bool situations_print(const struct campaign *campaign, bool is_always)
{
    static const struct {
        const char *name, *stores;
    } rows[] = {
#define SITUATION(name, stores) {#name, #stores},
#include "sometimes.def"
    };
    bool is_complete = true;
    for (int i = 0; i < SIM_SITUATION_COUNT; i++) {
        const char *store = campaign->options.is_sqlite ? "S" : "R";
        if (strcmp(rows[i].stores, store) != 0 && strcmp(rows[i].stores, "B") != 0)
            continue;
        if (sim_situations[i] == 0 || is_always)
            printf("  %-32s %" PRIu64 "\n", rows[i].name, sim_situations[i]);
        is_complete = is_complete && sim_situations[i] > 0;
    }
    return is_complete;
}

static uint64_t number_read(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*end != '\0' || text[0] == '\0') {
        fprintf(stderr, "sim: '%s' is not a number\n", text);
        exit(2);
    }
    return value;
}

static const char usage[] =
    "usage: sim [--store redis|sqlite] [OPTIONS]\n"
    "  --steps N        seeds are run until N steps are made (default 500000); a step is one\n"
    "                   event of a world: bytes that arrive, a wait that ends, a handler that\n"
    "                   ends, a fault\n"
    "  --seconds S      or until S seconds have passed\n"
    "  --seed N         this one seed only, or the first one with --seeds\n"
    "  --seeds N        that many seeds\n"
    "  --world-steps N  steps of one seed before it is healed (default 4000)\n"
    "  --workers N      so many, up to 64 (default a few, by the seed)\n"
    "  --loud           log lines and what befalls whom, to stderr\n"
    "  --hash           print each seed's trace hash\n"
    "  --situations     print how often each interesting situation was met\n";

static bool is_verbose;

static size_t workers_read(const char *value)
{
    uint64_t workers = number_read(value);
    if (workers == 0 || workers > SIM_WORKERS_MAX) {
        fputs(usage, stderr);
        exit(2);
    }
    return (size_t)workers;
}

static void arguments_read(int argc, char **argv, struct campaign *campaign)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--loud") == 0) {
            campaign->options.is_loud = true;
        } else if (strcmp(name, "--hash") == 0) {
            campaign->prints_hash = true;
        } else if (strcmp(name, "--situations") == 0) {
            is_verbose = true;
        } else if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else {
            i++;
            if (strcmp(name, "--store") == 0 && strcmp(value, "sqlite") == 0)
                campaign->options.is_sqlite = true;
            else if (strcmp(name, "--store") == 0 && strcmp(value, "redis") == 0)
                campaign->options.is_sqlite = false;
            else if (strcmp(name, "--steps") == 0)
                campaign->steps = number_read(value);
            else if (strcmp(name, "--seconds") == 0)
                campaign->seconds = (double)number_read(value);
            else if (strcmp(name, "--seeds") == 0)
                campaign->seeds = number_read(value);
            else if (strcmp(name, "--world-steps") == 0)
                campaign->options.steps = number_read(value);
            else if (strcmp(name, "--workers") == 0)
                campaign->options.workers = workers_read(value);
            else if (strcmp(name, "--seed") == 0) {
                campaign->options.seed = number_read(value);
                campaign->has_seed = true;
            } else {
                fputs(usage, stderr);
                exit(2);
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct campaign campaign = {.options = {.seed = 1, .steps = 4000}};
    arguments_read(argc, argv, &campaign);
    if (campaign.has_seed && campaign.seeds == 0)
        campaign.seeds = 1;
    if (campaign.seeds == 0 && campaign.steps == 0 && campaign.seconds <= 0)
        campaign.steps = 500000;
    campaign.needs_situations = campaign.steps >= 500000;
    struct sim_scripts *scripts = sim_scripts_create();
    double begun = seconds_now(), told = begun;
    for (;;) {
        world_live(&campaign, scripts);
        campaign.options.seed++;
        double now = seconds_now();
        if ((campaign.seeds > 0 && campaign.worlds >= campaign.seeds) ||
            (campaign.steps > 0 && campaign.steps_made >= campaign.steps) ||
            (campaign.seconds > 0 && now - begun >= campaign.seconds))
            break;
        if (now - told >= 30) {
            totals_print(&campaign, now - begun);
            told = now;
        }
    }
    totals_print(&campaign, seconds_now() - begun);
    sim_scripts_free(scripts);
    if (!situations_print(&campaign, is_verbose) && campaign.needs_situations) {
        fputs("sim: these situations were never met: the campaign proves nothing about them\n",
              stderr);
        return 1;
    }
    return 0;
}
