"""Jobs: the typed wrappers around the runtime, and the descriptor with the policy."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import layout
import literals
from kinds import BACKOFFS, JITTERS
from literals import NULL, ZERO, CText
from model import Job, Retry
from names import Context
from records import params_view, result_view
from view import DecodeView, FunctionView, JobView, RecordView, TableView

NS_PER_MS = 1000000

ERROR = "culex_error *error"
RET_ID = "culex_uuid *ret_id"


def job_view(context: Context, job: Job) -> JobView:
    params = params_view(context, job, _deprecations(job))
    results = [] if job.result is None else [result_view(context, job, job.result)]
    tables, policy = _policy(context, job, params, results)
    thunk = context.names.fresh(job.c + "_call")
    return JobView(
        records=[params] + results,
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
        enqueue=_enqueue(context, job),
        enqueue_in=_enqueue_when(context, job, job.functions.enqueue_in, "culex_duration delay"),
        enqueue_at=_enqueue_when(context, job, job.functions.enqueue_at, "culex_time at"),
        enqueue_many=_enqueue_many(context, job),
        register_note=_RETIREMENT_NOTE if job.retired else _REGISTER_NOTE,
        register_guard=_retirement(job) if job.retired else [],
        register=_register(context, job, thunk),
        encode=_encode(context, job, params),
        decode=_decode(context, job, params),
        decoded=CText(f"CULEX_PTR_CAST(const {job.c} *, value)"),
        set_results=[_set_result(context, job, result) for result in results],
        decode_results=[_decode_result(context, job, result) for result in results],
        tables=tables,
        policy=policy,
    )


def _retirement(job: Job) -> List[CText]:
    return [CText("    if (handler == NULL)"),
            CText(f"        return culex_worker_retire(worker, &{job.functions.type});")]


_REGISTER_NOTE = [
    CText("/* Makes `worker` run this job with `handler`, which gets `user` as it is. To be called before"),
    CText(" * culex_worker_run. */"),
]
_RETIREMENT_NOTE = [
    _REGISTER_NOTE[0],
    CText(" * culex_worker_run. The job is retired: without a handler (NULL) its runs end up dead, with that"),
    CText(" * as the reason. */"),
]


def _deprecations(job: Job) -> List[CText]:
    """The attribute for what puts runs in; those that take them out stay silent."""
    if job.deprecated is not None:
        return [CText(f"CULEX_DEPRECATED({literals.c_message(job.deprecated)})")]
    if job.retired:
        return [CText('CULEX_DEPRECATED("the job is retired: only queued runs are left")')]
    return []


# The wrappers.


def _function(context: Context, name: str, parameters: Sequence[str], called: str,
              arguments: Sequence[str], deprecations: Sequence[CText] = ()) -> FunctionView:
    return FunctionView(
        deprecations=list(deprecations),
        prototype=layout.call(f"{context.export} CULEX_MUST_USE culex_status {name}", parameters, ";"),
        head=layout.call(f"culex_status ({name})", parameters, ""),
        call=layout.call(f"    {called}", arguments, ";"),
    )


def _enqueue(context: Context, job: Job) -> FunctionView:
    return _function(
        context, job.functions.enqueue,
        ["culex_client *client", f"const {job.c} *job", "const culex_enqueue_options *options",
         RET_ID, ERROR],
        "return culex_client_enqueue",
        ["client", f"&{job.functions.type}", "job", "options", "ret_id", "error"],
        _deprecations(job))


def _enqueue_when(context: Context, job: Job, name: str, when: str) -> FunctionView:
    return _function(
        context, name, ["culex_client *client", f"const {job.c} *job", when, RET_ID, ERROR],
        "return culex_client_enqueue",
        ["client", f"&{job.functions.type}", "job", "&options", "ret_id", "error"],
        _deprecations(job))


def _enqueue_many(context: Context, job: Job) -> FunctionView:
    return _function(
        context, job.functions.enqueue_many,
        ["culex_client *client", f"const {job.c} *jobs", "size_t count",
         "const culex_enqueue_options *options", "culex_uuid *ret_ids", "size_t *ret_enqueued",
         ERROR],
        "return culex_client_enqueue_many",
        ["client", f"&{job.functions.type}", "jobs", "sizeof *jobs", "count", "options", "ret_ids",
         "ret_enqueued", "error"],
        _deprecations(job))


def _register(context: Context, job: Job, thunk: CText) -> FunctionView:
    return _function(
        context, job.functions.register,
        ["culex_worker *worker", f"{job.functions.handler} handler", "void *user"],
        "return culex_worker_register",
        ["worker", f"&{job.functions.type}", thunk, "CULEX_FN_CAST(culex_handler_fn, handler)",
         "user"])


def _encode(context: Context, job: Job, params: RecordView) -> FunctionView:
    return _function(
        context, job.functions.encode, [f"const {job.c} *job", "culex_buf *ret_text", ERROR],
        "return culex_encode", [f"&{params.type_symbol}", "job", "ret_text", "error"])


def _decode(context: Context, job: Job, params: RecordView) -> FunctionView:
    return _function(
        context, job.functions.decode,
        ["culex_arena *arena", "const void *text", "size_t len", f"const {job.c} **ret_job", ERROR],
        "culex_status status = culex_decode",
        [f"&{params.type_symbol}", "arena", "text", "len", "ret_job != NULL ? &value : NULL", "error"])


def _set_result(context: Context, job: Job, result: RecordView) -> FunctionView:
    assert job.functions.set_result is not None
    return _function(
        context, job.functions.set_result, ["culex_run *run", f"const {result.c} *result", ERROR],
        "return culex_run_set_result", ["run", f"&{result.type_symbol}", "result", "error"])


def _decode_result(context: Context, job: Job, result: RecordView) -> DecodeView:
    assert job.result is not None
    return DecodeView(
        function=_function(
            context, job.result.decode,
            ["culex_arena *arena", "const void *text", "size_t len",
             f"const {result.c} **ret_result", ERROR],
            "culex_status status = culex_decode",
            [f"&{result.type_symbol}", "arena", "text", "len", "ret_result != NULL ? &value : NULL",
             "error"]),
        decoded=CText(f"CULEX_PTR_CAST(const {result.c} *, value)"))


# The descriptor.


def _policy(context: Context, job: Job, params: RecordView,
            results: Sequence[RecordView]) -> Tuple[List[TableView], List[CText]]:
    """The members of a culex_job_type, one a line, and the tables they point to."""
    tables: List[TableView] = []
    tags = steps = NULL
    if job.tags:
        tags = context.names.fresh(job.c + "_tags")
        rows = [literals.c_string(tag) for tag in job.tags]
        tables.append(TableView(CText(f"static const char *const {tags}[]"), rows))
    if job.retry.steps_ns:
        steps = context.names.fresh(job.c + "_steps_ms")
        rows = [_milliseconds(step) for step in job.retry.steps_ns]
        tables.append(TableView(CText(f"static const int64_t {steps}[]"), rows))
    every_ns = (job.every.interval_ns, job.every.jitter_ns) if job.every is not None else (0, 0)
    values = [
        (CText("1"), "descriptor version"),
        (literals.c_string(job.qualified), "name"),
        (literals.c_string(job.wire), "its name in the store"),
        (literals.c_string(job.queue), "queue"),
        (CText(f"&{params.type_symbol}"), "params"),
        (CText(f"&{results[0].type_symbol}") if results else NULL, "result"),
        (CText(f"UINT64_C(0x{job.fingerprint:016x})"), "fingerprint of the params"),
        (CText(job.priority), "priority"),
        (_milliseconds(job.timeout_ns), "timeout, ms"),
        (_milliseconds(job.expires_ns), "expires, ms"),
        (_milliseconds(job.keep_success_ns), "kept after success, ms"),
        (_milliseconds(job.keep_failure_ns), "kept after the last failure, ms"),
        (literals.c_int64(job.memory_bytes or 0), "memory, bytes"),
        (_retry(job.retry, steps), ""),
        (_milliseconds(every_ns[0]), "every, ms"),
        (_milliseconds(every_ns[1]), "its jitter, ms"),
        (tags, "tags"),
        (CText(len(job.tags)), "how many"),
    ]
    notes = [f"/* {note} */" if note else "" for _, note in values]
    return tables, layout.margin_notes([f"{value}," for value, _ in values], notes)


def _retry(retry: Retry, steps: CText) -> CText:
    cells = [
        literals.c_uint32(retry.max),
        BACKOFFS[retry.backoff],
        _milliseconds(retry.base_ns),
        literals.c_float64(retry.factor or "1"),
        _milliseconds(retry.cap_ns),
        steps,
        CText(len(retry.steps_ns)),
        JITTERS[retry.jitter],
        literals.c_float64(retry.jitter_ratio or "0"),
    ]
    return CText("{" + layout.fill(cells, 5) + "}")


def _milliseconds(nanoseconds: Optional[int]) -> CText:
    """Rounded up, because 0 means that there is no such limit."""
    if not nanoseconds:
        return ZERO
    return literals.c_int64((nanoseconds + NS_PER_MS - 1) // NS_PER_MS)
