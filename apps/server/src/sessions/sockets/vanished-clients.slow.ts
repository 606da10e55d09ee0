import { encodeFrame, opcode } from "@shoal/instance";
import { Browser } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const settings = { secret_key: sharedSecret, websocket_timeout_seconds: 10 };
let first: TestServer;
let second: RunningServer;
/** Runs on the first server. */
let here: Browser;
/** Runs on the second server. Clients reach it through the first one. */
let there: Browser;

async function create(baseUrl: string): Promise<Browser> {
  const answer = await fetch(`${baseUrl}/browsers`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
    body: JSON.stringify({ timeout_seconds: 600 }),
  });
  return Browser.parse(await answer.json());
}

const show = async ({ session_id }: Browser) =>
  Browser.parse((await first.request("GET", `/browsers/${session_id}`)).body);

beforeAll(async () => {
  first = await startTestServer(settings);
  second = await startSecondServer(first, settings);
  [here, there] = await Promise.all([create(first.baseUrl), create(second.baseUrl)]);
  await eventuallyPasses(async () => {
    expect((await first.request("GET", `/browsers/${there.session_id}/fs/list_files?path=/`)).status).toBe(200);
  });
  [here, there] = [await show(here), await show(there)];
});
afterAll(async () => {
  await second.close(1000);
  await first.close();
});

/** Opens a WebSocket on a plain socket that answers no ping. */
async function open(url: string): Promise<Socket> {
  const { hostname, pathname, port, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString("latin1", 0, 12)).toBe("HTTP/1.1 101");
  return socket;
}

/** True if the session's idle timeout runs. */
const isIdle = async (session: Browser) => (await show(session)).expires_at !== undefined;

async function terminalOf({ session_id, cdp_ws_url }: Browser): Promise<string> {
  const { body } = await first.request("POST", `/browsers/${session_id}/process/spawn`, {
    body: { command: "cat", allocate_tty: true },
  });
  return cdp_ws_url.replace("/cdp?", `/process/${(body as { process_id: string }).process_id}/attach?`);
}

const kinds: Record<string, (session: Browser) => string | Promise<string>> = {
  cdp: ({ cdp_ws_url }) => cdp_ws_url,
  bidi: ({ webdriver_ws_url }) => webdriver_ws_url,
  live_view: ({ browser_live_view_url }) => `${browser_live_view_url?.replace("http", "ws") ?? ""}/socket`,
  terminal: terminalOf,
};

it.each([
  ["this server", () => here],
  ["another server", () => there],
])(
  "disconnects clients of every kind that answer no ping, so that a session on %s becomes idle",
  async (_where, sessionOf) => {
    const session = sessionOf();
    const sockets = await Promise.all(Object.values(kinds).map(async (addressOf) => open(await addressOf(session))));
    await expect.poll(() => isIdle(session)).toBe(false);
    await Promise.all(sockets.map((socket) => once(socket.resume(), "close")));
    await expect.poll(() => isIdle(session)).toBe(true);
  },
);

it("disconnects a client that stops reading in the middle of a message", async () => {
  const socket = await open(here.cdp_ws_url);
  const command = { id: 1, method: "Target.getTargets" };
  socket.write(encodeFrame(opcode.text, Buffer.from(JSON.stringify(command)), { masked: true }));
  const [answer] = (await once(socket, "data")) as [Buffer];
  const { targetId } = (
    JSON.parse(answer.subarray(answer.indexOf("{")).toString()) as { result: { targetInfos: { targetId: string }[] } }
  ).result.targetInfos[0] ?? { targetId: "" };
  const page = await open(here.cdp_ws_url.replace("/cdp?", `/devtools/page/${targetId}?`));
  page.pause();
  const large = {
    id: 2,
    method: "Runtime.evaluate",
    params: { expression: `"z".repeat(${String(32 * 2 ** 20)})`, returnByValue: true },
  };
  page.write(encodeFrame(opcode.text, Buffer.from(JSON.stringify(large)), { masked: true }));
  await expect.poll(() => isIdle(here)).toBe(false);
  await once(socket.resume(), "close");
  await expect.poll(() => isIdle(here)).toBe(true);
  page.destroy();
});

it("keeps a client that answers pings", async () => {
  const socket = await open(here.cdp_ws_url);
  let pings = 0;
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      // An idle CDP connection carries only pings.
      pings += chunk.length / 2;
      socket.write(encodeFrame(opcode.pong, Buffer.alloc(0), { masked: true }));
      if (pings > 3) resolve();
    });
  });
  await answered;
  expect(socket.destroyed).toBe(false);
  expect(await isIdle(here)).toBe(false);
  socket.destroy();
});
