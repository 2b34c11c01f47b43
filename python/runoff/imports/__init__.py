"""Numbers that other programs have measured: read from their files, put together as the samples of a campaign."""
