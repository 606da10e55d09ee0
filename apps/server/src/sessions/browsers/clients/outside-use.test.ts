import type { Instance } from "@shoal/placement";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { countedCalls, OutsideUse } from "./outside-use.ts";

const timeoutSeconds = 10;
/** Ten seconds, and one minute for a slow instance. */
const idleMs = 70_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function watched(isHandedOver: () => Promise<boolean> = async () => false) {
  const onIdle = vi.fn<() => void>();
  return { onIdle, use: new OutsideUse({ timeoutSeconds: () => timeoutSeconds, isHandedOver, onIdle }) };
}

it("reports a session that its instance does not end, a minute after its timeout", async () => {
  const { onIdle } = watched();
  await vi.advanceTimersByTimeAsync(idleMs - 1);
  expect(onIdle).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("counts from the end of the last of several uses", async () => {
  const { onIdle, use } = watched();
  const [first, second] = [use.begin(), use.begin()];
  first();
  first();
  await vi.advanceTimersByTimeAsync(10 * idleMs);
  expect(onIdle).not.toHaveBeenCalled();
  second();
  await vi.advanceTimersByTimeAsync(idleMs - 1);
  expect(onIdle).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("ends no session that a person has", async () => {
  const answers = [true];
  const { onIdle } = watched(async () => answers.shift() ?? false);
  await vi.advanceTimersByTimeAsync(2 * idleMs - 1);
  expect([onIdle.mock.calls.length, answers.length]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("asks a database that does not answer again after a minute, also with a long timeout", async () => {
  const isHandedOver = vi.fn<() => Promise<boolean>>(() => Promise.reject(new Error("outage")));
  const { onIdle } = watched(isHandedOver);
  await vi.advanceTimersByTimeAsync(idleMs + 60_000);
  expect([onIdle.mock.calls.length, isHandedOver.mock.calls.length]).toEqual([0, 2]);
  isHandedOver.mockResolvedValue(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

it("ends no session whose use begins while a handoff is looked for", async () => {
  const answer = Promise.withResolvers<boolean>();
  const { onIdle, use } = watched(() => answer.promise);
  await vi.advanceTimersByTimeAsync(idleMs);
  use.begin();
  answer.resolve(false);
  await vi.advanceTimersByTimeAsync(idleMs);
  expect(onIdle).not.toHaveBeenCalled();
});

it("ends no session after it was closed", async () => {
  const { onIdle, use } = watched();
  use.close();
  use.begin()();
  await vi.advanceTimersByTimeAsync(idleMs);
  expect(onIdle).not.toHaveBeenCalled();
});

const calls = [
  { counts: true, method: "POST", path: "/process/exec" },
  { counts: true, method: "GET", path: "/process" },
  { counts: false, method: "GET", path: "/process?limit=1", headers: { "x-shoal-passive": "1" } },
  { counts: false, method: "GET", path: "/stats" },
  { counts: true, method: "POST", path: "/_instance/handoff" },
  { counts: false, method: "GET", path: "/_instance/replays/1" },
  { counts: false, method: "GET", path: "/_instance/events" },
  { counts: false, method: "GET", path: "/_instance/telemetry?after=0" },
  { counts: true, method: "GET", path: "/_instance/profile" },
  { counts: true, method: "GET", path: "/_instance/profile/fork" },
  { counts: false, method: "GET", path: "/_instance/profile?source=checkpoint" },
];

it.each(calls)("counts: $counts, for $method $path", async ({ counts, ...call }) => {
  vi.useRealTimers();
  await using server = await answering();
  const { use } = watched();
  const begin = vi.spyOn(use, "begin");
  const answer = await countedCalls(server.instance, use).request(call);
  answer.resume();
  await once(answer, "close");
  expect(begin.mock.calls.length).toBe(counts ? 1 : 0);
});

it("counts a connection until it closes, and a request until its answer has", async () => {
  await using server = await answering();
  const { onIdle, use } = watched();
  const { connect: open, request } = countedCalls(server.instance, use);
  const socket = await open();
  const answer = await request({ method: "POST", path: "/process/exec" });
  await vi.advanceTimersByTimeAsync(2 * idleMs);
  socket.destroy();
  await once(socket, "close");
  await vi.advanceTimersByTimeAsync(2 * idleMs);
  expect(onIdle).not.toHaveBeenCalled();
  answer.resume();
  await once(answer, "close");
  await vi.advanceTimersByTimeAsync(idleMs);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

/** An instance that answers each request. */
async function answering(): Promise<{ readonly instance: Pick<Instance, "connect" | "request"> } & AsyncDisposable> {
  const server: Server = createServer((_request, response) => response.end("x".repeat(1_000)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    instance: {
      async request({ headers, method, path }) {
        const request = httpRequest({
          agent: false,
          port,
          host: "127.0.0.1",
          method,
          path,
          ...(headers && { headers }),
        });
        request.end();
        const [answer] = (await once(request, "response")) as [IncomingMessage];
        return answer;
      },
      async connect() {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      },
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
