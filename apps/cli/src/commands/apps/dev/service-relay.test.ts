import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { ServiceRelay } from "./service-relay.ts";

it("answers requests without a valid path, and goes on", async () => {
  const paths: string[] = [];
  await using service = createServer((request, response) => {
    paths.push(request.url ?? "");
    response.end("from the service");
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const relay = await ServiceRelay.open({
    baseUrl: `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`,
  });
  const ask = async (line: string) => {
    const socket = connect(Number(new URL(relay.url).port), "127.0.0.1");
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    return (await text(socket)).slice("HTTP/1.1 ".length, "HTTP/1.1 ".length + 3);
  };
  try {
    expect(await ask("OPTIONS *")).toBe("400");
    expect(await ask("GET http://evil.example/")).toBe("400");
    expect(await ask("GET //")).toBe("200");
    expect(await ask("POST //")).toBe("200");
    expect(await ask("GET /profiles?limit=1")).toBe("200");
    expect(paths).toEqual(["//", "//", "/profiles?limit=1"]);
  } finally {
    relay.close();
  }
});
