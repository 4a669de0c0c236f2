"""The small memex of the battery: eight documents in two roots, and ten questions about them."""

from __future__ import annotations

from typing import NamedTuple

NOTES = {
    "household/garden.org": """\
#+title: Garden
What grows where, and what is to be done.

* Beds
** North bed
Shade until noon. Ferns and hostas since 2021.
** South bed
:PROPERTIES:
:ID: b9f2c6d4-garden-south
:END:
Tomatoes and basil. The soil was limed in March.
* Tasks
** TODO Order seed potatoes                                         :spring:
The variety is Linda, five kilograms.
** DONE Repair the water butt                                       :spring:
""",
    "household/travel/lisbon.org": """\
#+title: Lisbon in October
#+filetags: :travel:

* Getting there
Night train to Irun, then the bus; booking code QX7RLM.
* Where to stay
Casa do Tejo, Rua da Bica 14. Breakfast from eight.
* Museums
** Tile museum
Closed on Mondays. Look at the rims, for our own [[id:5c1e7a90-studio-tiles][tiles]].
""",
    "household/travel/packing.org": """\
#+title: Packing
* Always
- passport
- charger
* For cold places
- wool socks
""",
    "studio/index.org": """\
#+title: Studio
A pottery with two kilns. Orders are under projects, materials under materials.

* People
** Ida
Throws, and fires on Thursdays.
** Benno
Keeps the books.
""",
    "studio/materials/glazes.org": """\
#+title: Glazes
* Celadon
:PROPERTIES:
:ID: 0d3b58e1-studio-celadon
:END:
Iron oxide two percent. Fires at 1260 degrees in reduction.
* Tenmoku
Iron oxide nine percent. Fires at 1280 degrees.
""",
    "studio/materials/suppliers.org": """\
#+title: Suppliers
* Clay
** Hartmann
Delivers on the first Tuesday of the month. Customer number 40417.
** Oker
Only whole pallets.
* Oxides
** Lindqvist
Iron oxide in sacks of ten kilograms.
""",
    "studio/projects/bowls.org": """\
#+title: Bowls for the tea house
* TODO Second firing                                                :urgent:
Sixty bowls are bisque fired. Twelve cracked at the foot.
* DONE First firing
""",
    "studio/projects/tiles.org": """\
:PROPERTIES:
:CUSTOM_ID: tiles
:END:
#+title: Tiles for the stairwell
* Order
:PROPERTIES:
:ID: 5c1e7a90-studio-tiles
:END:
Two hundred tiles, glazed with [[id:0d3b58e1-studio-celadon][celadon]].
** Sizes
Fifteen by fifteen centimetres, ten millimetres thick.
** Deadline
Delivery on 14 May, to the school in Lindenstraße.
* Open questions
** WAIT Who sets them?
""",
}


class Turn(NamedTuple):
    """A question. right: patterns that must all be found in the answer; wrong: that must not."""

    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()


TURNS = (
    Turn("Which folders does the root studio have?", ("materials", "projects"), ("travel",)),
    Turn("At how many degrees is celadon fired?", (r"1,?260",), (r"1,?280",)),
    Turn("When are the tiles for the stairwell to be delivered?", (r"14 May|May 14",)),
    Turn("And how thick are they?", (r"\b(ten|10) ?(mm|millimet)",)),
    Turn("Which headlines are tagged urgent?", ("Second firing",), ("water butt",)),
    Turn("How many of the bowls cracked?", (r"(?i)\b(12|twelve)\b",)),
    Turn("What is the booking code of the journey to Lisbon?", ("QX7RLM",)),
    Turn("What is our customer number at Hartmann?", ("40417",)),
    Turn(
        "Which glaze do the tiles get, and how much iron oxide is in it?",
        ("(?i)celadon", r"(?i)\b(2|two) ?(%|per ?cent)"),
        (r"(?i)\bnine\b|\b9\b",),
    ),
    Turn("What is Ida's telephone number?", (r"(?i)\bno\b|\bnot\b|n't|unknown",), (r"\d{3}",)),
)  # fmt: skip
