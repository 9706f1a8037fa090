// Einsum: products of tensors whose axes have labels, summed over the labels the result does not have.
//
// Operands are folded in from left to right. As soon as no later operand and not the result has a label, it
// is summed over, so that a product of two matrices has the form of a matrix product.
#include <algorithm>
#include <map>
#include <set>

#include "onnx/node.h"

namespace svod {

namespace {

using Labels = std::vector<int>;  // letters; the axes of an ellipsis are -1, -2, .. from the right

struct Term {
  Tensor x;
  Labels labels;
};

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

// Labels of "ab...c" for a tensor with `rank` axes, or with `dots` axes in the ellipsis. Empty and an error
// when they do not fit.
std::optional<Labels> labelsOf(OnnxNode& n, std::string_view text, int dots) {
  Labels labels;
  bool sawDots = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '.' && text.substr(i, 3) == "..." && !sawDots) {
      for (int d = dots; d > 0; --d) labels.push_back(-d);
      sawDots = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else if (!n.require(false, "the equation has letters, commas, '...' and one '->'")) {
      return std::nullopt;
    }
  }
  return labels;
}

int lettersIn(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, [](char c) { return c != '.'; }));
}

// Keeps the diagonal of axes with one label.
Term withoutRepeats(OnnxNode& n, Term t) {
  Labels unique;
  for (int label : t.labels)
    if (!has(unique, label)) unique.push_back(label);
  if (unique.size() == t.labels.size()) return t;
  std::vector<Tensor> indices;
  for (int i = 0; i < t.x.rank(); ++i) {
    size_t at = static_cast<size_t>(std::ranges::find(unique, t.labels[static_cast<size_t>(i)]) - unique.begin());
    Tensor position = n.b.iota(t.x.dim(i));
    for (size_t k = at + 1; k < unique.size(); ++k) position = unsqueeze(position, -1);
    indices.push_back(position);
  }
  return {gather(t.x, indices), unique};
}

// The axes of a term in another order; labels it does not have are axes of 1.
Tensor arranged(const Term& t, const Labels& wanted) {
  std::vector<int> order;
  for (int label : wanted)
    for (size_t i = 0; i < t.labels.size(); ++i)
      if (t.labels[i] == label) order.push_back(static_cast<int>(i));
  Tensor x = permute(t.x, order);
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!has(t.labels, wanted[i])) x = unsqueeze(x, static_cast<int>(i));
  return x;
}

// Sums over the labels that are not in `kept`.
Term summed(Term t, const std::set<int>& kept) {
  Labels left;
  std::vector<int> axes;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (kept.contains(t.labels[i])) {
      left.push_back(t.labels[i]);
    } else {
      axes.push_back(static_cast<int>(i));
    }
  }
  if (axes.empty()) return t;
  return {reduce(Op::Add, t.x, axes, false), left};
}

// Kept labels first, in the order of the result as far as it has them, then those summed over.
Term product(const Term& a, const Term& b, const Labels& result, const std::set<int>& kept) {
  Labels all;
  for (int label : result)
    if (has(a.labels, label) || has(b.labels, label)) all.push_back(label);
  for (bool isKept : {true, false})
    for (const Labels& labels : {a.labels, b.labels})
      for (int label : labels)
        if (!has(all, label) && kept.contains(label) == isKept) all.push_back(label);
  return summed({arranged(a, all) * arranged(b, all), all}, kept);
}

// Without an arrow the result has the letters that occur once, in order.
Labels implicitResult(std::string_view text, int dots) {
  std::map<char, int> counts;
  for (char c : text) ++counts[c];
  Labels result;
  for (int d = dots; d > 0; --d) result.push_back(-d);
  for (auto [letter, count] : counts)
    if (letter != ',' && letter != '.' && count == 1) result.push_back(letter);
  return result;
}

// The operands with their labels; empty after an error.
std::vector<Term> termsOf(OnnxNode& n, std::string_view text, int& dots, DType wide) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  if (!n.require(static_cast<int>(parts.size()) == n.count(), "the equation has a term for every operand")) return {};
  for (int i = 0; i < n.count(); ++i)
    if (parts[static_cast<size_t>(i)].find('.') != std::string_view::npos)
      dots = std::max(dots, n.arg(i).rank() - lettersIn(parts[static_cast<size_t>(i)]));
  std::vector<Term> terms;
  for (int i = 0; i < n.count(); ++i) {
    std::string_view part = parts[static_cast<size_t>(i)];
    int letters = lettersIn(part), own = n.arg(i).rank() - letters;
    bool hasDots = part.find('.') != std::string_view::npos;
    if (!n.require(hasDots ? own >= 0 : own == 0, "a term has a label for every axis")) return {};
    std::optional<Labels> labels = labelsOf(n, part, own);
    if (!labels) return {};
    terms.push_back(withoutRepeats(n, {cast(n.arg(i), wide), *labels}));
  }
  return terms;
}

}  // namespace

Results onnxEinsum(OnnxNode& n) {
  std::string equation = n.word("equation");
  std::erase(equation, ' ');
  size_t arrow = equation.find("->");
  DType dtype = commonDType(n.args());
  int dots = 0;
  std::string_view operands = std::string_view(equation).substr(0, arrow);
  std::vector<Term> terms = termsOf(n, operands, dots, sumDType(dtype));
  if (terms.empty()) return Tensor();
  std::optional<Labels> result = implicitResult(operands, dots);
  if (arrow != std::string::npos) result = labelsOf(n, std::string_view(equation).substr(arrow + 2), dots);
  if (!result) return Tensor();
  for (size_t i = 0; i < result->size(); ++i) {
    bool isKnown = std::ranges::any_of(terms, [&](const Term& t) { return has(t.labels, (*result)[i]); });
    bool isFirst = std::ranges::find(*result, (*result)[i]) - result->begin() == static_cast<ptrdiff_t>(i);
    if (!n.require(isKnown && isFirst, "the result has labels of the terms, each once")) return Tensor();
  }
  auto neededAfter = [&](size_t i) {
    std::set<int> kept(result->begin(), result->end());
    for (size_t k = i; k < terms.size(); ++k) kept.insert(terms[k].labels.begin(), terms[k].labels.end());
    return kept;
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    std::set<int> kept(result->begin(), result->end());
    for (size_t k = 0; k < terms.size(); ++k)
      if (k != i) kept.insert(terms[k].labels.begin(), terms[k].labels.end());
    terms[i] = summed(terms[i], kept);
  }
  Term folded = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) folded = product(folded, terms[i], *result, neededAfter(i + 1));
  return cast(arranged(folded, *result), dtype);
}

}  // namespace svod
