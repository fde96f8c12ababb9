"""A vision-language model small enough to train on one core, and honest enough to test a router with."""
