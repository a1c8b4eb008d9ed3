"""A model and a row as a game: features outside the coalition take the values of background rows."""
