// External tools: success, failure with captured output, tools that do not exist.
#include <catch2/catch.hpp>

#include "data/mapped_file.h"
#include "toolchain/c_compiler.h"
#include "toolchain/temp_dir.h"

using namespace svod;

namespace {

const std::vector<std::string> kEnvironment = {"PATH=/usr/local/bin:/usr/bin:/bin", "GREETING=hello"};

Status shell(const std::string& script) {
  return runTool({"sh", kEnvironment}, std::vector<std::string>{"-c", script});
}

}  // namespace

TEST_CASE("a tool that succeeds gives no error") { CHECK(shell("echo noise; exit 0").has_value()); }

TEST_CASE("a tool sees the environment it is given") { CHECK(shell("test $GREETING = hello").has_value()); }

TEST_CASE("a tool that fails gives its status and last lines") {
  const Status status = shell("for i in $(seq 1 50); do echo line $i; done; echo bad >&2; exit 3");
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error()->diag == Diag::CompileFailed);
  CHECK(status.error()->message == "'sh' exited with status 3");
  REQUIRE(status.error()->notes.size() == 20);
  CHECK(status.error()->notes.front() == "line 32");
  CHECK(status.error()->notes.back() == "bad");
}

TEST_CASE("a killed tool is an error") {
  const Status status = shell("kill -9 $$");
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error()->message == "'sh' was killed by signal 9");
}

TEST_CASE("a missing tool is an error that names it") {
  const Status status = runTool({"no-such-compiler", kEnvironment}, {});
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error()->message.find("no-such-compiler") != std::string::npos);
}

TEST_CASE("a C file becomes a library, a broken one an error that shows the compiler's words") {
  const TempDir folder = TempDir::make("/tmp").value();
  const std::string source = folder.file("k.c"), library = folder.file("k.so");
  REQUIRE(writeWholeFile(source, "int twice(int x) { return 2 * x; }\n").has_value());
  CHECK(compileShared({"cc", kEnvironment}, source, library).has_value());
  CHECK(readWholeFile(library).value().substr(1, 3) == "ELF");
  REQUIRE(writeWholeFile(source, "int twice(int x) { return two * x; }\n").has_value());
  const Status status = compileShared({"cc", kEnvironment}, source, library);
  REQUIRE_FALSE(status.has_value());
  CHECK(toText(status.error()).find("two") != std::string::npos);
}

TEST_CASE("a temporary directory disappears with its owner") {
  std::string path;
  {
    const TempDir folder = TempDir::make("/tmp").value();
    path = folder.file("x");
    REQUIRE(writeWholeFile(path, "x").has_value());
  }
  CHECK_FALSE(readWholeFile(path).has_value());
  CHECK_FALSE(TempDir::make("/no/such/place").has_value());
}
