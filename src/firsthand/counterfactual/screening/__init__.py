"""What is unexpected in how a target answers, found in the responses that were sampled first."""
