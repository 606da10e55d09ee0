import { ServiceError } from "@shoal/router";
import { eventually } from "@shoal/testkit";
import { expect, it } from "vitest";
import { WaitingLine } from "./waiting-line.ts";

const full = new ServiceError(429, "too_many_requests", "No place is free.");
const client = () => ({ signal: new AbortController().signal, untilMs: performance.now() + 60_000 });

it("starts sessions side by side", async () => {
  const line = new WaitingLine();
  const starts = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let begun = 0;
  const clients = starts.map(({ promise }) =>
    line.take("p", client(), () => {
      begun += 1;
      return promise;
    }),
  );
  await eventually("both start", () => begun === 2);
  for (const [index, start] of starts.entries()) start.resolve(String(index));
  expect(await Promise.all(clients)).toEqual(["0", "1"]);
  expect(line.size).toBe(0);
});

it("serves clients in their order, also while the session of an earlier one starts", async () => {
  const line = new WaitingLine();
  let places = 0;
  const order: number[] = [];
  const start = Promise.withResolvers<number>();
  const wait = (index: number) =>
    line.take("p", client(), () => {
      if (places === 0) return Promise.reject(full);
      places -= 1;
      order.push(index);
      return index === 0 ? start.promise : Promise.resolve(index);
    });
  const first = wait(0);
  await eventually("the first waits", () => line.size === 1);
  const others = [wait(1), wait(2)];
  expect(order).toEqual([]);
  places = 3;
  expect(await Promise.all(others)).toEqual([1, 2]);
  expect(order).toEqual([0, 1, 2]);
  start.resolve(0);
  expect(await first).toBe(0);
  expect(line.size).toBe(0);
});

it("throws other errors, the last refusal, and the reason of a client that goes", async () => {
  const line = new WaitingLine();
  const refuse = () => Promise.reject(full);
  await expect(line.take("p", client(), () => Promise.reject(new Error("other")))).rejects.toThrow("other");
  await expect(line.take("p", { ...client(), untilMs: performance.now() }, refuse)).rejects.toBe(full);
  const gone = new AbortController();
  const waiting = line.take("p", { ...client(), signal: gone.signal }, refuse);
  await eventually("it waits", () => line.size === 1);
  gone.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow();
  expect(line.size).toBe(0);
});

it("refuses a client that finds the line full, without an attempt before those in the line", async () => {
  const line = new WaitingLine();
  const gone = new AbortController();
  let places = 0;
  const wait = (index: number) =>
    line.take("p", { ...client(), signal: gone.signal }, () => {
      if (places === 0) return Promise.reject(full);
      places -= 1;
      return Promise.resolve(index);
    });
  const first = wait(0);
  await eventually("the first waits", () => line.size === 1);
  const others = Array.from({ length: 99 }, (_none, index) => wait(index + 1).catch(() => undefined));
  await eventually("the line is full", () => line.size === 100);
  places = 1;
  await expect(wait(100)).rejects.toBe(full);
  expect(await first).toBe(0);
  gone.abort();
  await Promise.all(others);
  expect(line.size).toBe(0);
});
