"""Studies behind choices that the library made, each a module to be run with ``python -m``."""
