import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

const internals = (role: string, state: string): string => `<x-box></x-box><script>
  customElements.define("x-box", class extends HTMLElement {
    constructor() {
      super();
      const own = Object.assign(this.attachInternals(), { role: "${role}", ${state}: "false", ariaLabel: "Box" });
      this.attachShadow({ mode: "open" }).innerHTML = "<div style='width:20px;height:20px;background:red'></div>";
      this.onclick = () => { own.${state} = String(own.${state} !== "true"); document.title = own.${state}; };
    }
    connectedCallback() { this.tabIndex = 0; }
  });</script>`;
const stated = (role: string, state: string): string =>
  `<div role=listbox aria-label=L><div role=${role} tabindex=0 aria-label=Box ${state}=false onclick="this.setAttribute('${state}', this.getAttribute('${state}') !== 'true'); document.title = this.getAttribute('${state}')">x</div></div>`;

it.each([
  ["checkbox", internals("checkbox", "ariaChecked")],
  ["switch", internals("switch", "ariaChecked")],
  ["option", stated("option", "aria-selected")],
  ["menuitemcheckbox", stated("menuitemcheckbox", "aria-checked")],
  ["button", stated("button", "aria-pressed")],
])("checks and unchecks a %s: %s", async (role, html) => {
  await session.show(html);
  for (const accept of [true, true, false, false, true]) {
    await session.done({ type: "check", role, name: "Box", accept });
    expect(await session.evaluate("document.title")).toBe(String(accept));
  }
});

/** The page selects an item on a click, and checks it as well. */
const selecting = (role: string): string =>
  stated(role, "aria-checked").replace("tabindex", "aria-selected=true tabindex");
it.each([
  ["option", selecting("option")],
  ["treeitem", selecting("treeitem").replace("role=listbox", "role=tree")],
])("checks and unchecks a selected %s", async (role, html) => {
  await session.show(html);
  for (const accept of [true, true, false, false]) {
    await session.done({ type: "check", role, name: "Box", accept });
    expect(await session.evaluate("document.title")).toBe(String(accept));
  }
});

it("does not prefer an element in view while a banner that calls itself modal is open", async () => {
  const buy = "<p><button onclick='document.title += 1'>Buy</button></p>";
  await session.show(`${buy}<div style="height:2000px"></div>${buy.repeat(5)}
    <div role=dialog aria-modal=true aria-label=Cookies style="position:fixed;bottom:0;left:0;right:0;background:#eee"><button>Accept</button></div>`);
  const refused = await session.act({ type: "click", role: "button", name: "Buy" });
  expect(refused).toMatchObject({ status: 409, code: "ambiguous_target" });
});

it("prefers an element of a dialog that covers the page, also to elements out of view", async () => {
  const buy = "<p><button>Buy</button></p>";
  await session.show(`${buy}<div style="height:2000px"></div>${buy.repeat(5)}<div style="position:fixed;inset:0;background:#0008">
    <div role=dialog aria-modal=true aria-label=Basket style="margin:300px;background:#eee"><button onclick="document.title = 'bought'">Buy</button></div></div>`);
  expect((await session.done({ type: "click", role: "button", name: "Buy" })).title).toBe("bought");
});

it("fills a slider whose value no attribute has", async () => {
  await session.show(`<x-slide></x-slide><script>
    customElements.define("x-slide", class extends HTMLElement {
      constructor() {
        super();
        const own = Object.assign(this.attachInternals(), { role: "slider", ariaValueNow: "3", ariaValueMin: "0", ariaValueMax: "20", ariaLabel: "Volume" });
        this.attachShadow({ mode: "open" }).innerHTML = "<div style='width:90px;height:20px;background:blue'></div>";
        this.onkeydown = ({ key }) => { own.ariaValueNow = String(Number(own.ariaValueNow) + ({ ArrowUp: 1, ArrowDown: -1 }[key] ?? 0)); document.title = own.ariaValueNow; };
      }
      connectedCallback() { this.tabIndex = 0; }
    });</script>`);
  for (const text of ["17", "5"]) {
    await session.done({ type: "fill", role: "slider", name: "Volume", text });
    expect(await session.evaluate("document.title")).toBe(text);
  }
  const refused = await session.act({ type: "fill", role: "slider", name: "Volume", text: "21" });
  expect(refused.message).toContain("a number from 0 to 20");
});

it("refuses a control that stays as it is", async () => {
  await session.show(`<div role=menuitemcheckbox aria-checked=true tabindex=0>Box</div>`);
  const refused = await session.act({ type: "check", role: "menuitemcheckbox", name: "Box", accept: false });
  expect(refused.message).toContain("stayed checked");
});

it("takes the element in front of those with the same name behind a dialog", async () => {
  session.page("/inner", `<button onclick="this.textContent = 'Clicked'">Inner</button>`);
  const url = session.url("/inner", "localhost");
  await session.show(`<dialog id=d aria-label=Frame><iframe src="${url}" title=F></iframe></dialog><iframe src="${url}" title=Behind></iframe>
    <script>d.showModal()</script>`);
  const { element } = await session.done({ type: "click", role: "button", name: "Inner" });
  expect(element?.name).toBe("Clicked");
  expect(await session.evaluate("document.querySelector('dialog').open")).toBe(true);
});

/** As date fields of component libraries: each part handles the keys itself, and never lets the browser change its text. */
const datePart = (value: string, accept: string): string => `
  <div role=spinbutton id=f contenteditable tabindex=0 aria-label=Part aria-valuenow=5 aria-valuetext="${value}">${value}</div><script>
  let typed = "";
  const set = (now, text) => { f.ariaValueNow = now; f.ariaValueText = text; f.textContent = text; document.title = now; };
  f.onfocus = () => { typed = ""; };
  f.onbeforeinput = (event) => { event.preventDefault(); const key = event.data ?? ""; ${accept} };</script>`;
const month = datePart("May", `if (/^\\d$/.test(key)) { typed += key; set(typed, typed.padStart(2, "0")); }`);
const half = datePart(
  "AM",
  `if (/^[ap]$/i.test(key)) set(key === "p" || key === "P" ? 1 : 0, key.toUpperCase() + "M");`,
);

it.each([
  ["11", month, "11"],
  ["7", month, "7"],
  ["PM", half, "1"],
])("fills a part of a date field with %s", async (text, html, title) => {
  await session.show(html);
  await session.done({ type: "fill", role: "spinbutton", name: "Part", text });
  expect(await session.evaluate("document.title")).toBe(title);
});

it.each([
  ["123", ""],
  ["31", `<iframe srcdoc="<input>"></iframe>`],
])("types nothing of %s in the next part of a date field %s", async (text, more) => {
  await session.show(`${more}<input id=day value=28><div role=spinbutton id=f contenteditable tabindex=0 aria-label=Part></div><script>
    f.onbeforeinput = (event) => {
      event.preventDefault();
      f.textContent += event.data ?? "";
      if (Number(f.textContent) > 1) day.focus();
    };</script>`);
  const refused = await session.act({ type: "fill", role: "spinbutton", name: "Part", text });
  expect(refused).toMatchObject({ status: 409, message: expect.stringContaining("did not take the text") as unknown });
  expect(await session.evaluate("day.value")).toBe("28");
});

it("types nothing for a part of a date field that moves the focus", async () => {
  await session.show(`<input id=day value=28><div role=spinbutton id=f contenteditable tabindex=0 aria-label=Part>5</div>
    <script>f.onfocus = () => day.focus();</script>`);
  const refused = await session.act({ type: "fill", role: "spinbutton", name: "Part", text: "7" });
  expect(refused.status).toBe(409);
  expect(await session.evaluate("day.value")).toBe("28");
});

it.each(["11", "7"])("replaces the value of an editable spin button by %s", async (text) => {
  await session.show(`<span role=spinbutton id=f contenteditable aria-label=Part>5 kg</span>`);
  await session.done({ type: "fill", role: "spinbutton", name: "Part", text });
  expect(await session.evaluate("f.textContent")).toBe(text);
});

it("refuses a text that a part of a date field does not take", async () => {
  await session.show(half);
  const refused = await session.act({ type: "fill", role: "spinbutton", name: "Part", text: "XX" });
  expect(refused).toMatchObject({ status: 409, message: expect.stringContaining("did not take the text") as unknown });
});
