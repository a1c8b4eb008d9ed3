"""From games, a method and a budget to an estimate: which method, what it may spend, and what is evaluated."""
