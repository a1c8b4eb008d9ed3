"""Studies of choices that the library makes, each run as ``python -m sharpley_experiments.studies.<name>``.

``backgrounds``
    How far the values of one row depend on which 100 background rows are drawn.
``batch``
    Rows per second, memory and overhead of ``sharpley explain``, in one process, in two, and on a cluster.
``common_part``
    How much of what a regression in every draw misses is common to all draws.
``coverage``
    How often the 95% intervals of each method cover the true value.
``design_error``
    Errors of Shapley values from designs, compared with those from every other sampler of orderings.
``designs``
    Variants of the search for designs, and a lower bound on the discrepancy for few players.
``gp_rows``
    Errors and time of ``gp`` for rows that are explained in calls of different sizes.
``gp_versions``
    Method "gp" of two versions of this project, on the same games with the same seeds.
``indices``
    How indices other than Shapley values are best sampled: q from the measure, or weighted orderings.
``overhead``
    Time and memory around the model calls, compared with shap.
``rough``
    How often 95% intervals cover the true value on rough games, and whether a tolerance keeps its promise.
``tiny``
    Errors, coverage and time of ``gp`` from 2 to 10 evaluations for each player, beside shapiq's ShaplEIG.

``common`` holds what several studies use; ``design_internals`` holds all uses of parts of the library that are not
public.
"""
