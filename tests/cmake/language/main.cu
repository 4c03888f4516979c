// Launches a kernel of a static library that calls a function of another file there.
int launchIncrement(int value);
int expected();
int main() { return launchIncrement(41) == expected() ? 0 : 1; }
