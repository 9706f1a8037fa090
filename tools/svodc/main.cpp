// svodc: the command line of the compiler. Hands argv and the environment on.
#include "program.h"

int main(int argc, char** argv) { return svod::runProgram({argv + (argc > 0), argv + argc}, svod::readEnvironment()); }
