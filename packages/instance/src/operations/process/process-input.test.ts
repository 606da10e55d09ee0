import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveProcesses, type ServedProcesses } from "./testing/serve-processes.ts";

describe.skipIf(process.platform === "win32")("the input of a program that does not read", () => {
  let served: ServedProcesses;
  beforeAll(async () => {
    served = await serveProcesses({ inputMs: 300 });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    expect(served.faults).toEqual([]);
  });
  const largest = Buffer.alloc(512 * 1024, "x");

  async function write(id: string, data: Buffer, close = false): Promise<number> {
    const { body, status } = await served.post(id, "stdin", { data_b64: data.toString("base64"), close });
    expect(status).toBe(200);
    return Number(body.written_bytes);
  }

  it("accepts what fits, reports its size, and receives exactly that", async () => {
    const { body } = await served.spawn({ command: "while [ ! -e go ]; do sleep 0.02; done; wc -c" });
    const id = body.process_id;
    let written = await write(id, largest, true);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(largest.length);
    // Nothing more fits, and the input was not closed.
    expect(await write(id, largest)).toBe(0);
    await writeFile(join(served.root, "home/shoal/go"), "");
    while (written < largest.length) written += await write(id, largest.subarray(written), true);
    expect(await served.all(id)).toMatchObject({
      stdout: expect.stringMatching(new RegExp(`^\\s*${String(largest.length)}\\n$`)) as string,
      exitCode: 0,
    });
  });

  it("accepts concurrent writes in order, each one complete or cut", async () => {
    const { body } = await served.spawn({ command: "while [ ! -e go2 ]; do sleep 0.02; done; cat" });
    const id = body.process_id;
    const texts = ["a", "b", "c"].map((letter) => Buffer.alloc(300 * 1024, letter));
    const counts = await Promise.all(texts.map((text) => write(id, text)));
    await writeFile(join(served.root, "home/shoal/go2"), "");
    expect(await write(id, Buffer.alloc(0), true)).toBe(0);
    const expected = texts.map((text, index) => text.subarray(0, counts[index]).toString()).join("");
    expect((await served.all(id)).stdout === expected, `${String(counts)} bytes`).toBe(true);
  });
});
