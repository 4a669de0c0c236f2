"""Curves, drawn small: rows of panels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")  # no screen is needed
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from .report import Panel

STYLES = ("-", "-", "--", "--", "--", ":", ":")
"""By the curve's number, so that curves differ without colour, too; ours come first."""
MARKERS = "osv^Dx+"
ACROSS, TICKS = 3, 8


def draw(panels: Sequence[Panel], place: Path) -> None:
    """Draw the panels into a PNG."""
    across = min(len(panels), ACROSS)
    down = -(-len(panels) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.3 * across, 2.6 * down + 0.5), squeeze=False, layout="constrained"
    )
    flat = list(axes.flat)
    for ax, panel in zip(flat, panels, strict=False):
        curves(ax, panel)
    legends(figure, flat[: len(panels)], are_same=len({(*each.curves,) for each in panels}) == 1)
    for ax in flat[len(panels) :]:
        ax.axis("off")
    figure.savefig(place, dpi=90, metadata={"Software": None})
    plt.close(figure)
    small(place)


def legends(figure: Figure, axes: Sequence[Axes], are_same: bool) -> None:
    """One for all, if all have the same curves; else one for each."""
    if are_same:
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    for ax in () if are_same else axes:
        ax.legend(fontsize=7, frameon=False)


def curves(ax: Axes, panel: Panel) -> None:
    for (name, values), style, marker in zip(panel.curves.items(), STYLES, MARKERS, strict=False):
        ax.plot(panel.at, values, style, marker=marker, markersize=3.5, linewidth=1.3, label=name)
    ax.set_xscale("log")
    if len(panel.at) <= TICKS:
        ax.set_xticks(list(panel.at))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelsize=7)
    ax.tick_params(axis="x", rotation=30)
    if panel.is_log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    else:
        ax.set_ylim(bottom=0)
    ax.set_title(panel.title, fontsize=9)
    ax.set_xlabel(panel.along, fontsize=8)
    ax.set_ylabel(panel.unit, fontsize=8)
    ax.grid(visible=True, linewidth=0.3)


def small(place: Path) -> None:
    """Keep few colours: a picture of lines needs no more."""
    from PIL import Image  # it comes with matplotlib

    with Image.open(place) as picture:
        few = picture.convert("RGB").quantize(128)
    few.save(place, optimize=True)
