import { expect, it } from "vitest";
import { replacedNote } from "./replaced.ts";

it("names replaced references in order, as ranges, and cuts long lists", () => {
  expect(replacedNote([])).toBeUndefined();
  expect(replacedNote(["e2"])).toBe("(replaced by the page: e2)");
  expect(replacedNote(["e12", "e2", "e9", "e5", "e6", "e4", "e13"])).toBe(
    "(replaced by the page: e2, e4 to e6, e9, e12, e13)",
  );
  const many = Array.from({ length: 1000 }, (_, place) => `e${String(2 * place)}`);
  expect(replacedNote(many)?.length).toBeLessThan(150);
  expect(replacedNote(many)).toMatch(/and others\)$/);
});
