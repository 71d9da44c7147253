#include "rescue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_GROWTH = 1024 };

struct samples {
    int64_t *us;
    size_t count;
};

struct rescue {
    const struct book *book;
    struct samples elsewhere; /* from the kill of an unnamed worker to the next start */
    struct samples restarted; /* from the birth of a named one's next life to the next start */
    struct samples crashed;   /* from the kill of a child to the next start */
};

static void samples_add(struct samples *samples, int64_t us)
{
    if (samples->count % SAMPLES_GROWTH == 0) {
        samples->us = realloc(samples->us, (samples->count + SAMPLES_GROWTH) * sizeof *samples->us);
        if (samples->us == NULL)
            abort();
    }
    samples->us[samples->count++] = us;
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
        samples_add(&rescue->restarted, next_us - after->born_us);
    else
        samples_add(&rescue->elsewhere, next_us - life->killed_us);
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
            samples_add(&rescue->crashed, next_us - child->killed_us);
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

static void samples_print(struct samples *samples, const char *what)
{
    if (samples->count > 0) {
        qsort(samples->us, samples->count, sizeof *samples->us, by_length);
        printf("  %-44s %6zu: p50 %.0f ms, p90 %.0f, p99 %.0f, p99.9 %.0f, max %.0f\n", what,
               samples->count, at_percent(samples, 50), at_percent(samples, 90),
               at_percent(samples, 99), at_percent(samples, 99.9), at_percent(samples, 100));
    }
    free(samples->us);
}

void rescue_print(const struct book *book)
{
    struct rescue rescue = {.book = book};
    book_visit(book, story_rescue, &rescue);
    samples_print(&rescue.elsewhere, "worker killed, run started elsewhere");
    samples_print(&rescue.restarted, "worker back under its name, run started");
    samples_print(&rescue.crashed, "child killed, run started again");
}
