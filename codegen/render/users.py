"""Types of the user's own: the header they come from, and the functions that the runtime calls."""

from __future__ import annotations

from typing import List, Sequence

import layout
import literals
from literals import CText
from model import User
from names import Context
from view import UserView


def headers(users: Sequence[User]) -> List[CText]:
    """Each once, in the order of the schema."""
    return [CText(header) for header in dict.fromkeys(user.header for user in users)]


def user_view(context: Context, user: User) -> UserView:
    parse = context.names.fresh(user.type_symbol + "_parse")
    write = context.names.fresh(user.type_symbol + "_format")
    return UserView(
        comments=layout.comment(user.doc),
        marker=context.marker(user.line, f"{user.c} is of {user.header}"),
        type_symbol=CText(user.type_symbol),
        check=CText(f"CULEX_USER_TYPE_CHECK({user.c}, {user.parse}, {user.format});"),
        parse=parse,
        format=write,
        parse_call=CText(f"{user.parse}(text, len, CULEX_PTR_CAST({user.c} *, ret_value))"),
        format_call=CText(f"{user.format}(CULEX_PTR_CAST(const {user.c} *, value), ret_text, size)"),
        cells=layout.fill([literals.c_string(user.name), f"sizeof({user.c})", parse, write], 4),
    )
