"""Tree ensembles as games that are evaluated without calling ``predict``."""
