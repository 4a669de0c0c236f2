"""Where people and programs meet orgctx: parse arguments, call views, show errors."""
