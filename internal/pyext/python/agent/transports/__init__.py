"""State that is shown to people: agent.transports.companion_state."""
