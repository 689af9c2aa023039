"""How the miniature's weights are made; not part of the installed package. See `python -m training --help`."""
