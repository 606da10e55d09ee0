// Bundles the command into dist/: one file for `--help`, further ones that are loaded when a command runs. The table of commands is
// made here from openapi.json, so that printing help loads no schema library.
import { build } from "esbuild";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { commandTable } from "./src/command-table.ts";

const document = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("@shoal/contract/openapi.json"), "utf8"));
const { metafile } = await build({
  entryPoints: ["src/shoal.ts", "src/service.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["@shoal/source"],
  // The service is a package of its own; libraries stay where npm installs them.
  external: ["@shoal/server"],
  packages: "bundle",
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  chunkNames: "chunks/[name]-[hash]",
  banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
  logLevel: "warning",
});
writeFileSync("dist/commands.json", JSON.stringify(commandTable(document)));
// Of earlier builds. Not before this one was written: a command that runs meanwhile may still load them.
for (const name of readdirSync("dist/chunks")) if (!(posix.join("dist", "chunks", name) in metafile.outputs)) rmSync(posix.join("dist", "chunks", name));
