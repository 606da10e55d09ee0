import type { SeenCase } from "./seen-cases.ts";

type Row = readonly [html: string, lines: string, script?: string];

const clipped = `<style>.c{position:absolute;clip:rect(1px,1px,1px,1px);width:1px;height:1px;overflow:hidden}</style>`;

const kinds: Readonly<Record<string, readonly Row[]>> = {
  "words after the content": [
    [
      `<style>.a::after{content:" EUR"} .b::before{content:"USD "}</style><p class=a>100</p><p class=b>100</p><span class=a>7</span> and <span class=b>8</span><div class=a onclick="1" style="cursor:pointer">Pay 9</div><ul><li class=a>five</ul>`,
      `100 EUR\nUSD 100\n7 EUR and USD 8\nclickable "Pay 9 EUR" [e]\n* five EUR`,
    ],
    [`<style>button::after{content:"hidden words";font-size:0}</style><button>Buy</button>`, `button "Buy" [e]`],
    [
      `<style>button::after{content:attr(data-tip);opacity:0}</style><button data-tip="Save the page">Save</button>`,
      `button "Save" [e]`,
    ],
  ],
  "counters, and words in a separate line": [
    [
      `<style>body{counter-reset:n}.n::before{content:counter(n) ". ";counter-increment:n} .t::after{content:"%"} .d::after{content:"3 new";display:block} .x::after{content:"›"}</style><h2 class=n>Intro</h2><h2 class=n>Use</h2><p>Only 10<span class=t></span></p><p class=d>Inbox</p><p class=x>Next</p>`,
      `heading 2 "1. Intro"\nheading 2 "2. Use"\nOnly 10%\nInbox\n3 new\nNext`,
    ],
  ],
  "parts that were shown before": [
    [
      `<details open id=d><summary>More</summary>Words <button>In</button><p><input aria-label=F></p></details><div id=h>Words <button>Skipped</button> <div><img alt=pic width=50 height=50></div></div><div id=u><button>Found</button></div><p>End</p>`,
      `button "More" [e] [collapsed]\nEnd`,
      `document.body.offsetWidth; d.open = false; h.style.contentVisibility = "hidden"; u.hidden = "until-found"; undefined`,
    ],
  ],
  "numbers of items": [
    [
      `<ol start=3><li>three<li>four<ul><li>in</ul></ol><ol type=a><li>alpha<li><button>Beta</button></ol><ol reversed><li>x<li value=7>y</ol><ol style="list-style:none"><li>plain</ol><ol><li style="list-style-type:'[e9] '">words</ol>`,
      `3. three\n4. four\n  * in\na. alpha\nb. button "Beta" [e]\n2. x\n7. y\n* plain\n* words`,
    ],
  ],
  "the order of a table": [
    [
      `<table><tr><th aria-sort=ascending>Name<th aria-sort=none>Age<th aria-sort=descending><button>Size</button><tr><td>a<td>1<td>2</table>`,
      `table\n  | columnheader [ascending] Name | Age | columnheader [descending] button "Size" [e]\n  | a | 1 | 2`,
    ],
  ],
  "parts with items that take keys": [
    [
      `<div role=group tabindex=0 aria-label=Colours>Red</div><div role=grid tabindex=0 aria-label=G><div role=row><span role=gridcell>1</span></div></div><div role=toolbar aria-label=T>x</div><div role=menu tabindex=-1 aria-label=M><div role=menuitem>a</div></div>`,
      `group "Colours" [e]\n  Red\ngrid "G" [e]\n  | 1\ntoolbar "T"\n  x\nmenu "M"\n  menuitem "a" [e]`,
    ],
  ],
  "glyphs of icon fonts": [
    [
      `<style>.i::before{content:"\\f00d"}</style><button class=i title=Close></button><a href="#h" title="Go home"><i class=i></i></a><button title=Menu>\ue001</button><button class=i>Save</button>`,
      `button "Close" [e]\nlink "Go home" [e] #h\nbutton "Menu" [e]\nbutton "Save" [e]`,
    ],
  ],
  "cells that fill several places": [
    [
      `<table border=1><tr><th rowspan=2>Item<th colspan=2>Price<th>Note<tr><th>Net<th>Gross<th>x<tr><td rowspan=2>A<td colspan=2>3<td>n<tr><td>4<td>5<td>o</table>`,
      `table\n  | Item | Price |  | Note\n  |  | Net | Gross | x\n  | A | 3 |  | n\n  |  | 4 | 5 | o`,
    ],
    [
      `<table border=1><thead><tr><th rowspan=9>A<th>B</thead><tbody><tr><td>1<td>2</tbody></table>`,
      `table\n  | A | B\n  | 1 | 2`,
    ],
  ],
  "choices of lists": [
    [
      `<select multiple aria-label=M><option selected>a<option selected>b<option>c</select>`,
      `listbox "M" [e] = "a, b" options "a", "b", "c"`,
    ],
    [
      `<select aria-label=S><option hidden value="">Choose…</option><option disabled>No<option>Yes<optgroup label=G disabled><option>Old</optgroup></select>`,
      `combobox "S" [e] = "Choose…" options "No" (disabled), "Yes", "Old" (disabled)`,
    ],
    [
      `<input type=file id=f aria-label=F>`,
      `button "F" [e] = "a.txt"`,
      `t = new DataTransfer(); t.items.add(new File(["x"], "a.txt")); f.files = t.files; undefined`,
    ],
  ],
  "parts of drawings with a title": [
    [
      `<svg width=300 height=60><title>Map</title><a href="#r"><rect width=50 height=50 fill=red><title>Red</title></rect></a><g onclick="1" style="cursor:pointer"><circle cx=90 cy=20 r=20 fill=red /><text x=80 y=50>In</text></g><g tabindex=0 aria-label="Node A"><circle cx=150 cy=20 r=10 /></g><text x=200 y=20>Legend</text></svg>`,
      `image "Map"\n  link "Red" [e] #r\n  clickable "In" [e]\n  clickable "Node A" [e]\n  Legend`,
    ],
    [
      `<svg width=300 height=60 viewBox="0 0 300 60"><defs><clipPath id=c><rect width=300 height=60 /></clipPath><text y=20>No</text></defs><symbol><text y=20>No</text></symbol><g clip-path="url(#c)"><text x=9 y=30>Label</text></g></svg>`,
      `Label`,
    ],
  ],
  "words above others, and formulas": [
    [`<p>日<rp>(</rp><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>です</p>`, `日漢(kan)字(ji)です`],
    [
      `<p>Let <math><mfrac><mi>a</mi><mn>2</mn></mfrac><mo>=</mo><msqrt><mi>b</mi><mo>+</mo><mn>1</mn></msqrt></math> be</p><math display=block><semantics><msup><mi>x</mi><mn>2</mn></msup><annotation>x^2 hidden</annotation></semantics></math>`,
      `Let a/2 = √(b + 1) be\nx^2`,
    ],
    [
      `<p>x <math style="opacity:0"><mi>hidden</mi></math></p><math><mtext>Press <button>Go</button></mtext></math>`,
      `x\nPress\nbutton "Go" [e]`,
    ],
  ],
  "formulas that are drawn next to hidden ones": [
    [
      `${clipped}<p>Let <span><span class=c><math><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac><annotation>\\frac ab</annotation></semantics></math></span><span aria-hidden=true><span>b</span><span>a</span></span></span> be <i><span aria-hidden=true>y\u200B</span><b class=c><math><mi>y</mi></math></b></i></p>`,
      `Let a/b be y`,
    ],
    [
      `${clipped}<p>Let <span><span class=c><math><msup><mi>x</mi><mn>2</mn></msup></math></span><svg width=9 height=9 aria-hidden=true><path d="M0 0h9v9z"/></svg></span> be</p>`,
      `Let image "x^2" be`,
    ],
    [
      `${clipped}<p>A <span><span class=c><math><mtext>other words</mtext></math></span><span aria-hidden=true>x+1</span></span>, <span><span class=c><math><mi>no</mi></math></span><span aria-hidden=true style="opacity:0">no</span></span><span class=c><math><mi>no</mi></math></span>.</p>`,
      `A x+1, .`,
    ],
  ],
  "canvases with a name": [
    [`<canvas width=100 height=50 aria-label=Chart></canvas>`, `image "Chart" 100×50 px`],
    [
      `<canvas id=k width=100 height=50 aria-label=Map></canvas><canvas width=9 height=9></canvas>`,
      `clickable "Map" [e] 100×50 px`,
      `k.onclick = () => {}`,
    ],
  ],
  "editors that are other elements": [
    [
      `<h1 contenteditable>Title</h1><p contenteditable aria-label=Intro>one<br>two</p><label contenteditable>lab</label><ul><li contenteditable>item</ul>`,
      `textbox [e] (1 of 2) = "Title"\ntextbox "Intro" [e] = "one two"\ntextbox [e] (2 of 2) = "lab"\n* [e] item`,
    ],
  ],
  "shapes that cut": [
    [
      `<div style="clip-path:path('M0 0 L800 0 L800 90 L0 100 Z')"><button>Path</button></div><div style="clip-path:shape(from 0 0, hline to 100%, vline to 100%, hline by -100%, close)"><button>Shape</button></div><svg width=0 height=0 style="position:absolute"><clipPath id=w clipPathUnits=objectBoundingBox><path d="M0 0 L1 0 L1 .8 L0 1 Z"/></clipPath></svg><div style="clip-path:url(#w)"><button>Drawn</button></div><div style="clip-path:url(#unknown)"><button>Unknown</button></div>`,
      `button "Path" [e]\nbutton "Shape" [e]\nbutton "Drawn" [e]\nbutton "Unknown" [e]`,
    ],
    [
      `<div style="clip-path:inset(0 round 9px);height:60px;overflow:auto"><p style="height:200px">Top</p><button>Below</button></div>`,
      `Top\nbutton "Below" [e]`,
    ],
  ],
  "the focus in a frame": [
    [
      `<iframe title=F id=f srcdoc="<input aria-label=A>"></iframe>`,
      `iframe "F"\n  textbox "A" [e] [focused]`,
      `f.contentDocument.querySelector("input").focus()`,
    ],
  ],
};

/** What the words of an outline are made of. */
export const wordCases: readonly SeenCase[] = Object.entries(kinds).flatMap(([kind, rows]) =>
  rows.map(([html, lines, script]) => ({
    kind,
    html,
    lines: lines.split("\n"),
    ...(script !== undefined && { script }),
  })),
);
