// Compiles printed C with the system compiler and calls a kernel of it.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "target/c/print_c.h"

namespace svod {

using KernelFunction = void (*)(void* const*, const int64_t*, int64_t, int64_t, void*);

class CompiledC {
 public:
  CompiledC(const std::string& code, const std::string& compiler, const std::string& flags) {
    char folder[] = "/tmp/svod_target_c_XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("mkdtemp");
    std::string base = std::string(folder) + "/k";
    std::ofstream(base + ".c") << code;
    std::string command = compiler + " -std=c11 -Wall -Wextra -Werror " + flags + " -fPIC -shared " + base + ".c -o " +
                          base + ".so -lm 2>" + base + ".log";
    int status = std::system(command.c_str());
    std::ifstream log(base + ".log");
    std::string text((std::istreambuf_iterator<char>(log)), {});
    if (status == 0) library_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    for (const char* ending : {".c", ".so", ".log"}) unlink((base + ending).c_str());
    rmdir(folder);
    if (library_ == nullptr) throw std::runtime_error(text + "\n" + code);
  }
  CompiledC(const CompiledC&) = delete;
  ~CompiledC() { dlclose(library_); }
  KernelFunction operator[](const std::string& name) const {
    return reinterpret_cast<KernelFunction>(dlsym(library_, name.c_str()));
  }

 private:
  void* library_ = nullptr;
};

}  // namespace svod
