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

it("refuses a text that a part of a date field does not take", async () => {
  await session.show(half);
  const refused = await session.act({ type: "fill", role: "spinbutton", name: "Part", text: "XX" });
  expect(refused).toMatchObject({ status: 409, message: expect.stringContaining("did not take the text") as unknown });
});
