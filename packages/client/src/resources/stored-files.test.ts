import { ServiceError, withStatus, type MultipartPart } from "@shoal/router";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { Shoal, type BytesInput } from "../index.ts";
import { fileFromPath } from "../node/index.ts";
import { startPartialService } from "../node/testing/partial-service.ts";

const apiKey = "sk_secret_0123456789";
const content = "PK archive";

async function partsOf(body: AsyncIterable<MultipartPart>) {
  const parts: Record<string, string> = {};
  for await (const part of body) {
    if (part.kind === "field") parts[part.name] = part.value;
    else parts[`${part.name}:${part.filename}`] = await text(part.stream);
  }
  return parts;
}

describe("extensions.upload", () => {
  const sources: [kind: string, fileName: string, make: (path: string) => BytesInput | Promise<BytesInput>][] = [
    ["a File", "a.zip", () => new File([content], "a.zip")],
    ["a Blob", "unknown_file", () => new Blob([content])],
    ["bytes", "unknown_file", () => new TextEncoder().encode(content)],
    ["a stream", "unknown_file", () => new Blob([content]).stream()],
    ["a path", "blocker.zip", (path) => fileFromPath(path)],
  ];
  it.each(sources)("sends %s", async (_kind, fileName, make) => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-extension-"));
    try {
      const path = join(folder, "blocker.zip");
      await writeFile(path, content);
      let parts: Record<string, string> = {};
      await using service = await startPartialService({
        uploadExtension: async ({ body }) => {
          parts = await partsOf(body);
          return {
            id: "e1",
            name: parts.name ?? null,
            created_at: "2026-01-31T12:00:00.000Z",
            size_bytes: content.length,
            checksum: createHash("sha256").update(content).digest("hex"),
          };
        },
      });
      const extension = await new Shoal({ apiKey, baseUrl: service.baseUrl }).extensions.upload({
        name: "blocker",
        file: await make(path),
      });
      expect(extension).toMatchObject({ id: "e1", name: "blocker" });
      expect(parts).toEqual({ name: "blocker", [`file:${fileName}`]: content });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("profiles.download", () => {
  it("returns the archive, or undefined before the first save", async () => {
    const formats: unknown[] = [];
    await using service = await startPartialService({
      downloadProfile: ({ params, query }) => {
        formats.push(query.format);
        if (params.id_or_name === "gone") throw new ServiceError(404, "not_found", "Profile gone was not found.");
        return params.id_or_name === "new"
          ? withStatus(202, undefined, { retryAfterSeconds: 5 })
          : { stream: Readable.from([Buffer.from(content)]), fileName: "work.tar.zst" };
      },
    });
    const { profiles } = new Shoal({ apiKey, baseUrl: service.baseUrl });
    const download = await profiles.download("work", { format: "tar" });
    expect(download?.fileName).toBe("work.tar.zst");
    expect(await new Response(download?.stream).text()).toBe(content);
    expect(await profiles.download("new")).toBeUndefined();
    await expect(profiles.download("gone")).rejects.toMatchObject({ status: 404 });
    expect(formats).toEqual(["tar", undefined, undefined]);
  });
});
