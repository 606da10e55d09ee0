// One file for `--help`, and chunks that commands load on demand. Tables of commands are derived from openapi.json, so
// that no command loads a schema library.
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { builtinsWithoutFacade } from "./src/build/builtins.ts";
import { splitTable } from "./src/table/split-table.ts";
import { commandTable } from "./src/table/command-table.ts";
import { groups } from "./src/table/groups.ts";
import { entries } from "./src/table/entries.ts";
import { bundledFiles, licenceNotices } from "../../tools/licences.mjs";
import { operationsNotYet } from "../../tools/not-yet.mjs";

const { metafile } = await build({
  entryPoints: ["src/shoal.ts", "src/service.ts", "src/plugin.ts", "src/bench.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["@shoal/source"],
  // The service and the programs of apps are separate packages, and the keychain a native module.
  external: ["@shoal/app-runner", "@shoal/server", "@napi-rs/keyring"],
  packages: "bundle",
  // Its CommonJS build loads files in a way that bundlers do not see.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  banner: { js: 'const require = globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
  logLevel: "warning",
});
for (const name of Object.keys(metafile.outputs))
  if (name.endsWith(".js")) writeFileSync(name, builtinsWithoutFacade(readFileSync(name, "utf8")));
writeFileSync("dist/THIRD-PARTY-LICENCES.txt", licenceNotices("This command", bundledFiles(metafile)));

const document = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("@shoal/contract/openapi.json"), "utf8"),
);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
mkdirSync("dist/commands", { recursive: true });
const split = splitTable(commandTable(document, entries), groups, { version, notYet: operationsNotYet });
const tables = { index: split.index, ...split.tables };
for (const [name, table] of Object.entries(tables))
  writeFileSync(join("dist/commands", `${name}.json`), JSON.stringify(table));
// Removes the files of earlier builds last, because a running command may still load them.
for (const name of readdirSync("dist/chunks"))
  if (!(posix.join("dist", "chunks", name) in metafile.outputs)) rmSync(posix.join("dist", "chunks", name));
for (const name of readdirSync("dist/commands"))
  if (!(name.replace(/\.json$/, "") in tables)) rmSync(join("dist", "commands", name));
