import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { shoal } from "../../testing/shoal.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "shoal-skills-"));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const run = (...args: string[]) => shoal(["skill", ...args], { env: { HOME: home } });
const read = (path: string) => readFileSync(path, "utf8");
const claude = () => join(home, ".claude/skills/shoal/SKILL.md");

it("writes the skill for the clients on this machine, once for each folder, and removes it", async () => {
  for (const folder of [".claude", ".codex", ".cursor"]) mkdirSync(join(home, folder));
  expect(await run("install")).toMatchObject({
    status: 0,
    stdout:
      "Claude Code: wrote ~/.claude/skills/shoal/SKILL.md\nCodex, Cursor: wrote ~/.agents/skills/shoal/SKILL.md\n",
  });
  expect(read(claude())).toMatch(/^---\nname: shoal\ndescription: [^\n]+\n---\n[^]*`shoal snapshot`/);
  expect(read(join(home, ".agents/skills/shoal/SKILL.md"))).toBe(read(claude()));
  expect((await run("install")).stdout).toBe(
    "Claude Code: unchanged ~/.claude/skills/shoal/SKILL.md\nCodex, Cursor: unchanged ~/.agents/skills/shoal/SKILL.md\n",
  );
  expect((await run("uninstall")).stdout).toContain("Claude Code: removed ~/.claude/skills/shoal/SKILL.md\n");
  expect(existsSync(join(home, ".claude/skills/shoal"))).toBe(false);
  expect((await run("uninstall", "--client", "codex")).stdout).toBe(
    "Codex: not found: ~/.agents/skills/shoal/SKILL.md\n",
  );
});

it("writes into a project under another name, and nothing with --dry-run", async () => {
  const args = ["--client", "claude-code", "--client", "windsurf", "--folder", home, "--name", "web-browser"];
  const file = join(home, ".windsurf/skills/web-browser/SKILL.md");
  expect((await run("install", ...args, "--dry-run")).stdout).toContain("Windsurf: would write ");
  expect(existsSync(file)).toBe(false);
  await run("install", ...args);
  expect(read(file)).toContain("\nname: web-browser\n");
});

it("replaces the file of another version, and keeps a changed one without --force", async () => {
  await run("install", "--client", "claude-code");
  const written = read(claude());
  writeFileSync(claude(), written.replaceAll("\n", "\r\n"));
  expect((await run("install", "--client", "claude-code")).stdout).toContain("wrote");
  const changed = `My own rules.\n${written}`;
  writeFileSync(claude(), changed);
  for (const command of ["install", "uninstall"]) {
    const { status, stderr } = await run(command, "--client", "claude-code");
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        "error: Claude Code: ~/.claude/skills/shoal/SKILL.md was not changed: the file was changed, or was not written by this command. Use --force, or another --name.\n",
    });
    expect(read(claude())).toBe(changed);
  }
  await run("install", "--client", "claude-code", "--force");
  expect([read(claude()), read(`${claude()}.before-shoal`)]).toEqual([written, changed]);
  await run("uninstall", "--client", "claude-code");
  expect(existsSync(`${claude()}.before-shoal`)).toBe(true);
});

it.each([
  [["--client", "zed"], "--client must be one of claude-code, codex, cursor, gemini, vscode, windsurf."],
  [["--client", "codex", "--name", "../x"], "--name must be 1 to 64 lowercase letters"],
  [["--client", "codex", "--folder", "/missing/folder"], "--folder must be an existing folder."],
  [[], "No known client with skills was found. Choose one with --client: "],
])("explains %o", async (args, problem) => {
  const { status, stderr } = await run("install", ...args);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(problem) as string });
});
