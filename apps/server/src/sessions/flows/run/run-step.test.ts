import { FlowStep } from "@shoal/schemas";
import { expect, it } from "vitest";
import { prepareStep } from "./run-step.ts";

function isGuarded(...keys: string[]): boolean | undefined {
  const step = FlowStep.parse({ action: "press", keys, target: { role: "button", name: "Delete" } });
  return prepareStep(step, { texts: new Map(), secrets: new Map() }, {}).step.is_guarded;
}

it.each([
  "Enter",
  "enter",
  "return",
  "Linefeed",
  "KP_Enter",
  "Space",
  "space",
  " ",
  "U0020",
  "Ctrl+return",
  "Shift+space",
])("guards the key %j, which presses a button", (key) => {
  expect(isGuarded("Tab", key)).toBe(true);
});

it("guards unknown keys, and none that presses no button", () => {
  expect(isGuarded("Nonsense")).toBe(true);
  expect(isGuarded("Tab", "a", "Ctrl+a", "Page_Down", "Escape", "Shift+Tab")).toBe(false);
});
