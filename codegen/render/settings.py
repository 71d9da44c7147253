"""The numbers among a job's settings: what the IR may say, and how the descriptor says it.

One row each, in the order of struct culex_job_type, to which the tests hold it when they are
compiled. Settings of other forms are read in model.py
and written in jobs.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import literals
from literals import ZERO, CText
from node import Node

# CULEX_DESCRIPTOR_VERSION of culex/job.h, which goes up with every change of the layout there. A test
# holds both to one number, and the number to the layout (tests/parts/render/descriptor_layout.c).
DESCRIPTOR_VERSION = 1

NS_PER_MS = 1000000
INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Setting:
    key: str   # in the IR
    note: str  # behind its member of the descriptor
    most: int = INT64_MAX
    has_none: bool = False  # null is no limit, which the descriptor has as 0
    is_duration: bool = True  # nanoseconds, and milliseconds in the descriptor

    @property
    def member(self) -> str:
        """Of the descriptor."""
        return self.key[:-len("_ns")] + "_ms" if self.is_duration else self.key

    def read(self, job: Node) -> Optional[int]:
        if self.has_none and job.is_null(self.key):
            return None
        return job.integer(self.key, 0, self.most)

    def write(self, number: Optional[int]) -> CText:
        return milliseconds(number) if self.is_duration else literals.c_int64(number or 0)


SETTINGS: Tuple[Setting, ...] = (
    Setting("priority", "priority", most=9, is_duration=False),
    Setting("timeout_ns", "timeout, ms", has_none=True),
    Setting("expires_ns", "expires, ms", has_none=True),
    Setting("keep_success_ns", "kept after success, ms"),
    Setting("keep_failure_ns", "kept after the last failure, ms"),
    Setting("keep_log", "log lines kept", most=1000, is_duration=False),
    Setting("memory_bytes", "memory, bytes", has_none=True, is_duration=False),
)


def milliseconds(nanoseconds: Optional[int]) -> CText:
    """Rounded up, because 0 means that there is no such limit."""
    if not nanoseconds:
        return ZERO
    return literals.c_int64((nanoseconds + NS_PER_MS - 1) // NS_PER_MS)
