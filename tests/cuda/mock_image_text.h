// Images that the mock runs.
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace svod {

/// What a kernel is for the mock.
struct MockCode {
  std::string arch = "sm_90a";
  int staticBytes = 0, registers = 32, threads = 1024;
};

/// An image that the mock runs: a function of a library of the host, or `thread`, the text of a thread.
inline std::string mockImage(const KernelDesc& kernel, const MockCode& code, std::string_view how,
                             std::string_view payload) {
  const bool isPtx = code.arch.starts_with("compute_");
  std::string lines = "kernel " + kernel.symbol + "\nstatic " + std::to_string(code.staticBytes) + "\nregisters " +
                      std::to_string(code.registers) + "\nthreads " + std::to_string(code.threads) + "\n";
  for (uint32_t i = 0; i < kernel.args.size(); i++) {
    bool isMap = false;
    for (const TensorMap& map : kernel.grid->tensorMaps) isMap = isMap || map.arg == i;
    lines += "arg " + std::string(nameOf(kernel.args[i].dtype)) + " " + std::to_string(kernel.args[i].bytes) +
             (isMap                         ? " map\n"
              : writes(kernel.args[i].mode) ? " w\n"
                                            : " r\n");
  }
  for (const std::string& value : kernel.values) lines += "value " + value + "\n";
  lines += std::string(how) + " " + std::to_string(payload.size()) + "\n" + std::string(payload);
  const std::string head = std::string("mock ") + (isPtx ? "ptx " : "cubin ") + code.arch + " ";
  size_t length = head.size() + 1 + lines.size(), digits = 1;  // of all, with the digits that say so
  while (std::to_string(length + digits).size() != digits) digits++;
  return head + std::to_string(length + digits) + "\n" + lines;
}

}  // namespace svod
