import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { treeOf, WipedRanges } from "./process-tree.ts";

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
  // The kernel and the buffer divide the text anywhere.
  for (const length of [1, 7, smaps.length]) {
    const found = new WipedRanges();
    for (let at = 0; at < smaps.length; at += length) found.add(smaps.slice(at, at + length));
    expect(found.ranges).toEqual([
      { start: 0x7f0000001000, end: 0x7f0000003000 },
      { start: 0xffffffff600000, end: 0xffffffff601000 },
    ]);
  }
});

it.runIf(process.platform === "linux")("walks the processes of a tree, and stops after enough of them", async () => {
  const shell = spawn("/bin/sh", ["-c", "sh -c 'sh -c \"echo ready; sleep 600\" & wait' & wait"]);
  try {
    await once(shell.stdout, "data");
    expect(treeOf(shell.pid ?? 0).length).toBeGreaterThanOrEqual(3);
    expect(treeOf(shell.pid ?? 0, 1)).toHaveLength(2);
  } finally {
    for (const pid of treeOf(shell.pid ?? 0)) process.kill(pid, "SIGKILL");
  }
});
