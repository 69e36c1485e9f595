"""The companion: a creature that grows with the tool calls of a session."""

from enum import Enum

__all__ = ["LEVEL_THRESHOLDS", "CompanionEngine", "Mood", "level_of", "xp_fraction"]

# Tool calls needed for levels 1 to 5.
LEVEL_THRESHOLDS = (0, 5, 15, 30, 50)


class Mood(str, Enum):
    HAPPY = "happy"
    SLEEPING = "sleeping"
    FOCUSED = "focused"
    THINKING = "thinking"
    EXCITED = "excited"
    STRESSED = "stressed"
    LEVEL_UP = "level_up"


def level_of(steps: int) -> int:
    """The level after that many tool calls."""
    return sum(1 for threshold in LEVEL_THRESHOLDS if steps >= threshold)


def xp_fraction(steps: int, level: int) -> float:
    """How much of the way to the next level is done, 0.0 to 1.0; 1.0 at the highest level."""
    if level >= len(LEVEL_THRESHOLDS):
        return 1.0
    low, high = LEVEL_THRESHOLDS[max(level, 1) - 1], LEVEL_THRESHOLDS[max(level, 1)]
    return min(max((steps - low) / (high - low), 0.0), 1.0)


class CompanionEngine:
    """Mood, level and experience. It draws nothing."""

    def __init__(self) -> None:
        self.steps = 0
        self.errors = 0
        self.level = 1
        self.mood = Mood.HAPPY

    def on_step(self) -> bool:
        """Count one tool call. True if it reached a new level."""
        self.steps += 1
        self.mood = Mood.FOCUSED
        level = level_of(self.steps)
        if level > self.level:
            self.level = level
            self.mood = Mood.LEVEL_UP
            return True
        return False

    def on_stream_chunk(self, text: str = "", reasoning_text: str = "") -> None:
        """The model thinks, or answers."""
        if reasoning_text:
            self.mood = Mood.THINKING
        elif text:
            self.mood = Mood.EXCITED

    def on_error(self) -> None:
        """Something went wrong."""
        self.errors += 1
        self.mood = Mood.STRESSED

    def on_idle(self) -> None:
        """Nothing happens."""
        self.mood = Mood.SLEEPING

    def bootstrap_from_session(self, session) -> None:
        """Take over what happened in a session that is resumed."""
        events = list(getattr(session, "events", None) or [])
        self.steps = sum(1 for e in events if e.type == "tool_call")
        self.errors = sum(1 for e in events if e.type == "error" or (e.type == "tool_result" and e.is_error))
        self.level = level_of(self.steps)
        self.mood = Mood.HAPPY
