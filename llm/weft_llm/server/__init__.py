"""A server with OpenAI's API: an ASGI application, and the thread that computes."""

from __future__ import annotations

import argparse
import os
from typing import Any

from weft.base.errors import CapabilityError


def serve(model: Any, arguments: argparse.Namespace) -> int:
    """Serve a model until the process is asked to end; returns the exit code.

    Raises CapabilityError where starlette and uvicorn are not installed.
    """
    try:
        import uvicorn

        from weft_llm.server.app import create_app
    except ImportError as error:
        raise CapabilityError(
            "the server needs packages that are not installed",
            because=str(error),
            try_="pip install 'weft-llm[server]'",
        ) from error
    name = arguments.name or os.path.basename(os.path.normpath(arguments.model))
    key = arguments.api_key or os.environ.get("WEFT_LLM_API_KEY")
    app = create_app(
        model, name, key=key or None, parallel=arguments.parallel, queue=arguments.queue
    )
    if key is None and arguments.host not in ("127.0.0.1", "localhost", "::1"):
        print(f"warning: everybody who reaches {arguments.host} can use the model: no API key")
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")
    return 0
