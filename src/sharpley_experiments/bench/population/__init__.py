"""The benchmark of backgrounds: errors against the Shapley values for all background rows, at equal predictions.

Libraries are called as their users call them, with the model and its data. What they cost is the number of predictions
of the model, and what they are compared with are the Shapley values for a whole population of background rows.
"""
