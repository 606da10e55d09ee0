import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** An editor with a model, whose tiny field only takes keys and pastes. */
const proxyEditor = (handlers: string): string => `
  <div style="position:relative"><div style="width:3px;height:0;overflow:hidden"><textarea id=keys aria-label=Code></textarea></div><pre id=shown></pre></div>
  <script>
    let text = "old\\nline", start = 0, end = 0; const before = [];
    const show = () => { shown.textContent = text; };
    const replace = (part) => { before.push(text); text = text.slice(0, start) + part + text.slice(end); start = end = start + part.length; show(); };
    keys.onkeydown = (event) => {
      if (event.ctrlKey && event.key === "a") { [start, end] = [0, text.length]; event.preventDefault(); }
      else if (event.ctrlKey && event.key === "z") { text = before.pop() ?? text; show(); event.preventDefault(); }
      else if (event.key === "Backspace") { if (start === end) start = Math.max(0, start - 1); replace(""); event.preventDefault(); }
    };
    ${handlers}
    keys.oninput = () => { const typed = keys.value; keys.value = ""; typed.split("\\n").forEach((line, place) => replace((place > 0 ? "\\n    " : "") + line)); };
    show();
  </script>`;

const codes: readonly string[] = ['{\n  "a": [1', "if (x) {\n\treturn;\n}\n", "", "one line"];

it.each([
  [
    "by pastes",
    `keys.onpaste = (event) => { event.preventDefault(); replace(event.clipboardData.getData("text/plain")); };`,
  ],
  [
    "by pastes and copies",
    `keys.onpaste = (event) => { event.preventDefault(); replace(event.clipboardData.getData("text/plain")); };
     keys.oncopy = (event) => { event.preventDefault(); event.clipboardData.setData("text/plain", text.slice(start, end)); };`,
  ],
])("replaces the text of an editor with a model: %s", async (_title, handlers) => {
  await session.show(proxyEditor(handlers));
  for (const text of codes) {
    const old = await session.evaluate("text");
    await session.done({ type: "fill", selector: "#keys", text });
    expect(await session.evaluate("text")).toBe(text);
    await session.done({ type: "press", selector: "#keys", keys: ["Control+z"] });
    expect(await session.evaluate("text")).toBe(old);
  }
});

it("refuses a text that an editor changes or does not take", async () => {
  await session.show(
    proxyEditor(`keys.onpaste = (event) => event.preventDefault(); keys.oncopy = (event) => {
    event.preventDefault(); event.clipboardData.setData("text/plain", text.slice(start, end)); };`),
  );
  const refused = await session.act({ type: "fill", selector: "#keys", text: "a {\nb" });
  expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
  expect(refused.message).toContain("did not take the text");
});

it.each([
  ["keeps spaces and tabs", "plaintext-only", "white-space:pre-wrap", ""],
  ["refuses pastes", "true", "white-space:pre-wrap", "e.onpaste = (event) => event.preventDefault();"],
  [
    "inserts pastes itself",
    "true",
    "white-space:pre-wrap",
    `e.onpaste = (event) => { event.preventDefault(); document.execCommand("insertText", false, event.clipboardData.getData("text/plain")); };`,
  ],
])("replaces the text of an editable element that %s", async (_title, editable, style, script) => {
  await session.show(
    `<div id=e contenteditable=${editable} style="${style}">old<div>line</div></div><script>${script}</script>`,
  );
  for (const text of ["one\n  two", "x", ""]) {
    await session.done({ type: "fill", selector: "#e", text });
    expect(await session.evaluate("e.innerText.trim()")).toBe(text);
  }
});

it.each([
  [
    "a mask",
    "(555) 123",
    `m.oninput = () => { const d = m.value.replace(/\\D/g, ""); m.value = d.length > 3 ? "(" + d.slice(0, 3) + ") " + d.slice(3) : d; };`,
    "555123",
  ],
  [
    "a filter of single characters",
    "1234",
    `m.onbeforeinput = (event) => { if (event.data && !/^\\d$/.test(event.data)) event.preventDefault(); };`,
    "1234",
  ],
  [
    "a framework's own value",
    "Ada",
    `Object.defineProperty(m, "value", { get: () => "shadow", set: () => undefined }); `,
    "Ada",
  ],
])("fills a field with %s", async (_title, held, script, text) => {
  await session.show(`<input id=m value=old><script>${script}</script>`);
  expect((await session.done({ type: "fill", selector: "#m", text })).element).toMatchObject({ value: held });
});

it.each([
  ["moves the focus", `code.oninput = ({ target }) => target.value && target.nextElementSibling?.focus();`],
  [
    "takes a paste",
    `code.onpaste = (event) => { event.preventDefault(); [...event.clipboardData.getData("text")].forEach((one, place) => { code.children[place].value = one; }); };`,
  ],
  ["does neither", ""],
])("fills a one-time code of single fields that %s", async (_title, script) => {
  await session.show(
    `<form id=code>${"<input maxlength=1 inputmode=numeric>".repeat(6)}</form><script>${script}</script>`,
  );
  await session.done({ type: "fill", selector: "#code input:first-child", text: "120457" });
  expect(await session.evaluate(`[...code.children].map((one) => one.value).join("")`)).toBe("120457");
});

it("answers with the lines of an editor with paragraphs", async () => {
  await session.show(`<div id=e contenteditable><p>old</p></div>`);
  const lines = "one\ntwo\n\nfour";
  expect((await session.done({ type: "fill", selector: "#e", text: lines })).element?.value).toBe(lines);
});
