import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createRawServer, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { joinChunks } from "./join-chunks.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const chunked = (parts: readonly string[]): string =>
  parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join("");

/** The answer to a request, whose body `write` sends. */
async function answerFrom(write: (socket: Socket) => void): Promise<IncomingMessage> {
  const server = createRawServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n");
        write(socket);
      });
    closing.push(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return new Promise((resolve, reject) => {
    const asked = get({ port: (server.address() as AddressInfo).port, agent: false });
    asked.on("error", reject).on("response", (answer) => {
      joinChunks(answer);
      resolve(answer);
    });
  });
}

it.each([
  ["bytes", Array.from({ length: 30_000 }, (_, index) => String(index % 10))],
  ["short lines", Array.from({ length: 20_000 }, (_, index) => `line ${String(index)}\n`)],
  ["short and long parts", Array.from({ length: 300 }, (_, index) => "ä".repeat(index * 37 + 1))],
])("reads %s unchanged, in few chunks", async (_what, parts) => {
  const answer = await answerFrom((socket) => socket.end(`${chunked(parts)}0\r\nX-End: yes\r\n\r\n`));
  let chunks = 0;
  answer.on("data", () => (chunks += 1));
  const whole = parts.join("");
  expect(await text(answer)).toBe(whole);
  expect(answer.complete).toBe(true);
  expect(answer.trailers).toEqual({ "x-end": "yes" });
  expect(chunks).toBeLessThan(Buffer.byteLength(whole) / 1024 + 50);
});

it("passes each part on when it arrives", async () => {
  let peer: Socket | undefined;
  const answer = await answerFrom((socket) => (peer = socket));
  for (const part of ["a", "bc", "d"]) {
    const arrived = once(answer, "data");
    peer?.write(chunked([part]));
    expect(String((await arrived)[0])).toBe(part);
  }
});

it("stops a sender whose reader does not read", async () => {
  let sent = 0;
  const part = chunked(Array.from({ length: 2000 }, () => "x"));
  const answer = await answerFrom((socket) => {
    const send = (): void => {
      while (!socket.destroyed && sent < 50_000_000) {
        sent += part.length;
        if (!socket.write(part)) return;
      }
    };
    socket.on("drain", send);
    send();
  });
  answer.on("readable", () => undefined);
  let before = -1;
  await expect
    .poll(() => {
      const isStill = sent === before;
      before = sent;
      return isStill;
    })
    .toBe(true);
  expect(answer.readableLength).toBeLessThan(3 * answer.readableHighWaterMark);
  expect(sent).toBeLessThan(50_000_000);
  answer.destroy();
});

it("ends with an error when the connection breaks within a body", async () => {
  const answer = await answerFrom((socket) => {
    socket.write(chunked(["a", "b"]));
    setImmediate(() => socket.destroy());
  });
  await expect(buffer(answer)).rejects.toThrow("aborted");
  expect(answer.complete).toBe(false);
});

it("reads bodies of requests", async () => {
  const server: Server = createServer((request, response) => {
    joinChunks(request);
    let chunks = 0;
    request.on("data", () => (chunks += 1));
    void text(request).then((body) => response.end(`${String(body.length)} in ${chunks < 200 ? "few" : "many"}`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const parts = Array.from({ length: 30_000 }, () => "x");
  socket.end(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(parts)}0\r\n\r\n`,
  );
  expect(await text(socket)).toContain("30000 in few");
});
