from hypothesis import settings

# The first example compiles: no deadline. The same examples on every run: a failure is never a matter of luck.
settings.register_profile("sharpley", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sharpley")
