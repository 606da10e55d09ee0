import { eventually } from "@shoal/testkit";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { attachToPage, cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { maxCdpClients } from "./gateway.ts";

describeChromium("the CDP gateway", (chromium) => {
  it("sends its own answers between the browser's messages, never inside one", async () => {
    await using instance = await runInstance({ chromium });
    const socket = await instance.connect();
    const client = cdpClient(socket);
    const sessionId = await attachToPage(client);
    const large = client.send(
      "Runtime.evaluate",
      { expression: `"z".repeat(${String(2 ** 24)})`, returnByValue: true },
      sessionId,
    );
    socket.pause();
    const pong = new Promise((resolve) =>
      socket.once("pong", (data) => {
        resolve(data.toString());
      }),
    );
    socket.ping("between");
    const refused = client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/../outside" });
    socket.resume();
    expect(await refused).toHaveProperty("error.code", -32602);
    expect(await pong).toBe("between");
    expect(await large).toHaveProperty("result");
  });

  it("keeps a client's downloads below the root, and drops its directory when it disconnects", async () => {
    await using instance = await runInstance({ chromium });
    await using site = await serveDownloads();
    const files = (directory: string) => join(instance.config.root, directory);
    const socket = await instance.connect();
    const client = cdpClient(socket);
    expect(
      await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/../elsewhere" }),
    ).toHaveProperty("error.message", expect.stringContaining("/../elsewhere"));
    expect(
      await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/elsewhere" }),
    ).toHaveProperty("result");
    await client.send("Target.createTarget", { url: `${site.url}first` });
    await eventually(() => existsSync(files("elsewhere/first")));
    socket.close();
    await client.closed;
    const next = cdpClient(await instance.connect());
    const isHome = async () => {
      await next.send("Target.createTarget", { url: `${site.url}second` });
      return existsSync(files("home/shoal/Downloads/second"));
    };
    await eventually(isHome);
  });

  it.each([
    ["a frame without a mask", Buffer.from([0x81, 0x00]), 1002],
    ["an unknown opcode", Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    ["a binary message", Buffer.from([0x82, 0x80, 0, 0, 0, 0]), 1003],
    ["a message of 2^62 bytes", Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1009],
  ])("disconnects only the client that sends %s", async (_, bytes, code) => {
    await using instance = await runInstance({ chromium });
    const other = cdpClient(await instance.connect());
    const raw = await rawConnect(instance);
    const received: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => received.push(chunk));
    raw.write(bytes);
    await new Promise((resolve) => raw.on("close", resolve));
    const all = Buffer.concat(received);
    const frame = all.subarray(all.indexOf("\r\n\r\n") + 4);
    expect(frame[0]).toBe(0x88);
    expect(frame.readUInt16BE(2)).toBe(code);
    expect(await other.send("Browser.getVersion")).toHaveProperty("result");
  });

  it("becomes idle when a client drops its connection without a close frame", async () => {
    await using instance = await runInstance({ chromium });
    const raw = await rawConnect(instance);
    await instance.event((event) => event.type === "activity" && event.idle_since_ms === null);
    raw.write(Buffer.from([0x81, 0xfe, 0x10]));
    raw.destroy();
    await instance.event((event) => event.type === "activity" && event.idle_since_ms !== null);
  });

  it("rejects invalid handshakes, unknown paths and too many clients", async () => {
    await using instance = await runInstance({ chromium });
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    expect(await rawStatus(instance, "/cdp", upgrade)).toBe(400);
    expect(
      await rawStatus(instance, "/cdp", { ...upgrade, "sec-websocket-version": "13", "sec-websocket-key": "short" }),
    ).toBe(400);
    const whole = {
      ...upgrade,
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
    };
    expect(
      await rawStatus(instance, "/webdriver", {
        ...upgrade,
        "sec-websocket-version": "13",
        "sec-websocket-key": "short",
      }),
    ).toBe(400);
    expect(await rawStatus(instance, "/devtools/page/NONE", whole)).toBe(503);
    expect(await rawStatus(instance, "/other", whole)).toBe(404);
    const sockets = await Promise.all(Array.from({ length: maxCdpClients }, () => instance.connect()));
    expect(await rawStatus(instance, "/cdp", whole)).toBe(429);
    for (const socket of sockets) socket.terminate();
  });
});

async function serveDownloads(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((_, response) => {
    response
      .writeHead(200, { "content-disposition": "attachment", "content-type": "application/octet-stream" })
      .end("content");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function requestText(path: string, headers: Readonly<Record<string, string>>): string {
  return `GET ${path} HTTP/1.1\r\nhost: instance\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}

async function rawConnect(instance: RunningInstance): Promise<Socket> {
  const socket = connect(instance.config.listen_path);
  socket.on("error", () => undefined);
  socket.write(
    requestText("/cdp", {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
    }),
  );
  await new Promise((resolve) => socket.once("readable", resolve));
  return socket;
}

async function rawStatus(
  instance: RunningInstance,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const socket = connect(instance.config.listen_path);
  socket.on("error", () => undefined);
  socket.write(requestText(path, headers));
  const answer = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1]);
}
