"""The subcommands of `advisor`, one file a theme; each imports what it needs when it runs."""
