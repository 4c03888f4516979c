int expected() { return 42; }
