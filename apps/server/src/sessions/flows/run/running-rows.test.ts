import { expect, it } from "vitest";
import { RunningRows } from "./running-rows.ts";

const { signal } = new AbortController();

/** Enters, and notes its name. */
async function enters(rows: RunningRows, name: string, seen: string[], until = signal): Promise<void> {
  try {
    await rows.enter(until);
    seen.push(name);
  } catch {
    seen.push(`${name} gave up`);
  }
}

it("admits rows in their order when others leave", async () => {
  const rows = new RunningRows(2);
  const seen: string[] = [];
  const all = ["a", "b", "c", "d"].map((name) => enters(rows, name, seen));
  await all[1];
  expect(seen).toEqual(["a", "b"]);
  rows.leave();
  await all[2];
  expect(seen).toEqual(["a", "b", "c"]);
  rows.leave();
  await all[3];
  expect(seen).toEqual(["a", "b", "c", "d"]);
});

it("lends the place of a waiting row to another one, and lets it go on above the limit", async () => {
  const rows = new RunningRows(1);
  const seen: string[] = [];
  await enters(rows, "first", seen);
  const second = enters(rows, "second", seen);
  // The first waits for a person, and goes on while the second runs.
  rows.leave();
  await second;
  rows.goOn();
  const third = enters(rows, "third", seen);
  rows.leave();
  await Promise.resolve();
  expect(seen).toEqual(["first", "second"]);
  rows.leave();
  await third;
  expect(seen).toEqual(["first", "second", "third"]);
});

it("loses no place to a row whose run is canceled in the line, or at its turn", async () => {
  const rows = new RunningRows(1);
  const seen: string[] = [];
  await enters(rows, "first", seen);
  const inLine = new AbortController();
  const atTurn = new AbortController();
  const waiting = [enters(rows, "second", seen, inLine.signal), enters(rows, "third", seen, atTurn.signal)];
  inLine.abort();
  await waiting[0];
  expect(seen).toEqual(["first", "second gave up"]);
  rows.leave();
  atTurn.abort();
  await waiting[1];
  expect(seen).toEqual(["first", "second gave up", "third"]);
  rows.leave();
  await enters(rows, "fourth", seen);
  expect(seen.at(-1)).toBe("fourth");
  await enters(rows, "fifth", seen, inLine.signal);
  expect(seen.at(-1)).toBe("fifth gave up");
});
