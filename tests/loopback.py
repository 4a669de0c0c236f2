"""The only network there is in a test: this machine, which answers itself."""

LOOPBACK = "127.0.0.1"
