#include "client/queue_doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "core/end_text.h"
#include "log/log_line.h"

enum {
    QUEUES_MAX = 256, /* looked at */
    TOLD_MAX = 8,     /* findings of one kind; the others are counted */
    PAGES_MAX = 4,    /* of each state */
    PAGE = 500,
    JOBS_MAX = 16, /* versions of jobs, told apart in one queue */
    WATCH_MS = 1000,
    LAPSED_MS = 1000, /* past its lease's end: any worker of the queue would have taken it back */
    LOOK_MS = 100,
    DEPLOY_ATTEMPTS = 3,    /* fewer: given back for the first 15 s, as in a deploy */
    OPEN_LONG_MS = 3600000, /* a batch that is open for so long may be forgotten */
    NAME_SHOWN = 120        /* bytes of a name */
};

#define UNSERVED  "queue-unserved"
#define PAUSED    "queue-paused"
#define UNBROUGHT "queue-callbacks"
#define OPEN      "queue-batches"

struct figures {
    culex_queue_stats stats;
    uint64_t lapsed; /* active runs whose lease is over: their worker is gone, and no other came */
    struct culex_batch_review batches;
};

struct watched {
    const char *name;
    struct figures first; /* when it was looked at first */
    bool is_idle;         /* runs wait, and nobody was seen to take one */
    bool is_taken;        /* somebody was */
    bool is_unbrought;    /* callbacks are due, and nobody was seen to bring one */
};

struct examination {
    struct culex_store *store;
    struct culex_report *report;
    struct watched *queues;
    size_t count;
    bool has_findings;
    culex_error trouble; /* what the store refused first; CULEX_OK: nothing */
};

/* True when a call brought its answer. After a refusal nothing more is asked. A queue or a run that
 * is not there (any more) is none. */
static bool is_answered(struct examination *examination, culex_status status,
                        const culex_error *error)
{
    if (status != CULEX_OK && status != CULEX_ENOTFOUND)
        examination->trouble = *error;
    return status == CULEX_OK;
}

static bool has_trouble(const struct examination *examination)
{
    return examination->trouble.code != CULEX_OK;
}

/* Names come from the store: whatever they hold is shown, and does nothing. */
typedef char shown_name[2 * NAME_SHOWN];
typedef char meant_text[2 * NAME_SHOWN + 32];

static const char *name_show(const char *name, shown_name ret_shown)
{
    struct culex_log_line line;
    line.len = 0;
    culex__log_line_put_foreign(&line, name, NAME_SHOWN, CULEX_LOG_TEXT);
    culex__utf8_clean(ret_shown, sizeof(shown_name), line.text, line.len);
    return ret_shown;
}

static const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* True while there is room for another finding of its kind. */
static bool finding_begin(struct examination *examination, unsigned *told)
{
    examination->has_findings = true;
    return ++*told <= TOLD_MAX;
}

static void findings_end(const struct examination *examination, culex_severity severity,
                         const char *id, unsigned told)
{
    if (told > TOLD_MAX)
        culex__report_add(examination->report, severity, id, "mend these, and ask again",
                          "%u more like these", told - TOLD_MAX);
}

/* --- figures ------------------------------------------------------------------------------ */

typedef void (*run_visitor)(const culex_run_info *run, void *user);

/* The first pages of a state. False when the store does not tell. */
static bool runs_visit(struct examination *examination, const char *queue, culex_run_state state,
                       run_visitor visit, void *user)
{
    struct culex_store *store = examination->store;
    culex_list_cursor cursor = CULEX_LIST_START;
    int pages = 0;
    do {
        struct culex_list_reply page = {0};
        culex_error error = {0};
        if (!is_answered(
                examination,
                store->ops->list(store, queue, CULEX_LIST_OF(state), cursor, PAGE, &page, &error),
                &error))
            return false;
        for (size_t i = 0; i < page.count; i++)
            visit(&page.runs[i], user);
        cursor = page.cursor;
        store->ops->list_release(store, &page);
    } while (cursor.place != 0 && ++pages < PAGES_MAX);
    return true;
}

static void lease_look(const culex_run_info *run, void *user)
{
    struct figures *figures = user;
    figures->lapsed += run->at_ms <= figures->stats.now_ms - LAPSED_MS;
}

static bool figures_read(struct examination *examination, const char *queue,
                         struct figures *ret_figures)
{
    struct culex_store *store = examination->store;
    culex_error error = {0};
    ret_figures->lapsed = 0;
    if (has_trouble(examination) ||
        !is_answered(examination, store->ops->stats(store, queue, &ret_figures->stats, &error),
                     &error) ||
        !is_answered(examination,
                     store->ops->batch_review(store, queue, &ret_figures->batches, &error), &error))
        return false;
    return ret_figures->stats.count[CULEX_RUN_ACTIVE] == 0 ||
           runs_visit(examination, queue, CULEX_RUN_ACTIVE, lease_look, ret_figures);
}

/* A run whose worker is gone waits, too. */
static uint64_t waiting_count(const struct figures *figures)
{
    return figures->stats.count[CULEX_RUN_WAITING] + figures->lapsed;
}

static bool is_at_work(const struct figures *figures)
{
    return figures->stats.count[CULEX_RUN_ACTIVE] > figures->lapsed;
}

typedef char lapsed_text[64];

static const char *lapsed_format(const struct figures *figures, lapsed_text ret_text)
{
    ret_text[0] = '\0';
    if (figures->lapsed > 0)
        snprintf(ret_text, sizeof(lapsed_text), " (%llu left by a worker that is gone)",
                 (unsigned long long)figures->lapsed);
    return ret_text;
}

/* --- paused ------------------------------------------------------------------------------ */

/* A pause holds what is due, and what comes to be due. */
static culex_severity pause_severity(const struct figures *figures)
{
    uint64_t held = waiting_count(figures) + figures->stats.count[CULEX_RUN_SCHEDULED];
    return held > 0 ? CULEX_SEVERITY_WARNING : CULEX_SEVERITY_NOTE;
}

static void pause_tell(struct examination *examination, const struct watched *queue)
{
    uint64_t runs = waiting_count(&queue->first);
    uint64_t later = queue->first.stats.count[CULEX_RUN_SCHEDULED];
    shown_name name;
    lapsed_text lapsed;
    char scheduled[64] = "", span[48] = "";
    if (later > 0)
        snprintf(scheduled, sizeof scheduled, ", %llu %s scheduled", (unsigned long long)later,
                 plural(later, "is", "are"));
    int64_t left_ms = queue->first.stats.paused_until_ms - queue->first.stats.now_ms;
    if (left_ms > 0)
        snprintf(span, sizeof span, " for another %lld s", (long long)((left_ms + 999) / 1000));
    culex__report_add(examination->report, pause_severity(&queue->first), PAUSED,
                      "culex_client_resume, unless it is meant to be",
                      "queue %s is paused%s: %llu %s%s for the end of that%s",
                      name_show(queue->name, name), span, (unsigned long long)runs,
                      plural(runs, "run waits", "runs wait"), lapsed_format(&queue->first, lapsed),
                      scheduled);
}

static void paused_examine(struct examination *examination)
{
    culex_severity worst = CULEX_SEVERITY_NOTE;
    unsigned told = 0;
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        if (!queue->first.stats.paused)
            continue;
        if (pause_severity(&queue->first) == CULEX_SEVERITY_WARNING)
            worst = CULEX_SEVERITY_WARNING;
        if (finding_begin(examination, &told))
            pause_tell(examination, queue);
    }
    findings_end(examination, worst, PAUSED, told);
}

/* --- unserved ---------------------------------------------------------------------------- */

static bool is_left_alone(const struct figures *figures)
{
    return !figures->stats.paused && waiting_count(figures) > 0 && !is_at_work(figures);
}

/* Ends of executions: nobody but a worker brings them about. */
static uint64_t ends_of(const culex_queue_stats *stats)
{
    return stats->done + stats->failed + stats->crashed + stats->lost;
}

static bool has_moved(const struct figures *before, const struct figures *now)
{
    return !is_left_alone(now) || ends_of(&now->stats) != ends_of(&before->stats) ||
           now->lapsed < before->lapsed ||
           now->stats.count[CULEX_RUN_WAITING] < before->stats.count[CULEX_RUN_WAITING];
}

/* One that cannot be asked any more is not accused. */
static void idle_judge(struct examination *examination, struct watched *queue)
{
    struct figures now;
    bool is_told = figures_read(examination, queue->name, &now);
    if (queue->is_idle) {
        queue->is_taken = is_told && has_moved(&queue->first, &now);
        queue->is_idle = is_told && !queue->is_taken;
    }
    queue->is_unbrought &= is_told && now.batches.due >= queue->first.batches.due;
}

/* Returns how many are idle still. */
static size_t idle_look(struct examination *examination)
{
    size_t idle = 0;
    for (size_t i = 0; i < examination->count; i++) {
        struct watched *queue = &examination->queues[i];
        if (queue->is_idle || queue->is_unbrought)
            idle_judge(examination, queue);
        idle += queue->is_idle || queue->is_unbrought;
    }
    return idle;
}

/* A worker that is free takes what waits within milliseconds, and brings what is due. */
static void idle_watch(struct examination *examination)
{
    const struct culex_env *env = examination->store->env;
    int64_t end_ns = culex__env_boottime_ns(env) + (int64_t)WATCH_MS * 1000000;
    for (size_t i = 0; i < examination->count; i++) {
        struct watched *queue = &examination->queues[i];
        queue->is_idle = is_left_alone(&queue->first);
        queue->is_unbrought = queue->first.batches.due > 0;
    }
    while (idle_look(examination) > 0 && culex__env_boottime_ns(env) < end_ns)
        env->poll(env->self, NULL, 0, LOOK_MS);
}

/* "; was mail meant?", of a queue that is no finding itself, or nothing. */
static const char *meant_format(const struct examination *examination, const char *queue,
                                meant_text ret_text)
{
    struct culex__nearest nearest = {.word = queue};
    shown_name name;
    for (size_t i = 0; i < examination->count; i++) {
        if (!examination->queues[i].is_idle)
            culex__nearest_offer(&nearest, examination->queues[i].name);
    }
    ret_text[0] = '\0';
    if (nearest.best != NULL)
        snprintf(ret_text, sizeof(meant_text), "; was %s meant?", name_show(nearest.best, name));
    return ret_text;
}

static void unserved_examine(struct examination *examination)
{
    unsigned told = 0;
    shown_name name;
    lapsed_text lapsed;
    meant_text meant;
    idle_watch(examination);
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        uint64_t runs = waiting_count(&queue->first);
        if (queue->is_idle && finding_begin(examination, &told))
            culex__report_add(examination->report, CULEX_SEVERITY_WARNING, UNSERVED,
                              "start a worker that serves it (--queues); if one does, its log says "
                              "what keeps it",
                              "queue %s: %llu %s%s, none is at work, and no worker took one within "
                              "%d ms%s",
                              name_show(queue->name, name), (unsigned long long)runs,
                              plural(runs, "run waits", "runs wait"),
                              lapsed_format(&queue->first, lapsed), WATCH_MS,
                              meant_format(examination, queue->name, meant));
    }
    findings_end(examination, CULEX_SEVERITY_WARNING, UNSERVED, told);
}

/* --- batches ----------------------------------------------------------------------------- */

static const char *or_more(uint64_t count)
{
    return count < CULEX_STORE_REVIEW_MAX ? "" : " or more";
}

/* They come in by the calls of workers of the batch's own queue, which may have none, as its
 * members have ended. */
static void unbrought_examine(struct examination *examination)
{
    unsigned told = 0;
    shown_name name;
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        uint64_t due = queue->first.batches.due;
        if (queue->is_unbrought && finding_begin(examination, &told))
            culex__report_add(examination->report, CULEX_SEVERITY_WARNING, UNBROUGHT,
                              "start a worker that serves this queue (--queues), wherever they go "
                              "to; if one does, its log says what keeps them",
                              "queue %s: %llu%s %s or %s to be brought in by a worker of this "
                              "queue, and none did within %d ms",
                              name_show(queue->name, name), (unsigned long long)due, or_more(due),
                              plural(due, "callback of a batch", "callbacks of batches"),
                              plural(due, "follow-up is", "follow-ups are"), WATCH_MS);
    }
    findings_end(examination, CULEX_SEVERITY_WARNING, UNBROUGHT, told);
}

static int64_t open_for_ms(const struct culex_batch_review *batches)
{
    return batches->open > 0 ? batches->now_ms - batches->open_since_ms : 0;
}

typedef char age_text[32];

static const char *age_format(int64_t ms, age_text ret_text)
{
    int64_t hours = ms / 3600000;
    if (hours < 48)
        snprintf(ret_text, sizeof(age_text), "%lld %s", (long long)hours,
                 plural((uint64_t)hours, "hour", "hours"));
    else
        snprintf(ret_text, sizeof(age_text), "%lld days", (long long)(hours / 24));
    return ret_text;
}

static void open_tell(struct examination *examination, const struct watched *queue)
{
    const struct culex_batch_review *batches = &queue->first.batches;
    shown_name name;
    age_text age;
    culex__report_add(
        examination->report, CULEX_SEVERITY_WARNING, OPEN,
        "close what is left with culex_batch_close; what nobody closes ends without "
        "success when its open_for is over",
        "queue %s: %llu%s %s open, %s for %s: was culex_batch_close forgotten, or did "
        "a program die before it?",
        name_show(queue->name, name), (unsigned long long)batches->open, or_more(batches->open),
        plural(batches->open, "batch is", "batches are"),
        plural(batches->open, "and has been", "the oldest"), age_format(open_for_ms(batches), age));
}

static void open_examine(struct examination *examination)
{
    unsigned told = 0;
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        if (open_for_ms(&queue->first.batches) >= OPEN_LONG_MS && finding_begin(examination, &told))
            open_tell(examination, queue);
    }
    findings_end(examination, CULEX_SEVERITY_WARNING, OPEN, told);
}

/* --- runs that are given back ---------------------------------------------------------------- */

/* Live runs of one version of a job in one queue that were started and charged with nothing. */
struct returned {
    char job[CULEX_JOB_NAME_MAX + 1];
    uint64_t fingerprint;
    uint64_t runs;
    uint32_t attempts; /* the most of any, which is that of `id` */
    culex_uuid id;
};

struct returns {
    struct returned jobs[JOBS_MAX];
    size_t count;
};

static struct returned *returned_find(struct returns *returns, const culex_run_info *run)
{
    for (size_t i = 0; i < returns->count; i++) {
        struct returned *job = &returns->jobs[i];
        if (job->fingerprint == run->fingerprint && strcmp(job->job, run->job) == 0)
            return job;
    }
    if (returns->count == JOBS_MAX)
        return NULL;
    struct returned *made = &returns->jobs[returns->count++];
    *made = (struct returned){.fingerprint = run->fingerprint};
    snprintf(made->job, sizeof made->job, "%s", run->job);
    return made;
}

static void return_look(const culex_run_info *run, void *user)
{
    if (run->attempt == 0 || run->failures + run->crashes + run->losses > 0)
        return;
    struct returned *job = returned_find(user, run);
    if (job == NULL)
        return;
    job->runs++;
    if (run->attempt <= job->attempts)
        return;
    job->attempts = run->attempt;
    job->id = run->id;
}

/* Why workers give runs back: how their text begins, and what is said of them, and when no worker
 * is left to say it of. The first one that fits counts. */
static const struct reason {
    const char *text, *id, *advice, *fault, *past;
} reasons[] = {
    {CULEX__UNKNOWN_JOB_TEXT, "queue-unknown-job",
     "start a worker that registers it (with NULL for its handler: to end them), or cancel them",
     "have no handler for it", "had no handler for it"},
    {CULEX__NOT_UNDERSTOOD_TEXT CULEX__NEXT_STEP_TEXT, "queue-unknown-chain",
     "call the chain's _register in a worker that runs it, or cancel them", "do not know its chain",
     "did not know its chain"},
    {CULEX__NOT_UNDERSTOOD_TEXT CULEX__NO_KEY_TEXT, "queue-no-key",
     "give the workers that key, in the file that --keys or CULEX_KEYS names, or cancel them",
     "do not have its key", "did not have its key"},
    {CULEX__NOT_UNDERSTOOD_TEXT, "queue-not-understood",
     "start a worker that is built with that version of the schema, or cancel them",
     "cannot read it", "could not read it"},
};

enum { REASON_COUNT = sizeof reasons / sizeof reasons[0] };

static const struct reason *reason_find(const char *text)
{
    for (size_t i = 0; i < REASON_COUNT; i++) {
        if (strncmp(text, reasons[i].text, strlen(reasons[i].text)) == 0)
            return &reasons[i];
    }
    return NULL;
}

typedef char detail_text[sizeof(shown_name) + 32];

/* " (version ...: why)", or nothing for a reason that says it all. */
static void detail_format(const struct returned *job, const char *why, detail_text ret_detail)
{
    shown_name shown;
    ret_detail[0] = '\0';
    if (why[0] != '\0')
        snprintf(ret_detail, sizeof(detail_text), " (version %016llx: %s)",
                 (unsigned long long)job->fingerprint, name_show(why, shown));
}

/* Of a queue whose runs nobody takes now, workers that gave some back are a thing of the past. */
static void returned_tell(struct examination *examination, const struct watched *queue,
                          const struct returned *job, const struct reason *reason, const char *why)
{
    shown_name name, home;
    detail_text detail;
    bool is_deploy = job->attempts < DEPLOY_ATTEMPTS;
    detail_format(job, why, detail);
    culex__report_add(examination->report, is_deploy ? CULEX_SEVERITY_NOTE : CULEX_SEVERITY_WARNING,
                      reason->id, reason->advice,
                      "queue %s: %llu %s of job %s given back by %s that %s, up to %u %s%s",
                      name_show(queue->name, home), (unsigned long long)job->runs,
                      plural(job->runs, "run", "runs"), name_show(job->job, name),
                      queue->is_idle ? "former workers" : "workers",
                      queue->is_idle ? reason->past : reason->fault, job->attempts,
                      plural(job->attempts, "time", "times"), detail);
}

/* A snooze leaves no trace in the counters either, nor a claim that passed the run by: the run's
 * own text tells them apart. */
static void returned_examine(struct examination *examination, const struct watched *queue,
                             const struct returned *job, unsigned told[REASON_COUNT])
{
    struct culex_store *store = examination->store;
    culex_run_info *run = NULL;
    culex_error error = {0};
    if (!is_answered(examination, store->ops->get(store, queue->name, job->id, &run, &error),
                     &error))
        return;
    const struct reason *reason = reason_find(run->error_text);
    if (reason != NULL && finding_begin(examination, &told[reason - reasons]))
        returned_tell(examination, queue, job, reason, run->error_text + strlen(reason->text));
    culex_run_info_free(run);
}

static void returns_look(struct examination *examination, const struct watched *queue,
                         struct returns *returns)
{
    static const culex_run_state states[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (queue->first.stats.count[states[i]] > 0 && !has_trouble(examination))
            runs_visit(examination, queue->name, states[i], return_look, returns);
    }
}

static void given_back_examine(struct examination *examination)
{
    unsigned told[REASON_COUNT] = {0};
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        struct returns returns = {.count = 0};
        returns_look(examination, queue, &returns);
        for (size_t k = 0; k < returns.count && !has_trouble(examination); k++)
            returned_examine(examination, queue, &returns.jobs[k], told);
    }
    for (size_t i = 0; i < REASON_COUNT; i++)
        findings_end(examination, CULEX_SEVERITY_WARNING, reasons[i].id, told[i]);
}

/* --- all of them --------------------------------------------------------------------------- */

static void queues_read(struct examination *examination, char *const *names)
{
    for (; *names != NULL && examination->count < QUEUES_MAX; names++) {
        struct watched *queue = &examination->queues[examination->count];
        queue->name = *names;
        examination->count += figures_read(examination, *names, &queue->first);
    }
}

static size_t names_count(char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    return count;
}

/* Queues of one kind, when nothing is amiss with any. */
struct order {
    size_t taken; /* somebody was seen to take a run that waited */
    size_t held;  /* runs are at work, as far as their leases tell */
    size_t empty;
};

static struct order order_count(const struct examination *examination)
{
    struct order order = {0};
    for (size_t i = 0; i < examination->count; i++) {
        const struct watched *queue = &examination->queues[i];
        order.taken += queue->is_taken;
        order.held += !queue->is_taken && is_at_work(&queue->first);
    }
    order.empty = examination->count - order.taken - order.held;
    return order;
}

typedef char order_text[256];

static void order_add(order_text text, const char *before, size_t count, const char *behind)
{
    size_t len = strlen(text);
    if (count > 0)
        snprintf(text + len, sizeof(order_text) - len, "%s%s %zu %s%s", len > 0 ? "; " : "", before,
                 count, plural(count, "queue", "queues"), behind);
}

/* Says no more than was seen: a lease outlives its worker, and where no run waits, nothing tells
 * whether anybody would take it. */
static void order_tell(const struct examination *examination)
{
    struct order order = order_count(examination);
    bool is_empty = order.taken + order.held == 0;
    order_text text = "";
    order_add(text, "workers take the waiting runs of", order.taken, "");
    order_add(text, "runs of", order.held, " are at work, as far as their leases tell");
    order_add(text, "no run waits in", order.empty,
              !is_empty          ? ""
              : order.empty == 1 ? "; whether workers serve it is not known"
                                 : "; whether workers serve them is not known");
    culex__report_add(examination->report, CULEX_SEVERITY_OK, "queues", NULL, "%s", text);
}

static void names_examine(struct examination *examination, char *const *names)
{
    size_t named = names_count(names);
    queues_read(examination, names);
    paused_examine(examination);
    unserved_examine(examination);
    unbrought_examine(examination);
    open_examine(examination);
    given_back_examine(examination);
    if (named > QUEUES_MAX)
        culex__report_add(examination->report, CULEX_SEVERITY_NOTE, "queues",
                          "ask for the others with culex_client_stats",
                          "the first %d of %zu queues were looked at", QUEUES_MAX, named);
    else if (named == 0)
        culex__report_add(examination->report, CULEX_SEVERITY_OK, "queues", NULL,
                          "no queue has been used so far");
    else if (!examination->has_findings && !has_trouble(examination))
        order_tell(examination);
}

static const char *trouble_advice(culex_status trouble)
{
    return trouble == CULEX_EDENIED    ? "ask again, as a user that may read them"
           : trouble == CULEX_EVERSION ? "let programs of that version empty the queue"
                                       : "ask again";
}

void culex__queues_examine(struct culex_store *store, struct culex_report *report)
{
    struct examination examination = {.store = store, .report = report};
    char **names = NULL;
    culex_error error = {0};
    examination.queues = calloc(QUEUES_MAX, sizeof *examination.queues);
    if (examination.queues == NULL)
        culex__fail(&examination.trouble, CULEX_ENOMEM, "no memory for %d queues", QUEUES_MAX);
    else if (is_answered(&examination, store->ops->queues(store, &names, &error), &error))
        names_examine(&examination, names);
    if (has_trouble(&examination))
        culex__report_add(
            report, CULEX_SEVERITY_NOTE, "queues", trouble_advice(examination.trouble.code),
            "not all that waits in the queues is known: %s", examination.trouble.text);
    free(examination.queues);
    free(names);
}
