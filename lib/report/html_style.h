// The style sheet of report pages.
#pragma once
#include <string_view>

namespace svod {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{margin:0;font:15px/1.5 system-ui,sans-serif;display:flex}
nav{position:sticky;top:0;height:100vh;box-sizing:border-box;padding:2rem 1rem;min-width:8rem;
border-right:1px solid var(--line)}
nav a{display:block;color:inherit;text-decoration:none;padding:.2rem 0}
main{padding:1rem 2rem;min-width:0;flex:1}
h2{border-bottom:1px solid var(--line);margin-top:2.5rem}
h3{font:600 1rem ui-monospace,monospace;margin:1.8rem 0 .5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.5rem}
dt{opacity:.7}dd{margin:0;font-family:ui-monospace,monospace}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font:13px ui-monospace,monospace;margin:.5rem 0}
th,td{text-align:left;padding:.15rem .8rem .15rem 0;border-bottom:1px solid var(--line);white-space:nowrap}
.n{text-align:right}
pre{background:var(--soft);padding:.8rem;overflow-x:auto;font-size:12.5px}
summary{cursor:pointer;opacity:.7}
svg{width:100%;max-width:980px;background:var(--soft)}svg text{font-size:12px;fill:currentColor}
rect{stroke:#fff8;stroke-width:.5}
.grid{stroke:var(--line)}.lack{stroke:currentColor;stroke-width:.5}.most{stroke:currentColor;stroke-width:2}
.c0{fill:#4e79a7}.c1{fill:#f28e2b}.c2{fill:#76b7b2}.c3{fill:#e15759}.c4{fill:#59a14f}
.c5{fill:#b07aa1}.c6{fill:#edc948}.c7{fill:#9c755f}
)css";

}  // namespace svod
