import { expect, it } from "vitest";
import { DumpTurns, type DumpTurnsOptions } from "./dump-turns.ts";

const limits: DumpTurnsOptions = { maxRunning: 2, maxWaiting: 8, maxWaitMs: 2 ** 30, retryAfterSeconds: 15 };

function open(options: Partial<DumpTurnsOptions> = {}) {
  const turns = new DumpTurns({ ...limits, ...options });
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const results: Promise<string>[] = [];
  /** `name` begins with the project. */
  const begin = (name: string, signal?: AbortSignal): Promise<string> => {
    const work = async (): Promise<string> => {
      running.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      await promise;
      return name;
    };
    const result = turns.run(name.charAt(0), work, signal);
    results.push(result);
    return result;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await Promise.allSettled(results.slice(0, 1));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begin, end, running };
}

it("runs dumps of other projects while one project has slow ones", async () => {
  const { begin, running } = open();
  for (const name of ["a1", "a2", "a3", "b1"]) void begin(name);
  expect(running).toEqual(["a1", "b1"]);
});

it("lets projects take turns in rotation", async () => {
  const { begin, end, running } = open();
  for (const name of ["a1", "b1", "a2", "a3", "b2", "b3", "c1"]) void begin(name);
  for (const name of ["a1", "a2", "b1", "c1"]) await end(name);
  expect(running).toEqual(["a1", "b1", "a2", "c1", "b2", "a3"]);
});

it("refuses a dump with the time to wait after the project has too many, and after a limit of time", async () => {
  const many = open({ maxWaiting: 1 });
  for (const name of ["a1", "a2"]) void many.begin(name);
  const refusal = {
    code: "no_capacity",
    retryAfterSeconds: 15,
    message: expect.stringContaining("15 seconds") as unknown,
  };
  await expect(many.begin("a3")).rejects.toMatchObject(refusal);
  const late = open({ maxWaitMs: 1 });
  void late.begin("a1");
  await expect(late.begin("a2")).rejects.toMatchObject(refusal);
  await late.end("a1");
  void late.begin("a3");
  expect(late.running).toEqual(["a1", "a3"]);
});

it("starts the next dump when a waiting caller has left", async () => {
  const { begin, end, running } = open();
  void begin("a1");
  const leaving = new AbortController();
  const gone = begin("a2", leaving.signal);
  void begin("a3");
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  await end("a1");
  expect(running).toEqual(["a1", "a3"]);
});

it("starts the next dump after a caller has left while a dump ends", async () => {
  const { begin, end, running } = open();
  void begin("a1");
  const leaving = new AbortController();
  const gone = begin("a2", leaving.signal);
  const ended = end("a1");
  await Promise.resolve();
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  await ended;
  void begin("a3");
  expect(running).toEqual(["a1", "a3"]);
});

it("starts the next dump after a failed one", async () => {
  const turns = new DumpTurns(limits);
  const failing = turns.run("a", () => Promise.reject(new Error("failed")));
  const next = turns.run("a", () => Promise.resolve("next"));
  await expect(failing).rejects.toThrow("failed");
  expect(await next).toBe("next");
});
