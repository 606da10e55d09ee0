import { expect, it } from "vitest";
import { silentLog } from "../testing/test-database.ts";
import { Lookout } from "./lookout.ts";

/** Each look waits for `next()`. */
function openLookout() {
  const looks: PromiseWithResolvers<undefined>[] = [];
  const look = () => {
    const running = Promise.withResolvers<undefined>();
    looks.push(running);
    return running.promise;
  };
  const lookout = new Lookout({ everyMs: 2 ** 30, look, log: silentLog, problem: "failed" });
  return { lookout, looks };
}

it("looks once at a time, and once more for any number of requests during a look", async () => {
  const { lookout, looks } = openLookout();
  for (let count = 0; count < 3; count += 1) lookout.look();
  expect(looks).toHaveLength(1);
  looks[0]?.resolve(undefined);
  await expect.poll(() => looks.length).toBe(2);
  looks[1]?.resolve(undefined);
  await lookout.close();
  expect(looks).toHaveLength(2);
});

it("looks again after a failure", async () => {
  const { lookout, looks } = openLookout();
  lookout.look();
  lookout.look();
  looks[0]?.reject(new Error("down"));
  await expect.poll(() => looks.length).toBe(2);
  looks[1]?.resolve(undefined);
  await lookout.close();
});

it("closes after the running look, and does not look any more", async () => {
  const { lookout, looks } = openLookout();
  lookout.look();
  lookout.look();
  let isClosed = false;
  const closing = lookout.close().then(() => (isClosed = true));
  lookout.look();
  expect(isClosed).toBe(false);
  looks[0]?.resolve(undefined);
  await closing;
  expect(looks).toHaveLength(1);
});
