import { Extension } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";

let server: TestServer;
let archive: Buffer;
beforeAll(async () => {
  server = await startTestServer();
  archive = await zipOf({ "manifest.json": manifest, "js/background.js": "// nothing" });
});
afterAll(() => server.close());

type Parts = readonly (readonly [name: string, value: string | Buffer])[];

async function upload(parts: Parts, key = server.key): Promise<{ status: number; body: unknown }> {
  const form = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), "extension.zip");
  }
  const response = await fetch(`${server.baseUrl}/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

async function made(parts: Parts): Promise<Extension> {
  const { status, body } = await upload(parts);
  expect(status, JSON.stringify(body)).toBe(201);
  return Extension.parse(body);
}

async function download(idOrName: string): Promise<Response> {
  return fetch(`${server.baseUrl}/extensions/${idOrName}`, { headers: { authorization: `Bearer ${server.key}` } });
}

const stored = () => readdir(join(server.dataDir, "blobs", "extensions")).catch(() => []);

it("stores an archive unchanged, with its checksum, by id and name", async () => {
  const extension = await made([
    ["name", "first.one"],
    ["file", archive],
  ]);
  expect(extension).toMatchObject({
    name: "first.one",
    size_bytes: archive.length,
    checksum: createHash("sha256").update(archive).digest("hex"),
    last_used_at: null,
  });
  for (const path of [extension.id, "first.one"]) {
    expect((await server.request("GET", `/extensions/${path}/metadata`)).body).toEqual(extension);
    const response = await download(path);
    expect(response.headers.get("content-length")).toBe(String(archive.length));
    expect(response.headers.get("content-disposition")).toContain("first.one.zip");
    expect(Buffer.from(await response.arrayBuffer()).equals(archive)).toBe(true);
  }
});

it("accepts the parts in any order, a missing name, and a manifest in the only folder", async () => {
  expect(
    await made([
      ["file", archive],
      ["name", "late-name"],
    ]),
  ).toMatchObject({ name: "late-name" });
  expect(
    await made([
      [
        "file",
        await zipOf({ "folder/manifest.json": `\uFEFF${manifest}`, "folder/a.js": "", "__MACOSX/folder/._a.js": "" }),
      ],
    ]),
  ).toMatchObject({ name: null });
});

it("accepts one of many concurrent uploads with the same name, and stores no archive of the others", async () => {
  const before = (await stored()).length;
  const replies = await Promise.all(
    Array.from({ length: 4 }, () =>
      upload([
        ["name", "race"],
        ["file", archive],
      ]),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({ code: "name_taken" });
  await expect.poll(async () => (await stored()).length).toBe(before + 1);
  const { key } = await server.addProject("another");
  expect(
    (
      await upload(
        [
          ["name", "race"],
          ["file", archive],
        ],
        key,
      )
    ).status,
  ).toBe(201);
});

it("deletes an extension with its archive, once, and frees its name", async () => {
  const { id } = await made([
    ["name", "short-lived"],
    ["file", archive],
  ]);
  const before = (await stored()).length;
  expect((await server.request("DELETE", "/extensions/short-lived")).status).toBe(204);
  expect((await stored()).length).toBe(before - 1);
  for (const path of [id, "short-lived"]) {
    expect((await download(path)).status).toBe(404);
    expect(await server.request("DELETE", `/extensions/${path}`)).toMatchObject({
      status: 404,
      body: { code: "not_found", message: expect.stringContaining("extensions.list") as unknown },
    });
  }
  await made([
    ["name", "short-lived"],
    ["file", archive],
  ]);
});

it("lists newest first, by part of a name and by exact name", async () => {
  const { key } = await server.addProject("lists");
  for (const name of ["Ublock", "ublock.2", "under_score"])
    await upload(
      [
        ["name", name],
        ["file", archive],
      ],
      key,
    );
  const names = async (query: string) =>
    ((await server.request("GET", `/extensions${query}`, { key })).body as Extension[]).map(({ name }) => name);
  expect(await names("")).toEqual(["under_score", "ublock.2", "Ublock"]);
  expect(await names("?query=BLOCK")).toEqual(["ublock.2", "Ublock"]);
  expect(await names("?query=r_s")).toEqual(["under_score"]);
  expect(await names("?name=ublock")).toEqual(["Ublock"]);
  expect(await names("?limit=1&offset=1")).toEqual(["ublock.2"]);
});

describe("refuses", () => {
  const file = (files: Record<string, string>) => async (): Promise<Parts> => [["file", await zipOf(files)]];
  /** Overwrites names in the archive that the ZIP library would reject. */
  const renamed = (from: string, to: string) => async (): Promise<Parts> => [
    [
      "file",
      Buffer.from(
        (await zipOf({ "manifest.json": manifest, [from]: "x" })).toString("latin1").replaceAll(from, to),
        "latin1",
      ),
    ],
  ];

  /** Overwrites the local header of the second entry, which readers of the central directory ignore. */
  const ownHeader = (at: number, bytes: string) => async (): Promise<Parts> => {
    const zip = await zipOf({ "manifest.json": manifest, "evil.txt": "some content ".repeat(10) });
    const header = zip.indexOf("evil.txt") - 30;
    zip.write(bytes, header + at, "latin1");
    return [["file", zip]];
  };

  it.each<[string, () => Promise<Parts>, string, string]>([
    [
      "a file that is not an archive",
      async () => [["file", Buffer.from("no archive")]],
      "400 bad_request",
      "body.file: is not a readable ZIP archive",
    ],
    [
      "an archive that is cut off",
      async () => [["file", archive.subarray(0, archive.length - 30)]],
      "400 bad_request",
      "body.file",
    ],
    ["nothing", async () => [["name", "nothing"]], "400 bad_request", "body.file: required"],
    ["a text for a file", async () => [["file", "text"]], "400 bad_request", "body.file: must be a file"],
    [
      "two files",
      async () => [
        ["file", archive],
        ["file", archive],
      ],
      "400 bad_request",
      "body.file: is duplicated",
    ],
    [
      "a name with a slash",
      async () => [
        ["file", archive],
        ["name", "a/b"],
      ],
      "400 bad_request",
      "body.name",
    ],
    [
      "an empty name",
      async () => [
        ["name", ""],
        ["file", archive],
      ],
      "400 bad_request",
      "body.name",
    ],
    [
      "a name of 256 letters",
      async () => [
        ["name", "x".repeat(256)],
        ["file", archive],
      ],
      "400 bad_request",
      "body.name",
    ],
    [
      "the name of another operation",
      async () => [
        ["name", "from_chrome_store"],
        ["file", archive],
      ],
      "400 bad_request",
      "body.name",
    ],
    [
      "an archive without a manifest",
      file({ "a/manifest.json": manifest, "b/x": "" }),
      "400 bad_request",
      "no manifest.json",
    ],
    ["a manifest that is not JSON", file({ "manifest.json": "{" }), "400 bad_request", "not JSON"],
    ["a manifest that is a list", file({ "manifest.json": "[]" }), "400 bad_request", "must be a JSON object"],
    [
      "a manifest without a version of its form",
      file({ "manifest.json": '{"name":"x","version":"1"}' }),
      "400 bad_request",
      "manifest_version",
    ],
    [
      "a manifest without a name",
      file({ "manifest.json": '{"manifest_version":3,"version":"1"}' }),
      "400 bad_request",
      "name",
    ],
    [
      "a manifest without a version",
      file({ "manifest.json": '{"manifest_version":3,"name":"x"}' }),
      "400 bad_request",
      "version",
    ],
    [
      "a path that leaves the archive",
      renamed("aa/bb/evil.js", "../../evil.js"),
      "400 unsafe_archive",
      "../../evil.js",
    ],
    ["an absolute path", renamed("a/etc/passwd", "//etc/passwd"), "400 unsafe_archive", "/etc/passwd"],
    ["a path of Windows", renamed("C--windows", "C:\\windows"), "400 unsafe_archive", "body.file"],
    ["a path that is there twice", renamed("manifest.jsom", "manifest.json"), "400 unsafe_archive", "is duplicated"],
    [
      "a symbolic link",
      async () => [["file", await zipOf({ "manifest.json": "/etc/passwd" }, { mode: 0o120777 })]],
      "400 unsafe_archive",
      "symbolic link",
    ],
    [
      "a device",
      async () => [["file", await zipOf({ "manifest.json": manifest, console: "" }, { mode: 0o020666 })]],
      "400 unsafe_archive",
      "is a device",
    ],
    [
      "a named pipe",
      async () => [["file", await zipOf({ "manifest.json": manifest }, { mode: 0o010666 })]],
      "400 unsafe_archive",
      "is a device",
    ],
    ["a name that differs in the entry's own header", ownHeader(30, "evilfile"), "400 unsafe_archive", "contradicts"],
    ["a method that differs in the entry's own header", ownHeader(8, "\0\0"), "400 unsafe_archive", "contradicts"],
    ["a size that differs in the entry's own header", ownHeader(22, "\x07"), "400 unsafe_archive", "contradicts"],
  ])("%s", async (_what, parts, outcome, message) => {
    const [status, code] = outcome.split(" ");
    const before = (await stored()).length;
    expect(await upload(await parts())).toMatchObject({
      status: Number(status),
      body: { code, message: expect.stringContaining(message) as unknown },
    });
    expect((await stored()).length).toBe(before);
  });
});
