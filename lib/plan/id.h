// Indices that know which list they are of. An id is a number where one is wanted; a number becomes an id by name,
// `StepId(i)`, or when it is written out, and an id of one list never becomes that of another.
#pragma once
#include <concepts>
#include <cstdint>
#include <vector>

namespace svod {

template <class Row>
class Id {
 public:
  constexpr Id() = default;
  // Of a type that no number of a program has, on any machine: such numbers take the constructor below.
  consteval Id(char32_t written) : index_(written) {}
  template <std::integral Number>
  explicit constexpr Id(Number index) : index_(static_cast<uint32_t>(index)) {}

  constexpr operator uint32_t() const { return index_; }
  constexpr Id& operator+=(uint32_t steps) { return index_ += steps, *this; }
  constexpr Id& operator++() { return *this += 1; }
  constexpr Id operator++(int) { return Id(index_++); }
  constexpr Id operator--(int) { return Id(index_--); }

 private:
  uint32_t index_ = 0;
};

template <class Row, std::integral Number>
constexpr Id<Row> operator+(Id<Row> id, Number steps) {
  return id += static_cast<uint32_t>(steps);
}
template <class Row>
constexpr bool operator==(Id<Row> a, Id<Row> b) {
  return static_cast<uint32_t>(a) == static_cast<uint32_t>(b);
}
template <class Row, class Other>
bool operator==(Id<Row>, Id<Other>) = delete;

/// Rows that only their own ids find.
template <class Row>
class Rows : public std::vector<Row> {
 public:
  using std::vector<Row>::vector;
  Row& operator[](Id<Row> id) { return this->begin()[id]; }
  const Row& operator[](Id<Row> id) const { return this->begin()[id]; }
};

}  // namespace svod
