import { removeTree } from "../host/remove-tree.ts";
import { openSessionFolders } from "./session-folders.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const longAgo = new Date(Date.now() - 3_600_000);

function leave(parent: string, name: string, owner: object | undefined, touched = new Date()): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, "abc", "root"), { recursive: true });
  if (owner !== undefined) writeFileSync(join(folder, "owner.json"), JSON.stringify(owner));
  if (owner !== undefined) utimesSync(join(folder, "owner.json"), touched, touched);
  utimesSync(folder, touched, touched);
  return folder;
}

it("removes only the leftovers of dead servers", async () => {
  const parent = await temporaryDirectory();
  const first = await openSessionFolders(parent, silent);
  const own = JSON.parse(readFileSync(join(first.sessionsDir, "owner.json"), "utf8")) as Record<string, unknown>;
  const kept = [
    first.sessionsDir,
    leave(parent, "server-container", { ...own, namespace: "pid:[1]", pid: 1 }),
    leave(parent, "server-other-host", { ...own, host: "elsewhere", boot: "another" }),
    leave(parent, "server-being-made", undefined),
    leave(parent, ".compiling-GhIjKl", undefined),
  ];
  const runtime = join(await temporaryDirectory(), "shoal-AbCd12");
  const precious = await temporaryDirectory();
  mkdirSync(runtime);
  const removed = [
    leave(parent, "server-dead", { ...own, pid: 2 ** 22 + 1, runtime_dir: runtime }),
    leave(parent, "server-reused-id", { ...own, start_ticks: 1, runtime_dir: precious }),
    leave(parent, "server-before-reboot", { ...own, boot: "another", host: hostname() }),
    leave(parent, "server-silent-container", { ...own, namespace: "pid:[1]", pid: 1 }, longAgo),
    leave(parent, "server-half-made", undefined, longAgo),
    leave(parent, ".new-server-half-made", undefined, longAgo),
    leave(parent, ".compiling-AbCdEf", undefined, longAgo),
    leave(parent, ".program-AbCdEf", undefined, longAgo),
  ];
  mkdirSync(join(parent, "something-else"));
  const second = await openSessionFolders(parent, silent);
  expect(removed.filter((path) => existsSync(path))).toEqual([]);
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
  expect(existsSync(join(parent, "something-else"))).toBe(true);
  expect(existsSync(runtime)).toBe(false);
  expect(existsSync(precious)).toBe(true);
  await Promise.all([first.close(), second.close()]);
  expect(existsSync(first.sessionsDir) || existsSync(first.runtimeDir)).toBe(false);
});

it("removes only the sockets of dead servers whose session folder is gone", async () => {
  const parent = await temporaryDirectory();
  const first = await openSessionFolders(parent, silent);
  const own = JSON.parse(readFileSync(join(first.runtimeDir, "owner.json"), "utf8")) as object;
  const [dead, alive, strange] = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), "shoal-"))) as [string, string, string];
  try {
    writeFileSync(join(dead, "owner.json"), JSON.stringify({ ...own, pid: 2 ** 22 + 1 }));
    writeFileSync(join(alive, "owner.json"), JSON.stringify(own));
    await (await openSessionFolders(parent, silent)).close();
    expect([dead, alive, strange, first.runtimeDir].map((folder) => existsSync(folder))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  } finally {
    for (const folder of [dead, alive, strange]) await removeTree(folder);
    await first.close();
  }
});

it("hides its files from other users", async () => {
  const parent = join(await temporaryDirectory(), "new", "sessions");
  const folders = await openSessionFolders(parent, silent);
  for (const path of [parent, folders.sessionsDir, folders.runtimeDir])
    expect(execFileSync("stat", ["-c", "%a", path], { encoding: "utf8" })).toBe("700\n");
  await folders.close();
});

it.skipIf(process.platform === "win32")(
  "removes unreadable folders and overlong paths, but no file behind a link",
  async () => {
    const parent = await temporaryDirectory();
    const outside = join(await temporaryDirectory(), "kept");
    writeFileSync(outside, "");
    const tree = join(parent, "tree");
    mkdirSync(join(tree, "closed", "inner"), { recursive: true });
    symlinkSync(outside, join(tree, "closed", "link"));
    symlinkSync(join(outside, ".."), join(tree, "folder-link"));
    chmodSync(join(tree, "closed"), 0);
    execFileSync(
      process.execPath,
      [
        "--eval",
        `for (let level = 0; level < 40; level++) { fs.mkdirSync("d".repeat(200)); process.chdir("d".repeat(200)); }`,
      ],
      { cwd: tree },
    );
    await removeTree(tree);
    expect(readdirSync(parent)).toEqual([]);
    expect(existsSync(outside)).toBe(true);
  },
);
