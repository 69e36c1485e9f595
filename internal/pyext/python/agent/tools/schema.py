"""Descriptions of tools: what they do to the world, and what they are."""

from enum import Enum

from agent.extensions.api import ToolSpec

__all__ = ["SideEffect", "ToolSpec"]


class SideEffect(str, Enum):
    """What a tool may do besides answering; shown in approvals and listings."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    NETWORK = "network"
    EXTERNAL = "external"

    def __str__(self) -> str:
        return self.value
