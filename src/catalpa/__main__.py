"""``python -m catalpa``: the same as the command ``catalpa``."""

from catalpa.cli.main import main

if __name__ == "__main__":
    main()
