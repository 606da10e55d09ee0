import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

const rows = (count: number, text: string): string =>
  Array.from({ length: count }, (_, place) => `<p>${text} ${String(place)}</p>`).join("");
/** Everything that a page may do meanwhile, in more lines than the budget has. */
const noise = `a.innerHTML = ${JSON.stringify(rows(60, "News above"))}; z.innerHTML = ${JSON.stringify(rows(60, "News below"))};
  for (const one of document.querySelectorAll(".tick")) one.textContent = "Viewers 4711";`;
const page = (widget: string): string =>
  `<title>t</title><div id=a>${rows(30, "Old")}</div>${"<p class=tick>Viewers 12</p>".repeat(20)}<main>${widget}</main><div id=z></div>`;

it.each([
  [
    "a message of a field",
    `<form><label>Mail <input id=m></label><span id=e></span><button>Send</button></form>`,
    `m.setAttribute("aria-invalid", "true"); e.textContent = "Enter an address"`,
    [/textbox "Mail".*invalid/, /Enter an address/],
  ],
  [
    "a dialog",
    `<button>Delete</button><div id=d></div>`,
    `d.innerHTML = "<div role=dialog aria-label=Sure><button>Yes</button></div>"`,
    [/\+ +dialog "Sure"/, /button "Yes"/],
  ],
  [
    "an alert",
    `<button>Pay</button><div id=d></div>`,
    `d.innerHTML = "<p role=alert>Card refused</p>"`,
    [/Card refused/],
  ],
  [
    "a toast far away",
    `<button>Save</button>`,
    `document.body.insertAdjacentHTML("beforeend", "<div role=status style='position:fixed;bottom:0'>Saved</div>")`,
    [/Saved/],
  ],
  [
    "options of a list",
    `<input role=combobox aria-label=City aria-expanded=false id=c><ul role=listbox aria-label=Cities id=l></ul><button>Open</button>`,
    `c.setAttribute("aria-expanded", "true"); l.innerHTML = "<li role=option>Oslo<li role=option>Rome"`,
    [/option "Oslo"/, /option "Rome"/, /combobox "City".*expanded/],
  ],
  [
    "items of a menu",
    `<button>More</button><div id=d></div>`,
    `d.innerHTML = "<div role=menu><div role=menuitem tabindex=-1>Copy</div></div>"`,
    [/menuitem "Copy"/],
  ],
  [
    "the state of the control",
    `<button aria-pressed=false id=b>Mute</button>`,
    `b.ariaPressed = "true"`,
    [/button "Mute".*pressed/],
  ],
  [
    "a row next to the control",
    `<ul id=l><li>One</ul><button>Add</button>`,
    `l.insertAdjacentHTML("beforeend", "<li>Fresh row")`,
    [/Fresh row/],
  ],
] as const)("names %s within few tokens, although much else changes", async (_title, widget, change, expected) => {
  await session.show(
    `${page(widget)}<script>document.querySelector("main button").onclick = (event) => { event.preventDefault(); ${change}; ${noise} }</script>`,
  );
  await session.instance.call("POST", "/observe", "{}");
  const { observation } = await session.done({
    type: "click",
    selector: "main button",
    observe: { diff: true, max_tokens: 150 },
  });
  const lines = observation?.outline.split("\n") ?? [];
  expect(observation?.diff).toBe(true);
  for (const text of expected)
    expect(
      lines.some((line) => text.test(line)),
      `${String(text)} in\n${lines.join("\n")}`,
    ).toBe(true);
  expect(observation?.left_out).toBeGreaterThan(50);
});

it("puts a message first, and numbers that tick last", async () => {
  await session.show(
    `<p id=n>Viewers 1</p><button>Go</button><p id=e></p><script>document.querySelector("button").onclick = () => { n.textContent = "Viewers 2"; e.outerHTML = "<p>More</p><p role=alert>Failed</p>"; }</script>`,
  );
  await session.instance.call("POST", "/observe", "{}");
  const { observation } = await session.done({ type: "click", selector: "button", observe: { diff: true } });
  const lines = observation?.outline.split("\n").map((line) => line.slice(2).trim()) ?? [];
  expect([lines[0], lines.at(-1)]).toEqual(["alert", "Viewers 2"]);
});

it.each([
  [
    "a list",
    `<ul role=listbox aria-label=Cities>${"<li role=option>Oslo".repeat(20)}</ul>`,
    /^- listbox "Cities".* and 20 parts$/,
  ],
  ["plain parts", "<div tabindex=0>Day</div>".repeat(42), /^- clickable "Day" \[e\d+\] and 41 parts$/],
  ["rows", `<table>${"<tr><td>A<td>B".repeat(8)}</table>`, /^- table and 8 parts$/],
] as const)("names a closed popup of %s in one line, after new text", async (_title, html, expected) => {
  await session.show(`<button>Choose</button><div id=p>${html}</div><p id=e></p><script>
    document.querySelector("button").onclick = () => { p.innerHTML = ""; e.textContent = "Chosen"; }</script>`);
  await session.instance.call("POST", "/observe", "{}");
  const { observation } = await session.done({ type: "click", selector: "button", observe: { diff: true } });
  const lines = observation?.outline.split("\n") ?? [];
  expect(lines.some((line) => line.includes("Chosen"))).toBe(true);
  expect(lines.filter((line) => line.startsWith("-"))).toEqual([expect.stringMatching(expected)]);
  expect(lines.at(-1)).toMatch(expected);
});
