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

it("repeats a refusal, but tries again after a failure", async () => {
  const refused = createIdempotencyMemory().wrap(startWatch, counting(() => new ServiceError(404, "not_found", "gone")));
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
