"""Plots: functions that draw and compute nothing."""
