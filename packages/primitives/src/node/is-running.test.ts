import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { isRunning } from "./index.ts";

it("distinguishes a running process from an ended one", async () => {
  const child = spawn(process.execPath, ["--eval", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  expect(isRunning(pid)).toBe(true);
  child.stdin.end();
  await once(child, "exit");
  expect(isRunning(pid)).toBe(false);
});

it.skipIf(process.platform === "win32")("counts a process of another user as running", () => {
  expect(isRunning(1)).toBe(true);
});
