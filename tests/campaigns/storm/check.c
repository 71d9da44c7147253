/* storm/check.c - proves from what a storm left behind that nothing was lost and nothing doubled.
 * usage: storm_check FOLDER
 *
 * Reads the ledgers and store.txt (dump.h) of FOLDER and nothing else, and knows nothing of the
 * product's code. Exit code 0: all holds; 1: it does not, each violation is a line on stderr;
 * 2: something could not be read. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "book.h"
#include "rescue.h"

/* As in run_rules.def and storm.job, written down a second time on purpose. */
enum { CRASH_STREAK_MAX = 3, LOSSES_MAX = 10 };

enum { SHOWN_MAX = 20, TELLING_STOPS = 200 };

struct check {
    const struct book *book;
    uint64_t violations;
    uint64_t acked, started, done, dead, cancelled, strangers;
    uint64_t lost;    /* acknowledged, and not ended as it should */
    uint64_t doubled; /* executions granted twice, completions recorded falsely or twice */
    uint64_t starts, takeovers;
    uint64_t innocent_dead; /* by three kills of the storm in a row, or ten losses */
    uint64_t charged, kept_failures, kept_crashes, kept_losses, kept_dead;
};

static void violate(struct check *check, const struct story *story, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void violate(struct check *check, const struct story *story, const char *format, ...)
{
    if (check->violations++ >= SHOWN_MAX)
        return;
    fprintf(stderr, "storm_check: ");
    if (story != NULL)
        fprintf(stderr, "%s (%s %u): ", story->id, story->act, story->times);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* --- what the ledgers say about one run ------------------------------------------------------- */

static bool is_innocent(const struct story *story)
{
    return strcmp(story->act, "PLAIN") == 0 || strcmp(story->act, "NAP") == 0;
}

static bool is_act(const struct story *story, const char *act)
{
    return strcmp(story->act, act) == 0;
}

static uint32_t endings(const struct story *story, const char *ending)
{
    uint32_t count = 0;
    for (size_t i = 0; i < story->episode_count; i++)
        count += strcmp(story->episodes[i].ending, ending) == 0;
    return count;
}

/* Executions whose process the storm killed, at whatever moment, and attempts that never got as
 * far as their handler. */
static uint32_t excuses(const struct check *check, const struct story *story)
{
    uint32_t count = story->record.attempt - (uint32_t)story->episode_count;
    for (size_t i = 0; i < story->episode_count; i++) {
        const struct episode *episode = &story->episodes[i];
        const struct life *life = book_life(check->book, episode->pid, episode->start_us);
        count += life != NULL && life->killed_us > 0;
    }
    return count;
}

static const struct episode *episode_of(const struct story *story, uint32_t attempt)
{
    for (size_t i = 0; i < story->episode_count; i++) {
        if (story->episodes[i].attempt == attempt)
            return &story->episodes[i];
    }
    return NULL;
}

/* --- claims ------------------------------------------------------------------------------------
 */

static void check_acked(struct check *check, const struct story *story)
{
    bool is_ended = story->record_count > 0 && strchr("DX", story->record.state) != NULL;
    check->acked += story->is_acked;
    if (story->is_acked && !is_ended) {
        check->lost++;
        violate(check, story, "LOST: acknowledged, and the store %s",
                story->record_count == 0 ? "does not know it" : "has not ended it");
    } else if (story->is_acked && story->episode_count == 0) {
        check->lost++;
        violate(check, story, "LOST: acknowledged and ended, but no handler ever saw it");
    }
    if (story->record_count > 1)
        violate(check, story, "DOUBLED: %u records of one id", story->record_count);
    if (story->record_count > 0 && !story->is_ordered && !story->is_acked)
        check->strangers++;
    if (story->record_count > 0 && strchr("DXC", story->record.state) == NULL)
        violate(check, story, "not ended: state %c", story->record.state);
}

/* An attempt is granted once, with a fence of its own. */
static void check_grants(struct check *check, const struct story *story)
{
    check->starts += story->episode_count;
    check->started += story->episode_count > 0;
    check->takeovers += story->episode_count > 1;
    for (size_t i = 0; i < story->episode_count; i++) {
        const struct episode *left = &story->episodes[i];
        for (size_t k = i + 1; k < story->episode_count; k++) {
            const struct episode *right = &story->episodes[k];
            if (left->attempt != right->attempt && strcmp(left->fence, right->fence) != 0)
                continue;
            check->doubled++;
            violate(check, story, "DOUBLED: attempt %u was granted twice (%s, %s)", right->attempt,
                    left->fence, right->fence);
        }
        if (story->record_count > 0 && left->attempt > story->record.attempt)
            violate(check, story, "attempt %u ran, but the store only knows %u", left->attempt,
                    story->record.attempt);
    }
    if (story->record_count > 0 && story->episode_count > story->record.attempt)
        violate(check, story, "%zu executions, %u attempts", story->episode_count,
                story->record.attempt);
}

/* The completion in the store is one that a handler wrote down, by the holder of that attempt. */
static void check_done(struct check *check, const struct story *story)
{
    char fence[BOOK_ID_SIZE + 11 + BOOK_WORD_SIZE];
    const struct record *record = &story->record;
    const struct episode *episode = episode_of(story, record->attempt);
    if (record->state != 'D')
        return;
    check->done++;
    snprintf(fence, sizeof fence, "%s-%010u-%s", story->id, record->attempt, record->owner);
    if (episode == NULL || strcmp(episode->ending, "done") != 0) {
        check->doubled++;
        violate(check, story, "FALSE: recorded as done by attempt %u, which never ended so",
                record->attempt);
    } else if (strcmp(episode->fence, fence) != 0) {
        check->doubled++;
        violate(check, story, "FALSE: done by %s, but %s ran that attempt", fence, episode->fence);
    }
}

/* attempt = failures + crashes + losses + done + what was given back uncharged. Each failure was
 * said by a handler or is a timeout, which only deeds have. */
static void check_charges(struct check *check, const struct story *story)
{
    const struct record *record = &story->record;
    uint32_t charged = record->failures + record->crashes + record->losses + (record->state == 'D');
    uint32_t said = endings(story, "fail") + endings(story, "discard") + endings(story, "woken");
    check->kept_failures += record->failures;
    check->kept_crashes += record->crashes;
    check->kept_losses += record->losses;
    if (charged > record->attempt)
        violate(check, story, "%u charges for %u attempts", charged, record->attempt);
    if (is_innocent(story) && record->failures > said)
        violate(check, story, "%u failures, %u of them said by a handler", record->failures, said);
    if (is_innocent(story) && record->crashes > excuses(check, story))
        violate(check, story, "%u crashes, the storm killed it %u times", record->crashes,
                excuses(check, story));
}

/* --- the reasons of the dead ------------------------------------------------------------------ */

static bool is_exhausted(const struct record *record)
{
    return record->failures + record->crashes >= record->attempts_max ||
           record->crash_streak >= CRASH_STREAK_MAX || record->losses >= LOSSES_MAX;
}

/* What an act leaves as the reason, when the act itself was the end of it. */
static const char *reason_of(const struct story *story)
{
    static const char *const reasons[][2] = {
        {"FAIL", "asked to fail"}, {"DISCARD", "asked to discard"},
        {"CRASH", "SIGSEGV"},      {"EXIT", "exit"},
        {"STUBBORN", "time"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (is_act(story, reasons[i][0]))
            return reasons[i][1];
    }
    return NULL;
}

/* Charges that the act asked for, as far as they can be told from those of the storm. */
static bool has_asked(const struct story *story)
{
    const struct record *record = &story->record;
    if (is_act(story, "FAIL") || is_act(story, "STUBBORN"))
        return story->times >= record->attempts_max;
    return is_act(story, "DISCARD") ||
           (is_act(story, "CRASH") || is_act(story, "EXIT") ? story->times >= CRASH_STREAK_MAX
                                                            : false);
}

static void check_dead(struct check *check, const struct story *story)
{
    const struct record *record = &story->record;
    const char *reason = reason_of(story);
    if (record->state != 'X')
        return;
    check->dead++;
    bool is_discarded = is_act(story, "DISCARD") && endings(story, "discard") > 0;
    if (!is_exhausted(record) && !is_discarded)
        violate(check, story, "dead with allowance left: %u failures, %u crashes, %u losses",
                record->failures, record->crashes, record->losses);
    if (is_innocent(story))
        check->innocent_dead++;
    /* The last charge may be the storm's own; then the text is of another kind. */
    bool is_by_storm =
        record->losses >= LOSSES_MAX || excuses(check, story) > 0 || record->text[0] == '\0';
    if (has_asked(story) && !is_by_storm && strstr(record->text, reason) == NULL)
        violate(check, story, "dead for another reason than it asked for: %s", record->text);
    if (!has_asked(story) && !is_by_storm && !is_innocent(story) &&
        strstr(record->text, "time") == NULL &&
        (reason == NULL || strstr(record->text, reason) == NULL))
        violate(check, story, "dead without having asked for it: %s", record->text);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void story_check(const struct story *story, void *user)
{
    struct check *check = user;
    check_acked(check, story);
    check_grants(check, story);
    if (story->record_count == 0)
        return;
    check->cancelled += story->record.state == 'C';
    check_done(check, story);
    check_charges(check, story);
    check_dead(check, story);
}

/* A call that stayed unknown, and was repeated, brought no second run. */
static void promise_check(const struct promise *promise, void *user)
{
    struct check *check = user;
    if (promise->other[0] == '\0')
        return;
    check->doubled++;
    violate(check, NULL, "DOUBLED: order %s is run %s, and run %s too", promise->order,
            promise->acked[0] != '\0' ? promise->acked : promise->run, promise->other);
}

static uint64_t total_of(const struct book *book, size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < book->queue_count; i++)
        sum += *(const uint64_t *)(const void *)((const char *)&book->queues[i] + offset);
    return sum;
}

static void total_check(struct check *check, const char *name, uint64_t counted, size_t offset)
{
    uint64_t total = total_of(check->book, offset);
    if (total != counted)
        violate(check, NULL, "the store counts %" PRIu64 " %s, its records say %" PRIu64, total,
                name, counted);
}

/* Nothing was forgotten yet (storm.job), so every total is a sum over the records. */
static void totals_check(struct check *check)
{
    uint64_t records = check->done + check->dead + check->cancelled;
    total_check(check, "enqueued", records, offsetof(struct queue_totals, enqueued));
    total_check(check, "done", check->done, offsetof(struct queue_totals, done));
    total_check(check, "dead", check->dead, offsetof(struct queue_totals, dead));
    total_check(check, "cancelled", check->cancelled, offsetof(struct queue_totals, cancelled));
    total_check(check, "failed", check->kept_failures, offsetof(struct queue_totals, failed));
    total_check(check, "crashed", check->kept_crashes, offsetof(struct queue_totals, crashed));
    total_check(check, "lost", check->kept_losses, offsetof(struct queue_totals, lost));
}

static void book_check(struct check *check)
{
    const struct book *book = check->book;
    book_visit(book, story_check, check);
    book_visit_promises(book, promise_check, check);
    totals_check(check);
    if (check->strangers > 0)
        violate(check, NULL, "%" PRIu64 " runs that nobody enqueued", check->strangers);
    if (!book->is_sound)
        violate(check, NULL, "the store's own structure is not in order");
    if (book->wrong > 0)
        violate(check, NULL, "%" PRIu64 " ledger lines that should not be: %s", book->wrong,
                book->complaint);
    if (check->acked == 0)
        violate(check, NULL, "no run was acknowledged: nothing is proved");
    if (book->stops >= TELLING_STOPS && total_of(book, offsetof(struct queue_totals, stale)) == 0)
        violate(check, NULL,
                "%" PRIu64 " stops, and no result came too late: the stops did nothing",
                book->stops);
    if (book->torn > book->kills)
        violate(check, NULL, "%" PRIu64 " torn lines by %" PRIu64 " kills", book->torn,
                book->kills);
}

static void report_print(const struct check *check)
{
    const struct book *book = check->book;
    printf("  %" PRIu64 " acknowledged, %" PRIu64 " done, %" PRIu64 " dead, %" PRIu64
           " executions; %" PRIu64 " runs were started more than once\n",
           check->acked, check->done, check->dead, check->starts, check->takeovers);
    printf("  charged: %" PRIu64 " failures, %" PRIu64 " crashes, %" PRIu64
           " losses; innocent runs dead by the storm's own kills: %" PRIu64 "\n",
           check->kept_failures, check->kept_crashes, check->kept_losses, check->innocent_dead);
    rescue_print(book);
    printf("  kills %" PRIu64 ", stops %" PRIu64 ", stale results refused %" PRIu64
           ", lost %" PRIu64 ", doubled %" PRIu64 ", violations %" PRIu64 "\n",
           book->kills, book->stops, total_of(book, offsetof(struct queue_totals, stale)),
           check->lost, check->doubled, check->violations);
}

int main(int argc, char **argv)
{
    static struct book book;
    struct check check = {.book = &book};
    if (argc != 2) {
        fputs("usage: storm_check FOLDER\n", stderr);
        return 2;
    }
    if (!book_read(&book, argv[1])) {
        book_free(&book);
        return 2;
    }
    book_check(&check);
    report_print(&check);
    book_free(&book);
    return check.violations == 0 ? 0 : 1;
}
