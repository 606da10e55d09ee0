import { expect, it } from "vitest";
import { wipedRanges } from "./process-tree.ts";

it("finds the ranges that a fork wipes, and no other flags", () => {
  const smaps = [
    "7f0000001000-7f0000003000 rw-p 00000000 00:00 0",
    "Size:                  8 kB",
    "VmFlags: rd wr mr mw me ac wf sd",
    "7f0000004000-7f0000005000 rw-p 00000000 00:00 0                          [wf]",
    "VmFlags: rd wr mr mw me ac sd",
    "ffffffff600000-ffffffff601000 r--p 00000000 00:00 0",
    "VmFlags: rd wf",
    "",
  ].join("\n");
  expect(wipedRanges(smaps)).toEqual([
    { start: 0x7f0000001000, end: 0x7f0000003000 },
    { start: 0xffffffff600000, end: 0xffffffff601000 },
  ]);
  expect(wipedRanges("")).toEqual([]);
});
