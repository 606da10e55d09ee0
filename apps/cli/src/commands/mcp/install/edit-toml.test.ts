import { expect, it } from "vitest";
import { editToml } from "./edit-toml.ts";

const change = { table: "mcp_servers", name: "shoal", entry: { command: "node", args: ["shoal.js", "mcp"] } };
const section = `[mcp_servers.shoal]
command = "node"
args = [ "shoal.js", "mcp" ]
`;

it("starts a file, and changes nothing the second time", () => {
  expect(editToml("", change)).toBe(section);
  expect(editToml(section, change)).toBe(section);
  expect(editToml(section, { ...change, entry: undefined })).toBe("");
});

it("keeps comments and other sections, and replaces the own one with the tables below it", () => {
  const text = `# settings
model = "large" # keep

[mcp_servers.shoal] # old
command = "old"

[mcp_servers.shoal.env]
A = "1"

[mcp_servers."shoal.other"]
command = "other"

[tools]
list = [
  [1],
]
`;
  const edited = editToml(text, change);
  expect(edited).toBe(`# settings
model = "large" # keep

[mcp_servers."shoal.other"]
command = "other"

[tools]
list = [
  [1],
]

${section}`);
});

it("keeps the comments above the next section and at the end of the file", () => {
  const others = ['# Of the other one\n[mcp_servers.other]\ncommand = "other"\n', "# The end\n"];
  const own = '[mcp_servers.shoal]\n# of a value\ncommand = "old"\n';
  for (const other of others) {
    expect(editToml(`${own}\n${other}`, { ...change, entry: undefined })).toBe(other);
    expect(editToml(`a = 1\n\n${own}\n${other}`, change)).toBe(`a = 1\n\n${other}\n${section}`);
  }
});

it.each([
  ["invalid TOML", "a = = 1"],
  ["an inline table", 'mcp_servers = { shoal = { command = "old" }, other = { command = "x" } }'],
  ["dotted keys", '[mcp_servers]\nshoal.command = "old"'],
  ["a text that looks like a header", 'a = """\n[mcp_servers.shoal]\nx\n"""\n'],
])("refuses to edit a file with %s", (_what, text) => {
  expect(() => editToml(text, change)).toThrow();
});
