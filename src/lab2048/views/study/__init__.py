"""Reports of studies: text, charts, and pages in Markdown and HTML."""
