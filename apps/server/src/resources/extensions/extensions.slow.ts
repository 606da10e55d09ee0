import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";
import { maxArchiveBytes } from "./archive-rules.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function upload(archive: Buffer): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(archive)]), "extension.zip");
  const response = await fetch(`${server.baseUrl}/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}` },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

async function zeros(): Promise<Buffer> {
  const content = Buffer.alloc(16 * 2 ** 20);
  const files: Record<string, string | Buffer> = { "manifest.json": manifest };
  for (let index = 0; index < 33; index += 1) files[`zeros-${String(index)}`] = content;
  return zipOf(files);
}

it.each([
  ["an archive that unpacks to more than 512 MiB", zeros, "512 MiB"],
  ["more than 50 MiB", () => randomBytes(maxArchiveBytes + 1), "50 MiB"],
])("refuses %s, and stores nothing", async (_what, archive, limit) => {
  expect(await upload(await archive())).toMatchObject({
    status: 413,
    body: { code: "payload_too_large", message: expect.stringContaining(limit) as unknown },
  });
  expect(await readdir(join(server.dataDir, "blobs", "extensions")).catch(() => [])).toEqual([]);
});

it("accepts an archive of exactly 50 MiB", async () => {
  const filled = async (size: number) => zipOf({ "manifest.json": manifest, filling: randomBytes(size) });
  const beside = (await filled(1_000_000)).length - 1_000_000;
  let exact = await filled(maxArchiveBytes - beside);
  // Deflate adds a few bytes to incompressible content.
  exact = await filled(maxArchiveBytes - beside - (exact.length - maxArchiveBytes));
  expect(exact.length).toBeLessThanOrEqual(maxArchiveBytes);
  expect(await upload(exact)).toMatchObject({ status: 201, body: { size_bytes: exact.length } });
});
