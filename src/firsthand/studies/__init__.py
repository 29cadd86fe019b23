"""One file a protocol: builds trials, runs the engine, leaves a trace."""
