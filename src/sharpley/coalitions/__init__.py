"""Coalitions: a store of distinct ones, enumeration, and the moments of estimates computed from their values."""
