import { expect, it } from "vitest";
import { findChromium } from "../../../../testing/chromium.ts";
import { ActingSession } from "../../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

const save = `<button onclick="document.title = 'right'">Save</button>`;
const decoy = (text: string, attributes = ""): string =>
  `<button ${attributes} onclick="document.title = 'wrong'">${text}</button>`;
const define = (body: string): string =>
  `<script>customElements.define("x-b", class extends HTMLElement { constructor() { super(); ${body} } });</script>`;
const own = `Object.assign(this.attachInternals(), { role: "button", ariaLabel: "Save" });`;
const closed = `this.attachShadow({ mode: "closed" }).innerHTML = ${JSON.stringify(decoy("Save"))};`;

it.each([
  ["alone", save],
  ["with its name in several parts", save.replace("Save", "<b>Sa</b><i>ve</i>")],
  ["with a name that a part of another one has", `${save}${decoy("Cancel")}<p>Save your work</p>`],
  ["next to a copy that is not shown", `${save}${decoy("Save", "hidden")}`],
  ["next to a link", `${save}<a href="#x">Save</a>`],
  ["with another whole name that contains it", `${save}${decoy("Save as")}`],
  ["of another element with its role", `<div role=button tabindex=0 onclick="document.title = 'right'">Save</div>`],
  ["with a stated name", save.replace("Save", "x").replace("<button", "<button aria-label=Save")],
  ["with a name from elsewhere", `<p id=n>Save</p>${save.replace(">Save", " aria-labelledby=n>x")}`],
  ["in a page that is hidden from assistive technology", `<div aria-hidden=true>${save}</div>`],
  [
    "in a component",
    `<x-b>Save</x-b>${define(`this.attachShadow({ mode: "open" }).innerHTML = "<button onclick=\\"document.title = 'right'\\"><slot></slot></button>";`)}`,
  ],
])("clicks the button %s", async (_title, html) => {
  await session.show(`<title>none</title>${html}`);
  expect((await session.done({ type: "click", role: "button", name: "Save" })).title).toBe("right");
});

it.each([
  ["another button", decoy("save")],
  ["a stated name", decoy("x", `aria-label="Save"`)],
  ["a name from elsewhere", `<p id=n>Save</p>${decoy("x", "aria-labelledby=n")}`],
  ["a name over two lines", decoy("<div>Sa</div>ve").replace("Sa</div>ve", "Sa&shy;ve</div>")],
  ["a frame", `<iframe srcdoc='${decoy("Save").replaceAll("'", "&quot;")}'></iframe>`],
  ["a closed component", `<x-b></x-b>${define(closed)}`],
  ["an element that names itself to the browser", `<x-b tabindex=0>x</x-b>${define(own)}`],
  [
    "an element with an open root that does so",
    `<x-b tabindex=0>x</x-b>${define(`${own} this.attachShadow({ mode: "open" }).innerHTML = "<slot></slot>";`)}`,
  ],
  ["a button that its style names", `<style>.s::before { content: "Save" }</style>${decoy("", "class=s")}`],
  ["a button that its style completes", `<style>.s::after { content: "ve" }</style>${decoy("Sa", "class=s")}`],
  [
    "a button with a part that is named elsewhere",
    `<p id=n>Save</p>${decoy(`<span role=img aria-labelledby=n></span>`)}`,
  ],
  ["a button that owns a text", `<p id=n>Save</p>${decoy("", "aria-owns=n")}`],
  ["a button with hidden text in its name", decoy(`Sa<span style="opacity:0">xx</span>ve`)],
])("refuses to choose between a button and %s", async (_title, html) => {
  await session.show(`<title>none</title>${save}${html}`);
  expect(await session.act({ type: "click", role: "button", name: "Save" })).toMatchObject({
    status: 409,
    code: "ambiguous_target",
  });
  expect(await session.evaluate("document.title")).toBe("none");
});

it.each<[role: string, name: string, html: string]>([
  ["textbox", "Search", `<input aria-label=Search><div role=textbox contenteditable aria-placeholder=Search></div>`],
  ["link", "Note", `<a href="#x">Note</a><span role=doc-biblioref tabindex=0>Note</span>`],
])("refuses to choose a %s", async (role, name, html) => {
  await session.show(html);
  expect(await session.act({ type: "click", role, name })).toMatchObject({ status: 409, code: "ambiguous_target" });
});

it("refuses to choose between a button and one with the browser's own text", async () => {
  await session.show(`<button type=button>Submit</button><form onsubmit="return false"><input type=submit></form>`);
  expect(await session.act({ type: "click", role: "button", name: "Submit" })).toMatchObject({
    code: "ambiguous_target",
  });
});

const hiding = [
  ["without opacity", "opacity:0"],
  ["almost without opacity", "opacity:.01"],
  ["cut away", "position:absolute;clip-path:inset(50%)"],
  ["tiny", "position:absolute;width:1px;height:1px;overflow:hidden"],
  ["transparent", "color:transparent"],
  ["filled with nothing", "-webkit-text-fill-color:transparent"],
  ["of the colour below it", "color:buttonface"],
  ["left of the page", "position:absolute;left:-9999px"],
  ["above the page", "position:fixed;top:-500px"],
  ["filtered away", "filter:opacity(0)"],
  ["masked away", "mask-image:linear-gradient(transparent, transparent)"],
  ["behind the button", "position:relative;z-index:-1"],
  ["turned away", "display:inline-block;backface-visibility:hidden;transform:rotateY(180deg)"],
] as const;

it.each(hiding)("does not find a button by a text in it that is %s", async (_title, style) => {
  await session.show(`<title>none</title>${decoy(`Cancel<span style="${style}">Save</span>`)}`);
  expect(await session.act({ type: "click", role: "button", name: "Save", timeout_ms: 1000 })).toMatchObject({
    status: 404,
    code: "element_not_found",
  });
  expect(await session.evaluate("document.title")).toBe("none");
});
