"""``python -m devlint``: the same program as the ``devlint`` command."""

from devlint.cli.main import main

if __name__ == "__main__":
    main()
