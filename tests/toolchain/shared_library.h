// Library bytes loaded into the test process.
#pragma once
#include <string>

namespace svod {

class SharedLibrary {
 public:
  explicit SharedLibrary(const std::string& bytes);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;

  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(find(name));
  }
  const std::string& error() const { return error_; }

 private:
  void* find(const char* name) const;
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace svod
