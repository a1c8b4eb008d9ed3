"""What every room needs and nobody else: array types, checks of arguments, files that are written whole, the cache."""
