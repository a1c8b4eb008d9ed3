"""Experiments with ``sharpley``: the paper reproduced, the benchmark with other libraries, and studies of choices."""
