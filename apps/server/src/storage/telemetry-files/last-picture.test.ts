import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeEvents } from "./event-files.ts";
import { historyQuestion, readHistory } from "./history.ts";
import { readLastPicture } from "./last-picture.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-picture-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const jpeg = (size: number) => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(size - 3, 7)]);

function pictureLine(seq: number, bytes: Buffer): string {
  const event = {
    ts: seq * 1_000_000,
    type: "page_picture",
    category: "page",
    source: { kind: "cdp" },
    data: { url: "https://example.com/", size_bytes: bytes.length, jpeg: bytes.toString("base64") },
  };
  return `${JSON.stringify({ seq, event })}\n`;
}

const otherLine = (seq: number) =>
  `${JSON.stringify({ seq, event: { ts: seq * 1_000_000, type: "network_idle", category: "network", source: { kind: "cdp" }, data: { url: "x".repeat(60) } } })}\n`;

async function write(...lines: readonly string[]): Promise<void> {
  const writer = writeEvents(folder, 2 ** 30);
  for (const line of lines) await writer.append(Buffer.from(line));
  await writer.close();
}

const question = () => historyQuestion(folder, { order: "desc", limit: 1 });
const read = async () => Buffer.from((await readLastPicture(question())).items);

it("finds the latest picture behind other events", async () => {
  await write(otherLine(1), pictureLine(2, jpeg(100)), pictureLine(3, jpeg(200)), otherLine(4));
  expect(await read()).toEqual(jpeg(200));
});

it("finds none in telemetry without a picture, and without telemetry", async () => {
  expect(await read()).toHaveLength(0);
  await write(otherLine(1));
  expect(await read()).toHaveLength(0);
});

it.each([
  ["is not a JPEG", Buffer.from("<svg onload=alert(1)>")],
  ["is empty", Buffer.alloc(0)],
  ["is larger than 1 MiB", jpeg(2 ** 20 + 1)],
])("ignores a picture that %s", async (_case, bytes) => {
  await write(pictureLine(1, jpeg(100)), pictureLine(2, bytes));
  expect(await read()).toEqual(jpeg(100));
});

it("stops looking after a thousand events", async () => {
  await write(pictureLine(1, jpeg(100)), ...Array.from({ length: 1000 }, (_, index) => otherLine(index + 2)));
  expect(await read()).toHaveLength(0);
});

it("lists the event without the picture", async () => {
  await write(pictureLine(1, jpeg(100)));
  const { items } = await readHistory(question());
  const [listed] = JSON.parse(Buffer.from(items).toString()) as { event: { data: object } }[];
  expect(listed?.event.data).toEqual({ url: "https://example.com/", size_bytes: 100 });
});
