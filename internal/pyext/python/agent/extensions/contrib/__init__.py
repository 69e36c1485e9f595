"""Extensions that ship with aura. They do nothing unless they are copied or imported."""
