import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { settled } from "../measuring/processes.ts";

const page = "<!doctype html><title>page</title><link rel=icon href=data:,><h1>hello</h1>";

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

/** Measures a picture of a small local page: `browsers.render`, and the same with a session, alternately. */
export async function measureRenderedPages(rounds: number): Promise<Figure[]> {
  const site = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, [
    "--warm",
    "1",
    "--allow-private-hosts",
    "127.0.0.1",
    "--log-level",
    "warn",
  ]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const render = () => shoal.browsers.render({ url, outputs: ["screenshot"] });
    const byHand = async (): Promise<void> => {
      const { cdp_ws_url: address, session_id: id } = await shoal.browsers.create();
      const browser = await chromium.connectOverCDP(address);
      const opened = browser.contexts()[0]?.pages()[0];
      await opened?.goto(url);
      await opened?.screenshot();
      await browser.close();
      await shoal.browsers.delete(id);
    };
    const ours: number[] = [];
    const peers: number[] = [];
    for (let round = -1; round < rounds; round++) {
      await settled(service.pid, 1);
      const rendered = await timed(render);
      await settled(service.pid, 1);
      const drawn = await timed(byHand);
      if (round < 0) continue;
      ours.push(rendered);
      peers.push(drawn);
    }
    const figure = (name: string, part: number): Figure => ({
      name,
      unit: "ms",
      ours: percentile(ours, part),
      peer: percentile(peers, part),
      peerName: "create, goto, screenshot, delete",
    });
    return [figure("picture of a small page, p50", 0.5), figure("picture of a small page, p90", 0.9)];
  } finally {
    await service.stop();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
