// The part of a release that comes after `changeset version`: what else in the repository has a version in it. `npm run release:version` runs both.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(readFileSync(join(root, "apps/server/package.json"), "utf8"));

// What `shoal serve` prints, where newcomers read it.
for (const page of ["README.md", "docs/guide/install.md"]) {
  const path = join(root, page);
  const text = readFileSync(path, "utf8");
  const made = text.replaceAll(/^Shoal \S+ answers at/gm, `Shoal ${version} answers at`);
  writeFileSync(path, made);
}
// Today's interface is the released one from now on, which later changes are held against.
execFileSync(process.execPath, [join(root, "tools/api-changes.mjs"), "--release"], { stdio: "inherit" });
console.log(`Shoal ${version}. Read what git diff shows, commit it, then npm run release:publish.`);
