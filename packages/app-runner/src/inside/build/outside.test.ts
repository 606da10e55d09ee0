import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type BuildTask, esbuildPath } from "../../index.ts";
import { bundle } from "./bundle.ts";
import { refuseOutsideLinks } from "./outside.ts";

async function foldersOf(entry: string, more: Readonly<Record<string, string>> = {}) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shoal-outside-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  const work = join(folder, "work");
  await mkdir(work);
  await writeFile(join(folder, "secret.txt"), "SECRET = of the host\n");
  await writeFile(join(folder, "secret.json"), "SECRET of the host\n");
  for (const [name, text] of Object.entries({ "main.ts": entry, "package.json": "{}", ...more }))
    await writeFile(join(work, name), text.replaceAll("OUTSIDE", folder));
  return { folder, work };
}

async function failureOf(work: string): Promise<string> {
  const task: BuildTask = {
    type: "build",
    language: "node",
    entry: "main.ts",
    install: "none",
    locked: false,
    send_dependencies: false,
    esbuild: esbuildPath(),
    install_ms: 30_000,
    source: work,
    work,
    env: {},
    forward: [],
    allow_scripts: [],
    sdk: [],
  };
  return bundle(task).then(
    () => "",
    (error: unknown) => String(error),
  );
}

it.each([
  ["an absolute path as text", 'import x from "OUTSIDE/secret.txt"; console.log(x);', {}],
  ["a relative path as text", 'import x from "../secret.txt"; console.log(x);', {}],
  ["a file that it cannot parse", 'import x from "OUTSIDE/secret.json"; console.log(x);', {}],
  ["code", 'import "../secret.txt";', {}],
  [
    "a path of tsconfig.json",
    'import x from "@s/secret.txt"; console.log(x);',
    {
      "tsconfig.json": '{"compilerOptions":{"paths":{"@s/*":["../*"]}}}',
    },
  ],
  [
    "a file that tsconfig.json extends",
    'import x from "../secret.txt"; console.log(x);',
    {
      "tsconfig.json": '{"extends":"OUTSIDE/secret.json"}',
    },
  ],
])(
  "refuses an entry that imports %s from outside of the sources, and does not quote it",
  async (_what, entry, more) => {
    const { work } = await foldersOf(entry, more);
    const failure = await failureOf(work);
    expect(failure).toContain("outside of the sources");
    expect(failure).not.toContain("SECRET");
  },
);

it("does not quote a file outside of the sources that tsconfig.json extends", async () => {
  const { work } = await foldersOf("const x: = 1;", { "tsconfig.json": '{"extends":"OUTSIDE/secret.json"}' });
  const failure = await failureOf(work);
  expect(failure).toContain("const x: = 1;");
  expect(failure).not.toContain("SECRET");
});

it("bundles files of the sources, and quotes their errors", async () => {
  const { work } = await foldersOf('import x from "./inside.txt"; console.log(x);', { "inside.txt": "fine" });
  expect(await failureOf(work)).toBe("");
  const broken = await foldersOf("const = 1;");
  expect(await failureOf(broken.work)).toContain("const = 1;");
});

it.each([
  ["an absolute link", "OUTSIDE/secret.txt"],
  ["a relative link", "../secret.txt"],
  ["a link to a folder above", ".."],
])("refuses %s in the sources", async (_what, target) => {
  const { folder, work } = await foldersOf("");
  await symlink(target.replaceAll("OUTSIDE", folder), join(work, "link"));
  await expect(refuseOutsideLinks(work)).rejects.toThrow("link is a link to");
});

it("refuses a link through another link", async () => {
  const { work } = await foldersOf("");
  await mkdir(join(work, "a/b"), { recursive: true });
  await symlink("../..", join(work, "a/b/up"));
  await refuseOutsideLinks(work);
  await symlink("a/b/up/../secret.txt", join(work, "link"));
  await expect(refuseOutsideLinks(work)).rejects.toThrow("link is a link to");
});
