"""Where notes are found, read and named. What is read is never written."""
