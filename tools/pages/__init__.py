"""The reference pages that follow from the code, one file each. Every page is a pure function."""
