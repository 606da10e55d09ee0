import { createFrameReader, encodeFrame, opcode } from "../../http/frames.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BrowserMessages } from "./browser-messages.ts";

const large = "z".repeat(70_000);
const attached = (type: string, more: object = {}) => ({
  method: "Target.attachedToTarget",
  params: { sessionId: "S", targetInfo: { targetId: "T", type, url: "https://a.example/" }, waitingForDebugger: false },
  ...more,
});
const setup = (id: number) => ({ id, method: "Page.enable", params: {}, sessionId: "S" });
const answer = (id: unknown, more: object = {}) => ({ id, result: {}, ...more });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

class Client {
  readonly commands: { id?: number; method?: string; params?: object; sessionId?: string }[] = [];
  readonly told: object[] = [];
  readonly messages = new BrowserMessages({
    send: (command) => this.commands.push(command),
    tell: (message) => this.told.push(message),
  });

  /** Returns whether the command is for the browser. */
  send(command: object): boolean {
    return this.messages.command(Buffer.from(JSON.stringify(command)), "pass") === "pass";
  }

  /** Returns whether the message is for the client. */
  receive(message: object, pieceBytes = Infinity): boolean {
    const frame = frameOf(message);
    const bytes = Buffer.concat(piecesOf(frame, pieceBytes).flatMap((piece) => this.messages.take(piece)));
    if (bytes.length > 0) expect(bytes.equals(frame)).toBe(true);
    return bytes.length > 0;
  }
}

const frameOf = (message: object) => encodeFrame(opcode.text, Buffer.from(JSON.stringify(message)));

function piecesOf(bytes: Buffer, pieceBytes: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
  return pieces;
}

it.each([1, 2, 39, 40, 41, 1000, Infinity])(
  "passes every byte of other messages, in pieces of %d bytes",
  (pieceBytes) => {
    const { messages } = new Client();
    const sent = Buffer.concat([
      ...[
        attached("page"),
        answer(1),
        { method: "Page.frameNavigated" },
        answer(2, { large }),
        {},
        attached("page", { large }),
      ].map(frameOf),
      encodeFrame(opcode.ping, Buffer.from("ping")),
      encodeFrame(opcode.text, Buffer.from("{")),
      encodeFrame(opcode.text, Buffer.alloc(0)),
    ]);
    const received = Buffer.concat(piecesOf(sent, pieceBytes).flatMap((piece) => messages.take(piece)));
    expect(received.equals(sent)).toBe(true);
  },
);

it.each([1, 39, 40, 41, Infinity])("shows the sent headers without the proxy, in pieces of %d bytes", (pieceBytes) => {
  const { messages } = new Client();
  const event = (headers: object) => ({
    method: "Network.requestWillBeSentExtraInfo",
    params: { requestId: "1", associatedCookies: [], headers, connectTiming: { requestTime: 1 } },
    sessionId: "S",
  });
  const others = { Host: "a.example", Cookie: '"Proxy-Connection":' };
  const sent = Buffer.concat(
    [
      event({ ...others, "Proxy-Connection": "keep-alive" }),
      event(others),
      { method: "Network.requestWillBeSent", params: { request: { headers: { "Proxy-Connection": "x" } } } },
    ].map(frameOf),
  );
  const received = Buffer.concat(piecesOf(sent, pieceBytes).flatMap((piece) => messages.take(piece)));
  expect(received.length).toBe(sent.length);
  const texts: unknown[] = [];
  const reader = createFrameReader(
    { masked: false, maxPayloadBytes: 10_000 },
    {
      header: () => texts.push(""),
      payload: (chunk) => texts.push(`${String(texts.pop())}${chunk.toString()}`),
      end: () => texts.push(JSON.parse(String(texts.pop()))),
    },
  );
  reader.push(received);
  expect(texts).toEqual([
    event({ ...others, Connection: "keep-alive" }),
    event(others),
    { method: "Network.requestWillBeSent", params: { request: { headers: { "Proxy-Connection": "x" } } } },
  ]);
});

it.each([1, 7, Infinity])("hides a busy page until it answers, in pieces of %d bytes", async (pieceBytes) => {
  const client = new Client();
  expect(client.receive(attached("page"), pieceBytes)).toBe(true);
  expect([client.send(setup(1)), client.send(setup(2))]).toEqual([true, true]);
  await vi.advanceTimersByTimeAsync(10_000);
  const [detach, attach] = client.commands;
  expect([detach?.method, attach?.method]).toEqual(["Target.detachFromTarget", "Target.attachToTarget"]);
  const detached = { method: "Target.detachedFromTarget", params: { sessionId: "S", targetId: "T" } };
  expect(client.receive(detached, pieceBytes)).toBe(true);
  expect(client.receive(answer(detach?.id), pieceBytes)).toBe(false);
  await Promise.resolve();
  expect(client.told).toMatchObject([1, 2].map((id) => ({ id, sessionId: "S", error: { code: -32_000 } })));
  expect(JSON.stringify(client.told)).toContain("https://a.example/ (target T)");
  const again = attached("page");
  again.params.sessionId = "S2";
  expect(client.receive(again, pieceBytes)).toBe(false);
  expect(client.receive(answer(attach?.id), pieceBytes)).toBe(false);
  const probe = client.commands[2];
  expect(probe).toMatchObject({ method: "Runtime.evaluate", sessionId: "S2" });
  expect(client.receive(answer(probe?.id, { sessionId: "S2" }), pieceBytes)).toBe(false);
  expect(client.told.at(-1)).toEqual(again);
  expect(client.send({ ...setup(3), sessionId: "S2" })).toBe(true);
});

it("never shows a busy page that closes", async () => {
  const client = new Client();
  client.receive(attached("page"));
  client.send(setup(1));
  await vi.advanceTimersByTimeAsync(10_000);
  client.receive({ method: "Target.detachedFromTarget", params: { sessionId: "S", targetId: "T" } });
  const again = attached("page");
  again.params.sessionId = "S2";
  expect(client.receive(again)).toBe(false);
  expect(client.receive({ method: "Target.detachedFromTarget", params: { sessionId: "S2", targetId: "T" } })).toBe(
    false,
  );
});

it.each([
  ["a frame of another site", attached("iframe", { sessionId: "parent" }), undefined],
  [
    "a page that the client chose",
    attached("page"),
    { id: 9, method: "Target.attachToTarget", params: { targetId: "T" } },
  ],
])("answers the setup of %s, and drops late answers", async (_, event, before) => {
  const client = new Client();
  if (before !== undefined) client.send(before);
  client.receive(event);
  client.send(setup(1));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(client.told).toMatchObject([{ id: 1, error: { code: -32_000 } }]);
  expect(client.send(setup(2))).toBe(false);
  expect(client.told).toHaveLength(2);
  // Scripts may take long.
  expect(client.send({ id: 3, method: "Runtime.evaluate", sessionId: "S" })).toBe(true);
  expect(client.receive(answer(1, { sessionId: "S" }))).toBe(false);
  expect(client.receive(answer(3, { sessionId: "S" }))).toBe(true);
  expect(client.send(setup(4))).toBe(true);
  expect(client.commands).toEqual([]);
});

it("leaves pages alone that answer, that wait for the client, or that run a script", async () => {
  const client = new Client();
  client.receive(attached("page"));
  client.send(setup(1));
  client.send({ id: 2, method: "Runtime.evaluate", sessionId: "S" });
  expect(client.receive(answer(1, { sessionId: "S" }))).toBe(true);
  const paused = attached("page");
  paused.params = { ...paused.params, sessionId: "P", waitingForDebugger: true };
  client.receive(paused);
  client.send({ ...setup(3), sessionId: "P" });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([client.commands, client.told]).toEqual([[], []]);
});
