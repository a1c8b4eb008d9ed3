"""Tree ensembles as games, without a single call of ``predict``."""
