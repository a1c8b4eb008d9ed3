"""Axes to draw on, and saving them; matplotlib is imported only inside functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def require_matplotlib() -> None:
    """Raise an error that names what to install if matplotlib is missing."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'sharpley[plot]'") from error


def new_axes(ax: Axes | None, *, height: float = 4.2) -> Axes:
    """Return ``ax``, or the axes of a new figure of this height, in inches, if it is None."""
    return new_figure((6.4, height)).subplots() if ax is None else ax


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a new figure of pyplot, of a width and height in inches: notebooks and ``plt.show()`` display it."""
    require_matplotlib()
    from matplotlib import pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def literal(text: str) -> str:
    r"""Return a name as matplotlib draws it literally: between two dollar signs, it would be a formula.

    Examples
    --------
    >>> print(literal("$x^$"))
    \$x^\$
    """
    return text.replace("$", r"\$")


def forget(ax: Axes) -> Axes:
    """Let pyplot forget the figure of ``ax``, which remains usable but is not displayed, and need not be closed."""
    from matplotlib import pyplot as plt

    plt.close(figure_of(ax))
    return ax


def save(ax: Axes, path: str | Path) -> None:
    """Save the figure that contains ``ax``.

    Parameters
    ----------
    ax : Axes
        Any axes of the figure.
    path : str or Path
        File to write; its suffix determines the format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sharpley import plotting
    >>> ax = plotting.convergence([10, 100], {"monte-carlo": [0.3, 0.1]}, ylabel="error")
    >>> with TemporaryDirectory() as folder:
    ...     plotting.save(ax, f"{folder}/convergence.png")
    ...     [path.name for path in Path(folder).iterdir()]
    ['convergence.png']
    """
    figure_of(ax).savefig(path, dpi=150, bbox_inches="tight")


def figure_of(ax: Axes) -> Figure:
    """Return the figure that contains ``ax``."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("these axes do not belong to a figure any more")
    return figure


def from_pyplot(draw: Callable[[], object], *, size: tuple[float, float]) -> Axes:
    """Return the axes drawn by a function that can only draw with pyplot, such as shap's plots.

    The user's backend, interactive mode and open figures remain unchanged.

    Parameters
    ----------
    draw : callable
        Draws on pyplot's current figure, and does not call ``show``.
    size : (float, float)
        Width and height of the figure, in inches.

    Returns
    -------
    Axes
        The first axes of the figure, which pyplot does not keep.
    """
    require_matplotlib()
    from matplotlib import pyplot as plt

    with _off_screen(), plt.ioff():
        figure = plt.figure()
        try:
            draw()
            figure.set_size_inches(*size)  # after drawing, since shap sets its own size
            return figure.axes[0]
        finally:
            plt.close(figure)  # pyplot forgets the figure; its axes remain usable


@contextmanager
def _off_screen() -> Iterator[None]:
    """Let pyplot draw without windows, and restore its backend afterwards."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("agg")
    try:
        yield
    finally:
        with suppress(ImportError):  # a backend that cannot be loaded here was not in use
            plt.switch_backend(before)
