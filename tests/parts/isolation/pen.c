#include "pen.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

int64_t pen_now_ns(void)
{
    return culex__env_boottime_ns(culex__env_system());
}

static void pen_line(void *self, const char *line, size_t len)
{
    struct pen *pen = self;
    pen->log_lines++;
    if (len < PEN_LOG_SIZE - pen->log_len) {
        memcpy(pen->log + pen->log_len, line, len);
        pen->log_len += len;
        pen->log[pen->log_len] = '\0';
    }
}

void pen_init(struct pen *pen, unsigned count)
{
    memset(pen, 0, sizeof *pen);
    pen->log = calloc(1, PEN_LOG_SIZE);
    assert_non_null(pen->log);
    pen->logger = (struct culex_log){
        {.write = pen_line, .self = pen}, culex__env_system(), CULEX_LOG_TEXT, CULEX_LOG_WARNING};
    pen->config = (struct culex_executor_config){
        .isolation = CULEX_ISOLATION_PROCESS,
        .count = count,
        .handler = {.log = &pen->logger,
                    .env = culex__env_system(),
                    .jobs = zoo_jobs(),
                    .job_count = zoo_count(),
                    .lease_ms = 600000},
        .cgroup = getenv("PEN_CGROUP"),
        .setup_ms = PEN_WAIT_MS,
    };
}

culex_status pen_try_open(struct pen *pen, culex_error *error)
{
    zoo_open();
    pen->descriptors = pen_descriptors();
    return culex__executor_children_create_with(&pen->config, &pen->effects, &pen->executor, error);
}

void pen_open(struct pen *pen)
{
    culex_error error = {0};
    assert_int_equal(pen_try_open(pen, &error), CULEX_OK);
}

void pen_forget(struct pen *pen)
{
    for (size_t i = 0; i < pen->ended_count; i++)
        culex__run_free(pen->ended[i]);
    pen->alive -= pen->ended_count;
    pen->ended_count = 0;
}

void pen_close(struct pen *pen)
{
    size_t alive = pen->alive - pen->ended_count;
    if (pen->executor != NULL) /* cmocka 2 has a macro stop */
        assert_int_equal((pen->executor->ops->stop)(pen->executor, pen_now_ns()), alive);
    pen_forget(pen);
    assert_int_equal(pen_descendants_end(), 0);
    assert_int_equal(pen_descriptors(), pen->descriptors);
    free(pen->log);
    zoo_close();
}

static void payload_set(struct culex_run *run, int64_t n, const char *text)
{
    culex_buf payload;
    struct zoo_params params = {n, text != NULL ? text : ""};
    culex_buf_init(&payload, 0);
    assert_int_equal(culex_encode(run->job.type->params, &params, &payload, NULL), CULEX_OK);
    assert_true(culex__run_set_payload(run, payload.data, payload.len));
    culex_buf_release(&payload);
}

struct culex_run *pen_make(struct pen *pen, const char *name, int64_t n, const char *text)
{
    struct culex_run *run = culex__run_create();
    assert_non_null(run);
    run->job = *zoo_find(name);
    run->facts.attempt = 1;
    run->facts.created_at_ms = 1234;
    run->log = &pen->executor->log;
    snprintf(run->terms.queue, sizeof run->terms.queue, "zoo");
    snprintf(run->terms.fence, sizeof run->terms.fence, "token-%u", (unsigned)++pen->serial);
    memcpy(run->facts.id.b, &pen->serial, sizeof pen->serial);
    atomic_store(&run->lease_ns, pen_now_ns() + INT64_C(600000000000));
    culex__news_reset(&run->news, &pen->executor->has_news);
    payload_set(run, n, text);
    pen->alive++;
    return run;
}

void pen_hand_over(struct pen *pen, struct culex_run *run)
{
    pen->executor->ops->submit(pen->executor, &run, 1);
}

struct culex_run *pen_submit(struct pen *pen, const char *name, int64_t n, const char *text)
{
    struct culex_run *run = pen_make(pen, name, n, text);
    pen_hand_over(pen, run);
    return run;
}

bool pen_has_ended(const struct pen *pen, const struct culex_run *run)
{
    for (size_t i = 0; i < pen->ended_count; i++) {
        if (pen->ended[i] == run)
            return true;
    }
    return false;
}

void pen_turn(struct pen *pen, int timeout_ms)
{
    struct pollfd wait = {.fd = pen->executor->ops->fd(pen->executor), .events = POLLIN};
    poll(&wait, 1, timeout_ms);
    pen->ended_count += pen->executor->ops->collect(pen->executor, pen->ended + pen->ended_count,
                                                    PEN_RUNS_MAX - pen->ended_count);
}

void pen_await(struct pen *pen, const struct culex_run *run)
{
    int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * INT64_C(1000000);
    while (!pen_has_ended(pen, run) && pen_now_ns() < until_ns)
        pen_turn(pen, 100);
    assert_true(pen_has_ended(pen, run));
}

const char *pen_expect(struct pen *pen, const char *name, int64_t n, enum culex_run_event event)
{
    struct culex_run *run = pen_submit(pen, name, n, NULL);
    pen_await(pen, run);
    if (run->end.event != event)
        print_message("%s: %s\n", name, run->end.text != NULL ? run->end.text : "(no text)");
    assert_int_equal(run->end.event, event);
    return run->end.text != NULL ? run->end.text : "";
}

size_t pen_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* the folder's own */
}

/* --- processes ------------------------------------------------------------------------- */

struct kin {
    int pid, parent;
};

static size_t kin_read(struct kin *kin, size_t max)
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL && count < max;) {
        char path[300], text[512];
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (file == NULL)
            continue;
        size_t len = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[len] = '\0';
        const char *after = strrchr(text, ')');
        char letter;
        kin[count].pid = atoi(entry->d_name);
        if (after != NULL && sscanf(after + 1, " %c %d", &letter, &kin[count].parent) == 2)
            count++;
    }
    closedir(folder);
    return count;
}

static bool is_below(const struct kin *kin, size_t count, int pid, int root)
{
    for (int depth = 0; depth < 64 && pid > 1; depth++) {
        int parent = 0;
        for (size_t i = 0; i < count; i++) {
            if (kin[i].pid == pid)
                parent = kin[i].parent;
        }
        if (parent == root)
            return true;
        pid = parent;
    }
    return false;
}

/* How many there are; 0 as the signal sends none. */
static size_t below_signal(int number)
{
    enum { KIN_MAX = 8192 };
    struct kin *kin = calloc(KIN_MAX, sizeof *kin);
    size_t below = 0;
    assert_non_null(kin);
    size_t count = kin_read(kin, KIN_MAX);
    for (size_t i = 0; i < count; i++) {
        if (is_below(kin, count, kin[i].pid, (int)getpid()) && kill(kin[i].pid, number) == 0)
            below++;
    }
    free(kin);
    return below;
}

size_t pen_descendants(void)
{
    return below_signal(0);
}

/* Orphans may come to this process, which is who buries them then. */
static size_t below_await(int number)
{
    int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * INT64_C(1000000);
    size_t below;
    while ((below = below_signal(number)) > 0 && pen_now_ns() < until_ns) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        poll(NULL, 0, 1);
    }
    return below;
}

size_t pen_descendants_end(void)
{
    size_t left = below_await(0);
    below_await(SIGKILL);
    return left;
}
