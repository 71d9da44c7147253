#include "settings/option.h"

#include <assert.h>

#include "base/limits.h"
#include "settings/storesettings.h"

#define AT CULEX_OPTION_AT

const struct culex_option culex__options[] = {
#ifndef CULEX_PRODUCER_ONLY /* which has no command line */
    {"url", "CULEX_URL", CULEX_OPTION_TEXT, "URL", AT(url), 0, 0,
     "store: sqlite:PATH, memory:, redis://HOST:PORT/DB\n[sqlite:culex.db]", CULEX_OPTION_OF_ALL},
    {"url-file", "CULEX_URL_FILE", CULEX_OPTION_TEXT, "PATH", AT(url_file), 0, 0,
     "file with the store's URL: of this user, mode 0600", CULEX_OPTION_OF_ALL},
    {"keys", "CULEX_KEYS", CULEX_OPTION_TEXT, "FILE", AT(keys), 0, 0,
     "keys of encrypted params and results, one `ID KEY` a\nline: of this user, mode 0600; the "
     "first one seals",
     CULEX_OPTION_OF_WORKER},
    {"config", "CULEX_CONFIG", CULEX_OPTION_CONFIG, "FILE", 0, 0, 0,
     "options, over which variables and these here win;\nSIGHUP reads it again",
     CULEX_OPTION_OF_WORKER},
    {"check-config", NULL, CULEX_OPTION_CHECK_CONFIG, NULL, 0, 0, 0,
     "read all options, set up the jobs, and exit without a\nlook at the store: 0 when all is well",
     CULEX_OPTION_OF_WORKER},
    {"queues", "CULEX_QUEUES", CULEX_OPTION_QUEUES, "A,B", 0, 0, 0,
     "serve only these: with a weight in mail:3, at most 8\nruns at a time in mail@8, as found "
     "by 'mail.*'\n[those of all registered jobs]",
     CULEX_OPTION_OF_WORKER},
    {"order", "CULEX_ORDER", CULEX_OPTION_CHOICE, "turns|strict|weighted", AT(order), 0, 0,
     "which queue is next: each in turn, the first one that\nhas runs, by weight [weighted where a "
     "weight is\ngiven, else turns]",
     CULEX_OPTION_OF_WORKER},
    {"offer", "CULEX_OFFER", CULEX_OPTION_OFFERS, "A=N,B=N", 0, 0, 0,
     "what jobs may need of this worker: with gpu=2, two of\nthose that need one gpu at a time "
     "[nothing]",
     CULEX_OPTION_OF_WORKER},
    {"name", "CULEX_NAME", CULEX_OPTION_TEXT, "NAME", AT(name), 0, 0,
     "of this worker, stable over restarts: it gets its\nruns back at once [unique per process]",
     CULEX_OPTION_OF_WORKER},
    {"concurrency", "CULEX_CONCURRENCY", CULEX_OPTION_NUMBER, "N", AT(concurrency), 1,
     CULEX_OPTION_CONCURRENCY_MAX, "runs at a time [number of processors]", CULEX_OPTION_OF_WORKER},
    {"batch", "CULEX_BATCH", CULEX_OPTION_NUMBER, "N", AT(batch), 1, CULEX_BATCH_MAX,
     "most runs claimed in one call\n[what handlers do in 4 ms, up to 256]",
     CULEX_OPTION_OF_WORKER},
    {"isolation", "CULEX_ISOLATION", CULEX_OPTION_CHOICE, "none|process|job", AT(isolation), 0, 0,
     "handlers on threads of this process, in child\nprocesses, each run in one of its own "
     "[process]",
     CULEX_OPTION_OF_WORKER},
    {"cgroup", "CULEX_CGROUP", CULEX_OPTION_TEXT, "DIR", AT(cgroup), 0, 0,
     "directory of cgroup v2: bounds the processes of a\nrun together by its job's `memory`",
     CULEX_OPTION_OF_WORKER},
    {"lease", "CULEX_LEASE", CULEX_OPTION_DURATION, "TIME", AT(lease_ms), CULEX_OPTION_LEASE_MS_MIN,
     CULEX_OPTION_SPAN_MS_MAX, "hold on a run without a heartbeat [15s]", CULEX_OPTION_OF_WORKER},
    {"grace", "CULEX_GRACE", CULEX_OPTION_DURATION, "TIME", AT(grace_ms), 0,
     CULEX_OPTION_SPAN_MS_MAX, "time for running handlers at a stop [25s]", CULEX_OPTION_OF_WORKER},
    {"idle-wait", "CULEX_IDLE_WAIT", CULEX_OPTION_DURATION, "TIME", AT(idle_wait_ms), 1,
     CULEX_OPTION_SPAN_MS_MAX, "longest wait where the store has no wake-up [100ms]",
     CULEX_OPTION_OF_WORKER},
    {"drain", "CULEX_DRAIN", CULEX_OPTION_FLAG, NULL, AT(drain), 0, 0,
     "end once nothing is scheduled, waiting or active", CULEX_OPTION_OF_WORKER},
    {"unlisted", "CULEX_UNLISTED", CULEX_OPTION_FLAG, NULL, AT(unlisted), 0, 0,
     "do not tell the store of this worker: others neither\nsee nor steer it",
     CULEX_OPTION_OF_WORKER},
    {"uncounted", "CULEX_UNCOUNTED", CULEX_OPTION_FLAG, NULL, AT(uncounted), 0, 0,
     "tell the store no figures of how runs end and how\nlong they wait and take",
     CULEX_OPTION_OF_WORKER},
    {"on-death", "CULEX_ON_DEATH", CULEX_OPTION_TEXT, "COMMAND", AT(on_death), 0, 0,
     "run it by /bin/sh for each run that an attempt here\nleaves dead; CULEX_RUN_ID and others "
     "tell "
     "of the run",
     CULEX_OPTION_OF_WORKER},
    {"on-death-timeout", "CULEX_ON_DEATH_TIMEOUT", CULEX_OPTION_DURATION, "TIME",
     AT(on_death_timeout_ms), 1, CULEX_OPTION_SPAN_MS_MAX,
     "for that command, which is killed then [30s]", CULEX_OPTION_OF_WORKER},
    {"metrics", "CULEX_METRICS", CULEX_OPTION_ADDRESS, "ADDRESS", AT(metrics), 0, 0,
     "answer GET /metrics there, as Prometheus reads it:\nPORT of this machine alone, HOST:PORT, "
     "unix:PATH",
     CULEX_OPTION_OF_WORKER},
    {"traces", "CULEX_TRACES", CULEX_OPTION_TEXT, "FILE|URL", AT(traces), 0, 0,
     "append a span of each attempt whose run is of a trace\nthat is recorded, in OTLP/JSON, or "
     "send it to\nhttp://HOST:4318/v1/traces",
     CULEX_OPTION_OF_WORKER},
    {"trace-all", "CULEX_TRACE_ALL", CULEX_OPTION_FLAG, NULL, AT(trace_all), 0, 0,
     "let runs of no trace begin one for it", CULEX_OPTION_OF_WORKER},
    {"log-format", "CULEX_LOG_FORMAT", CULEX_OPTION_CHOICE, "text|json", AT(log_format), 0, 0,
     "of the lines on stderr [text]", CULEX_OPTION_OF_WORKER},
    {"log-level", "CULEX_LOG_LEVEL", CULEX_OPTION_CHOICE, "error|warn|info|debug", AT(log_level), 0,
     0, "least important line that is written [info]", CULEX_OPTION_OF_WORKER},
#endif
    {"prefix", "CULEX_PREFIX", CULEX_OPTION_TEXT, "TEXT", AT(prefix), 0, 0,
     "Redis: first part of every key [culex]", CULEX_OPTION_OF_ALL},
    {"store-timeout", "CULEX_STORE_TIMEOUT", CULEX_OPTION_DURATION, "TIME", AT(store_timeout_ms),
     CULEX_STORE_TIMEOUT_MS_MIN, CULEX_STORE_TIMEOUT_MS_MAX,
     "longest wait for one answer of the store [5s]", CULEX_OPTION_OF_ALL},
    {"synchronous", "CULEX_SYNCHRONOUS", CULEX_OPTION_CHOICE, "full|normal|off", AT(synchronous), 0,
     0, "SQLite: what survives a power cut [full]", CULEX_OPTION_OF_WORKER},
#ifndef CULEX_PRODUCER_ONLY
    {"core-dumps", "CULEX_CORE_DUMPS", CULEX_OPTION_FLAG, NULL, AT(core_dumps), 0, 0,
     "let debuggers and core dumps see the worker's memory,\nwhich may hold the store's password",
     CULEX_OPTION_OF_WORKER},
    {"doctor", NULL, CULEX_OPTION_DOCTOR, NULL, 0, 0, 0,
     "examine the store and the cgroup, say what they\npromise, and exit: 1 when one is not fit "
     "for "
     "work",
     CULEX_OPTION_OF_WORKER},
    {"queue", NULL, CULEX_OPTION_QUEUES, "A,B", 0, 0, 0, "only runs of these queues [of all]",
     CULEX_OPTION_OF_LIVE},
    {"ended", NULL, CULEX_OPTION_ENDED, NULL, 0, 0, 0,
     "count done and cancelled runs too, while the store\nkeeps them", CULEX_OPTION_OF_LIVE},
    {"allow-empty", NULL, CULEX_OPTION_ALLOW_EMPTY, NULL, 0, 0, 0,
     "accept a store without any queue", CULEX_OPTION_OF_LIVE},
    {"help", NULL, CULEX_OPTION_HELP, NULL, 0, 0, 0, "show this and exit", CULEX_OPTION_OF_ALL},
    {"version", NULL, CULEX_OPTION_VERSION, NULL, 0, 0, 0, "show the version and exit",
     CULEX_OPTION_OF_ALL},
#endif
};

const size_t culex__option_count = sizeof culex__options / sizeof culex__options[0];
static_assert(sizeof culex__options / sizeof culex__options[0] <= CULEX_OPTION_MAX,
              "more options than CULEX_OPTION_MAX");

bool culex__option_is_for(const struct culex_option *option, enum culex_program program)
{
    return option->owner == CULEX_OPTION_OF_ALL ||
           (option->owner == CULEX_OPTION_OF_LIVE) == (program == CULEX_PROGRAM_LIVE);
}

bool culex__option_is_store(const struct culex_option *option)
{
    return option->kind == CULEX_OPTION_TEXT &&
           (option->offset == AT(url) || option->offset == AT(url_file));
}

bool culex__option_is_layered(const struct culex_option *option)
{
    return option->offset == AT(synchronous) || option->offset == AT(store_timeout_ms) ||
           (option->kind == CULEX_OPTION_TEXT && option->offset == AT(prefix));
}

bool culex__option_takes_value(const struct culex_option *option)
{
    return option->value != NULL;
}
