import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { measureRest } from "./remains.ts";
import type { Side } from "./types.ts";

const sizes = { warmUps: 0, lives: 0, atOnce: [], together: [], acting: 0, resting: 3, restMs: 1 };

it.skipIf(process.platform !== "linux")("counts session folders that stay, while others vanish", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "shoal-remains-"));
  try {
    const server = join(dataDir, "sessions", "server-1");
    mkdirSync(server, { recursive: true });
    let opened = 0;
    const side: Side = {
      async open() {
        const folder = join(server, `session-${String(++opened)}`);
        const stays = opened === 3;
        mkdirSync(join(folder, "root"), { recursive: true });
        writeFileSync(join(folder, "root", "file"), "");
        return {
          cdpUrl: "",
          close: async () => {
            if (!stays) rmSync(folder, { recursive: true });
          },
        };
      },
    };
    const signal = new AbortController().signal;
    const { remains } = await measureRest({ pid: process.pid, dataDir, settleMs: 300 }, sizes, { side, signal });
    expect(remains.files).toBe(1);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
