import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { startTestServer } from "../../testing/test-server.ts";

it("serves the files of the console in the encoding that a client prefers", async () => {
  const server = await startTestServer();
  const read = async (path: string, accepted: string) => {
    const asked = request(server.baseUrl + path, { headers: { accept: "text/html", "accept-encoding": accepted } });
    const [response] = (await once(asked.end(), "response")) as [IncomingMessage];
    return { headers: response.headers, body: await buffer(response) };
  };
  try {
    const page = (await read("/console/", "identity")).body.toString();
    const script = `/console/${/"\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1] ?? "missing"}`;
    const plain = await read(script, "identity");
    expect([plain.headers["content-encoding"], plain.headers.vary]).toEqual([undefined, "accept-encoding"]);
    for (const [accepted, coding, decompress] of [
      ["gzip, deflate, br", "br", brotliDecompressSync],
      ["gzip;q=0.5, br;q=0", "gzip", gunzipSync],
    ] as const) {
      const { body, headers } = await read(script, accepted);
      expect(headers["content-encoding"]).toBe(coding);
      expect(decompress(body).equals(plain.body)).toBe(true);
    }
  } finally {
    await server.close();
  }
});
