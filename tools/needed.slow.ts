import { build } from "esbuild";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { forSettings, forTests, lockfileFor, needsFolder } from "./clone/needed.mjs";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const folders = globSync("{packages,apps}/*/package.json", { cwd: root }).map(dirname);

const importOf =
  /\b(?:import|export)\b(\s+type\b)?[^;"']*?\bfrom\s*["']([^"'.][^"']*)["']|\bimport\s*\(\s*["']([^"'.][^"']*)["']\s*\)|^\s*@?import\s*["']([^"'.][^"']*)["']/gm;
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";

/** The packages that programs of a folder import; types are erased. */
function imported(folder: string) {
  const files = globSync(`${folder}/{*.mjs,*.ts,src/**/*.{ts,tsx,css}}`, {
    cwd: root,
    exclude: ["**/*.test.ts", "**/*.slow.ts", "**/*.test-d.ts", "**/testing/**"],
  });
  const names = files.flatMap((file) =>
    [...read(file).matchAll(importOf)].flatMap(([, type, from, dynamic, bare]) =>
      type === undefined ? packageOf(from ?? dynamic ?? bare ?? "") : [],
    ),
  );
  return new Set(names);
}

const service = folders.filter((folder) => needsFolder("service", folder) && folder !== "packages/testkit");
/** Per folder, the names of its development dependencies, and those of them that its programs import. */
const packages = service.map((folder) => {
  const { devDependencies = {} } = JSON.parse(read(`${folder}/package.json`)) as {
    devDependencies?: Record<string, string>;
  };
  const names = Object.keys(devDependencies);
  const used = imported(folder);
  return { folder, names, used: names.filter((name) => used.has(name)) };
});

it("omits no package that the programs of the service contain", () => {
  for (const { folder, used } of packages)
    expect([folder, used.filter((name) => forTests.includes(name))]).toEqual([folder, []]);
});

it("omits each package that only tests import", () => {
  const everywhere = new Set(packages.flatMap(({ used }) => used));
  const forTestsAlone = packages.flatMap(({ names }) =>
    names.filter((name) => !/^@(?:types|shoal)\//.test(name) && !everywhere.has(name)),
  );
  // The build of a new app's types starts it.
  const omitted = new Set([...forTests, "typescript-7"]);
  expect([...new Set(forTestsAlone)].filter((name) => !omitted.has(name))).toEqual([]);
});

/** The modules of the demo's packages that others import or a person starts. */
function entriesOf(folder: string): readonly string[] {
  const { bin = {}, exports = {} } = JSON.parse(read(`${folder}/package.json`)) as {
    bin?: Record<string, string>;
    exports?: Record<string, string | Record<string, string>>;
  };
  const exported = Object.values(exports).flatMap((entry) =>
    typeof entry === "object" ? (entry["@shoal/source"] ?? []) : [],
  );
  const programs = Object.values(bin).map((path) => path.replace("/dist/", "/src/").replace(/\.js$/, ".ts"));
  return [...exported, ...programs]
    .map((path) => join(folder, path))
    .filter((path) => /\.tsx?$/.test(path) && existsSync(join(root, path)));
}

it("loads no package that the demo omits until a setting requires it", async () => {
  const entryPoints = [
    ...folders.filter((folder) => needsFolder("demo", folder)).flatMap(entriesOf),
    ...globSync("{apps/demo/src,packages/instance/src/main,packages/app-runner/src/inside}/*.ts", {
      cwd: root,
      exclude: ["**/*.test.ts", "**/*.slow.ts"],
    }),
  ];
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: "dist",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    conditions: ["@shoal/source"],
    metafile: true,
    logLevel: "silent",
    plugins: [
      {
        name: "packages of others stay outside",
        setup(plugin) {
          plugin.onResolve({ filter: /^[^./]/ }, ({ kind, path }) =>
            kind === "entry-point" || path.startsWith("@shoal/") ? undefined : { path, external: true },
          );
        },
      },
    ],
  });
  const atOnce = new Set(entryPoints);
  const loaded = new Map<string, string>();
  // The set grows while it is read.
  for (const file of atOnce)
    for (const { external, kind, path } of metafile.inputs[file]?.imports ?? []) {
      if (kind === "dynamic-import") continue;
      if (external === true) loaded.set(packageOf(path), file);
      else atOnce.add(path);
    }
  expect(atOnce).toContain("apps/server/src/main/app.ts");
  expect([...loaded.keys()]).toEqual(expect.arrayContaining(["fastify", "playwright-core"]));
  expect([...loaded].filter(([name]) => forSettings.includes(name))).toEqual([]);
});

it("installs what the types of the SDK need, for the first app of a clone", () => {
  const { importers } = parse(lockfileFor(read("pnpm-lock.yaml"), "service")) as {
    importers: Record<string, { devDependencies?: object }>;
  };
  const { references } = JSON.parse(read("packages/client/tsconfig.build.json")) as { references: { path: string }[] };
  const { compilerOptions } = JSON.parse(read("tsconfig.base.json")) as { compilerOptions: { types: string[] } };
  for (const folder of ["packages/client", ...references.map(({ path }) => join("packages/client", dirname(path)))])
    for (const name of compilerOptions.types)
      expect([folder, importers[`../../${folder}`]?.devDependencies]).toEqual([
        folder,
        expect.objectContaining({ [`@types/${name}`]: expect.anything() as unknown }),
      ]);
  expect(importers["../../packages/client"]?.devDependencies).toHaveProperty("typescript-7");
});

it("keeps the versions of the lockfile, and what every kind of command needs", () => {
  const whole = parse(read("pnpm-lock.yaml")) as {
    importers: Record<string, Record<string, object>>;
    snapshots: object;
  };
  const importersOf = (need: "demo" | "service") => {
    const lockfile = parse(lockfileFor(read("pnpm-lock.yaml"), need)) as typeof whole;
    expect(lockfile.snapshots).toEqual(whole.snapshots);
    return lockfile.importers;
  };
  const [demo, all] = [importersOf("demo"), importersOf("service")];
  expect(demo["../.."]).toEqual({});
  expect(Object.keys(demo)).not.toContain("../../apps/console");
  expect(Object.keys(demo)).not.toContain("../../apps/docs");
  expect(all["../../apps/docs"]?.devDependencies).toHaveProperty("minisearch");
  expect(all["../../apps/console"]?.devDependencies).toHaveProperty("vite");
  expect(demo["../../packages/schemas"]?.devDependencies).toEqual({
    zod: (whole.importers["packages/schemas"]?.devDependencies as Record<string, object>).zod,
  });
  expect(all["../../packages/placement"]?.dependencies).toEqual(whole.importers["packages/placement"]?.dependencies);
  expect(demo["../../packages/placement"]?.dependencies).not.toHaveProperty("@kubernetes/client-node");
});
