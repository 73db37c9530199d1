"""``catalpa lab``: the experiments of the paper, and comparisons of your own."""
