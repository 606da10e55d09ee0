import { withStatus } from "@shoal/router";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { Shoal, TimeoutError } from "../index.ts";
import { startPartialService } from "../node/testing/partial-service.ts";

const apiKey = "sk_secret_0123456789";
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("processes", () => {
  it("return their output as text", async () => {
    await using service = await startPartialService({
      execProcess: ({ body }) => ({
        exit_code: 3,
        stdout_b64: base64(`${body.command} ${body.args.join(" ")} größe`),
        stderr_b64: base64("oh"),
        duration_ms: 5,
        timed_out: body.timeout_sec === 1,
      }),
    });
    const { process } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    expect(await process.run("b", { command: "ls", args: ["-l", "/"], timeout_sec: 1 })).toEqual({
      exitCode: 3,
      stdout: "ls -l / größe",
      stderr: "oh",
      durationMs: 5,
      timedOut: true,
    });
    // oxlint-disable-next-line typescript/no-deprecated -- it stays for the wire
    expect(await process.exec("b", { command: "true" })).toMatchObject({ exit_code: 3, timed_out: false });
  });

  it("stream their output as bytes, then the exit", async () => {
    const all = Buffer.from("größe\0ÿ", "utf8");
    await using service = await startPartialService({
      streamProcessOutput: () =>
        Readable.from([
          { id: "1", data: { stream: "stdout", data_b64: all.subarray(0, 3).toString("base64") } },
          { id: "2", data: { stream: "stdout", data_b64: all.subarray(3).toString("base64") } },
          { id: "3", data: { stream: "stderr", data_b64: base64("warning") } },
          { id: "4", data: { event: "exit", exit_code: 137 } },
        ]),
    });
    const { process } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    const pieces: Buffer[] = [];
    let errors = "";
    let exit: number | undefined;
    for await (const piece of process.output("b", "p")) {
      if (piece.kind === "exit") exit = piece.exitCode;
      else if (piece.kind === "stdout") pieces.push(Buffer.from(piece.bytes));
      else errors += Buffer.from(piece.bytes).toString();
    }
    expect(Buffer.concat(pieces).equals(all)).toBe(true);
    expect([errors, exit]).toEqual(["warning", 137]);
  });

  it("accept input of any length, in order", async () => {
    const parts: Buffer[] = [];
    await using service = await startPartialService({
      writeProcessStdin: ({ body }) => {
        const bytes = Buffer.from(body.data_b64, "base64");
        parts.push(bytes);
        return { written_bytes: bytes.length };
      },
    });
    const { process } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    const input = Buffer.from(Array.from({ length: 2_500_000 }, (_, index) => (index * 7) % 256));
    await process.write("b", "p", input);
    await process.write("b", "p", "ü\n");
    expect(parts.map((part) => part.length)).toEqual([524_288, 524_288, 524_288, 524_288, 402_848, 3]);
    expect(Buffer.concat(parts).equals(Buffer.concat([input, Buffer.from("ü\n")]))).toBe(true);
  });
});

describe("replays.download", () => {
  it("polls at the interval of the service while the file is being written", async () => {
    const askedAt: number[] = [];
    await using service = await startPartialService({
      downloadReplay: () => {
        const wish = [{ retryAfterSeconds: 1 }, {}][askedAt.push(performance.now()) - 1];
        return wish === undefined ? { stream: Readable.from([Buffer.from("mp4")]) } : withStatus(202, undefined, wish);
      },
    });
    const heard: number[] = [];
    const { replays } = new Shoal({
      apiKey,
      baseUrl: service.baseUrl,
      hooks: { onResponse: ({ status }) => void heard.push(status) },
    }).browsers;
    const { stream, contentType } = await replays.download("b", "r");
    expect([await new Response(stream).text(), contentType, heard]).toEqual(["mp4", "video/mp4", [202, 202, 200]]);
    const [first = 0, second = 0] = askedAt;
    // Timers can fire slightly early.
    expect(second - first).toBeGreaterThan(990);
  });

  it("stops after its timeout, and when it is aborted", async () => {
    await using service = await startPartialService({
      downloadReplay: () => withStatus(202, undefined, { retryAfterSeconds: 1 }),
    });
    const { replays } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    const error: unknown = await replays
      .download("b", "r", { totalTimeoutMs: 3_000 })
      .catch((reason: unknown) => reason);
    expect(TimeoutError.isInstance(error) && error.message).toContain(
      "The file of replay r was not ready after 3000 ms.",
    );
    const reason = new Error("enough");
    await expect(replays.download("b", "r", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe("browsers.fetch over browsers.curl", () => {
  const service = () =>
    startPartialService({
      curl: ({ body }) => ({
        status: body.method === "DELETE" ? 204 : 418,
        headers: { "content-type": ["text/plain"], "set-cookie": ["a=1", "b=2"], "x-sent": [JSON.stringify(body)] },
        body: body.method === "DELETE" ? "" : base64("größe"),
        body_encoding: "base64",
        duration_ms: 1,
      }),
    });
  const sent = (response: Response): unknown => JSON.parse(response.headers.get("x-sent") ?? "");

  it("returns a standard response", async () => {
    await using server = await service();
    const { browsers } = new Shoal({ apiKey, baseUrl: server.baseUrl });
    const response = await browsers.fetch("b", "https://a.example/x?y=1", {
      method: "post",
      headers: { "X-Own": "1", Connection: "close", "Content-Length": "99" },
      body: new URLSearchParams({ a: "b c" }),
      timeoutMs: 60_000,
    });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, await response.text(), response.url, response.headers.getSetCookie()]).toEqual([
      418,
      "größe",
      "https://a.example/x?y=1",
      ["a=1", "b=2"],
    ]);
    expect(sent(response)).toEqual({
      url: "https://a.example/x?y=1",
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded;charset=UTF-8", "x-own": "1" },
      body: "a=b+c",
      timeout_ms: 60_000,
      response_encoding: "base64",
    });
  });

  it("returns bodies only for statuses that can have one", async () => {
    await using server = await service();
    const { browsers } = new Shoal({ apiKey, baseUrl: server.baseUrl });
    const response = await browsers.fetch("b", new URL("https://a.example/"), { method: "DELETE" });
    expect([response.status, response.body]).toEqual([204, null]);
    expect(sent(response)).toMatchObject({ method: "DELETE", url: "https://a.example/" });
  });

  it.each<[string, Parameters<Shoal["browsers"]["fetch"]>[2], string]>([
    ["ftp://a.example/", {}, "must start with http:// or https://"],
    ["https://a.example/", { method: "TRACE" }, "Unsupported method TRACE"],
    ["https://a.example/", { method: "POST", body: new Uint8Array([255, 254]) }, "A body of bytes needs"],
  ])("rejects %s with %j before sending it", async (url, init, message) => {
    await using server = await service();
    const { browsers } = new Shoal({ apiKey, baseUrl: server.baseUrl });
    await expect(browsers.fetch("b", url, init)).rejects.toThrow(message);
    expect(server.requests).toEqual([]);
  });
});
