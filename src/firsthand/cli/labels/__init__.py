"""The commands on label studies: ``app`` gathers options, and each other file does what one command does."""
