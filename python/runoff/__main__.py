"""``python -m runoff``: the command."""

from runoff.cli.main import main

if __name__ == "__main__":
    main()
