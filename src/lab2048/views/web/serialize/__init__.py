"""JSON between the page and the server: schemas, and games and charts as data."""
