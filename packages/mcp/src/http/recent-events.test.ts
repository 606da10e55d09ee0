import { expect, it } from "vitest";
import { RecentEvents } from "./recent-events.ts";

const message = (id: number) => ({ jsonrpc: "2.0" as const, method: "notifications/progress", params: { id } });

async function replayed(events: RecentEvents, lastId: string): Promise<string[]> {
  const ids: string[] = [];
  await events.replayEventsAfter(lastId, {
    send(id) {
      ids.push(id);
      return Promise.resolve();
    },
  });
  return ids;
}

it("repeats later messages of the same stream", async () => {
  const events = new RecentEvents();
  const first = await events.storeEvent("a", message(1));
  await events.storeEvent("b", message(2));
  const third = await events.storeEvent("a", message(3));
  expect(await replayed(events, first)).toEqual([third]);
  expect(await events.getStreamIdForEventId(first)).toBe("a");
});

it("drops the oldest messages above its limits", async () => {
  const events = new RecentEvents({ events: 2, characters: 10_000 });
  const [first] = [await events.storeEvent("a", message(1)), await events.storeEvent("a", message(2))];
  await events.storeEvent("a", message(3));
  await expect(replayed(events, first)).rejects.toThrow("no longer available");
  const small = new RecentEvents({ events: 100, characters: 10 });
  expect(await small.getStreamIdForEventId(await small.storeEvent("a", message(1)))).toBeUndefined();
});
