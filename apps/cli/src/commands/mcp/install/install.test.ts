import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { shoal, shoalPath } from "../../../testing/shoal.ts";
import { clients } from "./clients.ts";

const start = join(shoalPath, "../../../../tools/start.mjs");
const bundle = join("apps", "cli", "dist", "shoal.js");

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "shoal-clients-"));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const env = () => ({ HOME: home, SHOAL_CONFIG_DIR: join(home, "shoal"), SHOAL_KEYCHAIN: "0", SHOAL_DATA_DIR: home });
const run = (...args: string[]) => shoal(["mcp", ...args], { env: { ...env(), SHOAL_API_KEY: "sk_secret" } });
const cursor = () => join(home, ".cursor", "mcp.json");
const read = (path: string) => readFileSync(path, "utf8");

it("adds the command with its flags to the clients on this machine, without the key", async () => {
  for (const folder of [".cursor", ".codex"]) mkdirSync(join(home, folder));
  const { status, stderr, stdout } = await run(
    "install",
    "--tools",
    "observe,act",
    "--no-headless",
    "--no-structured",
    "--context",
    "work",
  );
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining("work") as string });
  expect(stdout).toBe("Codex: changed ~/.codex/config.toml\nCursor: changed ~/.cursor/mcp.json\n");
  const flags = ["mcp", "--context", "work", "--tools", "observe,act", "--no-headless", "--no-structured"];
  expect(JSON.parse(read(cursor()))).toEqual({
    mcpServers: { shoal: { command: expect.stringMatching(/node$/) as string, args: [start, bundle, ...flags] } },
  });
  expect(read(join(home, ".codex/config.toml"))).toContain("[mcp_servers.shoal]");
  expect(read(cursor())).not.toContain("sk_secret");
  expect(statSync(cursor()).mode & 0o777).toBe(0o600);
});

it("warns if clients may not have the key", async () => {
  const { stderr } = await run("install", "--client", "cursor");
  expect(stderr).toBe("The clients may not have SHOAL_API_KEY. Store the key with: shoal login\n");
});

it("keeps the old file, follows links, and is idempotent", async () => {
  mkdirSync(join(home, ".cursor"));
  const target = join(home, "dotfile.json");
  writeFileSync(target, "// mine\n{}\n", { mode: 0o640 });
  symlinkSync(target, cursor());
  await run("install", "--client", "cursor");
  expect(read(target)).toContain("// mine");
  expect(read(`${target}.before-shoal`)).toBe("// mine\n{}\n");
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect((await run("install", "--client", "cursor")).stdout).toContain("unchanged");
  expect((await run("uninstall")).stdout).toBe("Cursor: changed ~/.cursor/mcp.json\n");
  expect(read(target)).not.toContain("shoal.js");
});

it("prints the change with --dry-run", async () => {
  const { stdout } = await run("install", "--client", "vscode", "--dry-run");
  expect(stdout).toMatch(/^VS Code: would change .*mcp\.json\n\{\n {2}"servers": \{/);
  expect(existsSync(join(home, ".config"))).toBe(false);
});

it("leaves an invalid file as it is, and changes the others", async () => {
  for (const folder of [".cursor", ".gemini"]) mkdirSync(join(home, folder));
  writeFileSync(cursor(), "{ broken");
  const { status, stderr, stdout } = await run("install");
  expect(status).toBe(1);
  expect(stderr).toContain("error: Cursor: ~/.cursor/mcp.json was not changed: line 1: ");
  expect(stdout).toContain("Gemini CLI: changed");
  expect(read(cursor())).toBe("{ broken");
});

it.each([
  [["install", "--client", "netscape"], "--client must be one of claude-code"],
  [["install", "--tools", "x"], '--tools has no group "x"'],
  [["install"], "No known MCP client was found."],
  [["--timeout-seconds", "1"], "--timeout-seconds must be a number from 10"],
])("explains %o", async (args, problem) => {
  const { status, stderr } = await run(...args);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(problem) as string });
});

it("knows the files of each system", () => {
  const filesOn = (platform: NodeJS.Platform) =>
    Object.fromEntries(clients({ HOME: "/h", APPDATA: "/r" }, platform).map(({ file, name }) => [name, file]));
  expect(filesOn("darwin")).toMatchObject({
    "claude-desktop": "/h/Library/Application Support/Claude/claude_desktop_config.json",
    vscode: "/h/Library/Application Support/Code/User/mcp.json",
    zed: "/h/.config/zed/settings.json",
  });
  expect(filesOn("win32")).toMatchObject({
    "claude-desktop": "/r/Claude/claude_desktop_config.json",
    zed: "/r/Zed/settings.json",
  });
});
