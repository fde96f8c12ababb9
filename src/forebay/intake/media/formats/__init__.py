"""One container each: `MIME` for messages, `matches` for its first bytes, `probe` for its measures. See `Format`."""
