import { packProfile } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import { eventually } from "@shoal/testkit";
import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ParseFailure, ParsePool } from "./parse-pool.ts";

let pool: ParsePool;
afterEach(() => pool.close());

const forever = (): AbortSignal => new AbortController().signal;
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** A source without data that records whether it was closed. */
function stalled(): {
  source: AsyncIterable<Uint8Array>;
  readonly isAsked: () => boolean;
  readonly isReturned: () => boolean;
} {
  let asked = false;
  let returned = false;
  const iterator = {
    next: () => {
      asked = true;
      return new Promise<IteratorResult<Uint8Array>>(() => undefined);
    },
    return: () => {
      returned = true;
      return Promise.resolve({ done: true as const, value: undefined });
    },
  };
  return { source: { [Symbol.asyncIterator]: () => iterator }, isAsked: () => asked, isReturned: () => returned };
}

async function archive(value = "v"): Promise<Buffer> {
  return buffer(
    packProfile(undefined, {
      version: 1,
      apply: "all",
      cookies: [],
      origins: [{ origin: "https://a.example", localStorage: [{ name: "n", value }] }],
    }),
  );
}

async function* pieces(of: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < of.length; at += 100) yield of.subarray(at, at + 100);
}

const read = (owner: string, source: AsyncIterable<Uint8Array>, signal = forever()) =>
  pool.run("storageState", undefined, { owner, signal, source });

it("reads a source in pieces in another thread, and reuses the worker", async () => {
  pool = new ParsePool({ workers: 1 });
  for (const value of ["one", randomBytes(50_000).toString("hex")]) {
    expect(JSON.parse(textOf(await read("a", pieces(await archive(value)))))).toEqual({
      cookies: [],
      origins: [{ origin: "https://a.example", localStorage: [{ name: "n", value }] }],
    });
  }
});

it("rejects invalid data, and continues with the next job", async () => {
  pool = new ParsePool({ workers: 1 });
  await expect(read("a", pieces(randomBytes(1000)))).rejects.toThrow(ParseFailure);
  expect(textOf(await read("a", pieces(await archive())))).toContain("a.example");
});

describe("the page of a sign-in", () => {
  const box = { x: 0, y: 0, width: 200, height: 30 };
  const field = (place: number) => ({
    ...{ ref: `e${String(place)}`, frame: 0, parent: -1, role: "textbox", name: "Password", tag: "input", states: [] },
    ...{ attributes: { type: "password" }, box },
  });
  const outlineOf = (nodes: number): string => {
    const [frame, viewport] = [{ parent: null, host: "a.example", url: "https://a.example/", title: "Sign in" }, box];
    const frames = [{ ...frame, width: 800, height: 600 }];
    return JSON.stringify({
      frames,
      nodes: Array.from({ length: nodes }, (_, place) => field(place)),
      left_out: 0,
      viewport,
    });
  };
  const readOutline = (text: string) =>
    pool.run("signInPage", { text, status: 200 }, { owner: "a", signal: forever() });

  it("is read in another thread, whose reading names nodes of the outline", async () => {
    pool = new ParsePool({ workers: 1 });
    const { outline, reading } = await readOutline(outlineOf(1));
    expect(reading.form?.fields[0]?.nodes[0]).toBe(outline.nodes[0]);
  });

  it("is rejected when it has more nodes than an instance sends, or is not JSON", async () => {
    pool = new ParsePool({ workers: 1 });
    for (const text of [outlineOf(1_501), "[".repeat(1_000), "{}"]) await expect(readOutline(text)).rejects.toThrow();
    expect((await readOutline(outlineOf(1_500))).outline.nodes).toHaveLength(1_500);
  });
});

it("aborts a running or queued job when its client disconnects, and closes its source", async () => {
  pool = new ParsePool({ workers: 1 });
  const [running, waiting] = [new AbortController(), new AbortController()];
  const source = stalled();
  const first = read("a", source.source, running.signal);
  const second = read("b", stalled().source, waiting.signal);
  await eventually(() => source.isAsked());
  waiting.abort(new Error("left early"));
  await expect(second).rejects.toThrow("left early");
  running.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(source.isReturned()).toBe(true);
  expect(textOf(await read("c", pieces(await archive())))).toContain("a.example");
});

it("ends a job that takes too long", async () => {
  pool = new ParsePool({ workers: 1, runMs: 100 });
  await expect(read("a", stalled().source)).rejects.toThrow("longer than 0.1 s");
});

it("ends only the job that takes too much memory", async () => {
  pool = new ParsePool({ workers: 1, heapMb: 24 });
  const large = await archive("\u{1f319}".repeat(4 * 2 ** 20));
  await expect(read("a", pieces(large))).rejects.toThrow("exceeded the memory limit");
  expect(textOf(await read("a", pieces(await archive())))).toContain("a.example");
});

it("keeps a worker for others when one owner has many jobs", async () => {
  pool = new ParsePool({ workers: 2 });
  const hostile = Promise.allSettled(Array.from({ length: 5 }, () => read("hostile", stalled().source)));
  expect(textOf(await read("other", pieces(await archive())))).toContain("a.example");
  await pool.close();
  for (const result of await hostile)
    expect(result).toMatchObject({ status: "rejected", reason: { code: "shutting_down" } });
});

it("rejects jobs above the limit of an owner", async () => {
  pool = new ParsePool({ workers: 1, jobsPerOwner: 2 });
  const held = Promise.allSettled([read("a", stalled().source), read("a", stalled().source)]);
  const error: unknown = await read("a", stalled().source).catch((reason: unknown) => reason);
  expect(ServiceError.isInstance(error) && [error.status, error.code]).toEqual([503, "overloaded"]);
  await pool.close();
  await held;
});
