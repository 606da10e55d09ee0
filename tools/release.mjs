// Updates the other places with a version after `changeset version`. `npm run release:version` runs both.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "apps/server/package.json"), "utf8"));

// The output of `shoal serve` in pages for newcomers.
for (const page of ["README.md", "docs/guide/install.md"]) {
  const path = join(root, page);
  const text = readFileSync(path, "utf8");
  const made = text.replaceAll(/^Shoal \S+ answers at/gm, `Shoal ${version} answers at`);
  writeFileSync(path, made);
}
const chart = join(root, "charts/shoal/Chart.yaml");
const versions = readFileSync(chart, "utf8")
  .replace(/^version: .*$/m, `version: ${version}`)
  .replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
writeFileSync(chart, versions);
// Later changes are compared with this interface.
execFileSync(process.execPath, [join(root, "tools/api-changes.mjs"), "--release"], { stdio: "inherit" });
console.log(`Shoal ${version}. Read git diff, commit it, then run npm run release:publish.`);
