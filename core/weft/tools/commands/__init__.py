"""One module per subcommand of ``weft``: ``add_arguments(parser)`` and ``run(arguments) -> exit
code``."""
