import { expect, it } from "vitest";
import { createReadCache } from "./read-cache.ts";

interface Row {
  readonly id: string;
  readonly value: number;
}

/** A table of one row; reads of it can be delayed after they have read. */
function slowTable() {
  let value = 1;
  let live = true;
  let loads = 0;
  const held: (() => void)[] = [];
  let hold = false;
  const cache = createReadCache<Row>({
    max: 10,
    isLive: () => live,
    idOf: (row) => row.id,
    async load(lookup) {
      loads += 1;
      const row = { id: "a", value };
      if (hold) await new Promise<void>((resolve) => held.push(resolve));
      return lookup === "missing" ? undefined : row;
    },
  });
  return {
    cache,
    write(next: number) {
      value = next;
      cache.forget("a");
    },
    setLive: (next: boolean) => {
      live = next;
    },
    setHold: (next: boolean) => {
      hold = next;
    },
    letGo: () => {
      for (const resolve of held.splice(0)) resolve();
    },
    get loads() {
      return loads;
    },
  };
}

it("loads once for concurrent callers, then serves from memory under each lookup", async () => {
  const table = slowTable();
  const both = await Promise.all([table.cache.get("a"), table.cache.get("a")]);
  expect(both).toEqual([
    { id: "a", value: 1 },
    { id: "a", value: 1 },
  ]);
  expect(table.cache.get("a")).toEqual({ id: "a", value: 1 });
  expect(table.loads).toBe(1);
  await table.cache.get("name of a");
  table.write(2);
  expect(await table.cache.get("a")).toEqual({ id: "a", value: 2 });
  expect(await table.cache.get("name of a")).toEqual({ id: "a", value: 2 });
});

it("keeps the new row when a load that began before the change ends last", async () => {
  const table = slowTable();
  table.setHold(true);
  const old = table.cache.get("a");
  table.write(2);
  table.setHold(false);
  expect(await table.cache.get("a")).toEqual({ id: "a", value: 2 });
  table.letGo();
  expect(await old).toEqual({ id: "a", value: 1 });
  expect(table.cache.get("a")).toEqual({ id: "a", value: 2 });
});

it("does not cache a load that began before a change", async () => {
  const table = slowTable();
  table.setHold(true);
  const old = table.cache.get("a");
  table.write(2);
  const fresh = table.cache.get("a");
  expect(table.loads).toBe(2);
  table.setHold(false);
  table.letGo();
  expect(await old).toEqual({ id: "a", value: 1 });
  expect(await fresh).toEqual({ id: "a", value: 2 });
  expect(await table.cache.get("a")).toEqual({ id: "a", value: 2 });
});

it("caches nothing while changes of other servers are not received", async () => {
  const table = slowTable();
  await table.cache.get("a");
  table.setLive(false);
  await table.cache.get("a");
  await table.cache.get("a");
  expect(table.loads).toBe(3);
});

it("does not cache missing rows", async () => {
  const table = slowTable();
  expect(await table.cache.get("missing")).toBeUndefined();
  expect(await table.cache.get("missing")).toBeUndefined();
  expect(table.loads).toBe(2);
});
