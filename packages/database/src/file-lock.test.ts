import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";

const file = new URL("file-lock.ts", import.meta.url).href;
const nodeArgs = (program: string) => [
  ...[
    "--conditions=@shoal/source",
    "--disable-warning=ExperimentalWarning",
    "--expose-gc",
    "--input-type=module",
    "-e",
  ],
  `const { lockFile } = await import(${JSON.stringify(file)}); ${program}`,
];

it("keeps a lock whose result nothing refers to, until the process ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-lock-"));
  const path = JSON.stringify(join(folder, "lock"));
  const isFree = () =>
    execFileSync(process.execPath, nodeArgs(`console.log((await lockFile(${path})) !== undefined)`), {
      encoding: "utf8",
    }).trim();
  // Memory of a function that has ended is collected in a later turn.
  const program = `
    await (async () => { await lockFile(${path}); })();
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
    console.log("held");
    process.stdin.resume();`;
  const holder = spawn(process.execPath, nodeArgs(program), { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "close");
  try {
    const [line] = (await Promise.race([once(createInterface(holder.stdout), "line"), ended])) as unknown[];
    expect(line).toBe("held");
    expect(isFree()).toBe("false");
    holder.kill("SIGKILL");
    await ended;
    expect(isFree()).toBe("true");
  } finally {
    holder.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
});
