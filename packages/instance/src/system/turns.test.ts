import { expect, it } from "vitest";
import { Turns } from "./turns.ts";

const never = new AbortController().signal;

it("starts tasks in order, as many at once as may run", async () => {
  const turns = new Turns({ running: 2, waiting: 2 });
  const taken: string[] = [];
  const take = async (name: string): Promise<() => void> => {
    const end = await turns.take(never);
    taken.push(name);
    return end;
  };
  const [a, b, c, d] = [take("a"), take("b"), take("c"), take("d")];
  const [endA] = await Promise.all([a, b]);
  expect(taken).toEqual(["a", "b"]);
  expect(turns.isFull).toBe(true);
  endA();
  const endC = await c;
  expect(taken).toEqual(["a", "b", "c"]);
  expect(turns.isFull).toBe(false);
  endC();
  for (const end of [await b, await d]) end();
  expect(turns.isIdle).toBe(true);
});

it("skips a task that gave up", async () => {
  const turns = new Turns({ running: 1, waiting: 2 });
  const end = await turns.take(never);
  const controller = new AbortController();
  const givenUp = turns.take(controller.signal);
  const next = turns.take(never);
  const reason = new Error("the client is gone");
  controller.abort(reason);
  await expect(givenUp).rejects.toBe(reason);
  expect(turns.isFull).toBe(false);
  end();
  (await next)();
  expect(turns.isIdle).toBe(true);
});
