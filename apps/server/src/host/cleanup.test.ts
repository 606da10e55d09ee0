import { afterEach, expect, it, vi } from "vitest";
import type { Log } from "../log/log.ts";
import { Cleanup } from "./cleanup.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("takes every step in reverse order, although one fails and one never ends", async () => {
  vi.useFakeTimers();
  const problems: string[] = [];
  const steps: string[] = [];
  const note = ({ err }: { err: Error }, text: string) => problems.push(`${text}: ${err.message}`);
  const cleanup = new Cleanup({ error: note as unknown as Log["error"] });
  cleanup.add("the folder", () => steps.push("folder"));
  cleanup.add("the database", () => new Promise(() => undefined));
  cleanup.add("the server", () => {
    steps.push("server");
    throw new Error("broken");
  });
  const ended = cleanup.run(performance.now() + 3_000);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(steps).toEqual(["server"]);
  await vi.advanceTimersByTimeAsync(200);
  await ended;
  expect(steps).toEqual(["server", "folder"]);
  expect(problems).toEqual([
    "the server did not stop cleanly: broken",
    expect.stringMatching(/^the database did not stop cleanly: .*time/),
  ]);
});
