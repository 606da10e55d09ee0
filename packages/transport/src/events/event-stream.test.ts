import { streamTelemetry, watchEvents } from "@shoal/contract";
import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  ApiError,
  ConnectionError,
  ContractError,
  createTransport,
  type StreamOptions,
  type TransportOptions,
  type Validation,
} from "../index.ts";
import { failureOf, reply, serve, type TestServer } from "../node/testing/misbehaving-server.ts";

const params = { id: "b1", watch_id: "w1" };
const event = (name: string) => ({ type: "CREATE", path: `/d/${name}`, name });
const frame = (id: string, name = id) => `id: ${id}\ndata: ${JSON.stringify(event(name))}\n\n`;
const open = (server: TestServer, options: StreamOptions = {}, transport: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey: "sk_secret_0123456789", ...transport }).stream(
    watchEvents,
    { params },
    options,
  );
const begin = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
};
/** Cuts the connection before the end of the body, like a network failure. */
const cutAfter = (response: ServerResponse, text: string) => {
  response.write(text, () => {
    setImmediate(() => {
      response.destroy();
    });
  });
};
async function namesOf(stream: AsyncIterable<{ name?: string | undefined }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name = "" } of stream) names.push(name);
  return names;
}

/** From here, time passes only with `vi.advanceTimersByTime`. All deadlines share one timer, so it must run at the end. */
function useFakeClock(): void {
  const nowMs = performance.now();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.advanceTimersByTime(nowMs);
  onTestFinished(() => {
    vi.runAllTimers();
    vi.useRealTimers();
  });
}

describe("event stream", () => {
  it("yields events with any chunks, line ends and comments, and ends with the service", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      const text = `: hello\n\n${frame("1", "ä")}:\n\nid: 2\r\ndata: {"type":"WRITE",\r\ndata: "path":"/x","name":"two"}\r\n\r\nretry: 5\n\n${frame("3")}id: 4\ndata: {"half":`;
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 3) response.write(bytes.subarray(at, at + 3));
      response.end();
    });
    const stream = open(server);
    expect(server.seen).toHaveLength(0);
    expect(await namesOf(stream)).toEqual(["ä", "two", "3"]);
    expect(stream.lastEventId).toBe("3");
    expect(server.seen[0]).toMatchObject({
      url: "/browsers/b1/fs/watch/w1/events",
      headers: { accept: "text/event-stream", "x-shoal-stream": "gaps" },
    });
    expect(server.seen[0]?.headers).not.toHaveProperty("last-event-id");
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("yields the events before an error event, and fails with its error without a retry", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.end(
        `${frame("1")}event: error\ndata: {"code":"unauthorized","message":"The stream was ended.","status":401}\n\n`,
      );
    });
    const stream = open(server);
    expect((await stream.next()).value).toMatchObject({ name: "1" });
    const error = await failureOf(stream.next());
    expect(ApiError.isInstance(error) && [error.status, error.code, error.message, error.retryable]).toEqual([
      401,
      "unauthorized",
      "The stream was ended.",
      false,
    ]);
    expect(server.seen).toHaveLength(1);
  });

  it("resumes after the last event when the connection is lost", async () => {
    await using server = await serve((request, response) => {
      begin(response);
      const last = Number(request.headers["last-event-id"] ?? 0);
      if (last >= 6) response.end();
      else cutAfter(response, `${frame(String(last + 1))}${frame(String(last + 2))}id: ${last + 3}\ndata: {"cut`);
    });
    const reconnects: unknown[] = [];
    expect(await namesOf(open(server, { onReconnect: (retry) => reconnects.push(retry.attempt) }))).toEqual([
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
    ]);
    expect(server.seen.map((request) => request.headers["last-event-id"])).toEqual([undefined, "2", "4", "6"]);
    expect(reconnects).toEqual([1, 1, 1]);
  });

  it("starts after lastEventId", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.end(frame("9"));
    });
    expect(await namesOf(open(server, { lastEventId: "8" }))).toEqual(["9"]);
    expect(server.seen[0]?.headers["last-event-id"]).toBe("8");
  });

  it("treats silence for two heartbeats as a lost connection", async () => {
    await using server = await serve((request, response) => {
      begin(response);
      const last = request.headers["last-event-id"];
      if (last === undefined) response.write(frame("1"));
      else response.end(last === "1" ? frame("2") : "");
    });
    // A busy machine may be silent more than once.
    expect(await namesOf(open(server, { idleTimeoutMs: 200, maxReconnects: Infinity }))).toEqual(["1", "2"]);
    expect(server.seen.map((request) => request.headers["last-event-id"])).toContain("1");
  });

  it("does not treat a heartbeat or a slow reader as silence", async () => {
    useFakeClock();
    let sent: ServerResponse | undefined;
    await using server = await serve((_, response) => {
      begin(response);
      response.write(":\n\n");
      sent = response;
    });
    let beats = 0;
    /** Time passes when the client waits for a piece, and the next piece follows it. */
    const pass = (piece: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) => {
      vi.advanceTimersByTime(2_000);
      controller.enqueue(piece);
      if ((beats += 1) < 10) sent?.write(":\n\n");
      else if (beats === 10) sent?.end(frame("1") + frame("2"));
    };
    const slowly = async (request: Request) => {
      const { body, headers } = await fetch(request);
      return new Response(body?.pipeThrough(new TransformStream({ transform: pass })), { headers });
    };
    const stream = open(server, { idleTimeoutMs: 3_000 }, { fetch: slowly });
    expect((await stream.next()).value).toEqual(event("1"));
    vi.advanceTimersByTime(10_000);
    expect(await namesOf(stream)).toEqual(["2"]);
    expect([beats, server.seen.length]).toEqual([11, 1]);
  });

  it("fails after the maximum of attempts without an event", async () => {
    await using server = await serve((request, response, count) => {
      if (count > 1) request.socket.destroy();
      else {
        begin(response);
        cutAfter(response, frame("1"));
      }
    });
    const stream = open(server, { maxReconnects: 2 });
    expect((await stream.next()).value).toEqual(event("1"));
    expect(ConnectionError.isInstance(await failureOf(stream.next()))).toBe(true);
    expect(server.seen).toHaveLength(3);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("rejects with 404 when the resource was deleted during a reconnect, because events may be lost", async () => {
    await using server = await serve((_, response, count) => {
      if (count > 1) reply(response, 404, { code: "not_found", message: "Watch w1 was not found." });
      else {
        begin(response);
        cutAfter(response, frame("1"));
      }
    });
    const stream = open(server);
    await stream.next();
    const error = await failureOf(stream.next());
    expect(ApiError.isInstance(error) && error.code).toBe("not_found");
  });

  it("reconnects while the service restarts", async () => {
    await using server = await serve((_, response, count) => {
      if (count === 2)
        reply(response, 503, { code: "shutting_down", message: "Restarting." }, { "retry-after-ms": "1" });
      else {
        begin(response);
        if (count === 1) cutAfter(response, frame("1"));
        else response.end(frame("2"));
      }
    });
    expect(await namesOf(open(server))).toEqual(["1", "2"]);
  });

  it("does not resume without event ids, because that would repeat or lose events", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      cutAfter(response, `data: ${JSON.stringify(event("1"))}\n\n`);
    });
    const stream = open(server);
    await stream.next();
    const error = await failureOf(stream.next());
    expect(ConnectionError.isInstance(error) && error.message).toContain("have no ids");
    expect(server.seen).toHaveLength(1);
  });

  it("reports lost events to onGap, or to the logger without onGap", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.end(`${frame("1")}id: 5\nevent: gap\ndata: {"missed":4}\n\n${frame("6")}`);
    });
    const gaps: unknown[] = [];
    expect(await namesOf(open(server, { onGap: (gap) => gaps.push(gap) }))).toEqual(["1", "6"]);
    expect(gaps).toEqual([{ missed: 4 }]);
    const warnings: unknown[] = [];
    await namesOf(open(server, {}, { logger: { debug: () => undefined, warn: (fields) => warnings.push(fields) } }));
    expect(warnings).toEqual([{ operation: "browsers.fs.watch.events", missed: 4 }]);
  });

  it("calls onCaughtUp after the stored events are read, and before the first new one", async () => {
    const mark = (id: string) => `id: ${id}\nevent: caught_up\ndata: {}\n\n`;
    const stored = Promise.withResolvers<undefined>();
    await using server = await serve((_, response) => {
      begin(response);
      response.write(`${frame("1")}${frame("2")}${mark("2")}${frame("3")}`);
      void stored.promise.then(() => response.end(frame("4")));
    });
    const seen: string[] = [];
    for await (const { name = "" } of open(server, { onCaughtUp: () => seen.push("caught up") })) {
      seen.push(name);
      if (name === "3") stored.resolve(undefined);
    }
    expect(seen).toEqual(["1", "2", "caught up", "3", "4"]);
    expect(server.seen[0]?.headers).toHaveProperty("x-shoal-stream", "gaps, caught_up");
  });

  it("calls onCaughtUp for a stream without stored events, and again after a reconnect", async () => {
    await using server = await serve((_, response, count) => {
      begin(response);
      const text = `id: 0\nevent: caught_up\ndata: {}\n\n${frame(String(count))}`;
      if (count === 1) cutAfter(response, text);
      else response.end(text);
    });
    const seen: string[] = [];
    for await (const { name = "" } of open(server, { onCaughtUp: () => seen.push("caught up") })) seen.push(name);
    expect([seen[0], seen.at(-1), seen.filter((one) => one === "caught up").length]).toEqual(["caught up", "2", 2]);
  });

  it("rejects with an error of the service after the usual retries", async () => {
    await using server = await serve((_, response, count) => {
      if (count < 3) reply(response, 503, { code: "x", message: "x" }, { "retry-after-ms": "1" });
      else reply(response, 404, { code: "not_found", message: "Watch w1 was not found." });
    });
    const error = await failureOf(open(server).next());
    expect(ApiError.isInstance(error) && error.message).toBe("Watch w1 was not found.");
    expect(server.seen).toHaveLength(3);
  });

  it.each([
    ["text/html", "<html>", "headers.content-type"],
    ["text/event-stream", "data: {oops\n\n", "event"],
    ["text/event-stream", 'data: {"type":"CREATE","path":7}\n\n', "event.path"],
  ])("rejects what does not fit the contract (%s, %j)", async (type, body, path) => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(body);
    });
    const error = await failureOf(namesOf(open(server)));
    expect(ContractError.isInstance(error) && error.path).toBe(path);
    expect(server.seen).toHaveLength(1);
  });

  it("yields the events before an event that does not fit the schema", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.end(`${frame("1")}${frame("2")}data: {oops\n\n${frame("3")}`);
    });
    const stream = open(server);
    expect([await stream.next(), await stream.next()]).toMatchObject([
      { value: { name: "1" } },
      { value: { name: "2" } },
    ]);
    expect(ContractError.isInstance(await failureOf(stream.next()))).toBe(true);
    expect(stream.lastEventId).toBe("2");
  });

  describe("of telemetry", () => {
    const console_log = {
      ts: 1,
      type: "console_log",
      category: "console",
      source: { kind: "cdp" },
      data: { level: "log", text: "hi" },
    };
    const follow = (server: TestServer, validate?: Validation) =>
      createTransport({ baseUrl: server.baseUrl, apiKey: "sk_secret_0123456789" }).stream(
        streamTelemetry,
        { params: { id: "b1" } },
        { ...(validate && { validate }) },
      );
    const sending = (...events: unknown[]) =>
      serve((_, response) => {
        begin(response);
        response.end(
          events.map((event, index) => `id: ${index}\ndata: ${JSON.stringify({ seq: index + 1, event })}\n\n`).join(""),
        );
      });

    it("passes types and fields of a newer service, and checks only the type by default", async () => {
      const newer = { type: "from_the_future", whatever: true };
      const odd = { ...console_log, source: 7 };
      await using server = await sending(console_log, { ...console_log, more: 1 }, newer, odd);
      const seen: unknown[] = [];
      for await (const { event } of follow(server)) seen.push(event);
      expect(seen).toEqual([console_log, { ...console_log, more: 1 }, newer, odd]);
    });

    it.each([
      ["without a type", { ...console_log, type: undefined }, undefined, "event.event.type"],
      ["that is a string", "console_log", undefined, "event.event"],
      [
        "with an invalid nested field, if full checks are on",
        { ...console_log, source: 7 },
        "error" as const,
        "event.event.source",
      ],
    ])("rejects an event %s", async (_, event, validate, path) => {
      await using server = await sending(console_log, event);
      const stream = follow(server, validate);
      expect(await stream.next()).toMatchObject({ value: { seq: 1 } });
      const error = await failureOf(stream.next());
      expect(ContractError.isInstance(error) && error.path).toBe(path);
    });
  });

  it("closes the connection immediately on break, close and await using", async () => {
    const closed: number[] = [];
    await using server = await serve((_, response, count) => {
      begin(response);
      response.write(frame("1") + frame("2"));
      response.on("close", () => closed.push(count));
    });
    for await (const { name } of open(server)) if (name === "1") break;
    await expect.poll(() => closed).toEqual([1]);
    const stream = open(server);
    await stream.next();
    await stream.close();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await expect.poll(() => closed).toEqual([1, 2]);
    {
      await using scoped = open(server);
      await scoped.next();
    }
    await expect.poll(() => closed).toEqual([1, 2, 3]);
    await expect.poll(() => server.connections()).toBe(0);
  });

  it("ends a waiting reader when it is closed, even during a reconnect", async () => {
    await using server = await serve((_, response, count) => {
      begin(response);
      if (count === 2) response.destroy();
    });
    const quiet = open(server);
    const waiting = quiet.next();
    await expect.poll(() => server.seen.length).toBe(1);
    await quiet.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const lost = Promise.withResolvers<undefined>();
    const reconnecting = open(server, {
      onReconnect: () => {
        lost.resolve(void reconnecting.close());
      },
    });
    const second = reconnecting.next();
    await lost.promise;
    expect(await second).toEqual({ done: true, value: undefined });
    expect(server.seen).toHaveLength(2);
    const unread = open(server);
    await unread.close();
    expect(await unread.next()).toEqual({ done: true, value: undefined });
  });

  it("rejects with the caller's own reason when it is aborted", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.write(frame("1"));
    });
    const controller = new AbortController();
    const stream = open(server, { signal: controller.signal });
    await stream.next();
    const reason = { mine: true };
    const waiting = failureOf(stream.next());
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await failureOf(open(server, { signal: controller.signal }).next())).toBe(reason);
    await expect.poll(() => server.connections()).toBe(0);
  });

  it("serves several concurrent readers in order", async () => {
    await using server = await serve((_, response) => {
      begin(response);
      response.end(["a", "b", "c"].map((name) => frame(name)).join(""));
    });
    const stream = open(server);
    const results = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
    expect(results.map((result) => result.value?.name)).toEqual(["a", "b", "c", undefined]);
  });

  it("leaves unread events at the service: memory does not grow", async () => {
    let written = 0;
    await using server = await serve((_, response) => {
      begin(response);
      const text = Array.from({ length: 1000 }, (_, index) => frame(String(index))).join("");
      const more = () => {
        if (written >= 64 * 2 ** 20) return;
        do written += text.length;
        while (response.write(text) && written < 64 * 2 ** 20);
      };
      response.on("drain", more);
      more();
    });
    const stream = open(server);
    await stream.next();
    let before = -1;
    await expect
      .poll(() => {
        const still = written === before;
        before = written;
        return still;
      })
      .toBe(true);
    expect(written).toBeLessThan(32 * 2 ** 20);
    await stream.close();
  });
});
