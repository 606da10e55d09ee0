import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { findChromium } from "@shoal/placement";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { settled } from "../measuring/processes.ts";

/** Starts the same Chromium by hand, opens a page, ends it. @returns milliseconds. */
async function byHand(executable: string, url: string): Promise<number> {
  const began = performance.now();
  const browser = await chromium.launch({
    executablePath: executable,
    args: [
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      "--password-store=basic",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
  await visit(browser, url);
  await browser.close();
  return performance.now() - began;
}

/** The same through the service. @returns milliseconds. */
async function throughShoal(shoal: Shoal, url: string): Promise<number> {
  const began = performance.now();
  const session = await shoal.browsers.create();
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  await visit(browser, url);
  await browser.close();
  await shoal.browsers.delete(session.session_id);
  return performance.now() - began;
}

async function visit(browser: Browser, url: string): Promise<void> {
  // Both draw a page of the sessions' default size.
  const context = browser.contexts()[0] ?? (await browser.newContext({ viewport: { width: 1920, height: 1080 } }));
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(url);
  if ((await page.title()) !== "bench") throw new Error("The page did not load.");
}

/** Create → CDP connect → first page → delete, against starting and killing the same Chromium by hand. */
export async function measureSessionLife(rounds: number): Promise<Figure[]> {
  const found = await findChromium({});
  if (!found) throw new Error("No Chromium on this machine.");
  const site = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<title>bench</title><h1>bench</h1>"),
  );
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  const url = `http://${host}/`;
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const start = async (name: string, warm: number) => {
    const service = await startService(join(folder, name), [
      "--warm",
      String(warm),
      "--allow-private-hosts",
      host,
      "--log-level",
      "warn",
    ]);
    return { service, shoal: new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey }) };
  };
  const figures: Figure[] = [];
  try {
    for (const [mode, warm, target] of [
      ["warm", 1, "<= 0.5"],
      ["cold", 0, "<= 1.5"],
    ] as const) {
      const { service, shoal } = await start(mode, warm);
      const ours: number[] = [];
      const hand: number[] = [];
      try {
        for (let round = -2; round < rounds; round++) {
          await settled(service.pid, warm);
          const a = await throughShoal(shoal, url);
          await settled(service.pid, warm);
          const b = await byHand(found.executable, url);
          // The first two rounds warm the file cache and the code.
          if (round >= 0) {
            ours.push(a);
            hand.push(b);
          }
        }
      } finally {
        await service.stop();
      }
      for (const p of [0.5, 0.99])
        figures.push({
          name: `one at a time, ${mode}, p${String(p * 100)}`,
          unit: "ms",
          ours: percentile(ours, p),
          peer: percentile(hand, p),
          peerName: `${found.kind} by hand`,
          ...(p === 0.5 && { target }),
        });
    }

    for (const [mode, warm] of [
      ["warm", 2],
      ["cold", 0],
    ] as const) {
      const { service, shoal } = await start(`eight-${mode}`, warm);
      try {
        const atOnce = 8;
        const lives = rounds * 2;
        const sustained = async (life: () => Promise<number>): Promise<{ perSecond: number; samples: number[] }> => {
          const samples: number[] = [];
          let left = lives;
          const began = performance.now();
          await Promise.all(
            Array.from({ length: atOnce }, async () => {
              while (left-- > 0) samples.push(await life());
            }),
          );
          return { perSecond: (lives * 1000) / (performance.now() - began), samples };
        };
        await throughShoal(shoal, url);
        // Alternate twice, so that a slow spell of the machine affects both.
        const ours = [await sustained(() => throughShoal(shoal, url))];
        const hand = [await sustained(() => byHand(found.executable, url))];
        ours.push(await sustained(() => throughShoal(shoal, url)));
        hand.push(await sustained(() => byHand(found.executable, url)));
        const mean = (runs: { perSecond: number }[]) =>
          runs.reduce((sum, { perSecond }) => sum + perSecond, 0) / runs.length;
        figures.push({
          name: `eight at a time, ${mode}, lives`,
          unit: "/s",
          ours: mean(ours),
          peer: mean(hand),
          peerName: `${found.kind} by hand`,
          target: ">= 0.7",
        });
        for (const p of [0.5, 0.99])
          figures.push({
            name: `eight at a time, ${mode}, p${String(p * 100)}`,
            unit: "ms",
            ours: percentile(
              ours.flatMap(({ samples }) => samples),
              p,
            ),
            peer: percentile(
              hand.flatMap(({ samples }) => samples),
              p,
            ),
            peerName: `${found.kind} by hand`,
          });
      } finally {
        await service.stop();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    site.close();
    site.closeAllConnections();
  }
  return figures;
}
