"""Conversion of results to the types of other libraries, which are imported on first use."""
