"""``python -m catalpa``: the same as the command ``catalpa``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the shell was given."""
    try:
        from catalpa.cli.main import main as run

        run()
    except KeyboardInterrupt:  # while libraries were loaded; later the command itself takes care of it
        sys.stderr.write("Interrupted. No half-written file is left.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
