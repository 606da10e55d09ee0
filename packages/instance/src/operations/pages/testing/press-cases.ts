import type { SeenCase } from "./seen-cases.ts";

const listen = (selector: string, ...types: readonly string[]): string =>
  `for (const one of document.querySelectorAll(${JSON.stringify(selector)})) for (const type of ${JSON.stringify(types)}) one.addEventListener(type, () => {})`;
const days = (tag: string, from: number, count = 7): string =>
  Array.from({ length: count }, (_, place) => `<${tag}>${String(from + place)}</${tag}>`).join("");
const filler = `<p>${"A long text about a thing. ".repeat(9)}</p>`;
/** Types of a framework that listens on the root of a page. */
const all = [
  ...["abort", "auxclick", "cancel", "canplay", "click", "close", "contextmenu", "copy", "cut", "dblclick", "drag"],
  ...["dragend", "dragenter", "dragleave", "dragover", "dragstart", "drop", "ended", "focusin", "focusout", "input"],
  ...["keydown", "keyup", "mousedown", "mouseup", "paste", "play", "pointerdown", "pointerup", "reset", "toggle"],
  ...["touchstart", "wheel"],
];

const kinds: Readonly<Record<string, readonly (readonly [html: string, lines: string, script?: string])[]>> = {
  "parts that listen to a pointer": [
    [
      `<div id=k style="width:200px;height:20px" class=track></div>${filler}`,
      `clickable [e] (track)\n${filler.slice(3, -5)}`,
      listen("#k", "pointerdown"),
    ],
    [
      `<span id=k aria-label="Move the panel" style="display:block;width:9px;height:500px"></span><b>Text</b>`,
      `clickable "Move the panel" [e]\nText`,
      listen("#k", "pointerdown"),
    ],
    [
      `<div><div class=file>report.pdf</div></div>${filler}`,
      `clickable "report.pdf" [e]\n${filler.slice(3, -5)}`,
      listen(".file", "dblclick"),
    ],
  ],
  "canvases that listen": [
    [
      `<canvas width=300 height=150 aria-label="Sign here"></canvas>`,
      `clickable "Sign here" [e] 300×150 px`,
      listen("canvas", "pointerdown"),
    ],
    [
      `<div><div class=board><canvas class=upper width=90 height=40></canvas></div></div>`,
      `clickable [e] (upper) 90×40 px`,
      listen(".board", "pointerdown", "pointermove"),
    ],
    [
      `<p>Game</p><canvas style="width:50px;height:40px;cursor:crosshair"></canvas><canvas width=40 height=40></canvas>`,
      `Game\nclickable [e] 50×40 px`,
    ],
    [`<canvas tabindex=0 aria-label=Chart width=50 height=50></canvas>`, `clickable "Chart" [e] 50×50 px`],
  ],
  "sorted lists": [
    [
      `<ul id=s><li>Alpha<li>Beta <button>Remove</button></ul>`,
      `* [e] Alpha\n* [e] Beta button "Remove" [e]`,
      listen("#s", "pointerdown"),
    ],
    [
      `<p>List</p><div id=s>${["Alpha is the first of the items here", "Beta", "Gamma"].map((text) => `<div>${text}</div>`).join("")}</div>`,
      `List\nclickable "Alpha is the first of the items here" [e]\nclickable "Beta" [e]\nclickable "Gamma" [e]`,
      listen("#s", "pointerdown"),
    ],
    [
      `<table><tbody id=s><tr><td>Alpha<td>1<tr><td>Beta<td>2</table>`,
      `table\n  row [e] | Alpha | 1\n  row [e] | Beta | 2`,
      listen("#s", "pointerdown"),
    ],
  ],
  "listeners of a whole page": [
    [
      `<div id=root><main><p>Short</p><p>text</p></main></div>`,
      `main\n  Short\n  text`,
      `${listen("#root", "pointerdown")}; ${listen("body", "pointerdown", "dblclick")}; document.addEventListener("pointerdown", () => {})`,
    ],
    [`<div id=root><div><p>Alone</p></div></div>`, `Alone`, listen("#root", ...all)],
    [
      `<div><div id=root><table><tr><td>Name<td>Size<tr><td>A</table></div></div>`,
      `table\n  | Name | Size\n  | A`,
      listen("#root", ...all),
    ],
    [
      `<div id=swipe style="height:500px"><p>A slide</p></div>`,
      `A slide`,
      listen("#swipe", "touchstart", "pointerdown"),
    ],
  ],
  "parts that scripts drag from the root": [
    [
      `<div style="width:90px;height:40px;touch-action:none">Drag me</div><div style="touch-action:none;height:95vh">A page of text <button>In</button></div><button style="touch-action:none"><span style="touch-action:none">Both</span></button>`,
      `clickable "Drag me" [e]\nA page of text button "In" [e]\nbutton "Both" [e]`,
    ],
  ],
  "calendars in a part that listens": [
    [
      `<style>b,span{display:inline-block;padding:4px}</style><div><div id=c><div class=view><div><b>Mo</b><b>Tu</b><b>We</b></div><div>${[1, 8, 15, 22, 29].map((from) => days("span", from)).join("")}</div></div></div></div>`,
      `clickable "Mo" [e]\nclickable "Tu" [e]\nclickable "We" [e]\n${Array.from({ length: 35 }, (_, place) => `clickable "${String(place + 1)}" [e]`).join("\n")}`,
      listen("#c", "click"),
    ],
    [
      `<div><div id=c><div class=scroll><table>${[1, 8].map((from) => `<tr>${days("td", from)}</tr>`).join("")}</table></div></div></div>`,
      `table\n  ${[1, 8].map((from) => `| ${Array.from({ length: 7 }, (_, place) => `cell [e] ${String(from + place)}`).join(" | ")}`).join("\n  ")}`,
      listen("#c", "pointerdown"),
    ],
    [
      `<div><div id=c>${[1, 8, 15].map((from) => `<div>${days("div", from)}</div>`).join("")}</div></div>`,
      Array.from({ length: 21 }, (_, place) => `clickable "${String(place + 1)}" [e]`).join("\n"),
      listen("#c", "click"),
    ],
    [
      `<div><div id=c><table role=grid aria-label=Day><tr><td role=rowheader>9:00<td role=gridcell aria-label="Nine"><tr><td role=rowheader>10:00<td role=gridcell></table></div></div>`,
      `grid "Day"\n  | rowheader [e] 9:00 | gridcell "Nine" [e]\n  | rowheader [e] 10:00 | gridcell [e]`,
      listen("#c", "mousedown"),
    ],
  ],
};

export const pressCases: readonly SeenCase[] = Object.entries(kinds).flatMap(([kind, rows]) =>
  rows.map(([html, lines, script]) => ({
    kind,
    html,
    lines: lines.split("\n"),
    ...(script !== undefined && { script }),
  })),
);
