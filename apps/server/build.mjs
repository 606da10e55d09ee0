import { build } from "esbuild";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";

// Pages for people: each is one document with its style and script.
const pages = [
  ["sign-in", "src/auth/sign-in-page/page"],
  ["collect", "src/auth/vault-forms/page"],
];

await mkdir("dist/pages", { recursive: true });
for (const [name, folder] of pages) {
  const { outputFiles } = await build({
    entryPoints: [`${folder}/page.ts`, `${folder}/page.css`],
    outdir: "dist/pages",
    bundle: true,
    write: false,
    platform: "browser",
    target: "es2022",
    format: "iife",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const html = (await readFile(`${folder}/page.html`, "utf8"))
    .replace("/* page.css */", () => text(".css"))
    .replace("/* page.js */", () => text(".js").replaceAll("</script", "<\\/script"));
  // A running server must not read half of a page.
  const unfinished = `dist/pages/.${name}-${process.pid}.html`;
  await writeFile(unfinished, html);
  await rename(unfinished, `dist/pages/${name}.html`);
}

// The console, and in published packages the documentation, which `npm run docs` builds in a clone. Files of earlier
// builds stay until the new ones are complete, for a running server reads them once.
for (const name of ["console", "docs"]) {
  if (name === "docs" && !existsSync("../docs/dist")) continue;
  // The demo shows no page.
  if (name === "console" && process.argv.includes("--without-console")) continue;
  const unfinished = `dist/pages/.${name}-${process.pid}`;
  await cp(`../${name}/dist`, unfinished, { recursive: true, filter: (path) => !path.endsWith(".vite") });
  await rm(`dist/pages/${name}`, { recursive: true, force: true });
  await rename(unfinished, `dist/pages/${name}`);
}
