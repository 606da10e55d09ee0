import { eventuallyPasses } from "@shoal/testkit";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namesIn, rootKinds, serveFileSystem, type ServedFileSystem } from "../testing/serve.ts";

function form(...parts: readonly (readonly [name: string, value: string | Blob])[]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) data.append(name, value);
  return data;
}
const file = (content: string) => new Blob([content]);
const upload = (fs: ServedFileSystem, body: FormData) => fs.call("upload", { body });

describe.each(rootKinds)("uploads below %s", (kind) => {
  it("writes files with parts in any order, with any indexes", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("old"), "old");
    await chmod(fs.host("old"), 0o600);
    const answer = await upload(
      fs,
      form(
        ["files[7][file]", file("seven")],
        ["files[0][dest_path]", fs.at("a/b/zero")],
        ["files[1000][dest_path]", fs.at("old")],
        ["files[0][file]", file("zero")],
        ["files[1000][file]", file("new")],
        ["files[7][dest_path]", fs.at("a/seven")],
      ),
    );
    expect(answer).toMatchObject({ status: 201, text: "" });
    expect(await namesIn(fs.directory)).toEqual(["a", "a/b", "a/b/zero", "a/seven", "old"]);
    expect(await readFile(fs.host("a/b/zero"), "utf8")).toBe("zero");
    expect(await readFile(fs.host("a/seven"), "utf8")).toBe("seven");
    expect(await readFile(fs.host("old"), "utf8")).toBe("new");
    expect((await stat(fs.host("a/seven"))).mode & 0o7777).toBe(0o644);
    expect((await stat(fs.host("old"))).mode & 0o7777).toBe(0o600);
    expect(await namesIn(fs.spool)).toEqual([]);
  });

  it("accepts the form without indexes, and pairs paths and files by order", async () => {
    await using fs = await serveFileSystem(kind);
    const answer = await upload(
      fs,
      form(
        ["files[][dest_path]", fs.at("a")],
        ["files[][file]", file("1")],
        ["files[][file]", file("2")],
        ["files[][dest_path]", fs.at("b")],
      ),
    );
    expect(answer).toMatchObject({ status: 201 });
    expect(await readFile(fs.host("a"), "utf8")).toBe("1");
    expect(await readFile(fs.host("b"), "utf8")).toBe("2");
  });

  it("writes nothing when any part is invalid, and names the part", async () => {
    await using fs = await serveFileSystem(kind, { uploadBytes: 1000, uploadFiles: 5 });
    await mkdir(fs.host("dir"));
    const good = [
      ["files[0][dest_path]", fs.at("new/good")],
      ["files[0][file]", file("good")],
    ] as const;
    const wrong: readonly (readonly [FormData, Record<string, unknown>, string])[] = [
      [form(), { status: 400 }, "files"],
      [form(...good, ["files[3][file]", file("x")]), { status: 400 }, "body.files[3][dest_path]"],
      [form(...good, ["files[3][dest_path]", fs.at("x")]), { status: 400 }, "body.files[3][file]"],
      [
        form(...good, ["files[3][dest_path]", "relative"], ["files[3][file]", file("x")]),
        { status: 400 },
        "body.files[3][dest_path]",
      ],
      [form(...good, ["files[3][file]", "text"]), { status: 400 }, "body.files[3][file]"],
      [form(...good, ["files[3][dest_path]", file("x")]), { status: 400 }, "body.files[3][dest_path]"],
      [form(...good, ["files[0][file]", file("x")]), { status: 400 }, "is duplicated"],
      [form(...good, ["files[0][dest_path]", fs.at("y")]), { status: 400 }, "is duplicated"],
      [form(...good, ["files[6][dest_path]", fs.at("y")]), { status: 400 }, "at most 5"],
      [form(...good, ["files[x][dest_path]", fs.at("y")]), { status: 400 }, "files[x]"],
      [form(["files", '[{"dest_path":"/y"}]']), { status: 400 }, "body.files: a list must not be one part"],
      [form(...good, ["files", file("x")]), { status: 400 }, "body.files: a list must not be one part"],
      [
        form(...good, ["files[3][file]", file("x")], ["files[3][dest_path]", fs.at("new/good")]),
        { status: 400 },
        "same file as body.files[0][dest_path]",
      ],
      [
        form(...good, ["files[3][file]", file("x")], ["files[3][dest_path]", fs.at("new/good/below")]),
        { status: 400 },
        "below body.files[0][dest_path]",
      ],
      [
        form(...good, ["files[3][dest_path]", fs.at("dir")], ["files[3][file]", file("x")]),
        { status: 400, code: "not_a_file" },
        fs.at("dir"),
      ],
      [
        form(...good, ["files[3][file]", file("x")], ["files[3][dest_path]", fs.at("dir")]),
        { status: 400, code: "not_a_file" },
        fs.at("dir"),
      ],
      [
        form(...good, ["files[3][dest_path]", fs.at("big")], ["files[3][file]", file("x".repeat(997))]),
        { status: 413, code: "payload_too_large" },
        "1000 bytes",
      ],
    ];
    for (const [body, expected, named] of wrong) {
      const answer = await upload(fs, body);
      expect(answer).toMatchObject(expected);
      expect(answer.message).toContain(named);
      expect(await namesIn(fs.directory)).toEqual(["dir"]);
      expect(await namesIn(fs.spool)).toEqual([]);
    }
    expect(fs.faults).toEqual([]);
  });

  it("leaves no files when the client disconnects", async () => {
    await using fs = await serveFileSystem(kind);
    const { hostname, port } = new URL(fs.url);
    for (const first of ["files[0][dest_path]", "files[0][file]"]) {
      const socket = connect(Number(port), hostname);
      const path = `--b\r\nContent-Disposition: form-data; name="files[0][dest_path]"\r\n\r\n${fs.at("new/file")}\r\n`;
      socket.write(
        `POST /fs/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n${first.endsWith("path]") ? path : ""}--b\r\nContent-Disposition: form-data; name="files[0][file]"; filename="x"\r\n\r\n${"x".repeat(100_000)}`,
      );
      const staged = () => Promise.all([namesIn(fs.directory), namesIn(fs.spool)]);
      await eventuallyPasses(async () => {
        expect((await staged()).flat()).toHaveLength(1);
      });
      socket.destroy();
      await eventuallyPasses(async () => {
        expect((await staged()).flat()).toEqual([]);
      });
    }
  });
});

it("never writes outside the directory, for any paths", async () => {
  await using fs = await serveFileSystem("a directory");
  await symlink(fs.outside, fs.host("out"));
  await symlink("../outside", fs.host("up"));
  await mkdir(fs.host("in"));
  const part = fc.constantFrom("..", ".", "out", "up", "in", "a", "b", "...", "");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(part, { maxLength: 5 }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (paths, fileFirst) => {
        const parts = paths.flatMap((names, index) => {
          const both = [
            [`files[${index}][dest_path]`, `/${names.join("/")}`] as const,
            [`files[${index}][file]`, file("x")] as const,
          ];
          return fileFirst ? both.toReversed() : both;
        });
        const { status } = await upload(fs, form(...parts));
        expect([201, 400, 403]).toContain(status);
        expect(await namesIn(fs.outside)).toEqual([]);
        expect(await namesIn(fs.spool)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
  expect((await namesIn(fs.directory)).filter((name) => name.endsWith(".part"))).toEqual([]);
});
