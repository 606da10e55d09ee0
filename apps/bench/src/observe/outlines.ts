import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Figure } from "../measuring/figures.ts";
import { interleaved, median, pairedRatio } from "../measuring/rounds.ts";
import { pages } from "./pages.ts";

const require = createRequire(import.meta.url);

interface PlaywrightMcp extends AsyncDisposable {
  call(name: string, given?: Record<string, unknown>): Promise<string>;
}

async function startPlaywrightMcp(cdpUrl: string, directory: string): Promise<PlaywrightMcp> {
  const client = new Client({ name: "shoal-bench", version: "1.0.0" });
  const program = join(dirname(require.resolve("@playwright/mcp/package.json")), "cli.js");
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, "--cdp-endpoint", cdpUrl, "--output-dir", directory],
      cwd: directory,
      stderr: "ignore",
    }),
  );
  return {
    async call(name, given = {}) {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      if (isError === true) throw new Error(`${name}: ${text}`);
      return text;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The part of a snapshot that lists the elements. */
function listed(snapshot: string): string {
  const block = /```yaml\n([^]*?)\n```/.exec(snapshot)?.[1];
  if (block === undefined) throw new Error(`No snapshot in ${snapshot.slice(0, 300)}`);
  return block;
}

async function startSite(): Promise<{ readonly url: string; close(): void }> {
  const list = Object.values(pages);
  const site = createServer((request, response) => {
    const html = list[Number(request.url?.split(/[/?]/)[1])]?.();
    response.writeHead(html === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`, close: () => site.close() };
}

interface Measured {
  readonly tokens: number;
  readonly peerTokens: number;
  readonly error: number;
  readonly ms: number;
  readonly peerMs: number;
  readonly ratio: number;
}

/** Compares whole outlines of twenty fixed pages with the snapshots of @playwright/mcp, in the same session. */
export async function measureOutlines(rounds: number): Promise<Figure[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const site = await startSite();
  const host = new URL(site.url).host;
  const flags = ["--warm", "0", "--log-level", "warn", "--allow-private-hosts", host];
  const service = await startService(dataDir, flags);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    await using browser = await shoal.browsers.create({ timeout_seconds: 3600 });
    await using mcp = await startPlaywrightMcp(browser.cdp_ws_url, dataDir);
    const measured: Measured[] = [];
    for (const [place, name] of Object.keys(pages).entries()) {
      await mcp.call("browser_navigate", { url: `${site.url}/${String(place)}` });
      const one = await measurePage(
        () => shoal.browsers.observe(browser.session_id, { max_tokens: 100_000 }),
        mcp,
        rounds,
      );
      console.error(
        `${name}: ${String(one.tokens)} of ${String(one.peerTokens)} tokens, ${one.ms.toFixed(1)} of ${one.peerMs.toFixed(1)} ms`,
      );
      measured.push(one);
    }
    return figuresOf(measured);
  } finally {
    await service.stop();
    site.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measurePage(
  observe: () => Promise<{ readonly outline: string; readonly tokens: number }>,
  mcp: PlaywrightMcp,
  rounds: number,
): Promise<Measured> {
  const snapshot = () => mcp.call("browser_snapshot");
  const [outline, peer] = [await observe(), listed(await snapshot())];
  const { ours, theirs } = await interleaved(rounds, { ours: observe, theirs: snapshot });
  const tokens = countTokens(outline.outline);
  return {
    tokens,
    peerTokens: countTokens(peer),
    error: outline.tokens / tokens,
    ms: ours.wallMs,
    peerMs: theirs.wallMs,
    ratio: pairedRatio(ours, theirs, "wallMs"),
  };
}

function figuresOf(measured: readonly Measured[]): Figure[] {
  const middle = (of: (one: Measured) => number): number => median(measured.map(of));
  const tokenRatio = middle(({ peerTokens, tokens }) => tokens / peerTokens);
  return [
    {
      name: "tokens of an outline, median page",
      unit: "",
      ours: middle(({ tokens }) => tokens),
      peer: middle(({ peerTokens }) => peerTokens),
      peerName: "@playwright/mcp",
      ratio: tokenRatio,
      target: "0.5",
    },
    {
      name: "time of an outline, median page",
      unit: "ms",
      ours: middle(({ ms }) => ms),
      peer: middle(({ peerMs }) => peerMs),
      peerName: "@playwright/mcp",
      ratio: middle(({ ratio }) => ratio),
      target: "1",
    },
    {
      name: "time of an outline, worst page of twenty",
      unit: "ms",
      ours: Math.max(...measured.map(({ ms }) => ms)),
      ratio: Math.max(...measured.map(({ ratio }) => ratio)),
    },
    { name: "estimated tokens / real tokens, median", unit: "×", ours: middle(({ error }) => error) },
    {
      name: "estimated tokens / real tokens, lowest",
      unit: "×",
      ours: Math.min(...measured.map(({ error }) => error)),
    },
    {
      name: "estimated tokens / real tokens, highest",
      unit: "×",
      ours: Math.max(...measured.map(({ error }) => error)),
    },
  ];
}
