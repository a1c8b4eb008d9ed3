"""What readers should know about the results, and what was not reproduced. The page and the documentation print it."""

from __future__ import annotations

NOTES = (
    "The paper has 22 figures and tables, 17 figures and 5 tables; the page says how many of them are here. Their "
    "figures show the paper's methods only. What is of this library (permutation designs, regression, gp, background "
    "rows of their own) is in figures beside them, marked “beyond the paper”; our allocation of stratified sampling is "
    "dashed beside Castro's.",
    "An experiment is a model, ten rows to explain and a background of 100 others (fewer with the preset quick). The "
    "paper has one for each data set, with 25 trials; here there are several, with fewer trials in each (and a fifth "
    "of them of methods without orderings and of this library's own). Trees of the first experiment are trained on all "
    "rows, as in the paper, those of the others on bootstrap samples. Networks are trained on all rows, from different "
    "random weights.",
    "Networks have scikit-learn's defaults, as in the paper, which does not say how their inputs were prepared. "
    "They are shown with standardised inputs, which decide, and with raw numbers. What is explained is the "
    "prediction of a regression and the log-odds of a classification.",
    "Sobol' orderings depend on how the players are labelled, through the order of the polar angles. Here it is the"
    " order of Algorithm 4 as printed, with players in the order of the data's columns; the authors' early code has "
    "the angles the other way round. Neither is better on all data.",
    "year is a sample of 7,000 of its 515,345 rows, unless the whole data set is given. breast_cancer is scikit-"
    "learn's, with 569 rows of 30 columns; the paper prints 699 rows, which is another data set. make_regression "
    "has the authors' seed and noise.",
    "Images are explained in the presets quick and laptop at a smaller scale than the paper's, and the claims about "
    "their errors are not judged there. The preset images has the paper's 256 tiles and 100 orderings, with two free "
    "photographs, MobileNetV2 and 5 trials; the preset paper has ResNet50, 8 photographs and 25 trials. Times are from "
    "another machine than the paper's.",
    "The paper's pseudo-code has slips; the samplers here are those that it means. The documentation's page about "
    "its errata lists them, each with its check.",
)
