"""Estimation from games, a method and a budget: choice of the method, evaluation of coalitions, and results."""
