// Collects the files of the service for its image, after a build: node tools/image-files.mjs DIR
// The versions are those of the lockfile. Writes their list, a CycloneDX SBOM, to DIR/sbom.cdx.json.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The image has Debian's Chromium, so it omits the one from npm. */
const omitted = "@sparticuz/chromium";

if (process.argv[2] === undefined) {
  console.error("Where to? node tools/image-files.mjs DIR");
  process.exit(2);
}
const target = resolve(process.argv[2]);

function pnpm(...args) {
  const { status } = spawnSync("pnpm", args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

pnpm("--filter=@shoal/server", "deploy", "--prod", "--legacy", "--prefer-offline", target);
const modules = join(target, "node_modules");
const store = join(modules, ".pnpm");
for (const { name } of readdirSync(store, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  if (name.startsWith(`${omitted.replace("/", "+")}@`)) rmSync(join(store, name), { recursive: true });
  else rmSync(join(store, name, "node_modules", omitted), { force: true });
}
rmSync(join(store, "node_modules", omitted), { force: true });

// The command contains its dependencies, except the packages of this repository.
const command = join(modules, "@shoal/cli");
mkdirSync(command);
for (const name of ["dist", "skills", "package.json"])
  cpSync(join(root, "apps/cli", name), join(command, name), { recursive: true });
symlinkSync("../..", join(modules, "@shoal/server"));
// The pods of the placement kubernetes start this program.
symlinkSync("node_modules/@shoal/instance/dist/program", join(target, "instance"));
cpSync(join(root, "LICENSE"), join(target, "LICENSE"));

const file = join(target, "sbom.cdx.json");
const options = ["--sbom-format=cyclonedx", "--sbom-type=application", "--prod", "--out", file];
pnpm("--filter=@shoal/server", "sbom", ...options);
const bom = JSON.parse(readFileSync(file, "utf8"));
const isOmitted = (ref) => ref.startsWith(`pkg:npm/${encodeURIComponent(omitted).replace("%2F", "/")}@`);
bom.components = bom.components.filter(({ purl }) => !isOmitted(purl));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => !isOmitted(ref))
  .map(({ dependsOn, ...rest }) => ({
    ...rest,
    ...(dependsOn && { dependsOn: dependsOn.filter((ref) => !isOmitted(ref)) }),
  }));
writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
