import type { Database } from "@shoal/database";
import { expect, it } from "vitest";
import { ItemEvents } from "./item-events.ts";

type Parts = Pick<Database, "onChange" | "query">;

/** Waiting reads only changes. */
const database = { onChange: () => () => undefined } as unknown as Parts;
const place = { itemId: "item", projectId: "project" };
const never = () => Promise.resolve(false);
const open = new AbortController().signal;

it("ends waiting when the service stops", async () => {
  const stopping = new AbortController();
  const events = new ItemEvents(database, stopping.signal);
  const waiting = events.until(place, never, { signal: open, waitSeconds: 60 });
  stopping.abort();
  await waiting;
  await events.until(place, never, { signal: open, waitSeconds: 60 });
});

it("does not look for a client that has left", async () => {
  let looks = 0;
  const failing = () => {
    looks += 1;
    return Promise.reject(new Error("The database fails."));
  };
  const events = new ItemEvents(database, open);
  await events.until(place, failing, { signal: AbortSignal.abort(), waitSeconds: 60 });
  expect(looks).toBe(0);
  await expect(events.until(place, failing, { signal: open, waitSeconds: 60 })).rejects.toThrow("fails");
});

it("answers further readers of an item and of a project at once", async () => {
  const stopping = new AbortController();
  const events = new ItemEvents(database, stopping.signal);
  const read = (itemId: string, projectId: string) =>
    events.until({ itemId, projectId }, never, { signal: open, waitSeconds: 3600 });
  const waiting = Array.from({ length: 100 }, () => read("one", "a"));
  await read("one", "a");
  waiting.push(...Array.from({ length: 100 }, (_, index) => read(`other-${String(index)}`, "a")));
  await read("two", "a");
  let isAnswered = false;
  const elsewhere = read("three", "b").then(() => (isAnswered = true));
  // Answers for the other project pass it.
  await read("two", "a");
  expect(isAnswered).toBe(false);
  stopping.abort();
  await Promise.all([...waiting, elsewhere]);
});
