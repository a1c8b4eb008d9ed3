"""Results for people: as frames, files, printed text and HTML. Nothing here estimates anything."""
