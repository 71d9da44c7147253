#include "rescue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_GROWTH = 1024, OUTAGE_US = 1000000, GOAL_ELSEWHERE_MS = 1400, GOAL_BACK_MS = 200 };

struct samples {
    int64_t *us;
    size_t count;
    size_t disturbed; /* left out: the server was away meanwhile */
};

struct rescue {
    const struct book *book;
    struct samples elsewhere; /* from the kill of an unnamed worker to the next start */
    struct samples restarted; /* from the birth of a named one's next life to the next start */
    struct samples crashed;   /* from the kill of a child to the next start */
};

/* Whether the server was killed or stopped not long before or within this time. */
static bool is_disturbed(const struct book *book, int64_t from_us, int64_t to_us)
{
    size_t low = 0, high = book->outage_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book->outages_us[middle] < from_us - OUTAGE_US)
            low = middle + 1;
        else
            high = middle;
    }
    return low < book->outage_count && book->outages_us[low] <= to_us;
}

static void samples_add(const struct book *book, struct samples *samples, int64_t from_us,
                        int64_t to_us)
{
    if (is_disturbed(book, from_us, to_us)) {
        samples->disturbed++;
        return;
    }
    if (samples->count % SAMPLES_GROWTH == 0) {
        samples->us = realloc(samples->us, (samples->count + SAMPLES_GROWTH) * sizeof *samples->us);
        if (samples->us == NULL)
            abort();
    }
    samples->us[samples->count++] = to_us - from_us;
}

/* The next process of that name; NULL when there was none. */
static const struct life *life_after(const struct book *book, const struct life *before)
{
    for (size_t i = (size_t)(before - book->lives) + 1; i < book->life_count; i++) {
        if (book->lives[i].born_us > 0 && strcmp(book->lives[i].name, before->name) == 0)
            return &book->lives[i];
    }
    return NULL;
}

static bool was_cut(const struct episode *episode, const struct life *life)
{
    return life != NULL && life->killed_us > episode->start_us &&
           (episode->end_us == 0 || episode->end_us > life->killed_us);
}

/* A named worker's runs are free as soon as it is back, whoever takes them then. */
static void worker_rescue(struct rescue *rescue, const struct life *life, int64_t next_us)
{
    const struct life *after =
        strncmp(life->name, "fixed", 5) == 0 ? life_after(rescue->book, life) : NULL;
    if (after != NULL && after->born_us < next_us)
        samples_add(rescue->book, &rescue->restarted, after->born_us, next_us);
    else
        samples_add(rescue->book, &rescue->elsewhere, life->killed_us, next_us);
}

static void story_rescue(const struct story *story, void *user)
{
    struct rescue *rescue = user;
    for (size_t i = 0; i + 1 < story->episode_count; i++) {
        const struct episode *cut = &story->episodes[i];
        int64_t next_us = story->episodes[i + 1].start_us;
        const struct life *worker = book_life(rescue->book, cut->supervisor, cut->start_us);
        const struct life *child =
            cut->pid != cut->supervisor ? book_life(rescue->book, cut->pid, cut->start_us) : NULL;
        if (was_cut(cut, child))
            samples_add(rescue->book, &rescue->crashed, child->killed_us, next_us);
        else if (was_cut(cut, worker) && next_us > worker->killed_us)
            worker_rescue(rescue, worker, next_us);
    }
}

static int by_length(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static double at_percent(const struct samples *samples, double percent)
{
    size_t place = (size_t)((double)(samples->count - 1) * percent / 100);
    return (double)samples->us[place] / 1000;
}

static double share_within(const struct samples *samples, int64_t goal_ms)
{
    size_t count = 0;
    while (count < samples->count && samples->us[count] <= goal_ms * 1000)
        count++;
    return 100.0 * (double)count / (double)samples->count;
}

static void samples_print(struct samples *samples, const char *what, int64_t goal_ms)
{
    if (samples->count > 0) {
        qsort(samples->us, samples->count, sizeof *samples->us, by_length);
        printf("  %s: %zu, p50 %.0f ms, p90 %.0f, p99 %.0f, max %.0f; %.2f %% within %lld ms"
               " (%zu with the server away left out)\n",
               what, samples->count, at_percent(samples, 50), at_percent(samples, 90),
               at_percent(samples, 99), at_percent(samples, 100), share_within(samples, goal_ms),
               (long long)goal_ms, samples->disturbed);
    }
    free(samples->us);
}

void rescue_print(const struct book *book)
{
    struct rescue rescue = {.book = book};
    book_visit(book, story_rescue, &rescue);
    samples_print(&rescue.elsewhere, "worker killed, run started elsewhere", GOAL_ELSEWHERE_MS);
    samples_print(&rescue.restarted, "worker back under its name, run started", GOAL_BACK_MS);
    samples_print(&rescue.crashed, "child killed, run started again", GOAL_BACK_MS);
}
