import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Figure, percentile } from "../measuring/figures.ts";
import { type AppBench, bundledApp, deploy, manifest, withService } from "./deployed.ts";

const run = promisify(execFile);
const upstream = "https://registry.npmjs.org";
const dependency = { name: "shoal-bench-dependency", version: "1.0.0" };

/** Measures deployments of a small app with one dependency next to `npm ci` by hand, from one local registry. */
export async function measureDeployments(rounds: number): Promise<Figure[]> {
  const registry = new LocalRegistry();
  try {
    const url = await registry.open();
    return await withService(["--build-registry", url], async (bench) => {
      await registry.add(bench.folder);
      const app = await bundledApp();
      // The service fetches its tools once.
      await deploy(bench.shoal, filesOf(app, registry.integrity, "first"));
      const times = { installed: [] as number[], again: [] as number[], byHand: [] as number[] };
      for (let round = 0; round < rounds; round++) {
        const files = filesOf(app, registry.integrity, `round-${String(round)}`);
        times.byHand.push(await timed(() => installByHand(bench, files, url)));
        times.installed.push(await timed(() => deploy(bench.shoal, files)));
        times.again.push(await timed(() => deploy(bench.shoal, files)));
      }
      const peer = percentile(times.byHand, 0.5);
      const figure = (name: string, ours: readonly number[]): Figure => ({
        ...{ name: `${name}, p50`, unit: "ms", ours: percentile(ours, 0.5), peer, peerName: "npm ci by hand" },
      });
      return [
        figure("deployment, dependencies installed", times.installed),
        figure("deployment, same lockfile again", times.again),
      ];
    });
  } finally {
    await registry.close();
  }
}

/** @param name - of the package: a new one does not use the cached dependencies. */
function filesOf(app: string, integrity: string, name: string): Readonly<Record<string, string>> {
  const dependencies = { [dependency.name]: dependency.version };
  const packages = {
    "": { name, version: manifest.version, dependencies },
    [`node_modules/${dependency.name}`]: { version: dependency.version, integrity },
  };
  return {
    "index.js": `import "${dependency.name}";\n${app}`,
    "package.json": JSON.stringify({ ...manifest, name, dependencies }),
    "package-lock.json": JSON.stringify({ name, version: manifest.version, lockfileVersion: 3, packages }),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** With the service's npm if it has downloaded one, and with a cache from the second round on. */
async function installByHand(
  { folder }: AppBench,
  files: Readonly<Record<string, string>>,
  registry: string,
): Promise<void> {
  const at = await mkdtemp(join(folder, "by-hand-"));
  for (const [name, content] of Object.entries(files)) await writeFile(join(at, name), content);
  const own = join(folder, "data/apps/tools/npm-11.21.2/package/bin/npm-cli.js");
  const [program, ...before] = existsSync(own) ? ([process.execPath, own] as const) : (["npm"] as const);
  await run(program, [...before, "ci", "--ignore-scripts", "--no-audit", "--registry", registry], {
    cwd: at,
    env: { PATH: process.env.PATH, HOME: join(folder, "home") },
  });
  await rm(at, { recursive: true });
}

/** Has one package, and forwards requests for package managers. */
class LocalRegistry {
  integrity = "";
  #archive = Buffer.alloc(0);
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://localhost:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async add(folder: string): Promise<void> {
    const source = join(folder, "dependency");
    await mkdir(source);
    await writeFile(join(source, "package.json"), JSON.stringify({ ...dependency, main: "index.js" }));
    await writeFile(join(source, "index.js"), "module.exports = 1;\n");
    const archive = join(folder, "dependency.tgz");
    await run("tar", ["-czf", archive, "--transform", "s,^\\.,package,", "-C", source, "."]);
    this.#archive = await readFile(archive);
    this.integrity = `sha512-${createHash("sha512").update(this.#archive).digest("base64")}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer({ headers, url: path = "/" }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, version } = dependency;
    if (path.startsWith(`/${name}/-/`)) response.end(this.#archive);
    else if (path.startsWith(`/${name}`)) {
      const tarball = `http://${headers.host ?? ""}/${name}/-/${name}-${version}.tgz`;
      const versions = { [version]: { name, version, dist: { tarball, integrity: this.integrity } } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    } else {
      const answer = await fetch(upstream + path);
      response.statusCode = answer.status;
      response.end(Buffer.from(await answer.arrayBuffer()));
    }
  }
}
