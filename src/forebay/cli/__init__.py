"""The command line, and the only place where rooms are composed. One file per command."""
