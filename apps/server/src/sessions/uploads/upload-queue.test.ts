import { PassThrough } from "node:stream";
import { pino } from "pino";
import { expect, it } from "vitest";
import { UploadQueue } from "./upload-queue.ts";

function queueOf(upload: (id: string, signal: AbortSignal) => Promise<void>) {
  const written = new PassThrough();
  let text = "";
  written.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { queue: new UploadQueue({ upload, log: pino(written), firstRetryMs: 1 }), log: () => text };
}

it("uploads at most two sessions at once, and each again that got more files meanwhile", async () => {
  const gates = new Map<string, PromiseWithResolvers<undefined>>();
  const began: string[] = [];
  const { queue } = queueOf((id) => {
    began.push(id);
    const gate = Promise.withResolvers<undefined>();
    gates.set(id, gate);
    return gate.promise;
  });
  for (const id of ["a", "b", "c", "a"]) queue.add(id);
  expect([began, queue.size]).toEqual([["a", "b"], 3]);
  gates.get("b")?.resolve(undefined);
  await expect.poll(() => began).toEqual(["a", "b", "c"]);
  gates.get("a")?.resolve(undefined);
  await expect.poll(() => began).toEqual(["a", "b", "c", "a"]);
  gates.get("c")?.resolve(undefined);
  gates.get("a")?.resolve(undefined);
  await queue.close(10_000);
  expect(queue.size).toBe(0);
  queue.add("late");
  expect(queue.size).toBe(0);
});

it("retries failed uploads until they succeed, one session at a time", async () => {
  let failing = true;
  let running = 0;
  let most = 0;
  const tries: string[] = [];
  const { queue, log } = queueOf(async (id) => {
    tries.push(id);
    running += 1;
    await Promise.resolve();
    // After the first failures.
    if (tries.length > 2) most = Math.max(most, running);
    running -= 1;
    if (failing) throw new Error("The store is away.");
  });
  for (const id of ["a", "b", "c"]) queue.add(id);
  await expect.poll(() => tries.length).toBeGreaterThan(6);
  failing = false;
  await expect.poll(() => queue.size).toBe(0);
  expect(most).toBe(1);
  expect(new Set(tries)).toEqual(new Set(["a", "b", "c"]));
  expect(log()).toContain("The store is away.");
});

it("stops when an upload fails or the time is over, and says what remains", async () => {
  const failed = queueOf(() => Promise.reject(new Error("away")));
  failed.queue.add("a");
  await failed.queue.close(60_000);
  expect(failed.log()).toContain("remain in the data folder");
  const hanging = queueOf(
    (_id, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reject(new Error("aborted"));
        });
      }),
  );
  hanging.queue.add("a");
  await hanging.queue.close(1);
  expect(hanging.log()).toContain('"sessions":1');
});
