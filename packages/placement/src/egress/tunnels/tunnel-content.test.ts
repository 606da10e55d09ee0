import { describe, expect, it } from "vitest";
import { type ContentVerdict, TunnelContent } from "./tunnel-content.ts";

function verdictOf(bytes: Buffer, chunkSize: number, names: string[] = []): ContentVerdict {
  const content = new TunnelContent((name) => {
    names.push(name);
    return name === "yes.example";
  });
  let verdict: ContentVerdict = "more";
  for (let at = 0; at < bytes.length && verdict === "more"; at += chunkSize)
    verdict = content.add(bytes.subarray(at, at + chunkSize));
  return verdict;
}

const sizes = [1, 2, 3, 5, 7, 64, 1_000_000];

describe("a request in chunks of any size", () => {
  it.each<[ContentVerdict, string]>([
    ["pass", "GET / HTTP/1.1\r\nHost: yes.example\r\n\r\n"],
    ["pass", "\r\n\n\r\nGET / HTTP/1.1\nHost: yes.example\n\nHost: no.example\r\n\r\n"],
    ["pass", "GET / HTTP/1.0\r\n\r\n"],
    ["pass", "SSH-2.0-x\r\n"],
    ["pass", "GET /\r\n"],
    ["pass", " GET / HTTP/1.1\r\nHost: no.example\r\n\r\n"],
    ["refuse", "GET / HTTP/1.1\r\nX: 1\r\nhost:\tno.example\n\r\n"],
    ["refuse", "GET http://no.example/ HTTP/1.1\r\n\r\n"],
    ["refuse", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["more", "GET / HTTP/1.1\r\nHost: yes.example\r\nX: \r\r\r\n"],
    ["more", "GET / HTT"],
    ["more", "\r\n\r\n"],
  ])("%s for %j", (verdict, text) => {
    for (const size of sizes) expect([size, verdictOf(Buffer.from(text), size)]).toEqual([size, verdict]);
  });
});

const record = (content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([22, 3, 1, content.length >> 8, content.length & 255]), content]);

function helloFor(name: string): Buffer {
  const host = Buffer.from(name);
  const names = Buffer.concat([Buffer.from([0, 0, host.length]), host]);
  const extension = Buffer.concat([Buffer.from([0, 0, 0, names.length + 2, 0, names.length]), names]);
  const fields = [Buffer.alloc(34), Buffer.from([0, 0, 2, 0, 47, 1, 0]), Buffer.from([0, extension.length]), extension];
  const length = fields.reduce((sum, field) => sum + field.length, 0);
  return Buffer.concat([Buffer.from([1, 0, 0, length]), ...fields]);
}

it("reads the name of TLS from records and chunks of any size", () => {
  for (const [name, verdict] of [
    ["yes.example", "pass"],
    ["no.example", "refuse"],
  ] as const) {
    const hello = helloFor(name);
    for (const recordSize of [1, 2, 3, 50, hello.length]) {
      const records: Buffer[] = [];
      for (let at = 0; at < hello.length; at += recordSize) records.push(record(hello.subarray(at, at + recordSize)));
      for (const size of sizes) {
        const names: string[] = [];
        expect([recordSize, size, verdictOf(Buffer.concat(records), size, names)]).toEqual([recordSize, size, verdict]);
        expect(names).toEqual([name]);
      }
    }
  }
});

it("refuses a head of more than 64 KiB, also in two large chunks", () => {
  const long = "x".repeat(70_000);
  for (const text of [`GET /${long} HTTP/1.1\r\n`, `GET / HTTP/1.1\r\nX: ${long}\r\n`])
    for (const size of [7, 65_536, 1_000_000])
      expect(verdictOf(Buffer.from(`${text}Host: yes.example\r\n\r\n`), size)).toBe("refuse");
});

describe("decides in linear time", () => {
  /** Of this thread: other programs do not change it. */
  function usedMs(work: () => void): number {
    const began = process.threadCpuUsage();
    work();
    const { system, user } = process.threadCpuUsage(began);
    return (system + user) / 1_000;
  }
  const oneByteRecords = (count: number): Buffer =>
    Buffer.concat([1, 127, 127, 127, ...Array<number>(count - 4).fill(0)].map((byte) => record(Buffer.from([byte]))));
  const request = (size: number): Buffer => Buffer.from(`GET / HTTP/1.1\r\nX: ${"x".repeat(size)}`);

  it.each<[string, (part: number) => Buffer, number]>([
    ["TLS records of one byte at once", (part) => oneByteRecords(10_000 / part), 1_000_000],
    ["TLS records of one byte in small chunks", (part) => oneByteRecords(10_000 / part), 6],
    ["requests in single bytes", (part) => request(60_000 / part), 1],
    ["method names in single bytes", (part) => Buffer.alloc(60_000 / part, "a"), 1],
    ["request lines in single bytes", (part) => Buffer.from(`GET ${"a ".repeat(30_000 / part)}`), 1],
  ])("about %s", (_what, bytesOf, chunkSize) => {
    const parts = 50;
    const short = bytesOf(parts);
    const long = bytesOf(1);
    const shortMs = usedMs(() => {
      for (let count = 0; count < parts; count++) expect(verdictOf(short, chunkSize)).toBe("more");
    });
    // With quadratic time, the ratio is 50. Some kernels count in steps of ten milliseconds.
    const longMs = usedMs(() => {
      expect(verdictOf(long, chunkSize)).toBe("more");
    });
    expect(longMs / Math.max(shortMs, 20)).toBeLessThan(10);
  });
});
