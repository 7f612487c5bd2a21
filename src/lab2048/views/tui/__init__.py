"""The full-screen terminal, one file per screen.  Only `lab2048 tui` imports it, because Textual loads slowly."""
