/* engine/world_executor.c - the executor of a driven world: runs end when the test says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "world.h"

/* --- inline executor -------------------------------------------------------------------------- */

struct inline_executor {
    struct culex_executor base;
    const struct culex_env *env;
    culex_arena *arena;
    int fd;
    struct culex_run *runs[4096];
    size_t count;
};

static int inline_fd(struct culex_executor *executor)
{
    return ((struct inline_executor *)executor)->fd;
}

static void inline_submit(struct culex_executor *executor, struct culex_run *const *runs,
                          size_t count)
{
    struct inline_executor *self = (struct inline_executor *)executor;
    for (size_t i = 0; i < count; i++)
        self->runs[self->count++] = runs[i];
    assert_int_equal(eventfd_write(self->fd, 1), 0);
}

static size_t inline_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                             size_t max)
{
    struct inline_executor *self = (struct inline_executor *)executor;
    eventfd_t told;
    size_t count = self->count < max ? self->count : max;
    eventfd_read(self->fd, &told);
    if (self->arena == NULL)
        self->arena = culex_arena_create();
    for (size_t i = 0; i < count; i++) {
        culex__run_execute(self->runs[i], self->arena, self->env);
        ret_runs[i] = self->runs[i];
    }
    self->count -= count;
    memmove(self->runs, self->runs + count, self->count * sizeof self->runs[0]);
    if (self->count > 0)
        eventfd_write(self->fd, 1);
    return count;
}

static size_t inline_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                              size_t max)
{
    struct inline_executor *self = (struct inline_executor *)executor;
    size_t count = 0;
    while (self->count > 0 && count < max)
        ret_runs[count++] = self->runs[--self->count];
    return count;
}

static size_t inline_queued(struct culex_executor *executor)
{
    return ((struct inline_executor *)executor)->count;
}

static void inline_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                          int64_t kill_ns)
{
    (void)executor;
    (void)term_ns;
    (void)kill_ns;
    atomic_store(&run->is_cancelled, true);
}

static size_t inline_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct inline_executor *self = (struct inline_executor *)executor;
    (void)deadline_ns;
    while (self->count > 0)
        culex__run_free(self->runs[--self->count]);
    culex_arena_free(self->arena);
    close(self->fd);
    free(self);
    return 0;
}

static const struct culex_executor_ops inline_ops = {
    .name = "inline",
    .fd = inline_fd,
    .submit = inline_submit,
    .collect = inline_collect,
    .withdraw = inline_withdraw,
    .queued = inline_queued,
    .cancel = inline_cancel,
    .stop = inline_stop,
};

static void inline_init(struct inline_executor *self, const struct culex_executor_ops *ops,
                        const struct culex_executor_config *config)
{
    self->base.ops = ops;
    self->base.log = *config->handler.log;
    self->env = config->handler.env;
    self->arena = culex_arena_create();
    self->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

culex_status executor_inline_create(const struct culex_executor_config *config,
                                    struct culex_executor **ret_executor, culex_error *error)
{
    struct inline_executor *self = calloc(1, sizeof *self);
    if (self == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the executor");
    inline_init(self, &inline_ops, config);
    *ret_executor = &self->base;
    return CULEX_OK;
}

/* --- killing executor ------------------------------------------------------------------------ */

enum { KILLING_MAX = 1024 };

struct killing_run {
    struct culex_run *run;
    int64_t begin_ns, end_ns, flag_ns, term_ns, kill_ns, lease_ns;
    int64_t tell_ns; /* from its end until that is told */
    enum world_manner manner;
    bool is_over;
};

struct killing_executor {
    struct inline_executor base; /* what has not started, and the arena */
    struct world *world;
    size_t hands;
    struct killing_run running[KILLING_MAX];
    size_t running_count;
};

static int64_t least_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool manner_heeds_flag(enum world_manner manner)
{
    return manner == WORLD_OBEDIENT || manner == WORLD_POLITE;
}

static bool manner_heeds_term(enum world_manner manner)
{
    return manner != WORLD_STUBBORN && manner != WORLD_POLITE;
}

/* When the child will end, as things are. */
static int64_t killing_end_ns(const struct killing_run *running)
{
    int64_t end_ns = running->end_ns;
    if (manner_heeds_flag(running->manner) && running->flag_ns != INT64_MAX)
        end_ns = least_ns(end_ns, running->flag_ns + 100000000);
    if (manner_heeds_term(running->manner))
        end_ns = least_ns(end_ns, running->term_ns);
    return least_ns(end_ns, least_ns(running->kill_ns, running->lease_ns));
}

/* When the worker may hear of that. */
static int64_t killing_told_ns(const struct killing_run *running)
{
    int64_t end_ns = killing_end_ns(running);
    return end_ns < INT64_MAX - running->tell_ns ? end_ns + running->tell_ns : INT64_MAX;
}

static void killing_end(struct world *world, struct killing_run *running, int64_t end_ns)
{
    struct culex_run *run = running->run;
    bool is_term = manner_heeds_term(running->manner) && end_ns >= running->term_ns;
    bool is_kill = end_ns >= running->kill_ns || end_ns >= running->lease_ns;
    running->is_over = true;
    run->end.duration_ns = world->said_ns > 0 ? world->said_ns : end_ns - running->begin_ns;
    run->end.ended_ns = run->end.duration_ns < INT64_MAX - running->begin_ns
                            ? running->begin_ns + run->end.duration_ns
                            : INT64_MAX;
    world->ended_ms = (end_ns - 1000000000) / 1000000;
    if (world->stop_when_ended) {
        culex_worker_stop(world->worker);
        culex_worker_stop(world->worker);
    }
    bool is_overtime = running->manner == WORLD_OVERTIME;
    if (is_term || is_kill || is_overtime || running->manner == WORLD_CRASHING) {
        run->end.event = CULEX_EVENT_CRASH;
        run->end.is_overtime = is_overtime;
        run->end.text = is_kill   ? "killed by SIGKILL in zoo.c:1"
                        : is_term ? "killed by SIGTERM in zoo.c:1"
                                  : "killed by SIGSEGV in zoo.c:1";
    }
}

static void then_call(struct world *world)
{
    void (*then)(struct world * world) = world->then;
    world->then = NULL;
    then(world);
}

void world_pass_until(struct world *world, int64_t until_ns)
{
    struct killing_executor *self = world->executor;
    if (world->then != NULL)
        until_ns = least_ns(until_ns, 1000000000 + world->then_ms * 1000000);
    for (size_t i = 0; self != NULL && i < self->running_count; i++)
        until_ns = least_ns(until_ns, killing_told_ns(&self->running[i]));
    if (until_ns > world->now_ns)
        world->now_ns = until_ns;
    if (world->then != NULL && world_ms(world) >= world->then_ms)
        then_call(world);
    for (size_t i = 0; self != NULL && i < self->running_count; i++) {
        if (killing_told_ns(&self->running[i]) <= world->now_ns)
            eventfd_write(self->base.fd, 1);
    }
}

static void killing_start(struct killing_executor *self, struct culex_run *run)
{
    struct world *world = self->world;
    struct killing_run *running = &self->running[self->running_count++];
    assert_true(self->running_count < KILLING_MAX);
    world->hang_ms = world->hang_us = 0;
    world->was_suspect = run->terms.is_suspect;
    int64_t begin_ns = world->now_ns;
    culex__run_execute(run, self->base.arena, self->base.env);
    *running = (struct killing_run){
        .run = run,
        .begin_ns = begin_ns,
        .end_ns = world->now_ns + world->hang_ms * 1000000 + world->hang_us * 1000,
        .tell_ns = world->tell_ms * 1000000,
        .manner = world->manner,
        .flag_ns = INT64_MAX,
        .term_ns = INT64_MAX,
        .kill_ns = INT64_MAX,
        .lease_ns = self->base.base.ops->can_kill ? run->lease_ns : INT64_MAX};
    if (run->started_ns == 0 || world->hang_ms + world->hang_us == 0)
        running->is_over = true;
}

static void killing_reap(struct killing_executor *self)
{
    for (size_t i = 0; i < self->running_count; i++) {
        struct killing_run *running = &self->running[i];
        int64_t end_ns = killing_end_ns(running);
        if (self->world->is_broken && running->manner == WORLD_CRASHING)
            running->end_ns = end_ns = self->world->now_ns;
        else if (self->world->is_broken) /* nobody notices its end */
            running->end_ns = running->kill_ns = running->lease_ns = end_ns = INT64_MAX;
        if (!running->is_over && end_ns <= self->world->now_ns - running->tell_ns)
            killing_end(self->world, running, end_ns);
    }
}

static bool killing_has_hand(const struct killing_executor *self)
{
    size_t busy = 0;
    for (size_t i = 0; i < self->running_count; i++)
        busy += !self->running[i].is_over;
    return busy < self->hands && !self->world->has_no_hands;
}

/* The rest stays queued until a handler has ended. */
static void killing_fill(struct killing_executor *self)
{
    size_t count = 0;
    while (count < self->base.count && killing_has_hand(self))
        killing_start(self, self->base.runs[count++]);
    self->base.count -= count;
    memmove(self->base.runs, self->base.runs + count,
            self->base.count * sizeof(struct culex_run *));
}

/* What cannot be started goes back. */
static size_t killing_strand(struct killing_executor *self, struct culex_run **ret_runs, size_t max)
{
    size_t count =
        self->world->stranded_ns != 0 ? inline_withdraw(&self->base.base, ret_runs, max) : 0;
    for (size_t i = 0; i < count; i++)
        ret_runs[i]->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE};
    return count;
}

static size_t killing_capacity(struct culex_executor *executor)
{
    const struct killing_executor *self = (const struct killing_executor *)executor;
    return self->world->stranded_ns != 0 ? 0 : self->hands;
}

static int64_t killing_stranded_ns(struct culex_executor *executor)
{
    int64_t stranded_ns = ((const struct killing_executor *)executor)->world->stranded_ns;
    return stranded_ns != 0 ? stranded_ns : INT64_MAX;
}

static size_t killing_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                              size_t max)
{
    struct killing_executor *self = (struct killing_executor *)executor;
    size_t count = killing_strand(self, ret_runs, max), kept = 0;
    eventfd_t told;
    eventfd_read(self->base.fd, &told);
    if (self->base.arena == NULL)
        self->base.arena = culex_arena_create();
    killing_reap(self);
    killing_fill(self);
    killing_reap(self);
    for (size_t i = 0; i < self->running_count; i++) {
        if (self->running[i].is_over && count < max)
            ret_runs[count++] = self->running[i].run;
        else
            self->running[kept++] = self->running[i];
    }
    self->running_count = kept;
    return count;
}

static struct killing_run *killing_find(struct killing_executor *self, const struct culex_run *run)
{
    for (size_t i = 0; i < self->running_count; i++) {
        if (self->running[i].run == run)
            return &self->running[i];
    }
    return NULL;
}

static void killing_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                           int64_t kill_ns)
{
    struct killing_executor *self = (struct killing_executor *)executor;
    struct killing_run *running = killing_find(self, run);
    atomic_store(&run->is_cancelled, true);
    if (running == NULL || self->world->is_broken)
        return;
    running->flag_ns = least_ns(running->flag_ns, self->world->now_ns);
    running->term_ns = least_ns(running->term_ns, term_ns);
    running->kill_ns = least_ns(running->kill_ns, kill_ns);
}

static void killing_renew(struct culex_executor *executor, struct culex_run *run)
{
    struct killing_run *running = killing_find((struct killing_executor *)executor, run);
    if (running != NULL)
        running->lease_ns = run->lease_ns;
}

static bool killing_is_broken(struct culex_executor *executor)
{
    return ((struct killing_executor *)executor)->world->is_broken;
}

static size_t killing_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct killing_executor *self = (struct killing_executor *)executor;
    size_t abandoned = self->running_count;
    for (size_t i = 0; i < abandoned; i++)
        culex__run_free(self->running[i].run);
    self->world->executor = NULL;
    return inline_stop(executor, deadline_ns) + abandoned;
}

static const struct culex_executor_ops killing_ops = {
    .name = "killing",
    .can_kill = true,
    .fd = inline_fd,
    .submit = inline_submit,
    .collect = killing_collect,
    .withdraw = inline_withdraw,
    .queued = inline_queued,
    .cancel = killing_cancel,
    .renew = killing_renew,
    .is_broken = killing_is_broken,
    .capacity = killing_capacity,
    .stranded_ns = killing_stranded_ns,
    .stop = killing_stop,
};

static void asking_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                          int64_t kill_ns)
{
    (void)term_ns;
    (void)kill_ns;
    killing_cancel(executor, run, INT64_MAX, INT64_MAX);
}

static const struct culex_executor_ops asking_ops = {
    .name = "asking",
    .fd = inline_fd,
    .submit = inline_submit,
    .collect = killing_collect,
    .withdraw = inline_withdraw,
    .queued = inline_queued,
    .cancel = asking_cancel,
    .stop = killing_stop,
};

static culex_status running_create(const struct culex_executor_ops *ops,
                                   const struct culex_executor_config *config,
                                   struct culex_executor **ret_executor, culex_error *error)
{
    struct killing_executor *self = calloc(1, sizeof *self);
    if (self == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the executor");
    inline_init(&self->base, ops, config);
    self->world = config->handler.env->self;
    self->world->executor = self;
    self->hands = config->count;
    *ret_executor = &self->base.base;
    return CULEX_OK;
}

culex_status executor_killing_create(const struct culex_executor_config *config,
                                     struct culex_executor **ret_executor, culex_error *error)
{
    return running_create(&killing_ops, config, ret_executor, error);
}

culex_status executor_asking_create(const struct culex_executor_config *config,
                                    struct culex_executor **ret_executor, culex_error *error)
{
    return running_create(&asking_ops, config, ret_executor, error);
}
