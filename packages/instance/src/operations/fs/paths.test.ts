import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError } from "@shoal/router";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostPath, locate, nameProblem, normalisePath } from "./paths.ts";
import { isWithin } from "./protected.ts";
import { serveFileSystem } from "./testing/serve.ts";

let base: string;
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "shoal-paths-")));
});
afterAll(async () => {
  await rm(base, { recursive: true });
});

const anyName = fc.oneof(
  fc.constantFrom("..", ".", "", "a", "b", "c", "link", "..a", "...", "~", "%2e%2e", "..\\..", "C:", " "),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);

describe("normalisePath", () => {
  it("returns an absolute path without dots, or rejects the path", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(anyName).map((names) => `/${names.join("/")}`),
        ),
        (text) => {
          let path: string;
          try {
            path = normalisePath(text, "query.path");
          } catch (error) {
            expect(ServiceError.isInstance(error) && error.status).toBe(400);
            return;
          }
          expect(path.startsWith("/")).toBe(true);
          expect(
            path === "/" ||
              path
                .split("/")
                .slice(1)
                .every((name) => name !== "" && name !== "." && name !== ".."),
          ).toBe(true);
          expect(normalisePath(path, "query.path")).toBe(path);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("rejects names that have another meaning on Windows", () => {
    for (const name of ["a\\b", "C:", "nul", "NUL.txt", "com1", "a.", "a ", "x:stream"])
      expect(nameProblem(name, "win32")).toBeDefined();
    for (const name of ["a", "console", "comet", ".hidden", "a b"]) expect(nameProblem(name, "win32")).toBeUndefined();
  });
});

const anyTarget = (root: string, outside: string) =>
  fc.oneof(
    fc
      .array(fc.constantFrom("..", ".", "a", "b", "l0", "l1", "l2", "l3", "none"), { minLength: 1, maxLength: 6 })
      .map((names) => names.join("/")),
    fc.constantFrom(
      "/",
      "/etc",
      outside,
      `${outside}/secret`,
      root,
      `${root}/a`,
      `${root}/../outside`,
      `${root}/a/../../outside`,
      `${root}x`,
      `${root}/l1/..`,
    ),
  );

describe("paths below a directory", () => {
  it("never leave it through any links", async () => {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (g) => {
        const directory = await mkdtemp(join(base, "run-"));
        const root = join(directory, "root");
        const outside = join(directory, "outside");
        await mkdir(join(root, "a", "b"), { recursive: true });
        await mkdir(outside);
        await writeFile(join(outside, "secret"), "secret");
        for (const [index, where] of ["", "a", "a/b", ""].entries())
          await symlink(
            g(() => anyTarget(root, outside)),
            join(root, where, `l${index}`),
          );
        const names = g(() =>
          fc.array(fc.constantFrom("..", "a", "b", "l0", "l1", "l2", "l3", "new", "secret", "outside"), {
            maxLength: 8,
          }),
        );
        const path = normalisePath(`/${names.join("/")}`, "query.path");
        for (const follow of [true, false]) {
          let found: string;
          try {
            const { existing, missing } = await locate({ directory: root, home: "/home/shoal" }, path, {
              follow,
              action: "read",
            });
            found = await hostPath({ directory: root, home: "/home/shoal" }, path, { follow, action: "read" });
            expect(found).toBe(join(existing, ...missing));
            // The existing part contains no link any more, so the system resolves it to itself.
            const real =
              follow || path === "/"
                ? await realpath(existing)
                : join(await realpath(join(existing, "..")), existing.slice(existing.lastIndexOf("/") + 1));
            expect(existing === root || real === existing).toBe(true);
            expect(missing).not.toContain("..");
          } catch (error) {
            if (!ServiceError.isInstance(error)) throw error;
            expect([400, 403, 404]).toContain(error.status);
            continue;
          }
          expect(isWithin(root, found)).toBe(true);
        }
        await rm(directory, { recursive: true });
      }),
      // Smaller examples would take minutes of links and folders; the seed repeats this one.
      { numRuns: 100, endOnFailure: true },
    );
  });

  it("are rejected with 403 by every operation when one of their links leads out", async () => {
    await using fs = await serveFileSystem("a directory");
    await writeFile(join(fs.outside, "secret"), "secret");
    await symlink("../outside", fs.host("relative"));
    await symlink(fs.outside, fs.host("absolute"));
    await symlink("/", fs.host("top"));
    await symlink(join(fs.outside, "made"), fs.host("dangling"));
    await mkdir(fs.host("dir"));
    const refused = { status: 403, code: "permission_denied" };
    for (const link of ["relative", "absolute", `top${fs.outside}`]) {
      const path = `/${link}/secret`;
      expect(await fs.call("read_file", { query: { path } })).toMatchObject(refused);
      expect(await fs.call("file_info", { query: { path } })).toMatchObject(refused);
      expect(await fs.call("write_file", { method: "PUT", query: { path }, body: "x" })).toMatchObject(refused);
      expect(await fs.call("list_files", { query: { path: `/${link}` } })).toMatchObject(refused);
      expect(await fs.call("download_dir_zip", { query: { path: `/${link}` } })).toMatchObject(refused);
      expect(await fs.call("create_directory", { json: { path: `/${link}/new` } })).toMatchObject(refused);
      expect(await fs.call("delete_file", { json: { path } })).toMatchObject(refused);
      expect(await fs.call("delete_directory", { json: { path: `/${link}/new` } })).toMatchObject(refused);
      expect(await fs.call("set_file_permissions", { json: { path, mode: "777" } })).toMatchObject(refused);
      expect(await fs.call("move", { json: { src_path: path, dest_path: "/x" } })).toMatchObject(refused);
      expect(await fs.call("move", { json: { src_path: "/dir", dest_path: `/${link}/new` } })).toMatchObject(refused);
    }
    expect(await fs.call("write_file", { method: "PUT", query: { path: "/dangling" }, body: "x" })).toMatchObject(
      refused,
    );
    expect(await fs.call("read_file", { query: { path: "/../outside/secret" } })).toMatchObject({ status: 404 });
    expect(await fs.call("file_info", { query: { path: "/relative" } })).toMatchObject({ status: 200 });
    expect(await fs.call("delete_file", { json: { path: "/relative" } })).toMatchObject({ status: 200 });
  });

  it("follow links that stay inside, absolute links by the host's path", async () => {
    await using fs = await serveFileSystem("a directory");
    await mkdir(fs.host("dir"));
    await writeFile(fs.host("dir/file"), "content");
    await symlink(fs.host("dir"), fs.host("absolute"));
    await symlink("../dir/./file", fs.host("dir/relative"));
    for (const path of ["/absolute/file", "/dir/relative", "/absolute/relative"])
      expect(await fs.call("read_file", { query: { path } })).toMatchObject({ status: 200, text: "content" });
  });
});
