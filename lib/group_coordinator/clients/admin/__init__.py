"""AdminClient and its asyncio twin. Each method is written once, by `operation.py`."""
