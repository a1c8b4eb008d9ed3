"""Internal helpers shared by all subpackages: array types, checks of arguments, atomically written files, the cache."""
