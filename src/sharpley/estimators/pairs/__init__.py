"""Coalitions in complementary pairs: choosing them, their odd values, and regression on them."""
