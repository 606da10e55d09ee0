/** HTML, and the whole text of the page as `read` returns it. */
export const texts: readonly (readonly [kind: string, html: string, text: string])[] = [
  ["hidden by a mask", `<p>Shown</p><p style="mask-image:linear-gradient(transparent,transparent)">No</p>`, "Shown"],
  ["hidden by a mask of a picture", `<p>Shown</p><p style="mask-image:url(/missing.svg)">No</p>`, "Shown"],
  [
    "hidden by a mask that ends early",
    `<p>Shown</p><p style="mask-image:linear-gradient(transparent 99%,black)">No</p>`,
    "Shown",
  ],
  ["with a faded edge", `<p style="mask-image:linear-gradient(black 70%,transparent)">Shown</p>`, "Shown"],
  [
    "cut to nothing",
    `<p>Shown</p><p style="clip-path:polygon(0 0,0 0,0 0)">No</p><p style="clip-path:circle(0)">No</p>`,
    "Shown",
  ],
  [
    "in the colour of its background",
    `<p>Shown</p><p style="color:oklch(1 0 0)">No</p><p style="color:color(srgb 1 1 1)">No</p><p style="color:lab(100 0 0)">No</p><p style="color:rgb(255 255 255 / 2%)">No</p>`,
    "Shown",
  ],
  ["of no size", `<p>Shown</p><p style="transform:scale(0.01)">No</p><p style="font-size:1px">No</p>`, "Shown"],
  [
    "on a dark canvas by style",
    `<style>:root{color-scheme:dark}</style><h1>Night</h1><p>White</p>`,
    "# Night\n\nWhite",
  ],
  ["on a dark canvas by meta", `<meta name=color-scheme content=dark><p>White</p>`, "White"],
  ["on a canvas of either colour", `<meta name=color-scheme content="light dark"><p>Text</p>`, "Text"],
  [
    "in a drawing",
    `<svg width=200 height=60><text y=20>Revenue 42</text><text y=40 fill=transparent>No</text></svg>`,
    "Revenue 42",
  ],
  ["in a picture with a name", `<p>Shown</p><svg width=9 height=9 aria-hidden=true><text y=9>No</text></svg>`, "Shown"],
  ["in an object", `<object data="data:text/html,<h2>Inner</h2>" type="text/html"></object>`, "## Inner"],
  ["instead of an object", `<object data="/missing"><p>Fallback</p></object>`, "Fallback"],
  [
    "of a page that is hidden from assistive technology",
    `<div aria-hidden=true><h1>Sign in</h1><label>Mail <input></label></div>`,
    "# Sign in\n\nMail",
  ],
  ["of a page that is all decoration", `<main aria-hidden=true><h1>Head</h1><p>Text</p></main>`, "# Head\n\nText"],
  [
    "in cells of several rows",
    `<table><tr><th rowspan=2>Item<th colspan=2>Price<tr><th>Net<th>Gross<tr><td rowspan=2>A<td colspan=2>3<tr><td>4<td>5</table>`,
    "| Item | Price | |\n| - | - | - |\n| | Net | Gross |\n| A | 3 | |\n| | 4 | 5 |",
  ],
  [
    "of formulas and words above others",
    `<p>Let <math><mfrac><mi>a</mi><mn>2</mn></mfrac><mo>=</mo><mi>b</mi></math> be</p><p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字</ruby>です</p><math style="opacity:0"><mi>no</mi></math>`,
    "Let a/2 = b be\n\n漢(kan)字です",
  ],
  [
    "of formulas that are drawn next to hidden ones, and of labels of drawings",
    `<style>.c{position:absolute;clip:rect(1px,1px,1px,1px);width:1px;height:1px;overflow:hidden}</style><p>Let <span><span class=c><math><mfrac><mi>a</mi><mi>b</mi></mfrac></math></span><span aria-hidden=true><span>b</span><span>a</span></span></span> be, <span><span class=c><math><mtext>other words</mtext></math></span><span aria-hidden=true>y</span></span><span class=c><math><mi>no</mi></math></span> too</p><p>Go <svg role=img aria-label=up width=9 height=9><path d="M0 0h9v9z"/></svg> now <span role=img aria-label=star>★</span></p>`,
    "Let a/b be, y too\n\nGo up now ★",
  ],
  [
    "of numbers as a person sees them",
    `<ol start=3><li>three<li>four</ol><p>and</p><ol type=a><li>alpha<li>beta</ol><p>and</p><ol style="list-style:none"><li>plain</ol><p>and</p><ol><li value=2>x<li value=9>y</ol><p>and</p><ul style="list-style-type:decimal"><li>one</ul>`,
    "3. three\n4. four\n\nand\n\n- a. alpha\n- b. beta\n\nand\n\n- plain\n\nand\n\n- 2\\. x\n- 9\\. y\n\nand\n\n1. one",
  ],
  [
    "that styles add",
    `<style>body{counter-reset:n}.e::after{content:" EUR"} .b::before{content:"Note: "} .h::after{content:"hidden";opacity:0} .n::before{content:counter(n) ". ";counter-increment:n} .x::after{content:"›"}</style><h2 class=n>Intro</h2><h2 class=n>Use</h2><p class="e b">100</p><p class=h>x</p><p class=x>Next</p>`,
    "## 1. Intro\n\n## 2. Use\n\nNote: 100 EUR\n\nx\n\nNext",
  ],
  ["that is decoration", `<p>Shown</p><div aria-hidden=true>★</div>`, "Shown"],
];
