"""What every error bar has in common: what was not seen, and degrees of freedom."""
