"""Images as games: tiles or superpixels are players, and a network's score for a class is the value."""
