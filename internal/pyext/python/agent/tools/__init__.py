"""What describes tools: agent.tools.schema."""
