import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Figure } from "../measuring/figures.ts";
import { interleaved } from "../measuring/rounds.ts";

/** A typical page for screenshots: text, colours, an edge to a gradient. */
const page = `<body style="margin:0;font:16px sans-serif;background:linear-gradient(120deg,#fff,#cde)">${Array.from({ length: 60 }, (_, row) => `<p style="color:hsl(${String(row * 6)} 80% 30%)">Row ${String(row)}: the quick brown fox jumps over the lazy dog, again and again, until the line is full.</p>`).join("")}<textarea id=field></textarea>`;
const typed = "the quick brown fox ".repeat(5);

/** Measures screenshots and typing through the service against the same over the session's CDP. */
export async function measureComputer(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id: id, cdp_ws_url } = await shoal.browsers.create({
      viewport: { width: 1280, height: 800 },
      timeout_seconds: 600,
    });
    const browser = await chromium.connectOverCDP(cdp_ws_url);
    const shown = browser.contexts()[0]?.pages()[0];
    if (shown === undefined) throw new Error("The session has no page.");
    await shown.setContent(page);
    await shown.evaluate("field.focus()");
    const cdp = await shown.context().newCDPSession(shown);
    const screenshot = async () =>
      new Response((await shoal.browsers.computer.captureScreenshot(id)).stream).arrayBuffer();
    const byHand = async (optimizeForSpeed: boolean) =>
      Buffer.from((await cdp.send("Page.captureScreenshot", { format: "png", optimizeForSpeed })).data, "base64");
    const [bytes, handBytes] = [(await screenshot()).byteLength, (await byHand(false)).length];
    const shots = await interleaved(rounds, { ours: screenshot, hand: () => byHand(false), fast: () => byHand(true) });
    const keys = await interleaved(Math.max(3, Math.round(rounds / 5)), {
      ours: () => shoal.browsers.computer.typeText(id, { text: typed }),
      hand: () => shown.keyboard.type(typed),
    });
    await browser.close();
    return [
      {
        name: "screenshot, 1280 × 800, p50",
        unit: "ms",
        ours: shots.ours.wallMs,
        peer: shots.hand.wallMs,
        peerName: "Page.captureScreenshot by hand",
        target: "<= 1.1",
      },
      {
        name: "screenshot, 1280 × 800, p50",
        unit: "ms",
        ours: shots.ours.wallMs,
        peer: shots.fast.wallMs,
        peerName: "the same, optimizeForSpeed",
      },
      {
        name: "screenshot, size",
        unit: "kB",
        ours: bytes / 1000,
        peer: handBytes / 1000,
        peerName: "Page.captureScreenshot by hand",
      },
      {
        name: `typing ${String(typed.length)} characters, p50`,
        unit: "ms",
        ours: keys.ours.wallMs,
        peer: keys.hand.wallMs,
        peerName: "Playwright's keyboard.type",
      },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
