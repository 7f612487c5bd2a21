"""Players that search: what they have in common, and one file each for those that take any evaluator."""
