import type { ExchangeRequest, PlayedExchange, RecordedExchange } from "@shoal/placement";
import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { Player } from "./player.ts";
import { indexRecording } from "./recorded-index.ts";
import type { SharedRecording } from "./shared-recordings.ts";
import { Recorder, type RecordingLimits, usualRecordingLimits } from "./recorder.ts";

class Kept extends Writable {
  bytes = Buffer.alloc(0);
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.bytes = Buffer.concat([this.bytes, chunk]);
    done();
  }
}

let recorded: SharedRecording;
const dayMs = 86_400_000;
const startMs = Date.now() - 10 * dayMs;
const recordedRow = {
  created_at: new Date(startMs).toISOString(),
  finished_at: new Date(startMs + 600_000).toISOString(),
  seed: null,
};
const site = "https://shop.example";
const get = (path: string, more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  ...{ method: "GET", url: `${site}${path}`, isConditional: false },
  ...more,
});

function recording(limits: Partial<RecordingLimits> = {}) {
  const kept = new Kept();
  const recorder = new Recorder(kept, { ...usualRecordingLimits, ...limits });
  return {
    recorder,
    answer: (
      request: ExchangeRequest,
      content: string,
      { body = "", headers = [], status = 200 }: { body?: string; headers?: string[]; status?: number } = {},
    ): void => {
      const exchange = recorder.begin(request);
      exchange.head({ status, statusText: "Fine", headers });
      for (const part of content.match(/.{1,4}/gs) ?? []) exchange.data(Buffer.from(part), 0);
      exchange.end("complete", body);
    },
    player: async ({
      isTruncated: truncated = false,
      clock = "real",
    }: { isTruncated?: boolean; clock?: "real" | "recorded" } = {}): Promise<Player> => {
      recorder.close();
      // In small pieces, so that frames are split.
      async function* pieces(bytes: Buffer, size = 7) {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      }
      const read = (start: number, end: number) => pieces(kept.bytes.subarray(start, end + 1), 3);
      recorded = { index: await indexRecording(pieces(kept.bytes)), isGone: false };
      return new Player({
        recorded,
        row: { ...recordedRow, truncated },
        replay: { recording: "rec", on_missing: "fail", clock },
        read,
      });
    },
  };
}

async function content(played: PlayedExchange | undefined): Promise<string | undefined> {
  if (played === undefined) return undefined;
  let all = "";
  for await (const { bytes } of played.chunks()) all += Buffer.from(bytes).toString();
  return all;
}

it("answers repeated requests in order, GET from the last one again, and others as often as recorded", async () => {
  const { answer, player } = recording();
  for (const word of ["one", "two, which is longer"]) answer(get("/a"), word);
  answer(get("/a", { method: "POST" }), "posted", { body: "digest" });
  const replay = await player();
  const turns = [];
  for (let turn = 0; turn < 3; turn += 1) turns.push(await content(replay.next(get("/a"), "")));
  expect(turns).toEqual(["one", "two, which is longer", "two, which is longer"]);
  const post = get("/a", { method: "POST" });
  expect(replay.next(post, "other")).toBeUndefined();
  expect(await content(replay.next(post, "digest"))).toBe("posted");
  expect(replay.next(post, "digest")).toBeUndefined();
  expect(replay.explain(post)).toBe(
    `POST ${site}/a is in the recording rec once, but not with this body or range, or not as often.`,
  );
  expect(replay.explain(get("/b"))).toBe(`GET ${site}/b is not in the recording rec.`);
  expect([replay.knows(get("/a")), replay.knows(get("/b"))]).toEqual([true, false]);
});

it("answers each preflight of a POST, but not a ranged OPTIONS that it does not have", async () => {
  const { answer, player } = recording();
  const preflight = get("/api", { method: "OPTIONS" });
  answer(preflight, "", { status: 204 });
  const replay = await player();
  for (let turn = 0; turn < 3; turn += 1) expect(replay.next(preflight, "")?.head?.status).toBe(204);
  expect(replay.next({ ...preflight, range: "bytes=0-" }, "")).toBeUndefined();
});

it("answers nothing more after the deletion", async () => {
  const { answer, player } = recording();
  answer(get("/a"), "", { status: 204, headers: ["Set-Cookie", "token=1"] });
  const replay = await player();
  expect(replay.next(get("/a"), "")?.head?.status).toBe(204);
  recorded.isGone = true;
  expect([replay.next(get("/a"), ""), replay.knows(get("/a"))]).toEqual([undefined, false]);
  expect(replay.explain(get("/a"))).toBe("The recording rec was deleted.");
});

it("keeps concurrent exchanges apart, with status, headers and ends", async () => {
  const { player, recorder } = recording();
  const open: RecordedExchange[] = ["/a", "/b", "/c"].map((path) => recorder.begin(get(path)));
  for (const [index, exchange] of open.entries())
    exchange.head({ status: 200 + index, statusText: "Fine", headers: ["X-Index", String(index)] });
  for (const part of ["x", "y"])
    for (const [index, exchange] of open.entries()) exchange.data(Buffer.from(`${part}${index}`), 0);
  open[0]?.end("complete", "");
  open[0]?.end("broken", "");
  open[1]?.end("broken", "");
  const replay = await player();
  const ends = [];
  for (const path of ["/a", "/b", "/c"]) {
    const played = replay.next(get(path), "");
    ends.push([played?.head?.status, played?.head?.headers, await content(played), played?.end]);
  }
  expect(ends).toEqual([
    [200, ["X-Index", "0"], "x0y0", "complete"],
    [201, ["X-Index", "1"], "x1y1", "broken"],
    [202, ["X-Index", "2"], "x2y2", "open"],
  ]);
});

it("answers 304 to conditional requests alone", async () => {
  const { answer, player } = recording();
  answer(get("/a"), "whole");
  answer(get("/a", { isConditional: true }), "", { status: 304 });
  const replay = await player();
  const statuses = [];
  for (const isConditional of [false, true, false])
    statuses.push(replay.next(get("/a", { isConditional }), "")?.head?.status);
  expect(statuses).toEqual([200, 304, 200]);
});

it("answers another range out of recorded bytes", async () => {
  const { answer, player } = recording();
  const headers = ["Content-Range", "bytes 10-29/100", "Content-Length", "20", "X-Own", "kept"];
  answer(get("/film", { range: "bytes=10-" }), "0123456789abcdefghij", { headers, status: 206 });
  const replay = await player();
  const ask = async (range: string) => {
    const played = replay.next(get("/film", { range }), "");
    return played && [played.head?.status, played.head?.headers.join(" "), await content(played)];
  };
  expect(await ask("bytes=10-")).toEqual([206, headers.join(" "), "0123456789abcdefghij"]);
  expect(await ask("bytes=13-18")).toEqual([
    206,
    "X-Own kept Content-Range bytes 13-18/100 Content-Length 6",
    "345678",
  ]);
  expect((await ask("bytes=25-"))?.[2]).toBe("fghij");
  for (const range of ["bytes=0-", "bytes=30-40", "bytes=-5", "bytes=12-13,15-16"])
    expect(await ask(range)).toBeUndefined();
});

it("leaves out answers over a limit, and says so", async () => {
  const { answer, player, recorder } = recording({ answerBytes: 10, requests: 3 });
  answer(get("/long"), "x".repeat(11));
  answer(get("/short"), "x".repeat(10));
  answer(get("/last"), "x");
  answer(get("/more"), "x");
  expect(recorder.totals).toMatchObject({ requests: 3, leftOut: 2, isTruncated: true });
  const replay = await player({ isTruncated: true });
  expect(replay.next(get("/long"), "")).toBeUndefined();
  const limits = "32 MiB an answer, 256 MiB and 20000 requests a recording";
  expect(replay.explain(get("/long"))).toBe(
    `The answer to GET ${site}/long is not in the recording rec, because it exceeded a limit (${limits}). Record fewer pages.`,
  );
  expect(replay.explain(get("/more"))).toBe(
    `GET ${site}/more is not in the recording rec, which reached a limit (${limits}). Record fewer pages.`,
  );
  expect(await content(replay.next(get("/short"), ""))).toBe("x".repeat(10));
  expect(replay.knows(get("/more"))).toBe(false);
});

it("stops at the limit of bytes", async () => {
  const { answer, recorder } = recording({ bytes: 1000 });
  for (let turn = 0; turn < 20; turn += 1) answer(get("/a"), "x".repeat(100));
  const { isTruncated, leftOut, requests, sizeBytes } = recorder.totals;
  expect(isTruncated).toBe(true);
  expect(requests + leftOut).toBeGreaterThanOrEqual(20);
  // The frames of the last request may follow.
  expect(sizeBytes).toBeLessThan(1500);
});

it("limits what a replay holds in memory: requests with heads, and chunks", async () => {
  const { answer, player, recorder } = recording({ indexBytes: 2_000 });
  const headers = ["X-Long", "x".repeat(900)];
  for (const path of ["/a", "/b", "/c"]) answer(get(path), "content", { headers });
  answer(get(`/${"d".repeat(2_000)}`), "content");
  expect(recorder.totals).toMatchObject({ leftOut: 3, isTruncated: true });
  const replay = await player();
  expect(await content(replay.next(get("/a"), ""))).toBe("content");
  for (const path of ["/b", "/c"]) expect(replay.next(get(path), "")).toBeUndefined();
  const small = recording({ chunks: 3 });
  for (const path of ["/a", "/b", "/c"]) small.answer(get(path), "content");
  expect(small.recorder.totals).toMatchObject({ requests: 3, leftOut: 2, isTruncated: true });
  expect(await content((await small.player()).next(get("/a"), ""))).toBe("content");
});

it("does not wait in memory for a slow disk, also with requests and heads alone", () => {
  const stalled = new Writable({ write: () => undefined });
  const recorder = new Recorder(stalled, { ...usualRecordingLimits, pendingBytes: 10_000 });
  const headers = ["X-Long", "x".repeat(1_000)];
  for (let turn = 0; turn < 200; turn += 1) {
    const exchange = recorder.begin(get(`/${"a".repeat(500)}`));
    exchange.head({ status: 204, statusText: "Fine", headers });
    exchange.end("complete", "");
  }
  expect(stalled.writableLength).toBeLessThan(20_000);
  expect(recorder.totals.leftOut).toBeGreaterThan(180);
});

it("finds answers to addresses with other times of the recording, if the replay has its clock", async () => {
  const at = (ms: number): string => String(startMs + ms);
  const { answer, player } = recording();
  answer(get(`/poll?t=${at(1000)}&id=7`), "one");
  answer(get(`/poll?t=${at(9000)}&id=7`), "two");
  answer(get(`/day/${at(-5 * dayMs)}`), "five days before");
  const replay = await player({ clock: "recorded" });
  const first = get(`/poll?t=${at(20)}&id=7`);
  expect(await content(replay.next(first, ""))).toBe("one");
  expect(await content(replay.next(get(`/poll?t=${at(40)}&id=7`), ""))).toBe("two");
  const others = [
    `/poll?t=${at(20)}&id=8`,
    `/poll?t=${at(20).slice(0, 10)}&id=7`,
    `/poll?t=${at(dayMs)}&id=7`,
    `/day/${at(20)}`,
    `/day/${at(-4 * dayMs)}`,
  ];
  for (const path of others) expect(replay.next(get(path), ""), path).toBeUndefined();
  expect(await content(replay.next(get(`/day/${at(-5 * dayMs)}`), ""))).toBe("five days before");
  const real = await player();
  expect(real.knows(first)).toBe(false);
  expect(real.clockOffsetMs).toBeUndefined();
  expect(Date.now() + (replay.clockOffsetMs ?? 0)).toBeGreaterThanOrEqual(startMs);
});

it("answers a poll in order, also when one of its times is a recorded one", async () => {
  const poll = (ms: number, method: string): ExchangeRequest => get(`/poll?t=${String(startMs + ms)}`, { method });
  for (const method of ["GET", "POST"]) {
    const { answer, player } = recording();
    for (const [place, word] of ["one", "two", "three"].entries()) answer(poll(1001 + 2 * place, method), word);
    const replay = await player({ clock: "recorded" });
    const turns = [];
    for (const ms of [1000, 1001, 1003, 1005, 1001, 1007]) turns.push(await content(replay.next(poll(ms, method), "")));
    const again = method === "GET" ? ["three", "one", "three"] : [undefined, undefined, undefined];
    expect(turns, method).toEqual(["one", "two", "three", ...again]);
    const exact = await player({ clock: "recorded" });
    expect(await content(exact.next(poll(1003, method), "")), method).toBe("two");
  }
});

it("repeats the answer of an address that is asked again, while a similar one was not asked", async () => {
  const item = (ms: number): ExchangeRequest => get(`/item/${String(startMs + ms)}`);
  const { answer, player } = recording();
  answer(item(1), "first");
  answer(item(2), "second");
  const replay = await player({ clock: "recorded" });
  const asked = [];
  for (const ms of [1, 1, 2, 1]) asked.push(await content(replay.next(item(ms), "")));
  expect(asked).toEqual(["first", "first", "second", "first"]);
});

it("compares the numbers of up to 16 times, without reading the recorded addresses again", async () => {
  const list = (count: number, ms: number): ExchangeRequest =>
    get(`/list?${Array.from({ length: count }, (_value, place) => String(startMs + ms + place)).join("&")}`);
  const { answer, player } = recording();
  answer(list(16, 0), "many");
  answer(list(17, 0), "too many");
  const replay = await player({ clock: "recorded" });
  for (const { request } of [...recorded.index.byAddress.values()].flat())
    Object.defineProperty(request, "url", {
      get: () => {
        throw new Error("read again");
      },
    });
  expect(replay.knows(list(16, 500))).toBe(true);
  expect(await content(replay.next(list(16, 500), ""))).toBe("many");
  expect(replay.next(list(17, 500), "")).toBeUndefined();
  expect(await content(replay.next(list(17, 0), ""))).toBe("too many");
});

it("moves the end of cookies with the time, and deletes the cookies of a deletion", async () => {
  const { answer, player } = recording();
  const date = (ms: number): string => new Date(ms).toUTCString();
  const cookie = (ms: number): string => `a=b; Path=/; expires=${date(ms)}; Secure`;
  const headers = [
    "Date",
    date(startMs),
    "Set-Cookie",
    cookie(startMs + 60_000),
    "set-cookie",
    cookie(0),
    "X-At",
    date(0),
  ];
  answer(get("/"), "content", { headers });
  const played = (await player()).next(get("/"), "")?.head?.headers ?? [];
  const endOf = (header = ""): number => Date.parse(/expires=([^;]+)/.exec(header)?.[1] ?? "");
  expect(played[3]).toMatch(/^a=b; Path=\/; expires=[^;]+; Secure$/);
  expect(endOf(played[3])).toBeGreaterThan(startMs + 9 * dayMs);
  expect(endOf(played[5])).toBeLessThan(startMs);
  expect([played[1], played[7]]).toEqual([date(startMs), date(0)]);
});

it("reads the end of cookies as UTC, and keeps ends that cannot be moved", async () => {
  const { TZ: usual } = process.env;
  process.env.TZ = "America/New_York";
  try {
    expect(new Date(0).getTimezoneOffset()).toBe(300);
    const end = new Date(startMs + 60_000).toUTCString().replace(" GMT", "");
    const ends = [end, `${end} GMT`, `${end} EST`, `${end} +0500`, "Fri, 31 Dec 9999 23:59:59 GMT", "never", "0", "-1"];
    const { answer, player } = recording();
    answer(get("/"), "", { headers: ends.flatMap((each) => ["Set-Cookie", `a=b; Expires=${each}`]) });
    const before = Date.now();
    const headers = (await player()).next(get("/"), "")?.head?.headers ?? [];
    const after = Date.now();
    const moved = headers.filter((_value, index) => index % 2 === 1).map((each) => each.replace("a=b; Expires=", ""));
    expect(moved.slice(4)).toEqual(ends.slice(4));
    for (const each of moved.slice(0, 4)) {
      expect(Date.parse(each), each).toBeGreaterThan(before + 58_000);
      expect(Date.parse(each), each).toBeLessThanOrEqual(after + 61_000);
    }
  } finally {
    if (usual === undefined) delete process.env.TZ;
    else process.env.TZ = usual;
  }
});
