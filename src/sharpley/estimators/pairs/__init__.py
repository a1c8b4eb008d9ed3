"""Estimation from pairs, each a coalition and its complement: their choice, their odd values, and regression."""
