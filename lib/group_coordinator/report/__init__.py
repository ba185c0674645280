"""The tables as an HTML page: a file for each question (`sections/`), charts, the page around them, a server that keeps it current."""
