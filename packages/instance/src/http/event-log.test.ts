import { describe, expect, it } from "vitest";
import { EventLog, type LogLimits } from "./event-log.ts";

const roomy = (shared: LogLimits["shared"] = { bytes: 0, maxBytes: 1e9 }): LogLimits => ({
  events: 1000,
  bytes: 1e6,
  shared,
});

async function readAll<T>(log: EventLog<T>, after = 0): Promise<unknown[]> {
  const frames: unknown[] = [];
  for await (const frame of log.read(after)) frames.push(frame);
  return frames;
}

describe("an event log", () => {
  it("numbers events from 1 and continues after any number", async () => {
    const log = new EventLog<string>(roomy());
    for (const data of ["a", "b", "c"]) log.push(data, 1);
    log.close();
    expect(await readAll(log)).toEqual([
      { id: "1", data: "a" },
      { id: "2", data: "b" },
      { id: "3", data: "c" },
    ]);
    expect(await readAll(log, 2)).toEqual([{ id: "3", data: "c" }]);
    expect(await readAll(log, 3)).toEqual([]);
  });

  it("drops the oldest events above its byte limit and reports their number", async () => {
    const log = new EventLog<number>({ ...roomy(), bytes: 100 });
    for (let index = 1; index <= 50; index++) log.push(index, 10);
    log.close();
    const frames = await readAll(log, 7);
    expect(frames[0]).toEqual({ id: "40", gap: { missed: 33 } });
    expect(frames).toHaveLength(11);
  });

  it("keeps an event that exceeds the byte limit alone", async () => {
    const log = new EventLog<string>({ ...roomy(), bytes: 100 });
    log.push("a", 10);
    log.push("large", 1000);
    log.close();
    expect(await readAll(log, 1)).toEqual([{ id: "2", data: "large" }]);
  });

  it("drops events when all logs together are too large, and returns their bytes", () => {
    const shared = { bytes: 0, maxBytes: 1000 };
    const [one, other] = [new EventLog<number>(roomy(shared)), new EventLog<number>(roomy(shared))];
    for (let index = 0; index < 100; index++) one.push(index, 10);
    for (let index = 0; index < 100; index++) other.push(index, 10);
    expect(shared.bytes).toBe(1160);
    for (const log of [one, other]) {
      log.close();
      log.release();
    }
    expect(shared.bytes).toBe(0);
  });

  it("marks the end of the kept events once, before the first new one", async () => {
    const log = new EventLog<string>(roomy());
    log.push("a", 1);
    log.push("b", 1);
    const reader = log.read(0);
    const frames: unknown[] = [];
    for (let count = 0; count < 3; count++) frames.push((await reader.next()).value);
    const next = reader.next();
    log.push("c", 1);
    frames.push((await next).value);
    const last = reader.next();
    log.push("d", 1);
    frames.push((await last).value);
    expect(frames).toEqual([
      { id: "1", data: "a" },
      { id: "2", data: "b" },
      { id: "2", caughtUp: true },
      { id: "3", data: "c" },
      { id: "4", data: "d" },
    ]);
    await reader.return?.();
  });

  it("is released only when its last reader is done", async () => {
    const limits = roomy();
    const log = new EventLog<string>(limits);
    log.push("a", 10);
    const reader = log.read(0);
    log.close();
    log.release();
    expect(limits.shared.bytes).toBe(10);
    expect(await reader.next()).toEqual({ done: false, value: { id: "1", data: "a" } });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(limits.shared.bytes).toBe(0);
  });

  it("releases a reader that waits for an event", async () => {
    let left = 0;
    const log = new EventLog<string>(roomy(), () => left++);
    const reader = log.read(0);
    expect((await reader.next()).value).toEqual({ id: "0", caughtUp: true });
    const pending = reader.next();
    await reader.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect([left, log.readers]).toEqual([1, 0]);
  });

  it("returns the kept events, then the failure that ended it", async () => {
    const log = new EventLog<string>(roomy());
    const reader = log.read(0);
    expect((await reader.next()).value).toEqual({ id: "0", caughtUp: true });
    const first = reader.next();
    log.push("a", 1);
    log.close(new Error("no watches left"));
    expect((await first).value).toEqual({ id: "1", data: "a" });
    await expect(reader.next()).rejects.toThrow("no watches left");
    log.push("late", 1);
    expect(log.lastId).toBe(1);
  });
});
