import { expect, it } from "vitest";
import { createNameResolver } from "./resolve-name.ts";

it("looks at most 12 names up at a time, and answers known ones meanwhile", async () => {
  const asked: string[] = [];
  const slow = Promise.withResolvers<never[]>();
  const resolveName = createNameResolver((name) => {
    asked.push(name);
    return name === "known.example" ? Promise.resolve([{ address: "93.184.215.14", family: 4 }]) : slow.promise;
  });
  const known = await resolveName("known.example");
  const others = Array.from({ length: 20 }, (_none, index) => resolveName(`slow${String(index)}.example`));
  expect(await resolveName("known.example")).toEqual(known);
  expect(asked).toHaveLength(1 + 12);
  slow.resolve([]);
  await Promise.all(others);
  expect(asked).toHaveLength(1 + 20);
});
