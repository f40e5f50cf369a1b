"""`python -m assistant` is the `advisor` command."""

from assistant.cli import main

main()
