import { expect, it } from "vitest";
import { decideElement, type Evidence } from "./decide-element.ts";

const css: Evidence = { by: "css", keys: ["a"] };
const testId: Evidence = { by: "test_id", keys: ["a"] };
const label: Evidence = { by: "label", keys: ["a"] };
const noLabel: Evidence = { by: "label", keys: [] };

it.each([
  ["two selectors", [], [css, css], "unsure"],
  ["a selector and a test id", [], [css, testId], "unsure"],
  ["a selector and a label", [], [css, label], "one"],
  ["a selector alone, of a step without a name and with a label", undefined, [css, css, noLabel], "unsure"],
  ["selectors, of a step that has nothing else", undefined, [css, testId], "one"],
])("decides on an element that would do harm by %s", (_, named, fallbacks, kind) => {
  expect(decideElement(named, fallbacks, true).kind).toBe(kind);
});
