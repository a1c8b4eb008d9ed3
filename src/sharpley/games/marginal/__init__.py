"""The prediction of a model for a row as a game: absent features take their values from background rows."""
