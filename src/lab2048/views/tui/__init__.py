"""The full-screen terminal: a screen a file.  Only `lab2048 tui` imports it, because Textual takes its time."""
