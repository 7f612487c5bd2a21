"""Long work beside a view: commands that run in processes of their own, for the page and the TUI."""
