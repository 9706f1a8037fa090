#include "frontend/other_spellings.h"

#include <algorithm>
#include <span>

#include "frontend/graph_op.h"
#include "ir/dtype.h"

namespace svod {

namespace {

struct Spelling {
  std::string_view other, here;
};

constexpr Spelling kCharacters[] = {
    {";", "a line ends without ;, and holds one statement"},
    {"?", "a choice is written where(condition, a, b), and a free size as a variable: var n in [1, 512]"},
    {".", "values are operands of ops, as in sum(x) and transpose(x)"},
    {"\\", "lines go on inside brackets"},
    {"&", "write and(a, b), for conditions and for bits"},
    {"|", "write or(a, b), for conditions and for bits"},
    {"^", "write xor(a, b), or pow(a, b) for a power"},
    {"~", "write not(x)"},
    {"!", "write not(x)"},
    {"'", "text stands in double quotes, and a dtype in none: dtype=f16"},
};
constexpr Spelling kInfixes[] = {
    {"and", "write and(a, b)"}, {"or", "write or(a, b)"},
    {"xor", "write xor(a, b)"}, {"if", "a choice is written where(condition, a, b)"},
    {"mod", "write a % b"},     {"is", "write a == b"},
};
constexpr Spelling kPrefixes[] = {
    {"not", "write not(x)"},
    {"if", "a choice of values is written where(condition, a, b)"},
    {"lambda", "a function is written def NAME(x) { return .. } on lines of its own"},
};
constexpr Spelling kNames[] = {
    {"True", "write true"},
    {"False", "write false"},
    {"None", "leave out what has no value"},
    {"pi", "write 3.141592653589793"},
};
constexpr Spelling kOps[] = {
    {"amax", "write reduce_max(x)"},
    {"amin", "write reduce_min(x)"},
    {"len", "write size(x, axis=0)"},
    {"shape", "write size(x, axis=0)"},
    {"maximum", "write max(a, b)"},
    {"minimum", "write min(a, b)"},
    {"dot", "write matmul(a, b), or a @ b"},
    {"mm", "write matmul(a, b), or a @ b"},
    {"bmm", "write matmul(a, b), or a @ b"},
    {"cat", "write concat(a, b, axis=0)"},
    {"concatenate", "write concat(a, b, axis=0)"},
    {"print", "output NAME = VALUE gives a value to the caller"},
};
constexpr Spelling kMembers[] = {
    {"T", "write transpose(%)"},
    {"mT", "write transpose(%)"},
    {"H", "write transpose(%)"},
    {"t", "write transpose(%)"},
    {"shape", "write size(%, axis=0)"},
    {"size", "write size(%, axis=0)"},
    {"max", "write reduce_max(%)"},
    {"min", "write reduce_min(%)"},
    {"view", "write reshape(%, shape=[..])"},
    {"astype", "write cast(%, dtype=f32)"},
    {"to", "write cast(%, dtype=f32)"},
    {"type", "write cast(%, dtype=f32)"},
    {"dtype", "the dtype of a value is known when the graph is compiled; cast(%, dtype=f32) gives another one"},
};

constexpr Spelling kStatements[] = {
    {"for", "a loop is written loop NAME < COUNT { .. }"},
    {"while", "a loop is written loop NAME < MOST while CONDITION { .. }"},
    {"let", "write NAME = VALUE"},
    {"const", "write NAME = VALUE"},
    {"else", "there is no other branch: write a second if, with not(..)"},
    {"elif", "there is no other branch: write a second if, with not(..)"},
    {"fn", "a function is written def NAME(x) { return .. } on lines of its own"},
    {"func", "a function is written def NAME(x) { return .. } on lines of its own"},
    {"function", "a function is written def NAME(x) { return .. } on lines of its own"},
    {"param", "write weight NAME: f32[2, 3] = FILE"},
    {"import", "a graph is one file; functions stand above their calls"},
};
constexpr Spelling kAttributes[] = {
    {"dim", "axes"}, {"dims", "axes"}, {"axis", "axes"}, {"keepdim", "keepdims"}, {"perm", "order"},
};
constexpr Spelling kDTypes[] = {
    {"half", "f16"},   {"float16", "f16"}, {"bfloat16", "bf16"}, {"float32", "f32"}, {"float", "f32"},
    {"single", "f32"}, {"double", "f64"},  {"float64", "f64"},   {"int8", "i8"},     {"int16", "i16"},
    {"short", "i16"},  {"int32", "i32"},   {"int", "i32"},       {"int64", "i64"},   {"long", "i64"},
    {"uint8", "u8"},   {"byte", "u8"},     {"uint16", "u16"},    {"uint32", "u32"},  {"uint64", "u64"},
    {"bool_", "bool"},
};
/// Whose functions are ops here, by the same name.
constexpr std::string_view kModules[] = {"np", "numpy", "jnp", "torch", "F", "tf", "math", "nn", "onnx", "svod"};

std::string_view find(std::span<const Spelling> table, std::string_view word) {
  const auto found = std::ranges::find(table, word, &Spelling::other);
  return found == table.end() ? std::string_view() : found->here;
}

}  // namespace

std::string_view spellingOfCharacter(char c) { return find(kCharacters, {&c, 1}); }
std::string_view spellingOfInfix(std::string_view word) { return find(kInfixes, word); }
std::string_view spellingOfPrefix(std::string_view word) { return find(kPrefixes, word); }

std::string_view spellingOfName(std::string_view word) { return find(kNames, word); }
std::string_view spellingOfOp(std::string_view name) { return find(kOps, name); }

std::string_view spellingOfStatement(std::string_view word) { return find(kStatements, word); }
std::string_view spellingOfAttribute(std::string_view name) { return find(kAttributes, name); }

std::string spellingOfModule(std::string_view module, std::string_view member) {
  const bool isOp = std::ranges::find(kModules, module) != std::end(kModules) && findGraphOp(member) != nullptr;
  return isOp ? "write " + std::string(member) + "(..)" : "";
}

std::string_view spellingOfDType(std::string_view word) {
  const size_t dot = word.find('.');
  const bool isOfModule = dot != word.npos && std::ranges::find(kModules, word.substr(0, dot)) != std::end(kModules);
  if (isOfModule) word.remove_prefix(dot + 1);
  return dtypeFromText(word) ? word : find(kDTypes, word);
}

std::string spellingOfMember(std::string_view value, std::string_view member, bool hasArguments) {
  std::string help(find(kMembers, member));
  if (const std::string_view dtype = spellingOfDType(member); !dtype.empty())
    help = "write cast(%, dtype=" + std::string(dtype) + ")";
  if (const GraphOp* op = findGraphOp(member, 1); help.empty() && op != nullptr)
    help = "write " + std::string(member) + (hasArguments ? "(%, ..)" : "(%)");
  if (help.empty()) return help;
  return help.replace(help.find('%'), 1, value);
}

}  // namespace svod
