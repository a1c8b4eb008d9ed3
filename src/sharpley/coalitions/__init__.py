"""Coalitions and what is computed from their values: a store of distinct ones, and moments of estimates."""
