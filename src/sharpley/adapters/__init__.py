"""Results in the forms of other libraries; each is imported on first use."""
