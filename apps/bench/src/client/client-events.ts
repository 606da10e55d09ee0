import { streamTelemetry, watchEvents } from "@shoal/contract";
import { createTransport, type Validation } from "@shoal/transport";
import { createParser } from "eventsource-parser";
import { startBareServer } from "../measuring/bare-server.ts";
import type { Figure } from "../measuring/figures.ts";
import { interleaved } from "../measuring/rounds.ts";

const telemetry = (seq: number) => ({
  seq,
  event: {
    ts: 1_770_000_000_000_000 + seq,
    type: "network_request",
    category: "network",
    source: { kind: "cdp", event: "Network.requestWillBeSent" },
    data: {
      session_id: "8A1B2C3D4E5F60718293A4B5C6D7E8F9",
      target_id: "F9E8D7C6B5A493827160F5E4D3C2B1A8",
      target_type: "page",
      request_id: `1000.${seq}`,
      method: "GET",
      url: `https://example.com/assets/app-${seq}.js?v=3`,
      resource_type: "Script",
      headers: { accept: "*/*", "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" },
    },
  },
});
const change = (seq: number) => ({
  type: "WRITE",
  path: `/home/user/downloads/report-${seq}.pdf`,
  name: `report-${seq}.pdf`,
  is_dir: false,
});
const inBlock = 1000;
const blockOf = (event: (seq: number) => object) =>
  Array.from({ length: inBlock }, (_, index) => `id: ${index + 1}\ndata: ${JSON.stringify(event(index + 1))}\n\n`).join(
    "",
  );

async function parseBare(url: string): Promise<number> {
  const response = await fetch(url, { headers: { accept: "text/event-stream" } });
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("The bare server sent no body.");
  let count = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (typeof JSON.parse(data) === "object") count += 1;
    },
  });
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return count;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}

async function countOf(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const event of events) if (typeof event === "object") count += 1;
  return count;
}

/** Measures events per second of CPU through the client and through a bare parser, from the same bytes. */
export async function measureClientEvents(events: number): Promise<Figure[]> {
  const kinds = [
    { what: "telemetry", block: blockOf(telemetry), path: "/browsers/b1/telemetry/stream" },
    { what: "watch", block: blockOf(change), path: "/browsers/b1/fs/watch/w1/events" },
  ];
  const figures: Figure[] = [];
  for (const { what, block, path } of kinds) {
    const server = await startBareServer({ events: block, repeat: Math.ceil(events / inBlock) });
    try {
      const transport = createTransport({ baseUrl: server.url, apiKey: "sk_0123456789abcdef" });
      const read = (validate?: Validation) => async () => {
        const options = { ...(validate !== undefined && { validate }) };
        const count =
          what === "watch"
            ? await countOf(transport.stream(watchEvents, { params: { id: "b1", watch_id: "w1" } }, options))
            : await countOf(transport.stream(streamTelemetry, { params: { id: "b1" } }, options));
        if (count < events) throw new Error(`Only ${count} of ${events} events came.`);
      };
      const works = { ours: read(), whole: read("error"), bare: () => parseBare(server.url + path) };
      await interleaved(1, works);
      const costs = await interleaved(7, works);
      const rate = (name: keyof typeof works) => events / costs[name].cpuMs;
      const peer = { peer: rate("bare"), peerName: "bare parser, JSON.parse", unit: "k/s" };
      figures.push(
        { name: `${what} events a second of CPU`, ours: rate("ours"), target: ">= 0.7", ...peer },
        { name: `${what} events, each checked whole`, ours: rate("whole"), ...peer },
      );
    } finally {
      server.stop();
    }
  }
  return figures;
}
