"""The head-to-head benchmark: every method here against shap's and shapiq's, on games with known Shapley values."""
