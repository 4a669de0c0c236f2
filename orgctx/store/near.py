"""What somebody may have meant by a name that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

LONGEST = 100
"""Characters of a name that an error offers in place of one that is not there."""


def near(address: str, names: Iterable[str], works: Callable[[str], bool]) -> str:
    """A hint with the names that are most like the address, in what follows the file.

    names: what there is. works: whether one of them is an address, asked of the most alike.
    """
    known = {_key(name): name for name in names if len(name) <= LONGEST}
    key = _key(address)
    close = get_close_matches(key, list(known)[:5000], 9, 0.6)
    holding = [each for each in known if key and each and (key in each or each in key)]
    likely = dict.fromkeys((*close, *holding[:9]))
    if named := list(filter(works, map(known.__getitem__, likely)))[:3]:
        return did_you_mean(named)
    look = "see what there is with: orgctx ls"
    return f"a title needs its file, FILE::*TITLE; {look}" if address.startswith("id:") else look


def did_you_mean(names: Iterable[str]) -> str:
    """A hint that names what somebody may have meant; "" if there is nothing."""
    named = " or ".join(names)
    return f"did you mean {named}?" if named else ""


def get_close_matches(word: str, known: list[str], most: int, least: float) -> list[str]:
    """See difflib."""
    import difflib  # only an error needs it

    return difflib.get_close_matches(word, known, most, least)


def _key(name: str) -> str:
    return name.rpartition("::")[2].lstrip("*#").casefold()
