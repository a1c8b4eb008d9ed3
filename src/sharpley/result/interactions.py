"""The result for sets of players, such as pairs: interactions with errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from sharpley._support.checks import check_choice, check_count
from sharpley._support.typing import Floats
from sharpley.coalitions.moments import Moments
from sharpley.indices import Label, component_noun
from sharpley.result.base import Estimate

SIMULATIONS = 4000  # of all errors at once: probabilities are then known to about 0.01
NUMBERS_AT_ONCE = 2**22  # simulated, 32 MB
NOT_ADDITIVE = ("SII", "BII")
"""Indices whose single players include half of the interactions of each of their pairs."""


@final
@dataclass(frozen=True, repr=False)
class InteractionEstimate(Estimate):
    """Estimated interactions of pairs (or triples) of players, and their main effects, with standard errors.

    For one game, the arrays have shape (components,), or (components, k) for k outputs. For several rows, the first
    axis is that of rows. ``estimate[rows, components, outputs]`` selects, by position or by name, as in ``estimate[0]``
    and ``estimate["age × sex"]``.

    Attributes
    ----------
    values : float
        Estimated components: first those of single players, then those of pairs, and so on.
    standard_errors, degrees_of_freedom : float, of the same shape as ``values``
        Estimated standard deviations of ``values``, 0 where these are exact, and the degrees of freedom behind them.
    base_values : float
        v(∅). Base value and components add up to v(N) for the indices "k-SII", "STII" and "FSII".
    n_evals, method, converged, n_predictions, output_names, row_labels, compute_time
        As for ``ShapleyEstimate``.
    names : list of str or None
        Names of the components, such as "age × sex".
    index : str
        Name of the index, such as "k-SII".
    labels : list of tuple of int
        The players of each component.
    players : list of str or None
        Names of the players.
    d : int
        Number of players.

    Examples
    --------
    >>> import sharpley
    >>> explainer = sharpley.Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], [[0.0, 0.0, 0.0]])
    >>> found = explainer.interactions([2.0, 3.0, 1.0], index="k-SII")
    >>> found.matrix()
    array([[0., 6., 0.],
           [6., 0., 0.],
           [0., 0., 1.]])
    >>> found
    k-SII interactions of 3 players by exact, from 8 evaluations
    base value 0
      Feature 0 × Feature 1  +6 ± 0       ████████████████████████
      Feature 2              +1 ± 0       ████
      Feature 0               0 ± 0
      Feature 1               0 ± 0
      Feature 0 × Feature 2   0 ± 0
      Feature 1 × Feature 2   0 ± 0
    """

    labels: list[Label] = field(default_factory=list)
    players: list[str] | None = None
    d: int = 0

    @property
    def order(self) -> int:
        """Number of players in the largest sets."""
        return max(map(len, self.labels), default=0)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.d

    @property
    def noun(self) -> str:
        """What one of the components is called, such as "k-SII interaction"."""
        return component_noun(self.index, 2)

    @property
    def player_names(self) -> list[str]:
        """Names of the players; "Player 0", … if they have none."""
        return self.players or [f"Player {player}" for player in range(self.d)]

    @property
    def component_names(self) -> list[str]:
        """Names of the components."""
        names = self.player_names
        return self.names or [" × ".join(names[player] for player in label) for label in self.labels]

    def matrix(self, quantity: str = "value", *, level: float = 0.95) -> Floats:
        """Return main effects and interactions of pairs as a symmetric matrix.

        Parameters
        ----------
        quantity : {"value", "standard_error", "lower", "upper"}
            What the matrix holds.
        level : float, default 0.95
            Confidence level of "lower" and "upper".

        Returns
        -------
        (d, d), (rows, d, d), (d, d, k) or (rows, d, d, k) float
            The component of each pair stands on both sides of the diagonal, those of single players on the diagonal.
        """
        check_choice("quantity", quantity, ("value", "standard_error", "lower", "upper"))
        lower, upper = self.interval(level)
        arrays = {"value": self.values, "standard_error": self.standard_errors, "lower": lower, "upper": upper}
        components = arrays[quantity]
        axis = int(self.has_rows)
        pairs = [position for position, label in enumerate(self.labels) if len(label) <= 2]
        first, second = (
            np.array([self.labels[position][end] for position in pairs], dtype=np.int64) for end in (0, -1)
        )
        found = np.zeros((self.d, self.d, *components.shape[:axis], *components.shape[axis + 1 :]))
        found[first, second] = found[second, first] = np.moveaxis(components, axis, 0)[pairs]
        return np.moveaxis(found, (0, 1), (axis, axis + 1))

    def to_frame(self, *, wide: bool = False, level: float = 0.95) -> Any:
        """Return the estimate as a pandas DataFrame, with errors and confidence limits.

        Parameters
        ----------
        wide : bool, default False
            Whether to return one line for each row, with columns such as ``frame["value"]["age × sex"]``. By default,
            there is one line for each row and component, with the columns ``order``, ``player_1``, ``player_2``, ….
        level : float, default 0.95
            Confidence level of the limits ``lower`` and ``upper``.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import sharpley
        >>> game = sharpley.games.Airport((1.0, 2.0))
        >>> sharpley.estimate(game, index="SII").row(0).to_frame()[["players", "order", "value"]]
                       players  order  value
        0             Player 0      1    0.5
        1             Player 1      1    1.5
        2  Player 0 × Player 1      2   -1.0
        """
        from sharpley.presentation.frames import long_frame, wide_frame

        if wide:
            return wide_frame(self.labelled(level))
        frame = long_frame(self.labelled(level)).rename(columns={"feature": "players"})
        after, repeats = frame.columns.get_loc("players") + 1, len(frame) // max(1, len(self.labels))
        names = self.player_names
        for number in reversed(range(self.order)):
            column = [names[label[number]] if number < len(label) else None for label in self.labels]
            frame.insert(after, f"player_{number + 1}", np.array(column * repeats, dtype=object))
        frame.insert(after, "order", np.tile([len(label) for label in self.labels], repeats))
        return frame

    def top(self, k: int = 10, *, order: int | None = None, level: float = 0.95) -> Any:
        """Return the k largest interactions of one game, with how sure it is that they are among the k largest.

        Parameters
        ----------
        k : int, default 10
            How many.
        order : int, optional
            Number of players of the sets to compare: by default, that of the largest sets.
        level : float, default 0.95
            Confidence level of the limits ``lower`` and ``upper``.

        Returns
        -------
        pandas.DataFrame
            One line for each of them, the largest in absolute value first. ``certainty`` is the probability that it is
            among the k largest, for errors that are independent of each other and follow Student's t distribution.

        Examples
        --------
        >>> import sharpley
        >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
        >>> sharpley.estimate(game, index="SII").row(0).top(1)[["players", "value", "certainty"]]
                       players  value  certainty
        0  Player 1 × Player 2   -1.5        1.0
        """
        if self.values.ndim > 1:
            raise ValueError(
                f"top ranks the interactions of one game and output, got values of shape {self.values.shape}; select "
                "one, as in estimate[0].top(5) or estimate[0, :, 'yes'].top(5)"
            )
        size = self.order if order is None else check_count("order", order, minimum=1)
        at = np.flatnonzero([len(label) == size for label in self.labels])
        if not len(at):
            raise ValueError(f"there are no components of {size} players; the estimate has order {self.order}")
        k = min(check_count("k", k, minimum=1), len(at))
        largest = np.argsort(-np.abs(self.values[at]), kind="stable")[:k]
        frame = self.to_frame(level=level).iloc[at[largest]].reset_index(drop=True)
        frame = frame.drop(columns=["base_value", "order"])
        moments = Moments(self.values[at], self.standard_errors[at] ** 2, self.degrees_of_freedom[at])
        return frame.assign(certainty=_probability_of_being_among(moments, k)[largest])

    def to_shap(self) -> Floats:
        """Return what shap calls interaction values, for ``shap.summary_plot`` and ``shap.dependence_plot``.

        Returns
        -------
        (rows, d, d) or (rows, d, d, k) float
            Half of the interaction of each pair on either side of the diagonal, and main effects on it. The rows of
            the matrix of "SII" or "k-SII" add up to Shapley values.

        Examples
        --------
        >>> import sharpley
        >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
        >>> sharpley.estimate(game, index="SII").to_shap().sum(axis=2).round(3)
        array([[0.333, 0.833, 2.833]])
        """
        whole = self.matrix() if self.has_rows else self.matrix()[None]
        players = np.arange(self.d)
        main = whole[:, players, players]
        whole[:, players, players] = 0.0
        if self.index in NOT_ADDITIVE:
            main = main - whole.sum(axis=2) / 2.0
        whole /= 2.0
        whole[:, players, players] = main
        return whole

    def to_shapiq(self) -> Any:
        """Return shapiq's ``InteractionValues``, for its network, force, upset and other plots.

        Returns
        -------
        shapiq.InteractionValues, or list of them
            A list for several rows, and a list for several outputs. Needs shapiq: ``pip install shapiq``.
        """
        from sharpley.presentation.shapiq_values import interaction_values

        if self.has_rows:
            return [self.row(number).to_shapiq() for number in range(len(self))]
        if self.values.ndim == 2:
            return [self[:, number].to_shapiq() for number in range(self.values.shape[1])]
        return interaction_values(
            self.values,
            self.labels,
            index=self.index,
            d=self.d,
            base_value=float(self.base_values),
            n_evals=int(self.n_evals),
            is_exact=bool((self.standard_errors == 0.0).all()),
        )


def _probability_of_being_among(moments: Moments, k: int) -> Floats:
    """Return the probability that each component (m,) is among the k largest, by simulation of independent errors."""
    generator = np.random.default_rng(0)
    errors, degrees = np.sqrt(moments.variances), np.clip(moments.degrees_of_freedom, 1.0, 1e6)
    m = len(errors)
    counts, at_once = np.zeros(m), max(1, NUMBERS_AT_ONCE // m)
    for start in range(0, SIMULATIONS, at_once):
        shape = (min(at_once, SIMULATIONS - start), m)
        sizes = np.abs(moments.values + errors * generator.standard_t(degrees, size=shape))
        counts += (sizes >= np.partition(sizes, m - k, axis=1)[:, m - k, None]).sum(axis=0)
    return np.asarray(counts / SIMULATIONS)
