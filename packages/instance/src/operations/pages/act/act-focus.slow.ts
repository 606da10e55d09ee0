import type { ActOnPage } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** How a page moves the focus from a field to its neighbour. */
const moves = [
  ["at once", "b.focus(); b.select();"],
  ["in a task", "queueMicrotask(() => { b.focus(); b.select(); });"],
  ["in a timer", "setTimeout(() => { b.focus(); b.select(); });"],
  ["in a frame", "requestAnimationFrame(() => { b.focus(); b.select(); });"],
] as const;
const fields = [
  ["a field", `<input id=a value=old>`, "a.value"],
  ["a text of lines", `<textarea id=a>old</textarea>`, "a.value"],
  ["an editor", `<div id=a contenteditable>old</div>`, "a.innerText"],
] as const;

describe("a page that moves the focus to the next field", () => {
  const cases = fields.flatMap(([title, html, read]) =>
    moves.map(([when, move]) => [title, when, { html, read, move }] as const),
  );
  it.each(cases)("gets the text of %s there and nowhere else: %s", async (title, when, { html, move, read }) => {
    await session.show(`${html}<input id=b value=kept><script>a.onfocus = () => { ${move} };</script>`);
    // An editor needs the focus.
    const isRefused = title === "an editor" && when === "at once";
    for (const text of ["new", ""]) {
      const { code } = await session.act({ type: "fill", selector: "#a", text, timeout_ms: 60_000 });
      const held = isRefused ? "old" : text;
      expect([code, await session.evaluate(`[${read}.trim(), b.value]`)]).toEqual([
        isRefused ? "not_actionable" : undefined,
        [held, "kept"],
      ]);
    }
  });

  it("gets the text of an editor that follows its selection there and nowhere else", async () => {
    await session.show(`<div id=a contenteditable>old</div><input id=b value=kept><script>
      onselectionchange = document.onselectionchange = () => { if (document.activeElement === a) b.focus(); };</script>`);
    const { code } = await session.act({ type: "fill", selector: "#a", text: "new\nlines", timeout_ms: 60_000 });
    if ((code as string | undefined) === undefined) expect(await session.evaluate("a.innerText")).toBe("new\nlines");
    expect(await session.evaluate("b.value")).toBe("kept");
  });

  it.each<[string, string, ActOnPage]>([
    ["an element", "onfocus", { type: "press", keys: ["Enter"] }],
    ["a submitted field", "oninput", { type: "fill", text: "x", submit: true }],
  ])("gets no key of %s in the next control", async (_title, event, act) => {
    await session.show(`<form onsubmit="document.title = 'sent'; return false"><input id=a><button id=b type=button onclick="document.title = 'pressed'">Delete</button></form>
      <script>a.${event} = () => queueMicrotask(() => b.focus());</script>`);
    const { code, message } = await session.act({ ...act, selector: "#a", timeout_ms: 60_000 });
    const title = await session.evaluate("document.title");
    if (act.type === "fill") expect(title).toBe("sent");
    else {
      expect([code, title]).toEqual(["not_actionable", expect.not.stringContaining("pressed")]);
      expect(message).toContain("does not keep the focus: the page moves it");
    }
    // The next key is the person's.
    await session.done({ type: "press", keys: ["Enter"] });
    expect(await session.evaluate("document.title")).toBe(act.type === "fill" ? "sent" : "pressed");
  });

  it("gets the Enter of a field that it has replaced with its text in the new field", async () => {
    await session.show(`<form onsubmit="document.title = 'sent ' + document.forms[0].f.value; return false"><input name=f></form><script>
      const form = document.forms[0];
      const renew = () => { const next = form.f.cloneNode(); next.value = form.f.value; form.f.replaceWith(next); next.focus(); };
      form.oninput = () => { form.oninput = null; renew(); };</script>`);
    await session.done({ type: "fill", selector: "input", text: "x", submit: true });
    expect(await session.evaluate("document.title")).toBe("sent x");
  });
});

describe("a page that changes a field when it gets the focus", () => {
  const list = "<option value=>None<option value=a>Aachen<option value=b>Bonn";
  it.each([
    ["fills the list again", `<select id=s onfocus="this.innerHTML = '${list}'">${list}</select>`],
    ["fills the list of several again", `<select id=s multiple onfocus="this.innerHTML = '${list}'">${list}</select>`],
    [
      "replaces the list",
      `<div id=w><select id=s onfocus="w.innerHTML = w.innerHTML.replace('onfocus', 'data-old')">${list}</select></div>`,
    ],
    [
      "replaces the list in a frame",
      `<div id=w><select id=s onfocus="requestAnimationFrame(() => { w.innerHTML = w.innerHTML.replace('onfocus', 'data-old'); })">${list}</select></div>`,
    ],
  ])("gets the chosen option: it %s", async (_title, html) => {
    await session.show(`${html}<script>onchange = ({ target }) => { document.title = target.value; };</script>`);
    await session.done({ type: "select", selector: "#s", values: ["Bonn"] });
    expect(await session.evaluate("[s.value, document.title]")).toEqual(["b", "b"]);
  });

  it.each([
    ["date", "2026-05-04"],
    ["time", "14:30"],
    ["color", "#ff8800"],
    ["range", "70"],
  ])("gets a value of the type %s in the field that it shows then", async (type, text) => {
    for (const how of ["renew()", "requestAnimationFrame(renew)"]) {
      await session.show(`<div id=w><input id=f type=${type} onfocus="${how}"></div><script>
        const renew = () => { w.innerHTML = "<input id=f type=${type}>"; };</script>`);
      expect((await session.done({ type: "fill", selector: "#f", text })).element?.value).toBe(text);
    }
  });
});

describe("a part behind a modal dialog", () => {
  it.each<[string, string, string, ActOnPage]>([
    ["a field", "<input id=a>", "x", { type: "fill", text: "x" }],
    ["a text of lines", "<textarea id=a></textarea>", "x", { type: "fill", text: "x" }],
    ["a date", "<input id=a type=date>", "2026-05-04", { type: "fill", text: "2026-05-04" }],
    ["a list", "<select id=a><option value=''>No<option>x</select>", "x", { type: "select", values: ["x"] }],
  ])("is changed when the dialog closes: %s", async (_title, html, value, act) => {
    await session.show(`${html}<dialog id=d><button>Close</button></dialog><script>d.showModal();</script>`);
    const acting = session.done({ ...act, selector: "#a" });
    for (let round = 0; round < 3; round++) expect(await session.evaluate("a.value")).toBe("");
    await session.evaluate("d.close()");
    await acting;
    expect(await session.evaluate("a.value")).toBe(value);
  });

  it("is named by the error", async () => {
    await session.show(`<div inert><input id=a aria-label=Name></div>`);
    // At the end of its time, a busy page may not answer.
    await eventuallyPasses(async () => {
      const refused = await session.act({ type: "fill", selector: "#a", text: "x", timeout_ms: 2_000 });
      expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
      expect(refused.message).toContain("cannot have the focus: it is behind a dialog");
    });
    expect(await session.evaluate("a.value")).toBe("");
  });
});

it("fills a field of a page that listens to keys", async () => {
  await session.show(`<input id=a><button id=b disabled>Send</button><script>
    const keys = []; for (const type of ["keydown", "keyup"]) a.addEventListener(type, ({ key }) => keys.push(type + key));
    a.onkeyup = () => { b.disabled = a.value === ""; };</script>`);
  await session.done({ type: "fill", selector: "#a", text: "x" });
  expect(await session.evaluate("[b.disabled, keys]")).toEqual([false, ["keydownUnidentified", "keyupUnidentified"]]);
});

it.each(["0x10", "0b1", "Infinity", "1e"])("refuses %s for a number", async (text) => {
  await session.show("<input id=a type=number value=5>");
  const refused = await session.act({ type: "fill", selector: "#a", text });
  expect([refused.status, refused.message]).toEqual([400, expect.stringContaining("not a number")]);
  expect(await session.evaluate("a.value")).toBe("5");
});

describe("a control that shows its state later", () => {
  session.handle("/state", (_request, response) => response.end("{}"));
  const toggle = "b.setAttribute('aria-checked', b.getAttribute('aria-checked') === 'false')";
  it.each([
    [
      "a switch with a timer",
      `<button id=b role=switch aria-checked=false onclick="setTimeout(() => { ${toggle} }, 150)">On</button>`,
      "b.ariaChecked === 'true'",
    ],
    [
      "a switch with a request",
      `<button id=b role=switch aria-checked=false onclick="fetch('/state').then(() => { ${toggle} })">On</button>`,
      "b.ariaChecked === 'true'",
    ],
    [
      "a box with a request",
      `<input id=b type=checkbox onclick="event.preventDefault(); fetch('/state').then(() => { b.checked = !b.checked; })">`,
      "b.checked",
    ],
    [
      "a box that is drawn again",
      `<div id=w><input id=b type=checkbox onclick="setTimeout(() => { w.innerHTML = '<input id=b type=checkbox checked>'; })"></div>`,
      "b.checked",
    ],
  ])("is checked once: %s", async (_title, html, isChecked) => {
    await session.show(html);
    for (let round = 0; round < 2; round++) {
      await session.done({ type: "check", selector: "#b" });
      expect(await session.evaluate(isChecked)).toBe(true);
    }
  });
});

it("chooses none of several options with one label, and names their values", async () => {
  await session.show(`<select id=s><option value=>None<optgroup label=Ohio><option value=oh>Springfield</optgroup>
    <optgroup label=Illinois><option value=il>Springfield</optgroup></select>`);
  const refused = await session.act({ type: "select", selector: "#s", values: ["Springfield"] });
  expect(refused).toMatchObject({ status: 400, code: "bad_request" });
  expect(refused.message).toContain(
    "body.values[0]: several options have this label. Send the value of one: oh (Ohio), il (Illinois).",
  );
  expect(await session.evaluate("s.value")).toBe("");
  await session.done({ type: "select", selector: "#s", values: ["il"] });
  expect(await session.evaluate("s.value")).toBe("il");
});
