"""Links by ID, as they stand in a text."""

from __future__ import annotations

import re

_LINK = re.compile(r"\[\[id:([^\[\]:]+(?::(?!:)[^\[\]:]*)*)(?:::[^\[\]]*)?\][\[\]]|<id:([^<>\n]+)>")


def linked_ids(text: str) -> list[str]:
    """The IDs that a text links to, in order, each once (Org syntax: Regular and Angle Links).

    text: an entry; what is searched for behind `::` is no part of the ID.
    """
    found = (regular or angle.partition("::")[0] for regular, angle in _LINK.findall(text))
    return list(dict.fromkeys(found))
