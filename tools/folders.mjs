// Writes docs/folders.md from the package.json, layer and folders.json of each package, and the list of packages in
// ARCHITECTURE.md. With --check it only compares.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeOrCheck } from "./generated-file.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

const packages = globSync("{packages,apps}/*/package.json", { cwd: root })
  .map((manifest) => {
    const place = dirname(manifest);
    const layer = /^layer-(.+)$/.exec(read(`${place}/turbo.json`).tags[0])?.[1] ?? "";
    const list = `${place}/folders.json`;
    return {
      place,
      layer: layer === "tests" ? "–" : layer,
      about: read(manifest).description,
      folders: existsSync(join(root, list)) ? Object.entries(read(list)).filter(([folder]) => folder !== ".") : [],
    };
  })
  .sort((a, b) => rankOf(a) - rankOf(b) || (a.place < b.place ? -1 : 1));

function rankOf({ layer }) {
  return layer === "–" ? 100 : Number(layer);
}

const sections = packages
  .filter(({ folders }) => folders.length > 0)
  .map(({ place, about, folders }) => {
    const rows = folders
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([folder, { content }]) => `| \`${folder}\` | ${content} |`);
    return `## \`${place}\`\n\n${about}\n\n| folder | content |\n| --- | --- |\n${rows.join("\n")}\n`;
  });
const page = `# Folders

Folders of \`src\`, by package. \`folders.json\` of the package has these lines, and what each folder may import.
\`node tools/folders.mjs\` writes this page.

${sections.join("\n")}`;
writeOrCheck("docs/folders.md", page, { source: "a folders.json or package.json", tool: "folders.mjs" });

const table = packages.map(({ place, layer, about }) => `| ${layer} | [\`${place}\`](${place}) | ${about} |`);
const [begin, end] = ["<!-- packages -->", "<!-- end of packages -->"];
const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const [before, , after] = architecture.split(new RegExp(`${begin}|${end}`));
if (after === undefined) throw new Error(`ARCHITECTURE.md has no lines ${begin} and ${end}.`);
writeOrCheck(
  "ARCHITECTURE.md",
  `${before}${begin}\n\n| layer | package | content |\n| --- | --- | --- |\n${table.join("\n")}\n\n${end}${after}`,
  { source: "a package.json or turbo.json", tool: "folders.mjs" },
);
