import { expect, it } from "vitest";
import { TerminalModes } from "./terminal-modes.ts";

function resetAfter(...pieces: readonly string[]): string {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.read(Buffer.from(piece));
  return modes.reset();
}

it("returns nothing if the program changed nothing", () => {
  expect(resetAfter("hello\r\n", "\u001b[2J\u001b[H")).toBe("");
});

it("leaves the alternate screen, shows the cursor and ends mouse reports", () => {
  expect(resetAfter("\u001b[?1049h\u001b[?25l\u001b[?1000;1006h")).toBe(
    "\u001b[?25h\u001b[?1000l\u001b[?1006l\u001b[?1049l",
  );
});

it("reads sequences that are split between chunks", () => {
  expect(resetAfter("text \u001b[?10", "49h", "\u001b", "[?2004h")).toBe("\u001b[?1049l\u001b[?2004l");
});

it("ignores modes that the program reset", () => {
  expect(resetAfter("\u001b[?1049h\u001b[?25l", "\u001b[?25h\u001b[?1049l")).toBe("");
});

it("resets colours", () => {
  expect(resetAfter("\u001b[31mred")).toBe("\u001b[0m");
});

it("limits the length of an incomplete sequence", () => {
  expect(resetAfter(`\u001b${"[?".repeat(1000)}`, "1049h")).toBe("");
});
