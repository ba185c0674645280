"""HTML page of the tables: questions (`sections/`), the page around them, and a server that keeps it current."""
