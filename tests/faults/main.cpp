// svodc with a fault in one of its passes: svodc-with-fault PASS all|vectors|threads|last-bit WORDS-OF-SVODC. It has
// devices of kind emulated, so that --verify runs kernels with a grid as well.
#include <cstdio>
#include <string_view>

#include "../../tools/svodc/program.h"
#include "faults/planted_fault.h"

using namespace svod;

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("svodc-with-fault PASS all|vectors|threads|last-bit WORDS\n", stderr), 2;
  const std::string_view name = argv[1], graphs = argv[2];
  const FaultIn where = graphs == "vectors"    ? FaultIn::Vectors
                        : graphs == "threads"  ? FaultIn::Threads
                        : graphs == "last-bit" ? FaultIn::LastBit
                                               : FaultIn::All;
  return runProgram({argv + 3, argv + argc}, Environment{},
                    [=](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
                      return pass.name == name ? withFault(pass, root, cx, where) : root;
                    });
}
