import { deleteDirectory, startWatch } from "@shoal/contract";
import { ServiceError, type Handler, type HandlerCall } from "@shoal/router";
import { expect, it } from "vitest";
import { createIdempotencyMemory, maxIdempotencyKeys } from "./idempotency.ts";

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

it("gives the first answer again, to a call in the meantime too", async () => {
  const handle = createIdempotencyMemory().wrap(startWatch, counting());
  expect(await Promise.all([handle(call("k")), handle(call("k"))])).toEqual([{ watch_id: "w1" }, { watch_id: "w1" }]);
  expect(await handle(call("k"))).toEqual({ watch_id: "w1" });
  expect(await handle(call("other"))).toEqual({ watch_id: "w2" });
  expect(await handle(call(undefined))).toEqual({ watch_id: "w3" });
});

it("refuses another body, and another operation, under the same key", async () => {
  const memory = createIdempotencyMemory();
  const handle = memory.wrap(startWatch, counting());
  await handle(call("k"));
  await expect(handle(call("k", "/b"))).rejects.toMatchObject({ status: 422, code: "idempotency_conflict" });
  const other = memory.wrap(deleteDirectory, () => undefined);
  await expect(other({ ...call("k"), query: { missing_ok: false } })).rejects.toMatchObject({ code: "idempotency_conflict" });
});

it("tries again after a refusal that passes: of a limit, or one that says when to come back", async () => {
  const refusals = [
    new ServiceError(429, "too_many_processes", "full"),
    new ServiceError(409, "conflict", "being changed", { retryAfterSeconds: 1 }),
  ];
  const handle = createIdempotencyMemory().wrap(startWatch, () => {
    const refusal = refusals.pop();
    if (refusal !== undefined) throw refusal;
    return { watch_id: "w" };
  });
  await expect(handle(call("k"))).rejects.toThrow("being changed");
  await expect(handle(call("k"))).rejects.toThrow("full");
  expect(await handle(call("k"))).toEqual({ watch_id: "w" });
});

it("refuses what is no key", async () => {
  const handle = createIdempotencyMemory().wrap(startWatch, counting());
  for (const key of ["", "x".repeat(256), "\u00e9"]) await expect(handle(call(key)), key).rejects.toMatchObject({ status: 400, code: "bad_request" });
  expect(await handle(call("x".repeat(255)))).toEqual({ watch_id: "w1" });
});

it("repeats a refusal, but tries again after a failure", async () => {
  const refused = createIdempotencyMemory().wrap(
    startWatch,
    counting(() => new ServiceError(404, "not_found", "gone")),
  );
  const [first, second] = await Promise.allSettled([refused(call("k")), refused(call("k"))]);
  expect(first).toEqual(second);
  let fail = true;
  const flaky = createIdempotencyMemory().wrap(startWatch, () => {
    if (fail) throw new Error("disk");
    return { watch_id: "w" };
  });
  await expect(flaky(call("k"))).rejects.toThrow("disk");
  fail = false;
  expect(await flaky(call("k"))).toEqual({ watch_id: "w" });
});

it("forgets after a day, and the oldest of too many", async () => {
  let now = 0;
  const handle = createIdempotencyMemory(() => now).wrap(startWatch, counting());
  expect(await handle(call("k"))).toEqual({ watch_id: "w1" });
  now = 24 * 60 * 60 * 1000;
  expect(await handle(call("k"))).toEqual({ watch_id: "w2" });
  for (let i = 0; i < maxIdempotencyKeys; i++) await handle(call(`k${String(i)}`));
  expect(await handle(call("k999"))).toEqual({ watch_id: "w1002" });
  expect(await handle(call("k"))).toEqual({ watch_id: "w1003" });
});

it("refuses a key that is too long", async () => {
  await expect(createIdempotencyMemory().wrap(startWatch, counting())(call("k".repeat(256)))).rejects.toMatchObject({ status: 400 });
});
