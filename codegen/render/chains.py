"""Chains: the descriptor of the steps, and the functions that begin one."""

from __future__ import annotations

import layout
import literals
from jobs import ERROR, RET_ID, function_view, return_call
from literals import CText
from model import Chain
from names import Context
from view import ChainView, TableView


def chain_view(context: Context, chain: Chain) -> ChainView:
    steps = context.names.fresh(chain.type_symbol + "_steps")
    first = chain.steps[0]
    return ChainView(
        comments=layout.comment(chain.doc),
        marker=context.marker(chain.line),
        type_symbol=CText(chain.type_symbol),
        tables=[TableView(CText(f"static const culex_job_type *const {steps}[]"),
                          [CText(f"&{step.type_symbol}") for step in chain.steps])],
        cells=CText(f"{literals.c_string(chain.qualified)}, {steps}, {len(chain.steps)}"),
        functions=[
            function_view(
                context, chain.enqueue, """\
Enqueues the first run of the chain; each other one comes in with the end of the one before,
with params made of its result. Borrows `job` for the call. `options` are of the first run
alone and may be NULL, as `ret_id` may. See culex_chain_enqueue.""",
                ["culex_client *client", f"const {first.c} *job", "const culex_enqueue_options *options",
                 RET_ID, ERROR],
                [return_call("culex_chain_enqueue",
                             ["client", f"&{chain.type_symbol}", "job", "options", "ret_id", "error"])]),
            function_view(
                context, chain.register, """\
Lets `worker` go on with the chain: to be called in each that runs one of its jobs, before
culex_worker_run. See culex_worker_register_chain.""",
                ["culex_worker *worker"],
                [return_call("culex_worker_register_chain", ["worker", f"&{chain.type_symbol}"])]),
        ],
    )
