import { expect, it } from "vitest";
import { editJson, InvalidFile } from "./edit-json.ts";

const change = { table: "mcpServers", name: "shoal", entry: { command: "node", args: ["shoal.js", "mcp"] } };
const added = `{
  "mcpServers": {
    "shoal": {
      "command": "node",
      "args": [
        "shoal.js",
        "mcp"
      ]
    }
  }
}
`;

it.each(["", "  \n", "{}\n"])("starts a file from %j", (text) => {
  expect(JSON.parse(editJson(text, change))).toEqual({ mcpServers: { shoal: change.entry } });
});

it("keeps comments, the order, tabs and other servers", () => {
  const text = `{
\t// theme of the editor
\t"theme": "dark", /* not light */
\t"mcpServers": {
\t\t// keep
\t\t"other": {
\t\t\t"command": "other"
\t\t},
\t},
}
`;
  const edited = editJson(text, change);
  for (const kept of [
    "\t// theme of the editor",
    '"theme": "dark", /* not light */',
    '\t\t// keep\n\t\t"other": {\n\t\t\t"command": "other"',
  ])
    expect(edited).toContain(kept);
  expect(edited).toContain('\n\t\t"shoal": {\n\t\t\t"command": "node"');
  const removed = editJson(edited, { ...change, entry: undefined });
  expect(removed).not.toContain("shoal");
  expect(removed).toContain("// keep");
});

it("changes nothing the second time, and replaces another entry", () => {
  expect(editJson(added, change)).toBe(added);
  expect(editJson(added, { ...change, entry: { command: "new" } })).not.toContain("shoal.js");
  expect(editJson("{}", { ...change, entry: undefined })).toBe("{}");
});

it("keeps line ends and a byte order mark", () => {
  const edited = editJson('\uFEFF{\r\n  "a": 1\r\n}\r\n', change);
  expect(edited.startsWith("\uFEFF{\r\n")).toBe(true);
  expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
});

it.each([
  ['{ "a": }', "line 1: ValueExpected"],
  ["[]", "not an object"],
  ['{ "mcpServers": [] }', '"mcpServers" is not an object'],
])("refuses %s", (text, problem) => {
  expect(() => editJson(text, change)).toThrow(new InvalidFile(problem));
});
