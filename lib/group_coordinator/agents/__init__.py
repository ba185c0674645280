"""Read-only tools for agents, by the Model Context Protocol: arguments and queries of the tools (`tools.py`), and their server (`server.py`)."""
