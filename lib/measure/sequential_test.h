// Sequential test: which of two things that run in turns is faster, by as many pairs of times as it takes to know.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace svod {

/// Wald's sequential test of the part of all pairs that speak for the candidate: four fifths against one half, with an
/// error of 1 % on either side, and at most `most` pairs.
class SequentialTest {
 public:
  /// A pair speaks for the candidate where it takes at most `gain` of the time of the other.
  explicit SequentialTest(double gain, size_t most = 60) : gain_(gain), most_(most) {}

  /// The time of the candidate as a part of the other's.
  void add(double ratio);
  /// No more pairs are wanted.
  bool isOver() const { return wins() || loses() || ratios_.size() >= most_; }
  bool wins() const;
  bool loses() const;

  size_t pairs() const { return ratios_.size(); }
  /// The median of all pairs; 1 where there is none.
  double ratio() const;
  /// Half the range between the quartiles, as a part of the median.
  double noise() const;

 private:
  double gain_, evidence_ = 0;
  size_t most_;
  std::vector<double> ratios_;
};

/// Whether what is lost with cold caches is more than what is gained with warm ones.
bool outweighs(const SequentialTest& warm, const SequentialTest& cold);
/// Whether the candidate is no gain: not faster with warm caches, or outweighed. Nothing where there were too few pairs
/// to say so.
std::optional<bool> isSlower(const SequentialTest& warm, const SequentialTest& cold);

/// Both sides of one question: whether the candidate is faster, and whether what it is compared with is, clearly.
struct BothWays {
  SequentialTest gain, loss;

  /// `kept`: a pair speaks for the other where that takes at most so much of the candidate's time.
  BothWays(double gained, double kept, size_t most) : gain(gained, most), loss(kept, most) {}
  void add(double ratio) { gain.add(ratio), loss.add(1 / ratio); }
};

/// With warm caches, or with cold ones by what it does not gain with warm ones. Noise is no loss.
bool isClearlySlower(const BothWays& warm, const BothWays& cold);

/// The value below which `part` of the values lie; these are not empty.
double quantile(std::vector<double> values, double part);
double spreadOf(const std::vector<double>& values);

}  // namespace svod
