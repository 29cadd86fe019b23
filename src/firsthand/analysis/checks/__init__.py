"""What a published table says when it is read with care: one check a file, run wherever its columns are there."""
