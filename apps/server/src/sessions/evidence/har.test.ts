import { expect, it } from "vitest";
import { HarEntries, type HarEvent, harFile, type HarEntry } from "./har.ts";

const source = { kind: "cdp" as const };
const request = (id: string, ts: number, data: object = {}): HarEvent => ({
  ts,
  type: "network_request",
  category: "network",
  source,
  data: { request_id: id, url: `https://shop.example/${id}?q=1&q=2`, method: "POST", ...data },
});
const response = (id: string, ts: number, data: object = {}): HarEvent => ({
  ts,
  type: "network_response",
  category: "network",
  source,
  data: { request_id: id, url: `https://shop.example/${id}`, status: 200, mime_type: "text/html", ...data },
});

async function fileOf(...some: HarEntry[][]): Promise<unknown> {
  async function* each() {
    yield* some;
    await Promise.resolve();
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of harFile("1.0.0", each())) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString("utf8"));
}

it("joins requests with their answers, each hop of a redirect apart", async () => {
  const entries = new HarEntries();
  expect(
    entries.take(request("a", 1_000_000, { headers: { "Content-Type": "text/plain" }, post_data: "grüße" })),
  ).toEqual([]);
  const [hop] = entries.take(response("a", 1_250_000, { is_redirect: true, status: 302, headers: { Location: "/b" } }));
  expect(hop).toMatchObject({
    startedDateTime: "1970-01-01T00:00:01.000Z",
    time: 250,
    request: {
      method: "POST",
      queryString: [
        { name: "q", value: "1" },
        { name: "q", value: "2" },
      ],
      postData: { mimeType: "text/plain", text: "grüße" },
      bodySize: 7,
    },
    response: { status: 302, redirectURL: "/b" },
  });
  entries.take(request("a", 1_300_000, { is_redirect: true }));
  const [second] = entries.take(response("a", 1_400_000, { body: "<p>hi" }));
  expect(second).toMatchObject({ time: 100, response: { status: 200, content: { size: 5, text: "<p>hi" } } });
  if (hop === undefined || second === undefined) throw new Error("unreachable");
  expect(await fileOf([hop], [], [second])).toMatchObject({
    log: { version: "1.2", creator: { name: "Shoal", version: "1.0.0" }, entries: [hop, second] },
  });
  expect(await fileOf()).toMatchObject({ log: { entries: [] } });
});

it("keeps failed requests, answers without a request, and requests without an answer", () => {
  const entries = new HarEntries();
  entries.take(request("a", 1));
  const [failed] = entries.take({
    ts: 2,
    type: "network_loading_failed",
    category: "network",
    source,
    data: { request_id: "a", error_text: "net::ERR_ABORTED" },
  });
  expect(failed?.response).toMatchObject({ status: 0, _failureText: "net::ERR_ABORTED" });
  const [late] = entries.take(response("b", 3));
  expect(late).toMatchObject({ time: 0, request: { url: "https://shop.example/b" }, response: { status: 200 } });
  entries.take(request("c", 4, { url: "not an address" }));
  expect([...entries.rest()].flat()).toMatchObject([
    { request: { url: "not an address", queryString: [] }, response: { _failureText: "no answer was recorded" } },
  ]);
  expect([...entries.rest()]).toEqual([]);
});

it("holds at most 5,000 requests without an answer", () => {
  const entries = new HarEntries();
  const early = Array.from({ length: 6_000 }, (_, index) => entries.take(request(String(index), index))).flat();
  expect(early).toHaveLength(1_000);
  expect(early[0]?.request.url).toContain("/0?");
  expect([...entries.rest()].flat()).toHaveLength(5_000);
});

it("holds 4 MiB of requests without an answer, and returns the rest in pieces", () => {
  const entries = new HarEntries();
  const body = "b".repeat(65_536);
  for (let index = 0; index < 2_000; index += 1)
    expect(entries.take(request(String(index), index, { post_data: body }))).toEqual([]);
  const [first] = entries.take(response("0", 5_000));
  expect(first).toMatchObject({ _truncated: true, request: { method: "POST" }, response: { status: 200 } });
  expect(first?.request).not.toHaveProperty("postData");
  const pieces = [...entries.rest()];
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(200);
  const rest = pieces.flat();
  expect(rest).toHaveLength(1_999);
  const kept = rest.filter((entry) => entry.request.postData !== undefined);
  expect(kept.length).toBeGreaterThan(40);
  expect(kept.length).toBeLessThan(64);
  expect(rest.at(-1)?.request.postData?.text).toBe(body);
  const long = Array.from({ length: 5 }, (_, index) =>
    entries.take(request(String(index), index, { url: `https://shop.example/${"u".repeat(2 ** 20)}` })),
  );
  expect(long.flat().map(({ startedDateTime }) => startedDateTime)).toEqual([
    first?.startedDateTime,
    rest[0]?.startedDateTime,
  ]);
});
