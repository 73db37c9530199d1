"""The iteration shared by all methods: initial rows, convergence, relearning, restarts, progress."""
