"""Estimation from single draws: each ordering has a draw of its own, and what is known of all draws is used."""
