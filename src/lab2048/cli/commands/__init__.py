"""The commands: one file each, or a folder."""
