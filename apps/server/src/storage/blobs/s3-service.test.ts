import { ErrorBody, Extension, Profile } from "@shoal/schemas";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestS3, type TestS3 } from "../../testing/s3-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";

let s3: TestS3;
let server: TestServer;
beforeAll(async () => {
  s3 = await startTestS3();
  server = await startTestServer({ blob_store_url: s3.url.replace(":S3RVER@", ":topsecret@") });
});
afterAll(async () => {
  await server.close();
  await s3.close();
});

async function upload(name: string) {
  const form = new FormData();
  form.set("name", name);
  form.set("file", new File([new Uint8Array(await zipOf({ "manifest.json": manifest }))], "x.zip"));
  const response = await fetch(`${server.baseUrl}/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}` },
    body: form,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

const download = async (id: string) => {
  const response = await fetch(`${server.baseUrl}/extensions/${id}`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  return { status: response.status, headers: response.headers, content: Buffer.from(await response.arrayBuffer()) };
};

const state = (value: string) => ({
  cookies: [
    {
      name: "a",
      value,
      domain: "example.test",
      path: "/",
      expires: -1,
      httpOnly: false,
      secure: false,
      sameSite: "Lax",
    },
  ],
  origins: [],
});
const cookie = async (profile: string) => {
  const { body, status } = await server.request("GET", `/profiles/${profile}/storage_state`);
  return status === 200 ? (body as { cookies: { value: string }[] }).cookies[0]?.value : status;
};

it("keeps extensions and saved profiles in the store", async () => {
  const extension = Extension.parse((await upload("kept")).body);
  expect((await download(extension.id)).content).toEqual(await zipOf({ "manifest.json": manifest }));
  const profile = Profile.parse((await server.request("POST", "/profiles", { body: { name: "saved" } })).body);
  for (const value of ["one", "two"])
    expect((await server.request("PUT", "/profiles/saved/storage_state", { body: state(value) })).status).toBeLessThan(
      300,
    );
  expect(await cookie(profile.id)).toBe("two");
  expect((await server.request("POST", "/profiles/saved/rollback", { body: { version: 1 } })).status).toBeLessThan(300);
  expect(await cookie(profile.id)).toBe("one");
  expect(existsSync(join(server.dataDir, "blobs"))).toBe(false);
  expect(s3.requests.some((asked) => /^PUT \/shoal\/kept\/profiles\/[a-z0-9]{24}$/.test(asked))).toBe(true);
  expect(server.log()).not.toContain("topsecret");
});

it("answers 503 while the store is unavailable, loses nothing, and recovers", async () => {
  const extension = Extension.parse((await upload("before")).body);
  await server.request("POST", "/profiles", { body: { name: "away" } });
  await server.request("PUT", "/profiles/away/storage_state", { body: state("kept") });
  s3.fault = () => "away";
  for (const answer of [
    await upload("lost"),
    await server.request("GET", `/extensions/${extension.id}`),
    await server.request("PUT", "/profiles/away/storage_state", { body: state("lost") }),
    await server.request("GET", "/profiles/away/storage_state"),
  ]) {
    expect([answer.status, ErrorBody.parse(answer.body).code, answer.headers.get("retry-after")]).toEqual([
      503,
      "blob_store_unavailable",
      "5",
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(s3.host);
  }
  // The row is deleted; a sweep deletes the object later.
  await expect(server.request("DELETE", "/extensions/before")).resolves.toMatchObject({ status: 204 });
  s3.fault = undefined;
  expect(await cookie("away")).toBe("kept");
  expect((await server.request("GET", "/extensions/lost/metadata")).status).toBe(404);
  expect((await upload("lost")).status).toBe(201);
  expect((await server.request("PUT", "/profiles/away/storage_state", { body: state("new") })).status).toBeLessThan(
    300,
  );
  expect(await cookie("away")).toBe("new");
  expect(server.log()).not.toContain("topsecret");
});

it("names the location of a missing object", async () => {
  const extension = Extension.parse((await upload("gone")).body);
  s3.fault = (asked) => (asked.startsWith("GET ") ? 404 : undefined);
  const { body, status } = await server.request("GET", `/extensions/${extension.id}`);
  s3.fault = undefined;
  expect([status, ErrorBody.parse(body).message]).toEqual([
    500,
    expect.stringContaining("is not in the store at blob_store_url"),
  ]);
});
