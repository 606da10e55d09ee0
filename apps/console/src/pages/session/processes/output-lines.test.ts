import { expect, it } from "vitest";
import { OutputLines } from "./output-lines.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

it("joins pieces that end within characters and lines", () => {
  const output = new OutputLines();
  const euro = bytesOf("5 €\nnext");
  output.push("stdout", euro.slice(0, 3));
  output.push("stderr", bytesOf("warning"));
  output.push("stdout", euro.slice(3));
  expect(output.lines()).toEqual([
    { source: "stdout", text: "5 €" },
    { source: "stdout", text: "next" },
    { source: "stderr", text: "warning" },
  ]);
});

it("removes commands to a terminal, and keeps markup as text", () => {
  const output = new OutputLines();
  output.push("stdout", bytesOf("\x1b[31mred\x1b[0m\x1b]0;title\x07 <b>bold</b>\r\n"));
  expect(output.lines()).toEqual([{ source: "stdout", text: "red <b>bold</b>" }]);
});

it("keeps the newest lines, and divides endless ones", () => {
  const output = new OutputLines();
  for (let piece = 0; piece < 30; piece += 1) output.push("stdout", bytesOf("x\n".repeat(1000)));
  expect(output.lines()).toHaveLength(5000);
  expect(output.isCut).toBe(true);
  output.push("stdout", bytesOf("y".repeat(100_000)));
  expect(Math.max(...output.lines().map(({ text }) => text.length))).toBe(4000);
});
