import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** Returns the first reference in what matches. */
async function refOf(pattern: RegExp): Promise<string> {
  const { text } = await session.instance.call("POST", "/observe", JSON.stringify({ max_tokens: 20_000 }));
  const { outline } = JSON.parse(text) as { outline: string };
  const [, ref] = /\[(e\d+)\]/.exec(pattern.exec(outline)?.[0] ?? "") ?? [];
  if (ref === undefined) throw new Error(`${String(pattern)} in\n${outline}`);
  return ref;
}

const sorted = (list: string): string => `${list}<p>Below</p><script>
  let held;
  s.addEventListener("pointerdown", (event) => { held = event.target.closest("#s > *"); });
  document.addEventListener("pointermove", (event) => {
    if (!held) return;
    for (const one of s.children) {
      const { top, bottom } = one.getBoundingClientRect();
      if (one !== held && event.clientY > (top + bottom) / 2 && event.clientY < bottom) one.after(held);
    }
  });
  document.addEventListener("pointerup", () => { held = undefined; document.title = [...s.children].map((one) => one.textContent[0]).join(""); });
</script>`;
it.each([
  ["a list", `<ul id=s style="list-style:none"><li>A one<li>B two<li>C three</ul>`],
  ["parts that look alike", `<section><div id=s><div>A one</div><div>B two</div><div>C three</div></div></section>`],
  ["rows", `<table><tbody id=s><tr><td>A one<tr><td>B two<tr><td>C three</table>`],
])("drags an item of %s that listens to a pointer alone", async (_title, list) => {
  await session.show(sorted(list));
  const [ref, to] = [await refOf(/^.*A one.*$/m), await refOf(/^.*C three.*$/m)];
  await session.done({ type: "drag", ref, to: { ref: to } });
  expect(await session.evaluate("document.title")).toBe("BCA");
});

it.each([
  ["itself", `<canvas id=c width=200 height=100></canvas>`],
  ["in a part that listens", `<div><div id=c style="width:200px"><canvas width=200 height=100></canvas></div></div>`],
  ["with a name", `<canvas id=c width=200 height=100 aria-label="Sign here"></canvas>`],
])("draws on a canvas %s by pixels", async (_title, html) => {
  await session.show(`${html}<script>
    let from;
    c.addEventListener("pointerdown", ({ clientX, clientY }) => { from = [clientX, clientY]; });
    addEventListener("pointerup", ({ clientX, clientY }) => { document.title = [clientX - from[0], clientY - from[1]].map(Math.round).join(); });
  </script>`);
  const ref = await refOf(/^.*200×100 px$/m);
  await session.done({ type: "drag", ref, delta_x: 40, delta_y: -20 });
  expect(await session.evaluate("document.title")).toBe("40,-20");
});

const week = (tag: string, from: number): string =>
  Array.from({ length: 7 }, (_, day) => `<${tag} data-day=${String(from + day)}>${String(from + day)}</${tag}>`).join(
    "",
  );
const slots = ["9:00", "10:00", "11:00"].map((time) => `<tr><th>${time}<td data-day=${time.replace(":00", "")}>`);
it.each([
  [
    "a table",
    `<div class=s><table>${[1, 8].map((day) => `<tr>${week("td", day)}`).join("")}</table></div>`,
    /cell \[e\d+\] 10\b/,
  ],
  [
    "parts that look alike",
    [1, 8, 15].map((day) => `<div style="display:flex">${week("div", day)}</div>`).join(""),
    /"10" \[e\d+\]/,
  ],
  ["a time grid", `<table role=grid>${slots.join("")}</table>`, /(?<=10:00 \| )gridcell \[e\d+\]/],
])("chooses a day or a time in %s whose surroundings listen", async (_title, html, pattern) => {
  await session.show(`<style>td{height:20px;width:60px}</style><main><div id=c>${html}</div></main><script>
    c.addEventListener("mousedown", (event) => { document.title = event.target.closest("[data-day]").dataset.day; });
  </script>`);
  await session.done({ type: "click", ref: await refOf(pattern) });
  expect(await session.evaluate("document.title")).toBe("10");
});

const below = (part: string, field: string): string => `<style>input, select { margin: 0 }</style>
  <div id=w style="position:relative;width:24px;height:24px">${part}${field}</div>
  <script>w.onclick = () => { document.title += "1"; }</script>`;
const over = 'style="position:absolute;inset:0;width:100%;height:100%;opacity:0;z-index:1"';
const drawn = "width:24px;height:24px;border:1px solid;box-sizing:border-box";
it.each([
  [
    "checkbox",
    below(
      `<span role=checkbox tabindex=0 aria-label=Any aria-checked=mixed style="display:block;${drawn}"></span>`,
      `<input type=checkbox tabindex=-1 aria-hidden=true ${over}>`,
    ),
  ],
  [
    "switch",
    below(
      `<div><div role=switch tabindex=0 aria-label=Any aria-checked=false style="${drawn}"></div></div>`,
      `<div ${over}><input type=radio style="width:100%;height:100%"></div>`,
    ),
  ],
  ["button", below(`<button aria-label=Any style="${drawn}"></button>`, `<input ${over}>`)],
])("clicks a %s below a transparent field of its size through that field", async (role, html) => {
  await session.show(html);
  const { element } = await session.done({ type: "click", role, name: "Any" });
  expect(element).toMatchObject({ role, name: "Any" });
  expect(await session.evaluate("document.title")).toBe("1");
});

it.each([
  [
    "a field that is seen",
    `<span role=checkbox tabindex=0 aria-label=Any style="display:block;${drawn}"></span>`,
    `<input ${over.replace("opacity:0", "")}>`,
  ],
  [
    "a larger field",
    `<span role=checkbox tabindex=0 aria-label=Any style="display:block;${drawn}"></span>`,
    `<input ${over.replace("inset:0;width:100%;height:100%", "left:-90px;top:-9px;width:300px;height:300px")}>`,
  ],
  [
    "another part",
    `<span role=checkbox tabindex=0 aria-label=Any style="display:block;${drawn}"></span>`,
    `<div ${over}></div>`,
  ],
])("does not click below %s", async (_title, part, field) => {
  await session.show(below(part, field));
  const refused = await session.act({ type: "click", role: "checkbox", name: "Any", timeout_ms: 5_000 });
  expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
  expect(refused.message).toContain("is covered by");
});

it.each([
  [
    "radiogroup",
    "radio",
    `<div role=radiogroup aria-label=Whole>${["A", "B", "C"].map((one) => `<div role=radio tabindex=0>${one}</div>`).join("")}</div>`,
  ],
  [
    "menu",
    "menuitem",
    `<ul role=menu aria-label=Whole>${["A", "B", "C"].map((one) => `<li role=menuitem tabindex=-1>${one}`).join("")}</ul>`,
  ],
  [
    "tree",
    "treeitem",
    `<div role=tree aria-label=Whole>${["A", "B", "C"].map((one) => `<div role=treeitem tabindex=0>${one}</div>`).join("")}</div>`,
  ],
])("refuses a click on a whole %s at once, and names an item", async (role, item, html) => {
  await session.show(`${html}<script>onclick = () => { document.title = "clicked"; }</script>`);
  const refused = await session.act({ type: "click", selector: `[role=${role}]`, timeout_ms: 60_000 });
  expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
  expect(refused.message).toMatch(new RegExp(`would choose e\\d+ \\(${item} "B"\\)`));
  expect(await session.evaluate("document.title")).toBe("");
});
