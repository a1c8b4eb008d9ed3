"""The application: the command line, its demonstration, and the files that it reads and writes."""
