import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { KeyedMutex } from "./index.ts";

it("runs tasks of one key in order and tasks of other keys at once", async () => {
  const mutex = new KeyedMutex<string>();
  const first = Promise.withResolvers<undefined>();
  const events: string[] = [];
  const tasks = [
    mutex.run("a", async () => {
      events.push("a1 starts");
      await first.promise;
      events.push("a1 ends");
    }),
    mutex.run("a", () => events.push("a2")),
    mutex.run("b", () => events.push("b1")),
  ];
  await tasks[2];
  expect(events).toEqual(["a1 starts", "b1"]);
  first.resolve(undefined);
  await Promise.all(tasks);
  expect(events).toEqual(["a1 starts", "b1", "a1 ends", "a2"]);
});

it("runs the next task after a task throws", async () => {
  const mutex = new KeyedMutex<string>();
  const failed = mutex.run("a", () => {
    throw new Error("disk full");
  });
  const next = mutex.run("a", () => "done");
  await expect(failed).rejects.toThrow("disk full");
  await expect(next).resolves.toBe("done");
});

it("forgets a key when its last task has settled", async () => {
  const mutex = new KeyedMutex<number>();
  await Promise.all([mutex.run(1, () => undefined), mutex.run(1, () => setImmediate()), mutex.run(2, () => undefined)]);
  expect(mutex.size).toBe(0);
});
