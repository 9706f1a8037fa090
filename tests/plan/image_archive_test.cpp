// Images hold the code of many kernels, and give each back; damage is no crash.
#include <catch2/catch.hpp>

#include "plan/image_archive.h"

using namespace svod;

namespace {

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

std::optional<std::string> codeOf(const std::string& image, std::string_view symbol) {
  const auto code = codeIn(bytesOf(image), symbol);
  if (!code) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(code->data()), code->size());
}

}  // namespace

TEST_CASE("an image gives the code of every kernel back, aligned and followed by a zero") {
  const std::string long_(1000, 'x'), binary("\0\n \xff", 4);
  const KernelCode kernels[] = {{"first", binary}, {"fir", ""}, {"second", long_}, {"third", "kernel"}};
  const std::string image = joinImage(kernels);
  for (const KernelCode& kernel : kernels) {
    const auto code = codeIn(bytesOf(image), kernel.symbol);
    REQUIRE(code);
    CHECK(codeOf(image, kernel.symbol) == kernel.bytes);
    const auto offset = static_cast<size_t>(code->data() - bytesOf(image).data());
    CHECK(offset % 64 == 0);
    CHECK(image.at(offset + code->size()) == '\0');
  }
  CHECK(!codeIn(bytesOf(image), "secon"));
  CHECK(!codeIn(bytesOf(image), ""));
  CHECK(!codeIn(bytesOf(joinImage({})), "first"));
}

TEST_CASE("what stands behind an image does not matter, and what is missing or wrong is noticed") {
  const KernelCode kernels[] = {{"a", "code of a"}, {"b", "code of b"}};
  const std::string image = joinImage(kernels);
  CHECK(codeOf(image + "svod plan ", "b") == "code of b");
  for (size_t length = 0; length < image.size() - 64 + 9; ++length)
    CHECK(codeOf(image.substr(0, length), "b").value_or("code of b") == "code of b");
  CHECK(!codeIn(bytesOf(image.substr(0, image.size() - 64 + 8)), "b"));
  CHECK(!codeIn(bytesOf("kernel a"), "a"));
  for (const char* line :
       {"a 64 x\n", "a -64 1\n", "a 64\n", "a 60 1\n", "a 99999999999999999999 1\n", "a 64 18446744073709551615\n"}) {
    std::string damaged = "svod image 1\n" + std::string(line) + "\n";
    damaged.resize(256);
    CHECK(!codeIn(bytesOf(damaged), "a"));
  }
}
