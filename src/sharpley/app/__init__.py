"""The application: the command line, its demonstration, and the reading and writing of files."""
