// Errors are values. Result<T> holds a T or an Error; Status is Result<void>.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "support/diagnostics.h"

namespace svod {

/// Where an error points to. Line and column start at 1; 0 means "not known". `before` and `behind` are what stands on
/// the line up to the column and from it on, both empty when not known.
struct SourceLoc {
  std::string file = {};
  int line = 0;
  int column = 0;
  std::string before = {}, behind = {};
  bool operator==(const SourceLoc&) const = default;
};

/// What an error says: `message` what is wrong with the values involved, `help` what to do next.
struct ErrorText {
  Diag diag;
  std::string message;
  std::string help;
  SourceLoc loc;
  std::vector<std::string> notes;
};

/// One error: a pointer to what it says, so that results are small where nothing fails, and the code around them as
/// well. One that was moved from is only assigned to and destroyed.
class Error {
 public:
  Error(Diag diag, std::string_view message, std::string_view help = {}, SourceLoc loc = {});
  Error(const Error& other);
  Error(Error&& other) noexcept : says_(std::exchange(other.says_, nullptr)) {}
  Error& operator=(Error other) noexcept { return std::swap(says_, other.says_), *this; }
  ~Error() {
    if (says_ != nullptr) forget(says_);
  }

  ErrorText* operator->() { return says_; }
  const ErrorText* operator->() const { return says_; }

  Error withHelp(std::string_view text) && { return says_->help = text, std::move(*this); }
  Error at(SourceLoc where) && { return says_->loc = std::move(where), std::move(*this); }
  Error withNote(std::string text) && { return says_->notes.push_back(std::move(text)), std::move(*this); }

 private:
  static void forget(ErrorText* says) noexcept;

  ErrorText* says_;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(Diag::Io, "cannot open x", "check that the file exists");`
tl::unexpected<Error> fail(Diag diag, std::string_view message, std::string_view help = {});
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// `file:line:col: error: message [code]`, then the line with a caret below the column, notes and a help line, each on
/// a line of its own.
std::string toText(const Error& error);

}  // namespace svod

#define SVOD_CONCAT_(a, b) a##b
#define SVOD_CONCAT(a, b) SVOD_CONCAT_(a, b)
#define SVOD_TRY_(tmp, decl, ...)                                         \
  auto tmp = (__VA_ARGS__);                                               \
  if (!tmp) return tl::unexpected<::svod::Error>(std::move(tmp).error()); \
  decl = std::move(*tmp)
/// `SVOD_TRY(auto x, makeX());` declares (or assigns) x, or returns the error.
#define SVOD_TRY(decl, ...) SVOD_TRY_(SVOD_CONCAT(svodTry, __COUNTER__), decl, __VA_ARGS__)
/// `SVOD_CHECK(doIt());` returns the error of a Status (or drops the value of a Result).
#define SVOD_CHECK(...)                                                    \
  do {                                                                     \
    if (auto svodStatus = (__VA_ARGS__); !svodStatus)                      \
      return tl::unexpected<::svod::Error>(std::move(svodStatus).error()); \
  } while (0)
