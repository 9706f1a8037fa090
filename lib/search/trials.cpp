#include "search/trials.h"

#include <algorithm>

namespace svod {

namespace {

constexpr const char* kThisKernel = "";  // among those of the correction

bool isTimed(const TrialResult& v) {
  return v.nanoseconds > 0 &&
         (v.outcome == Outcome::Timed || v.outcome == Outcome::Wins || v.outcome == Outcome::Loses);
}

}  // namespace

Status wasTried(const TrialResult& verdict) {
  if (verdict.outcome != Outcome::Untried) return {};
  return fail(Diag::Io, "no more candidates can be tried here: " + verdict.reason,
              "the log has what was measured; run it again with room in TMPDIR and more processes allowed");
}

Status Trials::evaluate(std::span<const Candidate> candidates) {
  std::vector<Candidate> fresh;
  for (const Candidate& c : candidates) {
    if (!seen_.insert(c.text).second) continue;
    const auto found = known_.find(c.text);
    if (found == known_.end()) {
      fresh.push_back(c);
    } else {
      ++result_.known;
      note(c, found->second, "");
    }
  }
  for (size_t first = 0, count = 0; first < fresh.size() && !measure_.isOver(); first += count) {
    count = std::min(batch_, fresh.size() - first);
    const std::span batch = std::span(fresh).subspan(first, count);
    batch_ = std::min<size_t>(2 * batch_, 32);
    const std::vector<Prepared> prepared = measure_.prepare(batch);
    for (size_t i = 0; i < batch.size() && !measure_.isOver(); ++i) SVOD_CHECK(run(batch[i], prepared[i]));
  }
  return {};
}

Status Trials::run(const Candidate& c, const Prepared& prepared) {
  TrialResult verdict = prepared.verdict;
  SVOD_CHECK(wasTried(verdict));
  const bool isCompared = !prepared.code.empty() && !options_.timesSameCode;
  const auto twin = isCompared ? byCode_.find(prepared.code) : byCode_.end();
  if (verdict.outcome == Outcome::Timed && twin != byCode_.end()) {
    ++result_.sameCode;
    verdict = twin->second;
  } else if (verdict.outcome == Outcome::Timed) {
    SVOD_CHECK(record_(c, {Outcome::Started}));
    verdict = measure_.time(c, options_.stopAbove * bestTime());
    SVOD_CHECK(wasTried(verdict));
    byCode_[prepared.code] = verdict;
  }
  if (prepared.verdict.outcome == Outcome::Timed) prepared_.insert(c.text);
  ++result_.measured;
  ++result_.outcomes[verdict.outcome];
  note(c, verdict, prepared.code);
  return record_(c, verdict);
}

void Trials::note(const Candidate& c, const TrialResult& verdict, const std::string& code) {
  known_[c.text] = verdict;
  if (!isTimed(verdict)) return;
  if (population_ != nullptr) population_->add(c, verdict.nanoseconds, code);
  if (timed_.add(c, verdict.nanoseconds, code)) correction_.add(kThisKernel, c, verdict.nanoseconds);
}

double Trials::measured(const std::string& text) const {
  const auto found = known_.find(text);
  return found == known_.end() ? 0 : found->second.nanoseconds;
}

double Trials::timeOf(const Candidate& c) const {
  const auto found = known_.find(c.text);
  return found != known_.end() && !info(found->second.outcome).isFailure ? found->second.nanoseconds : 0;
}

Result<TrialResult> Trials::compared(const Candidate& c) {
  TrialResult verdict = known_[c.text];
  if (verdict.outcome != Outcome::Timed) return verdict;
  if (!prepared_.contains(c.text)) {
    const Prepared again = measure_.prepare({&c, 1})[0];
    SVOD_CHECK(wasTried(again.verdict));
    if (again.verdict.outcome != Outcome::Timed) return again.verdict;
  }
  verdict = measure_.compare(c);
  SVOD_CHECK(wasTried(verdict));
  SVOD_CHECK(record_(c, verdict));
  return verdict;
}

}  // namespace svod
