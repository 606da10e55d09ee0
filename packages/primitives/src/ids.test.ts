import { expect, it } from "vitest";
import { createId, isId } from "./index.ts";

it("creates identifiers that begin with a letter and do not repeat", () => {
  const ids = Array.from({ length: 2_000 }, createId);
  expect(ids.every(isId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

it("uses every symbol", () => {
  const seen = new Set(Array.from({ length: 500 }, createId).join("").split(/(?:)/));
  expect(seen.size).toBe(36);
});

it.each(["", "a", "1aaaaaaaaaaaaaaaaaaaaaaa", "Aaaaaaaaaaaaaaaaaaaaaaaa", "a".repeat(25), "aaaaaaaaaaaaaaaaaaaaaaa-"])(
  "rejects %j as an identifier",
  (text) => {
    expect(isId(text)).toBe(false);
  },
);
