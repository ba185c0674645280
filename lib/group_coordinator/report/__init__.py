"""The tables as one HTML page: questions (`sections/`), the page around them, and a server that keeps it current."""
