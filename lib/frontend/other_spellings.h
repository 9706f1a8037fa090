// What other languages write, and how it is written here: the help of messages about it.
#pragma once
#include <string>
#include <string_view>

namespace svod {

/// For a character that begins no token; empty where no other spelling is known.
std::string_view spellingOfCharacter(char c);

/// For a word that stands behind a value, such as `and`, or in front of one, such as `not`; empty for others.
std::string_view spellingOfInfix(std::string_view word);
std::string_view spellingOfPrefix(std::string_view word);

/// For a name where a value or the value of an attribute is expected, and for that of an op; empty for others.
std::string_view spellingOfName(std::string_view word);
std::string_view spellingOfOp(std::string_view name);

/// For a word that a statement begins with, and for the name of an attribute: that of another one here. Empty for
/// others.
std::string_view spellingOfStatement(std::string_view word);
std::string_view spellingOfAttribute(std::string_view name);

/// For `module.member` of libraries of arrays: "write exp(..)"; empty where that is no op.
std::string spellingOfModule(std::string_view module, std::string_view member);

/// For the name of a dtype, here or in libraries of arrays: `f16` of `np.float16`; empty for other words.
std::string_view spellingOfDType(std::string_view word);

/// For `value.member`, a name that is neither defined nor an op: "write sum(x)"; empty where there is no such
/// thing.
std::string spellingOfMember(std::string_view value, std::string_view member, bool hasArguments);

/// Behind `//`, where a value was expected.
inline constexpr std::string_view kCommentSpelling = "a comment begins with #; a // b divides and rounds down";
/// Behind `/*`.
inline constexpr std::string_view kBlockCommentSpelling = "a comment begins with # and ends with its line";

}  // namespace svod
