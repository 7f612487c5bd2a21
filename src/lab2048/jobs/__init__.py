"""Long work beside a view: commands in processes of their own, and how far they have come."""
