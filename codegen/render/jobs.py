"""Jobs: the typed wrappers around the runtime, and the descriptor with the policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import layout
import literals
from kinds import BACKOFFS, JITTERS, LIMITS, MISSED, ON_CONFLICT, STATES
from literals import NULL, CText
from model import Job, Limit, Need, Retry, Unique
from names import Context
from records import metadata_view, params_view, result_view
from settings import DESCRIPTOR_VERSION, SETTINGS, milliseconds
from view import FunctionView, JobView, RecordView, TableView

ERROR = "culex_error *error"
RET_ID = "culex_uuid *ret_id"


def job_view(context: Context, job: Job) -> JobView:
    params = params_view(context, job, _deprecations(job))
    results = [] if job.result is None else [result_view(context, job, job.result)]
    keeps = [] if job.metadata is None else [metadata_view(context, job, job.metadata)]
    tables, policy = _policy(context, job, params, results, keeps)
    thunk = context.names.fresh(job.c + "_call")
    return JobView(
        records=[params] + results + keeps,
        type_symbol=CText(job.functions.type),
        thunk_head=layout.call(
            f"static culex_outcome {thunk}",
            ["culex_run *run", "culex_handler_fn handler", "const void *params", "void *user"], ""),
        thunk_handler=layout.assign(f"{job.functions.handler} typed",
                                    f"CULEX_FN_CAST({job.functions.handler}, handler);", 4),
        thunk_call=layout.call(
            "    return typed", ["run", f"CULEX_PTR_CAST(const {job.c} *, params)", "user"], ";"),
        handler=layout.call(f"typedef culex_outcome (*{job.functions.handler})",
                            ["culex_run *run", f"const {job.c} *job", "void *user"], ";"),
        enqueues=_enqueues(context, job),
        results=[function for result in results for function in _results(context, job, result)],
        keeps=[function for kept in keeps for function in _keeps(context, job, kept)],
        others=[_register(context, job, thunk), _encode(context, job, params),
                _decode(context, job, params)],
        tables=tables,
        policy=policy,
    )


def _deprecations(job: Job) -> List[CText]:
    """The attribute for what puts runs in; those that take them out stay silent."""
    if job.deprecated is not None:
        return [CText(f"CULEX_DEPRECATED({literals.c_message(job.deprecated)})")]
    if job.retired:
        return [CText('CULEX_DEPRECATED("the job is retired: only queued runs are left")')]
    return []


# The wrappers. Their names and parameters are also in front/cnames.def, for the manual.


def function_view(context: Context, name: str, comment: str, parameters: Sequence[str],
                  body: Sequence[CText], deprecations: Sequence[CText] = (),
                  returned: str = "culex_status") -> FunctionView:
    return FunctionView(
        name=CText(name),
        comments=layout.comment(comment),
        deprecations=list(deprecations),
        prototype=layout.call(f"{context.export} CULEX_MUST_USE {returned} {name}", parameters, ";"),
        head=layout.call(f"{returned} ({name})", parameters, ""),
        body=list(body),
    )


def return_call(called: str, arguments: Sequence[str]) -> CText:
    return layout.call(f"    return {called}", arguments, ";")


def _enqueues(context: Context, job: Job) -> List[FunctionView]:
    return [
        _enqueue(context, job),
        _enqueue_when(context, job, job.functions.enqueue_in, "delay", "culex_duration delay", """\
The same, to start after `delay`, culex_seconds(30) for instance."""),
        _enqueue_when(context, job, job.functions.enqueue_at, "at", "culex_time at", """\
The same, to start at `at`, culex_time_from_unix(seconds) for instance; a time in the past means
now, and one before 2001 is refused."""),
        _enqueue_many(context, job),
        _enqueue_item(context, job),
        _enqueue_from(context, job),
    ]


def _enqueue(context: Context, job: Job) -> FunctionView:
    return function_view(
        context, job.functions.enqueue, """\
Enqueues one run. Borrows `job` for the call. `options` may be NULL (the schema's policy), and
so may `ret_id`. See culex_client_enqueue.""",
        ["culex_client *client", f"const {job.c} *job", "const culex_enqueue_options *options",
         RET_ID, ERROR],
        [return_call("culex_client_enqueue",
                 ["client", f"&{job.functions.type}", "job", "options", "ret_id", "error"])],
        _deprecations(job))


def _enqueue_when(context: Context, job: Job, name: str, option: str, parameter: str,
                  comment: str) -> FunctionView:
    return function_view(
        context, name, comment,
        ["culex_client *client", f"const {job.c} *job", parameter, RET_ID, ERROR],
        [CText("    culex_enqueue_options options = culex_enqueue_options_make();"),
         CText(f"    options.has_{option} = true;"),
         CText(f"    options.{option} = {option};"),
         return_call("culex_client_enqueue",
                 ["client", f"&{job.functions.type}", "job", "&options", "ret_id", "error"])],
        _deprecations(job))


def _enqueue_many(context: Context, job: Job) -> FunctionView:
    return function_view(
        context, job.functions.enqueue_many, """\
Enqueues `count` runs, all or a prefix. Borrows `jobs` for the call. `options`, `ret_ids` (room
for `count` ids) and `ret_enqueued` may be NULL. See culex_client_enqueue_many.""",
        ["culex_client *client", f"const {job.c} *jobs", "size_t count",
         "const culex_enqueue_options *options", "culex_uuid *ret_ids", "size_t *ret_enqueued",
         ERROR],
        [return_call("culex_client_enqueue_many",
                 ["client", f"&{job.functions.type}", "jobs", "sizeof *jobs", "count", "options",
                  "ret_ids", "ret_enqueued", "error"])],
        _deprecations(job))


def _enqueue_item(context: Context, job: Job) -> FunctionView:
    return function_view(
        context, job.functions.enqueue_item, """\
One run of a call that enqueues several: see culex_client_enqueue_all, which borrows `job` and
`options`; these may be NULL.""",
        [f"const {job.c} *job", "const culex_enqueue_options *options"],
        [return_call("culex_enqueue_item_make", [f"&{job.functions.type}", "job", "options"])],
        _deprecations(job), "culex_enqueue_item")


def _enqueue_from(context: Context, job: Job) -> FunctionView:
    return function_view(
        context, job.functions.enqueue_from, """\
For a handler: enqueues one run when the run of `run` is done, and only then. Copies. `options`
may be NULL. See culex_run_enqueue.""",
        ["culex_run *run", f"const {job.c} *job", "const culex_enqueue_options *options", ERROR],
        [return_call("culex_run_enqueue",
                 ["run", f"&{job.functions.type}", "job", "options", "error"])],
        _deprecations(job))


def _register(context: Context, job: Job, thunk: CText) -> FunctionView:
    comment = """\
Makes `worker` run this job with `handler`, which gets `user` as it is. To be called before
culex_worker_run."""
    retirement = """ The job is retired: without a handler (NULL) its runs end up dead, with that
as the reason."""
    guard = [CText("    if (handler == NULL)"),
             CText(f"        return culex_worker_retire(worker, &{job.functions.type});")]
    return function_view(
        context, job.functions.register, comment + (retirement if job.retired else ""),
        ["culex_worker *worker", f"{job.functions.handler} handler", "void *user"],
        (guard if job.retired else [])
        + [return_call("culex_worker_register",
                   ["worker", f"&{job.functions.type}", thunk,
                    "CULEX_FN_CAST(culex_handler_fn, handler)", "user"])])


def _encode(context: Context, job: Job, params: RecordView) -> FunctionView:
    return function_view(
        context, job.functions.encode,
        "Appends the payload of `job` to `ret_text`. Borrows `job` for the call.",
        [f"const {job.c} *job", "culex_buf *ret_text", ERROR],
        [return_call("culex_encode", [f"&{params.type_symbol}", "job", "ret_text", "error"])])


def _decode(context: Context, job: Job, params: RecordView) -> FunctionView:
    return _decoder(context, job.functions.decode, params, "ret_job", """\
Reads a payload. `*ret_job` and all it points to live in `arena`.""")


def _decoder(context: Context, name: str, record: RecordView, ret: str, comment: str) -> FunctionView:
    return function_view(
        context, name, comment,
        ["culex_arena *arena", "const void *text", "size_t len", f"const {record.c} **{ret}", ERROR],
        [CText("    const void *value = NULL;"),
         layout.call("    culex_status status = culex_decode",
                     [f"&{record.type_symbol}", "arena", "text", "len",
                      f"{ret} != NULL ? &value : NULL", "error"], ";"),
         CText("    if (status == CULEX_OK)"),
         CText(f"        *{ret} = CULEX_PTR_CAST(const {record.c} *, value);"),
         CText("    return status;")])


def _results(context: Context, job: Job, result: RecordView) -> List[FunctionView]:
    assert job.functions.set_result is not None and job.functions.wait is not None and job.result is not None
    return [
        function_view(
            context, job.functions.set_result, """\
Keeps `result` as what the run returned, once it ends as done. For use in a handler. Copies.""",
            ["culex_run *run", f"const {result.c} *result", ERROR],
            [return_call("culex_run_set_result", ["run", f"&{result.type_symbol}", "result", "error"])]),
        _decoder(context, job.result.decode, result, "ret_result", """\
Reads the result of a run, as culex_client_get has it. `*ret_result` and all it points to live
in `arena`."""),
        _waiter(context, job.functions.wait, job, result),
    ]


def _keeps(context: Context, job: Job, kept: RecordView) -> List[FunctionView]:
    names = job.functions
    assert names.metadata_get is not None and names.metadata_set is not None
    assert names.metadata_read is not None and names.metadata_write is not None
    version, ret_version = "uint64_t *version", "uint64_t *ret_version"
    ret_value, value = f"{kept.c} *ret_metadata", f"const {kept.c} *metadata"
    return [
        function_view(
            context, names.metadata_get, """\
For a handler: reads what the job keeps from run to run, where nothing was set its defaults, and
its version. What it points to lives until the handler returns. See culex_run_metadata_get.""",
            ["culex_run *run", ret_value, ret_version, ERROR],
            [return_call("culex_run_metadata_get",
                     ["run", f"&{kept.type_symbol}", "ret_metadata", "ret_version", "error"])]),
        function_view(
            context, names.metadata_set, """\
For a handler: sets it in place of `*version`, which is the new one then. CULEX_ECONFLICT when
another was first: read it again. CULEX_ESTALE when the run's lease is over. Copies.""",
            ["culex_run *run", value, version, ERROR],
            [return_call("culex_run_metadata_set",
                     ["run", f"&{kept.type_symbol}", "metadata", "version", "error"])]),
        function_view(
            context, names.metadata_read, """\
Reads it in any program. What it points to lives in `arena`. See culex_client_metadata_read.""",
            ["culex_client *client", "culex_arena *arena", ret_value, ret_version, ERROR],
            [return_call("culex_client_metadata_read",
                     ["client", f"&{names.type}", "arena", "ret_metadata", "ret_version", "error"])]),
        function_view(
            context, names.metadata_write, """\
Sets it in any program, in place of `*version`, which is the new one then. Copies.""",
            ["culex_client *client", value, version, ERROR],
            [return_call("culex_client_metadata_write",
                     ["client", f"&{names.type}", "metadata", "version", "error"])]),
    ]


def _waiter(context: Context, name: str, job: Job, result: RecordView) -> FunctionView:
    return function_view(
        context, name, """\
Waits until the run has ended, for `timeout` at most. CULEX_OK when it is done: `*ret_result`,
which lives in `arena`, is what it returned, NULL when it set nothing. CULEX_ESTATE when it is
dead, cancelled or pending, CULEX_ENOTFOUND when it is forgotten; `ret_end` (may be NULL) tells
which. See culex_client_wait_result.""",
        ["culex_client *client", "culex_uuid id", "culex_duration timeout", "culex_arena *arena",
         "culex_wait_end *ret_end", f"const {result.c} **ret_result", ERROR],
        [CText("    const void *value = NULL;"),
         layout.call("    culex_status status = culex_client_wait_result",
                     ["client", f"&{job.functions.type}", "id", "timeout", "arena", "ret_end",
                      "ret_result != NULL ? &value : NULL", "error"], ";"),
         CText("    if (status == CULEX_OK)"),
         CText(f"        *ret_result = CULEX_PTR_CAST(const {result.c} *, value);"),
         CText("    return status;")])


# The descriptor.


@dataclass(frozen=True)
class Member:
    """Of a descriptor. C++11 has no initialisers by name, so the order counts; the tests compile
    it against the struct. What is left out is found by -Wmissing-field-initializers."""

    name: str
    value: CText
    note: str = ""  # behind it


def _policy(context: Context, job: Job, params: RecordView,
            results: Sequence[RecordView],
            keeps: Sequence[RecordView]) -> Tuple[List[TableView], List[CText]]:
    """The members of a culex_job_type, one a line, and the tables they point to."""
    tables: List[TableView] = []
    tags = steps = limits = needs = NULL
    keys = _key_tables(context, job, tables)
    if job.limits:
        limits = context.names.fresh(job.c + "_limits")
        rows = [CText("{" + layout.fill([member.value for member in limit_members(limit, keys[limit.by])], 5) + "}")
                for limit in job.limits]
        tables.append(TableView(CText(f"static const culex_limit {limits}[]"), rows))
    if job.needs:
        needs = context.names.fresh(job.c + "_needs")
        rows = [CText("{" + ", ".join(member.value for member in need_members(need)) + "}") for need in job.needs]
        tables.append(TableView(CText(f"static const culex_need {needs}[]"), rows))
    if job.tags:
        tags = context.names.fresh(job.c + "_tags")
        rows = [literals.c_string(tag) for tag in job.tags]
        tables.append(TableView(CText(f"static const char *const {tags}[]"), rows))
    if job.retry.steps_ns:
        steps = context.names.fresh(job.c + "_steps_ms")
        rows = [milliseconds(step) for step in job.retry.steps_ns]
        tables.append(TableView(CText(f"static const int64_t {steps}[]"), rows))
    result = CText(f"&{results[0].type_symbol}") if results else NULL
    metadata = CText(f"&{keeps[0].type_symbol}") if keeps else NULL
    unique = unique_members(job.unique, keys[job.unique.by] if job.unique is not None else NULL)
    members = job_members(job, CText(f"&{params.type_symbol}"), result, metadata, tags, steps, unique, limits,
                          needs)
    notes = [f"/* {member.note} */" if member.note else "" for member in members]
    return tables, layout.margin_notes([f"{member.value}," for member in members], notes)


def _key_tables(context: Context, job: Job, tables: List[TableView]) -> Dict[Tuple[str, ...], CText]:
    """The table of each key that the job counts by, once: places in the params."""
    places = {field.name: at for at, field in enumerate(job.params)}
    keys: Dict[Tuple[str, ...], CText] = {(): NULL}
    for by in [job.unique.by if job.unique is not None else (), *(limit.by for limit in job.limits)]:
        if by in keys:
            continue
        keys[by] = context.names.fresh("_".join([job.c, "by"] if len(by) > 3 else [job.c, "by", *by]))
        tables.append(TableView(CText(f"static const uint16_t {keys[by]}[]"), [CText(places[name]) for name in by]))
    return keys


def job_members(job: Job, params: CText, result: CText, metadata: CText, tags: CText, steps: CText,
                unique: Sequence[Member], limits: CText, needs: CText) -> List[Member]:
    """Of culex_job_type. CText arguments are addresses, or NULL."""
    retry = layout.fill([member.value for member in retry_members(job.retry, steps)], 5)
    return [
        Member("descriptor_version", CText(DESCRIPTOR_VERSION), "descriptor version"),
        Member("name", literals.c_string(job.qualified), "name"),
        Member("wire", literals.c_string(job.wire), "its name in the store"),
        Member("queue", literals.c_string(job.queue), "queue"),
        Member("params", params, "params"),
        Member("result", result, "result"),
        Member("metadata", metadata, "metadata"),
        Member("fingerprint", CText(f"UINT64_C(0x{job.fingerprint:016x})"), "fingerprint of the params"),
        *(Member(setting.member, setting.write(number), setting.note)
          for setting, number in zip(SETTINGS, job.numbers)),
        Member("retry", CText("{" + retry + "}")),
        Member("schedule", CText("{" + ", ".join(member.value for member in schedule_members(job)) + "}")),
        Member("unique", CText("{" + layout.fill([member.value for member in unique], 5) + "}")),
        Member("limits", limits, "limits"),
        Member("limit_count", CText(len(job.limits)), "how many"),
        Member("needs", needs, "needs"),
        Member("need_count", CText(len(job.needs)), "how many"),
        Member("tags", tags, "tags"),
        Member("tag_count", CText(len(job.tags)), "how many"),
        Member("doc", literals.c_doc(job.doc)),
    ]


def schedule_members(job: Job) -> List[Member]:
    """Of culex_schedule."""
    every, cron = job.every, job.cron
    spread = every or cron
    return [
        Member("every_ms", milliseconds(every.interval_ns if every is not None else 0)),
        Member("cron", literals.c_string(cron.text) if cron is not None else NULL),
        Member("zone", literals.c_string(cron.zone) if cron is not None else NULL),
        Member("missed", MISSED[cron.missed if cron is not None else "once"]),
        Member("may_overlap", CText("true" if spread is not None and spread.overlap == "allow" else "false")),
        Member("jitter_ms", milliseconds(spread.jitter_ns if spread is not None else 0)),
    ]


def unique_members(unique: Optional[Unique], by: CText) -> List[Member]:
    """Of culex_unique. `by` is the address of the key, or NULL."""
    states = [STATES[state] for state in unique.states] if unique is not None else []
    return [
        Member("is_unique", CText("true" if unique is not None else "false")),
        Member("by_all", CText("true" if unique is not None and unique.all else "false")),
        Member("by", by),
        Member("by_count", CText(len(unique.by) if unique is not None else 0)),
        Member("while_states", CText(" | ".join(states) or "0")),
        Member("for_ms", milliseconds(unique.for_ns if unique is not None else None)),
        Member("on_conflict", ON_CONFLICT[unique.on_conflict if unique is not None else "keep"]),
        Member("delay_ms", milliseconds(unique.delay_ns if unique is not None else None)),
    ]


def need_members(need: Need) -> List[Member]:
    """Of culex_need."""
    return [
        Member("name", literals.c_string(need.name)),
        Member("units", literals.c_uint32(need.units)),
    ]


def limit_members(limit: Limit, by: CText) -> List[Member]:
    """Of culex_limit. `by` is the address of the key, or NULL."""
    return [
        Member("kind", LIMITS[limit.kind]),
        Member("name", literals.c_string(limit.name)),
        Member("count", literals.c_uint32(limit.count or 0)),
        Member("per_ms", milliseconds(limit.per_ns)),
        Member("burst", literals.c_uint32(limit.burst or 0)),
        Member("by", by),
        Member("by_count", CText(len(limit.by))),
    ]


def retry_members(retry: Retry, steps: CText) -> List[Member]:
    """Of culex_retry_policy."""
    return [
        Member("max", literals.c_uint32(retry.max)),
        Member("for_ms", milliseconds(retry.for_ns)),
        Member("backoff", BACKOFFS[retry.backoff]),
        Member("base_ms", milliseconds(retry.base_ns)),
        Member("factor", literals.c_float64(retry.factor or "1")),
        Member("cap_ms", milliseconds(retry.cap_ns)),
        Member("steps_ms", steps),
        Member("step_count", CText(len(retry.steps_ns))),
        Member("jitter", JITTERS[retry.jitter]),
        Member("jitter_ratio", literals.c_float64(retry.jitter_ratio or "0")),
    ]
