"""What a campaign has on the disk: its journal, the files beside it, and who may write there."""
