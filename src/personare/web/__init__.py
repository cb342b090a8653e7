"""Pages that people open in a browser: the listening panel and the local app; one server, one look."""
