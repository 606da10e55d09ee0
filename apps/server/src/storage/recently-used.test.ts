import { expect, it } from "vitest";
import { recentlyUsed } from "./recently-used.ts";

it("evicts the value that is unused for the longest time", () => {
  const evicted: string[] = [];
  const values = recentlyUsed<boolean>(2, { dispose: (_value, key) => evicted.push(key) });
  values.set("a", false).set("b", true);
  values.get("a");
  values.set("c", false);
  expect([...values.keys()]).toEqual(["c", "a"]);
  expect(evicted).toEqual(["b"]);
});
