import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { socketPair } from "./socket-pair.ts";

it("connects two sockets, and leaves no file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-pair-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, "pair");
  const [near, far] = await socketPair(path);
  expect(existsSync(path)).toBe(false);
  near.end("hello");
  far.end("world");
  expect(await Promise.all([text(far), text(near)])).toEqual(["hello", "world"]);
});
