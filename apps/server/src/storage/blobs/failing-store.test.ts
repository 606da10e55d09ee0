import { ErrorBody, Extension } from "@shoal/schemas";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startTestServer();
  folder = join(server.dataDir, "blobs", "extensions");
});
afterAll(() => server.close());

async function upload(name: string) {
  const form = new FormData();
  form.set("name", name);
  form.set("file", new File([new Uint8Array(await zipOf({ "manifest.json": manifest }))], "x.zip"));
  const response = await fetch(`${server.baseUrl}/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}` },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Replaces the folder with a file, so that reads and writes fail even for root. */
async function withoutStore(run: () => Promise<void>): Promise<void> {
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, "");
  try {
    await run();
  } finally {
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
  }
}

const names = async () => ((await server.request("GET", "/extensions")).body as Extension[]).map(({ name }) => name);

it("reports the failure, stores no row without its archive, and recovers with the store", async () => {
  const kept = Extension.parse((await upload("kept")).body);
  const files = readdirSync(folder);
  await withoutStore(async () => {
    const { body, status } = await upload("lost");
    expect([status, ErrorBody.parse(body).code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify(body)).not.toContain(server.dataDir);
    const download = await server.request("GET", `/extensions/${kept.id}`);
    expect([download.status, ErrorBody.parse(download.body).code]).toEqual([500, "internal_error"]);
    expect(await names()).toEqual(["kept"]);
    expect(await server.request("GET", "/extensions/kept/metadata")).toMatchObject({ status: 200 });
  });
  expect(readdirSync(folder)).toEqual(files);
  expect(await upload("lost")).toMatchObject({ status: 201 });
  expect((await names()).sort()).toEqual(["kept", "lost"]);
});

it("deletes an extension even if its archive cannot be deleted; a sweep deletes it later", async () => {
  await upload("unwanted");
  await withoutStore(async () => {
    expect((await server.request("DELETE", "/extensions/unwanted")).status).toBe(204);
  });
  expect(await names()).not.toContain("unwanted");
  expect((await upload("unwanted")).status).toBe(201);
});
