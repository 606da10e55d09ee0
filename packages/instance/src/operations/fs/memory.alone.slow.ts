import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const contentBytes = 256 * 1024 * 1024;
/** Allowed growth of the service while it moves one of the files. */
const growthBytes = 96 * 1024 * 1024;
const boundary = "a-boundary";
// Compresses to an eighth, so that packing does not take all the time.
const piece = Buffer.concat(
  Array.from({ length: 8 }, () => randomBytes(8 * 1024)).flatMap((block) => Array.from({ length: 8 }, () => block)),
);

let child: ChildProcess;
let url: string;
let directory: string;

beforeAll(async () => {
  child = fork(fileURLToPath(new URL("testing/serve-alone.ts", import.meta.url)), {
    execArgv: ["--conditions=@shoal/source"],
  });
  [{ url, directory }] = (await once(child, "message")) as [{ url: string; directory: string }];
});
afterAll(async () => {
  const exited = once(child, "exit");
  child.disconnect();
  await exited;
});

async function maxRssBytes(): Promise<number> {
  const answer = once(child, "message");
  child.send("memory");
  return ((await answer) as [{ maxRssBytes: number }])[0].maxRssBytes;
}

function content(): Readable {
  return Readable.from(
    (function* () {
      for (let sent = 0; sent < contentBytes; sent += piece.length) yield piece;
    })(),
  );
}

async function send(
  method: string,
  path: string,
  options: { body?: Readable; type?: string } = {},
): Promise<IncomingMessage> {
  const outgoing = request(`${url}/fs/${path}`, {
    method,
    ...(options.type !== undefined && { headers: { "content-type": options.type } }),
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  if (options.body === undefined) outgoing.end();
  else await pipeline(options.body, outgoing);
  return (await answered)[0];
}

function multipart(parts: readonly (readonly [name: string, value: string | (() => Readable)])[]): Readable {
  return Readable.from(
    (async function* () {
      for (const [name, value] of parts) {
        yield `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${typeof value === "string" ? "" : '; filename="x"'}\r\n\r\n`;
        if (typeof value === "string") yield value;
        else yield* value() as AsyncIterable<Buffer>;
        yield "\r\n";
      }
      yield `--${boundary}--\r\n`;
    })(),
  );
}

async function drain(answer: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) size += chunk.length;
  return size;
}

const query = (path: string) => new URLSearchParams({ path }).toString();
const type = `multipart/form-data; boundary=${boundary}`;

it("packs many small files in bounded memory", async () => {
  const many = join(directory, "many");
  const count = 12_000;
  await mkdir(many);
  for (let from = 0; from < count; from += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        writeFile(join(many, `file-${String(from + index)}.txt`), piece.subarray(0, 1000)),
      ),
    );
  const before = await maxRssBytes();
  expect(await drain(await send("GET", `download_dir_zip?${query(many)}`))).toBeGreaterThan(count * 1000);
  // The list of names takes about 1 kB each with garbage; it once took 21 kB each.
  expect((await maxRssBytes()) - before).toBeLessThan(160 * 1024 * 1024);
});

// In order: each case needs the files of the previous case.
describe("streams 256 MiB without buffering them", () => {
  const cases: Record<string, () => Promise<void>> = {
    async write_file() {
      const answer = await send("PUT", `write_file?${query(join(directory, "dir/large"))}`, {
        body: content(),
        type: "application/octet-stream",
      });
      expect(answer.statusCode).toBe(201);
      expect((await stat(join(directory, "dir/large"))).size).toBe(contentBytes);
    },
    async read_file() {
      expect(await drain(await send("GET", `read_file?${query(join(directory, "dir/large"))}`))).toBe(contentBytes);
    },
    async upload() {
      const body = multipart([
        ["files[0][file]", content],
        ["files[0][dest_path]", join(directory, "uploaded")],
      ]);
      expect((await send("POST", "upload", { body, type })).statusCode).toBe(201);
      expect((await stat(join(directory, "uploaded"))).size).toBe(contentBytes);
    },
    async download_dir_zip() {
      const answer = await send("GET", `download_dir_zip?${query(join(directory, "dir"))}`);
      await pipeline(answer, createWriteStream(join(directory, "dir.zip")));
    },
    async upload_zip() {
      const body = multipart([
        ["dest_path", join(directory, "unpacked")],
        ["zip_file", () => createReadStream(join(directory, "dir.zip"))],
      ]);
      expect((await send("POST", "upload_zip", { body, type })).statusCode).toBe(201);
      expect((await stat(join(directory, "unpacked/large"))).size).toBe(contentBytes);
    },
  };
  for (const [operation, run] of Object.entries(cases)) {
    it(operation, async () => {
      const before = await maxRssBytes();
      await run();
      expect((await maxRssBytes()) - before).toBeLessThan(growthBytes);
    });
  }
});
