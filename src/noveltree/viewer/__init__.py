"""The lookahead in a browser: a page that shows a game and what is looked at before every decision."""
