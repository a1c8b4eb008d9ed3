"""Claims of the paper's text that no figure or table of it shows: rates, unbiasedness, error bounds."""

from __future__ import annotations

from sharpley_experiments.paper.exhibits import Exhibit
from sharpley_experiments.paper.theory.functions import FUNCTIONS_OF_ORDERINGS
from sharpley_experiments.paper.theory.propositions import PROPOSITIONS
from sharpley_experiments.paper.theory.rate import RATE

THEORY: dict[str, Exhibit] = {exhibit.name: exhibit for exhibit in (PROPOSITIONS, RATE, FUNCTIONS_OF_ORDERINGS)}
