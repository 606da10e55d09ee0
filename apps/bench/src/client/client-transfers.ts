import { readFile, writeFile } from "@shoal/contract";
import { createTransport } from "@shoal/transport";
import { startBareServer } from "../measuring/bare-server.ts";
import type { Figure } from "../measuring/figures.ts";
import { interleaved } from "../measuring/rounds.ts";

const pieceBytes = 256 * 1024;
const megabyte = 1_000_000;

function source(sizeBytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = sizeBytes;
  return new ReadableStream(
    {
      pull(controller) {
        controller.enqueue(new Uint8Array(Math.min(pieceBytes, left)));
        left -= pieceBytes;
        if (left <= 0) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function drain(stream: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = stream?.getReader();
  while (reader !== undefined && !(await reader.read()).done);
}

/** Runs a function and returns the growth of this process's memory in bytes. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  await work();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

/** Against bare fetch streams. @param sizeBytes - a multiple of 256 KiB. */
export async function measureClientTransfers(sizeBytes: number, rounds: number): Promise<Figure[]> {
  const server = await startBareServer({});
  try {
    const transport = createTransport({ baseUrl: server.url, apiKey: "sk_0123456789abcdef" });
    const params = { id: "b1" };
    const query = { path: `/${sizeBytes}` };
    const url = (operation: string) => `${server.url}/browsers/b1/fs/${operation}?path=/${sizeBytes}`;
    const upload = {
      ours: () => transport.call(writeFile, { params, query, body: source(sizeBytes) }),
      bare: async () => {
        const init: RequestInit & { duplex: "half" } = { method: "PUT", body: source(sizeBytes), duplex: "half" };
        await (await fetch(url("write_file"), init)).text();
      },
    };
    const download = {
      ours: async () => drain((await transport.download(readFile, { params, query })).stream),
      bare: async () => drain((await fetch(url("read_file"))).body),
    };
    const figures: Figure[] = [];
    for (const [name, works] of [
      ["upload", upload],
      ["download", download],
    ] as const) {
      await interleaved(1, works);
      const growth = { bare: await growthOf(works.bare), ours: await growthOf(works.ours) };
      const costs = await interleaved(rounds, works);
      const what = `${name} of ${(sizeBytes / 1e9).toFixed(1)} GB`;
      const rate = (ms: number) => sizeBytes / megabyte / (ms / 1000);
      figures.push(
        {
          name: what,
          unit: "MB/s",
          ours: rate(costs.ours.wallMs),
          peer: rate(costs.bare.wallMs),
          peerName: "bare fetch stream",
          target: ">= 0.95",
        },
        {
          name: `${what}, a second of CPU`,
          unit: "MB/s",
          ours: rate(costs.ours.cpuMs),
          peer: rate(costs.bare.cpuMs),
          peerName: "bare fetch stream",
        },
        {
          name: `${what}, memory above the start`,
          unit: "MB",
          ours: growth.ours / megabyte,
          peer: growth.bare / megabyte,
          peerName: "bare fetch stream",
        },
      );
    }
    return figures;
  } finally {
    server.stop();
  }
}
