import { killProcess, startWatch } from "@shoal/contract";
import { expect, it } from "vitest";
import type { Handler, HandlerCall } from "../handler/handler.ts";
import { ServiceError } from "../handler/service-error.ts";
import { remembering } from "../testing/remembering.ts";
import { maxIdempotencyBytes, maxIdempotencyKeys } from "./idempotency-memory.ts";

type Call = HandlerCall<typeof startWatch>;

const call = (key: string | undefined, path = "/a"): Call => ({
  params: { id: "" },
  query: {},
  body: { path, recursive: false },
  headers: key === undefined ? {} : { "idempotency-key": key },
  requestId: "r",
  signal: new AbortController().signal,
  lastEventId: undefined,
  context: undefined,
});

function counting(fail?: () => Error) {
  let count = 0;
  const handler: Handler<typeof startWatch> = async () => {
    count++;
    await Promise.resolve();
    if (fail !== undefined) throw fail();
    return { watch_id: `w${String(count)}` };
  };
  return handler;
}

it("returns the first answer again, also to a call while the first still runs", async () => {
  const handle = remembering().wrap(startWatch, counting());
  expect(await Promise.all([handle(call("k")), handle(call("k"))])).toEqual([{ watch_id: "w1" }, { watch_id: "w1" }]);
  expect(await handle(call("k"))).toEqual({ watch_id: "w1" });
  expect(await handle(call("other"))).toEqual({ watch_id: "w2" });
  expect(await handle(call(undefined))).toEqual({ watch_id: "w3" });
});

it("refuses another body or another operation under the same key", async () => {
  const memory = remembering();
  const handle = memory.wrap(startWatch, counting());
  await handle(call("k"));
  await expect(handle(call("k", "/b"))).rejects.toMatchObject({ status: 422, code: "idempotency_conflict" });
  const other = memory.wrap(killProcess, () => ({ ok: true }));
  await expect(
    other({ ...call("k"), params: { id: "", process_id: "p" }, body: { signal: "TERM" } }),
  ).rejects.toMatchObject({ code: "idempotency_conflict" });
});

it("tries again after a rate limit or a refusal with Retry-After", async () => {
  const refusals = [
    new ServiceError(429, "too_many_processes", "full"),
    new ServiceError(409, "conflict", "being changed", { retryAfterSeconds: 1 }),
  ];
  const handle = remembering().wrap(startWatch, () => {
    const refusal = refusals.pop();
    if (refusal !== undefined) throw refusal;
    return { watch_id: "w" };
  });
  await expect(handle(call("k"))).rejects.toThrow("being changed");
  await expect(handle(call("k"))).rejects.toThrow("full");
  expect(await handle(call("k"))).toEqual({ watch_id: "w" });
});

it("refuses an invalid key", async () => {
  const handle = remembering().wrap(startWatch, counting());
  for (const key of ["", "x".repeat(256), "\u00e9"])
    await expect(handle(call(key)), key).rejects.toMatchObject({ status: 400, code: "bad_request" });
  expect(await handle(call("x".repeat(255)))).toEqual({ watch_id: "w1" });
});

it("repeats a refusal, but tries again after a failure", async () => {
  const refused = remembering().wrap(
    startWatch,
    counting(() => new ServiceError(404, "not_found", "gone")),
  );
  const [first, second] = await Promise.allSettled([refused(call("k")), refused(call("k"))]);
  expect(first).toEqual(second);
  let fail = true;
  const flaky = remembering().wrap(startWatch, () => {
    if (fail) throw new Error("disk");
    return { watch_id: "w" };
  });
  await expect(flaky(call("k"))).rejects.toThrow("disk");
  fail = false;
  expect(await flaky(call("k"))).toEqual({ watch_id: "w" });
});

it("repeats that the outcome of work is unknown, instead of the work", async () => {
  const failures = [new Error("again"), new ServiceError(504, "outcome_unknown", "late")];
  const handle = remembering().wrap(
    startWatch,
    counting(() => failures.pop() ?? new Error("none is left")),
  );
  await expect(handle(call("k"))).rejects.toThrow("late");
  await expect(handle(call("k"))).rejects.toThrow("late");
});

it("forgets answers after a day, and the oldest of too many", async () => {
  let now = 0;
  const handle = remembering(() => now).wrap(startWatch, counting());
  expect(await handle(call("k"))).toEqual({ watch_id: "w1" });
  now = 24 * 60 * 60 * 1000;
  expect(await handle(call("k"))).toEqual({ watch_id: "w2" });
  for (let i = 0; i < maxIdempotencyKeys; i++) await handle(call(`k${String(i)}`));
  expect(await handle(call("k999"))).toEqual({ watch_id: "w1002" });
  expect(await handle(call("k"))).toEqual({ watch_id: "w1003" });
});

it("does the work again for an operation whose answers are not remembered", async () => {
  const handle = remembering().wrap(
    { ...startWatch, idempotency: { repeats: "for a test" } } as typeof startWatch,
    counting(),
  );
  expect(await handle(call("k"))).toEqual({ watch_id: "w1" });
  expect(await handle(call("k"))).toEqual({ watch_id: "w2" });
});

it("evicts the oldest answers when their total size exceeds the limit", async () => {
  const large = "x".repeat(maxIdempotencyBytes / 2);
  let count = 0;
  const handle = remembering().wrap(startWatch, () => ({ watch_id: `${String(count++)}${large}` }));
  for (const key of ["first", "second"]) await handle(call(key));
  expect((await handle(call("second"))).watch_id.startsWith("1")).toBe(true);
  expect((await handle(call("first"))).watch_id.startsWith("2")).toBe(true);
});

it("refuses a key that is too long", async () => {
  await expect(remembering().wrap(startWatch, counting())(call("k".repeat(256)))).rejects.toMatchObject({
    status: 400,
  });
});
