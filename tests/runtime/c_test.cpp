// The header and the shared library as a C program sees them.
#include <sys/wait.h>

#include "runtime/harness.h"

using namespace svod;

namespace {

const std::string kLibrary = std::string(SVOD_BIN_DIR) + "/../runtime-min";

struct Run {
  int code = 0;
  std::string out;
};
Run shell(const TempFolder& folder, const std::string& command) {
  const int status = std::system((command + " >" + folder / "out.txt" + " 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readText(folder / "out.txt")};
}

}  // namespace

TEST_CASE("a C99 program compiles without warnings, links the shared library and runs") {
  if (kAddressSanitizer || kThreadSanitizer) return;  // the program would have to be built with the same sanitizer
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 8));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n);
  b.launch("k_double", {x, y}, {R, W}, {n});
  b.write(folder / "p");
  const Run compiled =
      shell(folder, "cc -std=c99 -pedantic -Wall -Wextra -Werror -Iruntime-min/include tests/runtime/example.c -o " +
                        folder / "example" + " -L" + kLibrary + " -lsvod-runtime -Wl,-rpath," +
                        std::filesystem::absolute(kLibrary).string());
  INFO(compiled.out);
  REQUIRE(compiled.code == 0);
  Run run = shell(folder, folder / "example" + " " + folder / "p");
  CHECK(run.code == 0);
  CHECK(run.out == "2 4 6\n");
  run = shell(folder, folder / "example" + " " + folder / "nowhere");
  CHECK(run.code == 74);
  CHECK(run.out.find("[io]") != std::string::npos);
}

TEST_CASE("the shared library shows the functions of the header and nothing else") {
  if (kAddressSanitizer || kThreadSanitizer) return;
  TempFolder folder;
  const Run symbols = shell(folder, "nm -D --defined-only " + kLibrary + "/libsvod-runtime.so");
  REQUIRE(symbols.code == 0);
  const std::string header = readText("runtime-min/include/svod/runtime.h");
  size_t count = 0, declared = 0;
  for (size_t at = 0; at < symbols.out.size(); at = symbols.out.find('\n', at) + 1) {
    const std::string line = symbols.out.substr(at, symbols.out.find('\n', at) - at);
    const std::string name = line.substr(line.rfind(' ') + 1);
    INFO(line);
    const bool isDeclared =
        header.find(" " + name + "(") != std::string::npos || header.find("*" + name + "(") != std::string::npos;
    CHECK(isDeclared);
    count++;
  }
  for (size_t at = header.find("SVOD_API "); at != std::string::npos; at = header.find("SVOD_API ", at + 1)) declared++;
  CHECK(count == declared - 1);  // the definition of the macro
}
