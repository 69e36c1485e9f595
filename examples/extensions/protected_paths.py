"""Keeps the agent away from files it must not touch.

Any tool that names a protected path in its arguments is stopped, whatever the
tool is called. If this check itself fails, the call is stopped too.
"""

from fnmatch import fnmatch
from pathlib import PurePath

from agent.extensions.api import BlockResult, ExtensionAPI, ExtensionContext

PROTECTED = (".env", ".env.*", "secrets.*", "id_rsa*", "*.pem", "*.key")
PATH_ARGUMENTS = ("path", "file_path", "paths", "source", "destination")


def protected(path: str) -> bool:
    return any(fnmatch(part, pattern) for part in PurePath(path).parts for pattern in PROTECTED)


def register(api: ExtensionAPI) -> None:
    @api.on("tool_call", on_failure="block")
    def protect(event, ctx: ExtensionContext) -> BlockResult | None:
        for name in PATH_ARGUMENTS:
            value = event.arguments.get(name) or []
            for path in [value] if isinstance(value, str) else value:
                if protected(str(path)):
                    return api.block(f"{path} is protected")
        command = str(event.arguments.get("command") or "")
        for word in command.replace("=", " ").split():
            if protected(word.strip("\"'")):
                return api.block(f"{word} is protected")
        return None
