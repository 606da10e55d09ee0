import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { scripts } from "./scripts.ts";

const folder = join(import.meta.dirname, "../../sight");

/** Fonts come from other hosts. */
const fontFace = /@font-face\s*\{[^}]*\}/g;

/** Installs the libraries and peers with their own lockfile, which no other command needs. Returns their folder. */
export function installLibraries(): string {
  execFileSync("pnpm", ["install", "--ignore-workspace", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  return join(folder, "node_modules");
}

/** Bundles the pages of each library into `outdir`, and serves them at `/LIBRARY/WIDGET`. */
export async function serveWidgets(
  outdir: string,
  libraries = Object.keys(scripts),
): Promise<{ readonly url: string; close(): void }> {
  await build({
    entryPoints: libraries.map((library) => join(folder, "pages", `${library}.jsx`)),
    outdir,
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"', "process.env": "{}" },
    external: ["*.woff", "*.woff2", "*.png", "*.gif"],
    logLevel: "error",
  });
  const site = createServer((request, response) => {
    const [, library = "", name = ""] = decodeURIComponent(request.url ?? "").split("/");
    const file = join(outdir, library);
    if (library === "favicon.ico") response.writeHead(204).end();
    else if (name !== "") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(library));
    else if (/\.(?:js|css)$/.test(library) && existsSync(file))
      response
        .writeHead(200, { "content-type": library.endsWith("js") ? "text/javascript" : "text/css" })
        .end(readFileSync(file, "utf8").replaceAll(fontFace, ""));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`, close: () => site.close() };
}

function page(library: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>ready</title><link rel="stylesheet" href="/${library}.css"></head>
<body><h1>Widget</h1><div id="root" style="padding: 24px"></div><script type="module" src="/${library}.js"></script></body></html>`;
}
