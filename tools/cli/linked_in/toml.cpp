// toml++'s compiled part for the program that links no shared library of it: its headers define
// what they otherwise only declare where this is asked for.

#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
