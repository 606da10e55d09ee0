import { CreateFlow, type Flow } from "@shoal/schemas";
import { spawnSync } from "node:child_process";
import ts from "typescript";
import { expect, it } from "vitest";
import { playwrightFile } from "./playwright.ts";
import { python } from "./python.ts";
import { typescript } from "./typescript.ts";

const base = {
  ...{ id: "f", name: "order", version: 1, start_url: "https://shop.example/{{lang}}/" },
  ...{ created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" },
};
/** A flow with the defaults of a request. */
function flowOf(steps: object): Flow {
  return { ...base, ...CreateFlow.parse({ name: base.name, start_url: base.start_url, ...steps }) };
}
const save = { role: "button", name: "Save" };
const flow = flowOf({
  parameters: [
    { name: "lang", default: "en" },
    { name: "pin", secret: true },
  ],
  steps: [
    { action: "fill", target: { role: "textbox", name: "Name" }, text: "Ms {{lang}} x", submit: true },
    { action: "fill", target: { fallbacks: [{ by: "css", value: "#pin" }] }, text: "{{pin}}" },
    {
      action: "fill",
      target: { fallbacks: [{ by: "label", value: "Key" }] },
      secret: { credential: "shop", field: "pass word" },
    },
    {
      action: "click",
      target: { ...save, within: { role: "row", name: "Tea" } },
      click_count: 2,
      expect: [{ url: "https://shop.example/{{lang}}/*" }],
    },
    { action: "answer_dialog", accept: true, text: "yes" },
    { action: "select", target: { role: "combobox", name: "Size" }, values: ["L", "{{lang}}"] },
    { action: "check", target: { role: "checkbox", name: "Gift" }, accept: false },
    { action: "press", keys: ["Enter", "Control+A"] },
    { action: "scroll", delta_y: 300 },
    { action: "open_tab", url: "https://shop.example/help" },
    {
      action: "hover",
      target: {
        fallbacks: [
          { by: "test_id", value: 'x"]' },
          { by: "placeholder", value: "p" },
        ],
      },
    },
    { action: "close_tab" },
    {
      action: "expect",
      expect: [
        { text: "Saved", state: "visible" },
        { element: { role: "alert", name: "Oops" }, state: "hidden" },
      ],
    },
  ],
});

/** Syntax errors of a TypeScript program. */
const problemsOf = (text: string) =>
  ts
    .transpileModule(text, { reportDiagnostics: true, compilerOptions: { target: ts.ScriptTarget.ESNext } })
    .diagnostics?.map(({ messageText }) => messageText);
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const parsePython = (text: string) =>
  spawnSync("python3", ["-c", "import ast, sys; print(len(ast.parse(sys.stdin.read()).body))"], {
    input: text,
    encoding: "utf8",
  });

it("writes a TypeScript test", () => {
  const text = playwrightFile(flow, typescript);
  expect(problemsOf(text)).toEqual([]);
  expect(text.replace(/\/\/ shoal-flow.*/, "")).toMatchSnapshot();
});

it("writes a Python test", () => {
  expect(playwrightFile(flow, python).replace(/# shoal-flow.*/, "")).toMatchSnapshot();
});

it("finds an element in a part without a role", () => {
  const made = flowOf({ steps: [{ action: "click", target: { ...save, within: { role: "generic", name: "Blue" } } }] });
  expect(playwrightFile(made, typescript)).toContain(
    'page.locator("*").filter({ hasText: "Blue", has: page.getByRole("button", { name: "Save", exact: true }) }).last().getByRole("button"',
  );
  expect(playwrightFile(made, python)).toContain(
    'page.locator("*").filter(has_text="Blue", has=page.get_by_role("button", name="Save", exact=True)).last.get_by_role("button"',
  );
});

it("fills parameters into test ids, and answers a dialog of the start page", () => {
  const target = { fallbacks: [{ by: "test_id", value: "row-{{lang}}" }] };
  const steps = [{ action: "answer_dialog" }, { action: "click", target }];
  const text = playwrightFile(flowOf({ parameters: [{ name: "lang" }], steps }), typescript);
  const [program = ""] = text.split("// shoal-flow");
  expect(program).not.toContain("{{lang}}");
  expect(program.indexOf("dialog")).toBeGreaterThan(0);
  expect(program.indexOf("dialog")).toBeLessThan(program.indexOf("goto"));
});

const hostile = [
  "\u2028import os\u2029",
  '"); process.exit(1); ("',
  "\\",
  "*/ ${process.exit(1)} `",
  "\r\nimport os",
  "😀 \ud800 é",
  '"""\nimport os\n"""',
];

it.each(hostile)("writes texts as literals: %j", (text) => {
  const target = { role: "button", name: text };
  // Names of flows have no control characters.
  const made = flowOf({
    ...{ start_url: text, parameters: [{ name: "p", default: text }] },
    steps: [
      { action: "fill", target, text: `a${text}{{p}}`, expect: [{ url: `${text}*` }, { text }] },
      { action: "fill", target, secret: { credential: text, field: text } },
      { action: "select", target: { fallbacks: [{ by: "test_id", value: text }] }, values: [text] },
    ],
  });
  made.name = text;
  const typed = playwrightFile(made, typescript);
  expect(problemsOf(typed)).toEqual([]);
  const source = ts.createSourceFile("x.ts", typed, ts.ScriptTarget.ESNext);
  expect(source.statements.map(({ kind }) => ts.SyntaxKind[kind])).toEqual([
    ...["ImportDeclaration", "FunctionDeclaration", "FirstStatement", "FirstStatement", "ExpressionStatement"],
  ]);
  expect(/^[\x20-\x7e\n]*$/.test(typed)).toBe(true);
  if (!hasPython) return;
  // Three imports, the values and the test.
  expect(parsePython(playwrightFile(made, python)).stdout).toBe("5\n");
});

// Playwright throws for names of X11, which `browsers.act` takes.
it.each([
  ["Ctrl+a", "Control+a"],
  ["ctrl+A", "Control+a"],
  ["Return", "Enter"],
  ["KP_Enter", "NumpadEnter"],
  ["KP_7", "7"],
  ["Page_Down", "PageDown"],
  ["Left", "ArrowLeft"],
  ["Esc", "Escape"],
  ["space", "Space"],
  ["Control_R+Shift+Tab", "ControlRight+Shift+Tab"],
  ["ISO_Left_Tab", "Shift+Tab"],
  ["Super+plus", "Meta+Shift+="],
  ["exclam", "!"],
  ["A", "A"],
  ["+", "+"],
])("writes the key %s as Playwright's %s", (key, written) => {
  const made = flowOf({ steps: [{ action: "press", keys: [key] }] });
  expect(playwrightFile(made, typescript)).toContain(`page.keyboard.press(${JSON.stringify(written)})`);
  expect(playwrightFile(made, python)).toContain(`page.keyboard.press(${JSON.stringify(written)})`);
});

it("inserts characters that Playwright's keyboard lacks", () => {
  const target = { role: "textbox", name: "Name" };
  const text = playwrightFile(flowOf({ steps: [{ action: "press", target, keys: ["adiaeresis"] }] }), python);
  expect(text).toContain('name="Name", exact=True).focus()\n    page.keyboard.insert_text("\\u00e4")\n');
});
