import { waitLimitMs } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
export const agentBrowserVersion = "0.41.2";
/** Of the package in the registry. */
const integrity = "sha512-/agCKB5rw1EEK8SKWo4zid7a5kOwlclqALC0P3c69buJvKdhrl/dJkKdfLqGGaiNIbWzRdqqT0PxZVkwVEf2fg==";
const cache = fileURLToPath(new URL("../../node_modules/.cache/agent-browser/", import.meta.url));
const name = `agent-browser-${process.platform}-${process.arch}`;
const program = join(cache, agentBrowserVersion, name);
const isWanted = process.env.SHOAL_REQUIRE_ALL === "1" || existsSync(program);

/** Whether tests with agent-browser are skipped, and the suffix of their titles. */
export const agentBrowserTests = isWanted
  ? { skip: false, reason: "" }
  : { skip: true, reason: " (skipped, no agent-browser: SHOAL_REQUIRE_ALL=1 fetches its 54 MB)" };

/** Its package has programs for every platform, 120 MB: as a dependency, it would slow down every install. */
async function fetchProgram(): Promise<void> {
  if (existsSync(program)) return;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "fetch-"));
  try {
    // npm checks the integrity of the registry; below, the archive must be the tested one.
    await run("npm", ["pack", `agent-browser@${agentBrowserVersion}`, "--ignore-scripts", "--silent"], { cwd: folder });
    const archive = join(folder, `agent-browser-${agentBrowserVersion}.tgz`);
    const found = `sha512-${createHash("sha512")
      .update(await readFile(archive))
      .digest("base64")}`;
    if (found !== integrity) throw new Error(`agent-browser ${agentBrowserVersion} has the integrity ${found}`);
    await run("tar", ["-xzf", archive, "--strip-components=2", `package/bin/${name}`], { cwd: folder });
    await chmod(join(folder, name), 0o755);
    await mkdir(join(cache, agentBrowserVersion), { recursive: true });
    await rename(join(folder, name), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The command line of agent-browser, whose background process keeps the connection. */
export class AgentBrowser implements AsyncDisposable {
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(home: string, env: NodeJS.ProcessEnv) {
    this.#home = home;
    this.#env = { PATH: process.env.PATH, HOME: home, AGENT_BROWSER_SOCKET_DIR: home, ...env };
  }

  /** @param home - of its settings and sockets; short, because a socket's path has at most 107 bytes. */
  static async start(home: string, env: NodeJS.ProcessEnv): Promise<AgentBrowser> {
    await fetchProgram();
    return new AgentBrowser(home, env);
  }

  async run(...options: readonly string[]): Promise<string> {
    const { stdout } = await run(program, options, { cwd: this.#home, env: this.#env, timeout: waitLimitMs });
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("close").catch(() => undefined);
  }
}
