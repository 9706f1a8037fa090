// The style sheet of report pages, light and dark.
#pragma once
#include <string_view>

namespace svod {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--quiet:#57606a;--line:#d0d7de;--soft:#f6f8fa;
--link:#0550ae;--heat:#fb8f44;--box:#fff;--group:#eef1f4;--edge:#8c959f;--lit:#0969da;--on:#fff;--roof:#57606a;
--c0:#3d6a99;--c1:#b3580a;--c2:#2f7f7a;--c3:#b93a3c;--c4:#3f7d35;--c5:#86578a;--c6:#8a6d00;--c7:#7a5a45;--other:#7d858d}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--quiet:#9198a1;--line:#30363d;--soft:#161b22;
--link:#79c0ff;--heat:#bd561d;--box:#1c2128;--group:#151a21;--edge:#6e7681;--lit:#58a6ff;--roof:#9198a1}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;display:flex;background:var(--back);
color:var(--text)}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--lit);outline-offset:1px}
main:focus,section:focus{outline:none}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;background:var(--back);padding:.3rem .6rem;z-index:1}
nav{position:sticky;top:0;height:100vh;padding:1.6rem 1rem;flex:0 0 11rem;border-right:1px solid var(--line);
overflow-y:auto;font-size:14px}
nav a{display:block;color:inherit;text-decoration:none;padding:.2rem .5rem;border-radius:5px}
nav a:hover{background:var(--soft)}
main{padding:1rem 2rem 4rem;min-width:0;flex:1}
h1{font-size:1.5rem;margin:.4rem 0 .8rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;border-bottom:1px solid var(--line);padding-bottom:.2rem;margin:2.4rem 0 .8rem}
h3{font:600 13px ui-monospace,monospace;margin:0;display:inline;overflow-wrap:anywhere}
small{font:400 13px system-ui,sans-serif;color:var(--quiet);margin-left:.5rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.5rem;margin:.6rem 0}
dl>div{display:contents}
dl.short{grid-template-columns:repeat(auto-fill,minmax(20rem,1fr))}
dl.short>div{display:grid;grid-template-columns:10.5rem 1fr;gap:.8rem}
dt{color:var(--quiet)}
dd{margin:0;font:13px/1.6 ui-monospace,monospace;overflow-wrap:anywhere}
h1+section>dl.short,h1+section>dl{display:flex;flex-wrap:wrap;gap:.6rem}
h1+section>dl.short>div,h1+section>dl>div{display:flex;flex-direction:column-reverse;gap:0;padding:.4rem .9rem;
border:1px solid var(--line);border-radius:8px;background:var(--soft)}
h1+section>dl dt{font-size:12.5px}
h1+section>dl dd{font:600 17px/1.3 system-ui,sans-serif}
.scroll{overflow-x:auto;container-type:inline-size}
table{border-collapse:collapse;font:13px/1.45 ui-monospace,monospace;margin:.4rem 0 1rem;min-width:40%}
th,td{text-align:left;padding:.22rem .8rem .22rem 0;border-bottom:1px solid var(--line);white-space:nowrap;
vertical-align:top}
td:first-child,th:first-child{padding-left:.3rem}
th{color:var(--quiet);font-weight:600}
.n,.n button{text-align:right}
.w{white-space:normal;overflow-wrap:anywhere;min-width:11rem}
tbody tr:hover{background:var(--soft)}
tr:target{background:color-mix(in srgb,var(--lit) 18%,transparent)}
tr:has(+.beneath)>td{border-bottom:0;padding-bottom:0}
.beneath>td{white-space:normal;overflow-wrap:anywhere;color:var(--quiet);font-size:12px;padding-top:0}
.beneath>td>div{position:sticky;left:3rem;max-width:calc(100cqw - 4rem)}
.beneath small{margin:0 .3rem 0 0;font-size:11.5px}
tfoot td{font-weight:600;border-bottom:0}
th button{all:unset;cursor:pointer;border-radius:3px}
th button:focus-visible{outline:2px solid var(--lit)}
th button::after{content:"\2195";opacity:.3;margin-left:.3em}
th[aria-sort=ascending] button::after{content:"\2191";opacity:1}
th[aria-sort=descending] button::after{content:"\2193";opacity:1}
td[data-share]{background:linear-gradient(color-mix(in srgb,var(--heat) 45%,transparent) 0 0) no-repeat 0 0/0 100%}
input[type=search]{font:inherit;font-size:13px;padding:.2rem .5rem;border:1px solid var(--line);border-radius:6px;
background:var(--back);color:inherit;width:16rem;max-width:100%}
pre{background:var(--soft);padding:.8rem;overflow:auto;max-height:40rem;font:12.5px/1.45 ui-monospace,monospace;
border-radius:6px}
summary{cursor:pointer}
details.code>summary{color:var(--quiet)}
details.part{border-bottom:1px solid var(--line);padding:.35rem 0}
details.part[open]{padding-bottom:1rem}
details.part>:not(summary){margin-left:1.1rem}
figure{margin:1rem 0}
figcaption{color:var(--quiet);font-size:14px;margin-bottom:.4rem;max-width:60rem}
svg text{font:12px ui-monospace,monospace;fill:var(--text)}
.chart{width:100%;min-width:640px;max-width:1100px;display:block}
.chart a:hover rect,.chart a:hover circle{stroke:var(--text);stroke-width:2}
.chart rect{stroke:var(--back);stroke-width:.6}
svg text.right{text-anchor:end}svg text.middle{text-anchor:middle}
svg text.on{fill:var(--on);pointer-events:none}
.chart text{fill:var(--quiet)}.chart text.name{fill:var(--text);pointer-events:none}
.halo{paint-order:stroke;stroke:var(--back);stroke-width:3px;stroke-linejoin:round}
.grid{stroke:var(--line);stroke-width:.7}
.level{stroke:var(--text);stroke-dasharray:5 4}
.leader{stroke:var(--edge);stroke-width:.6}
.roof{stroke:var(--roof);stroke-width:1.6}.lack{stroke:var(--edge);stroke-width:.6;stroke-dasharray:2 2}
.most{stroke:var(--edge);stroke-width:1.6}
.curve{fill:none;stroke:var(--edge);stroke-width:1}
.curve.k0{stroke:var(--c0)}.curve.k1{stroke:var(--c1)}.curve.k2{stroke:var(--c2)}.curve.k3{stroke:var(--c3)}
.curve.k4{stroke:var(--c4)}.curve.k5{stroke:var(--c5)}.curve.k6{stroke:var(--c6)}.curve.k7{stroke:var(--c7)}
.curve[class*=k]{stroke-width:2.2}.chart a:hover .curve{stroke-width:4}
circle{fill:var(--lit);fill-opacity:.55;stroke:var(--lit)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}
.c6{fill:var(--c6)}.c7{fill:var(--c7)}.cother{fill:var(--other)}
.tools{margin:.3rem 0}
.tools button{font:13px system-ui,sans-serif;padding:.2rem .7rem;margin-right:.4rem;border:1px solid var(--line);
border-radius:6px;background:var(--soft);color:inherit;cursor:pointer}
.view{overflow:auto;max-height:85vh;border:1px solid var(--line);border-radius:8px;background:var(--soft)}
.view svg{display:block;margin:auto}
.view .box{fill:var(--box);stroke:var(--edge)}
.view .heat{fill:var(--heat);pointer-events:none}
.view .input .box,.view .output .box{stroke:var(--c4);stroke-width:1.6}
.view .state .box{stroke:var(--c5);stroke-width:1.6;stroke-dasharray:5 3}
.view .copy .box,.view .call .box,.view .loop .box{stroke:var(--c0);stroke-width:1.6}
.group.open>.box{fill:var(--group);stroke:var(--line)}.group.open>.box.d1{fill:var(--soft)}
.knob{cursor:pointer}.knob .bar{fill:transparent}.knob:hover .bar{fill:var(--line)}
.knob:focus-visible{outline:none}.knob:focus-visible rect{stroke:var(--lit);stroke-width:2.5}
.view a:focus-visible{outline:none}.view a:focus-visible .box,.view a:hover .box{stroke:var(--lit);stroke-width:2.5}
.view .title{font-weight:600}.view .detail{fill:var(--quiet);font-size:11px}
.view .node .heat~.detail,.knob .heat~.detail{fill:var(--text)}
.view text{text-anchor:middle}
.view text.left{text-anchor:start;paint-order:stroke;stroke:var(--group);stroke-width:4px}
.line{fill:none;stroke:var(--edge)}.line.again{stroke-dasharray:6 4}.line.lit{stroke:var(--lit)}
@media(max-width:60rem){body{display:block}nav{position:static;height:auto;border:0;padding:.6rem 1rem 0}
nav a{display:inline-block}main{padding:0 1rem 3rem}}
@media print{nav,.tools,input{display:none}.view{max-height:none}}
)css";

}  // namespace svod
