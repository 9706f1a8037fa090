// What is wrong with a model (an internal header of the room).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

/// Errors in the order in which they were found, up to a number of them. What the same op lacks in many nodes is said
/// once, and counted.
class ProblemList {
 public:
  explicit ProblemList(std::string file) : file_(std::move(file)) {}

  /// `at` tells how far the reading came.
  void add(Error error, size_t at = 0);
  /// How far it came in front of the first error.
  size_t firstAt() const { return firstAt_; }
  /// Counts what is said elsewhere.
  void addUnsaid() { ++count_; }
  /// The last error leaves something behind that others come upon: it cannot be forgotten.
  void addLasting() { ++lasting_; }
  /// Whether there was an error of this kind, which then says how often. The next error is the first one of a new kind.
  bool isRepeated(const std::string& kind);
  /// What was chosen, or is unlike what was declared, and is no error.
  void addNote(Error note);

  /// Errors, also those that were not said again.
  size_t count() const { return count_; }
  /// Too many nodes or errors: the rest is to be skipped.
  bool isFull() const { return isFull_; }
  void fill() { isFull_ = true; }

  bool isEmpty() const { return errors_.empty(); }
  /// Each with the number of nodes where it was not said again.
  std::vector<Error> errors() const;
  const std::vector<Error>& notes() const { return notes_; }

  struct Repeated {
    size_t error;  // in errors()
    size_t again = 0;
  };
  struct Mark {
    size_t errors, count;
    std::map<std::string, Repeated> repeated;
    bool isFull;
    size_t lasting = 0;
  };
  Mark mark() const { return {errors_.size(), count_, repeated_, isFull_, lasting_}; }
  /// Whether all errors since then say what is not supported.
  bool areLimitsSince(const Mark& mark) const;
  bool areLastingSince(const Mark& mark) const { return lasting_ != mark.lasting; }
  std::vector<Error> errorsSince(const Mark& mark) const;
  /// Forgets the errors since then.
  void rewind(Mark mark);

 private:
  std::string file_;
  std::vector<Error> errors_, notes_;
  std::map<std::string, Repeated> repeated_;  // by kind
  size_t count_ = 0, firstAt_ = 0, lasting_ = 0;
  bool isFull_ = false;
};

}  // namespace svod
