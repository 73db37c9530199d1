"""The figures of the paper, measured and drawn again."""
