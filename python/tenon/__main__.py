"""The command line: `python -m tenon run my_model …`, also installed as `tenon`."""

import sys

from tenon._load import command_line


def main() -> int:
    """Runs the words of this process's command line; returns the exit status."""
    return command_line(["tenon", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
