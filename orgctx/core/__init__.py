"""The engine: pure functions, no files, no clock. Each module has its chapter in literate/."""
