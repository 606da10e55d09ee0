import { type BuildTask, esbuildPath } from "@shoal/app-runner";
import type { ProgramPlace } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { type AppLanguage, type AppOutput, BuildError, type BuildSource } from "./app-runtime.ts";
import { layout, proxyVariables } from "./box-layout.ts";
import type { BoxTasks, FileStore } from "./box-tasks.ts";
import type { BuildTool, BuildTools } from "./build-tools.ts";
import type { DependencyCache } from "./dependency-cache.ts";
import { type InstallPlan, planInstall, readManifests } from "./manifests.ts";
import type { RegistryDoor } from "../registry/registry-door.ts";
import type { SdkPackages } from "../registry/sdk-packages.ts";
import type { Registry } from "./registry.ts";

const run = promisify(execFile);

export interface BuildLimits {
  readonly memoryBytes: number;
  /** Of sources, dependencies and caches together. */
  readonly diskBytes: number;
  /** Of the whole build. */
  readonly timeoutMs: number;
}

export interface AppBuilderParts {
  readonly tasks: BoxTasks;
  readonly tools: BuildTools;
  readonly dependencies: DependencyCache;
  readonly registry: Registry;
  readonly sdk: SdkPackages;
  readonly door: Pick<RegistryDoor, "accept">;
  readonly blobs: Blobs;
  readonly limits: BuildLimits;
  /** Packages whose install scripts may run. */
  readonly allowScripts: readonly string[];
  readonly esbuild: string;
}

export interface BuiltArtifact {
  readonly artifact: string;
  readonly language: AppLanguage;
}

interface Inputs {
  readonly source: BuildSource;
  readonly plan: InstallPlan;
  readonly tool: BuildTool | undefined;
  readonly sdk: BuildTask["sdk"];
  readonly hash: string | undefined;
  readonly cached: string | undefined;
}

const maxArtifactBytes = 2 * 2 ** 30;

/** Turns sources into an artifact. Code of the app does not run here. */
export class AppBuilder {
  readonly #parts: AppBuilderParts;

  constructor(parts: AppBuilderParts) {
    this.#parts = parts;
  }

  /** @throws {BuildError} */
  async build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltArtifact> {
    const late = AbortSignal.timeout(this.#parts.limits.timeoutMs);
    try {
      return await this.#build(source, on, anySignal([signal, late]));
    } catch (error) {
      signal.throwIfAborted();
      if (!late.aborted) throw error;
      throw new BuildError(
        `The build took longer than ${String(this.#parts.limits.timeoutMs / 1000)} s (build_timeout_seconds).`,
        { cause: error },
      );
    }
  }

  async #build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltArtifact> {
    signal.throwIfAborted();
    const { allowScripts, dependencies, registry, tools } = this.#parts;
    const sdk = (await this.#parts.sdk.all()).map(({ integrity, name, version }) => ({ integrity, name, version }));
    // The box has another user.
    if (process.platform !== "win32") await run("chmod", ["-R", "a+rX", source.folder]);
    const surroundings = JSON.stringify([
      "2",
      source.project,
      process.version,
      process.platform,
      process.arch,
      registry.url,
      registry.pythonIndex,
      allowScripts,
      sdk,
    ]);
    const plan = planInstall(source.entrypoint, await readManifests(source.folder), surroundings);
    using tool =
      plan.install === "npm" || plan.install === "pnpm"
        ? await tools.get(plan.install, plan.pnpmVersion, signal)
        : undefined;
    const hash = plan.dependencyHash;
    const cached = hash === undefined ? undefined : await dependencies.find(hash);
    const inputs = { source, plan, tool, sdk, hash, cached };
    return { artifact: await this.#runBox(inputs, on, signal), language: plan.language };
  }

  async #runBox(inputs: Inputs, on: AppOutput, signal: AbortSignal): Promise<string> {
    const { source, plan, tool, hash, cached } = inputs;
    const { blobs, dependencies, limits, registry, tasks } = this.#parts;
    const work = plan.language === "node" ? layout.node : layout.python;
    let artifact: string | undefined;
    const store: FileStore = async (content) => {
      artifact = (await blobs.put(content, { maxBytes: maxArtifactBytes })).name;
    };
    try {
      await tasks.run(
        {
          program: {
            project: source.project,
            readOnly: [
              { from: source.folder, to: layout.source },
              { from: dirname(this.#parts.esbuild), to: layout.esbuild },
              ...registry.binds,
              ...(tool === undefined ? [] : [{ ...tool.files, to: layout.tool }]),
              ...(cached === undefined ? [] : [{ from: cached, to: layout.archive }]),
            ],
            writable: [],
            scratch: [work],
            folder: "/tmp",
            reach: registry.hosts,
            onApiConnection: this.#parts.door.accept,
            memoryBytes: limits.memoryBytes,
            diskBytes: limits.diskBytes,
            maxProcesses: 512,
          },
          env: (place) => this.#variables(place),
          task: (place) => this.#taskOf(inputs, work, place),
          onLine: (text) => {
            on.line({ source: "build", text, at: new Date() });
          },
          files: {
            artifact: store,
            ...(hash !== undefined && cached === undefined && { dependencies: dependencies.storeFor(hash) }),
          },
        },
        signal,
      );
    } catch (error) {
      if (artifact !== undefined) await blobs.delete(artifact);
      if (error instanceof BlobTooLarge)
        throw new BuildError(`The built app has more than ${String(maxArtifactBytes / 2 ** 20)} MiB, compressed.`);
      throw error;
    }
    if (artifact === undefined) throw new BuildError("The build ended without an artifact.");
    return artifact;
  }

  #variables(place: ProgramPlace): Readonly<Record<string, string>> {
    return {
      ...proxyVariables(place),
      ...this.#parts.registry.directVariables(),
      ...this.#parts.registry.authorityVariables(place),
    };
  }

  #taskOf({ source, plan, tool, sdk, hash, cached }: Inputs, work: string, place: ProgramPlace): BuildTask {
    const { allowScripts, esbuild, registry } = this.#parts;
    return {
      type: "build",
      forward: [...place.forward],
      language: plan.language,
      source: place.pathOf(layout.source),
      work: place.pathOf(work),
      entry: source.entrypoint,
      install: plan.install,
      ...(tool !== undefined && { tool: tool.scripts.map((script) => place.pathOf(`${layout.tool}/${script}`)) }),
      locked: plan.locked,
      ...(cached !== undefined && { dependencies: place.pathOf(layout.archive) }),
      send_dependencies: hash !== undefined && cached === undefined,
      esbuild: place.pathOf(`${layout.esbuild}/${basename(esbuild)}`),
      allow_scripts: [...allowScripts],
      env: { ...this.#variables(place), ...registry.toolVariables(plan.install, place) },
      sdk,
      ...registryPair(registry.url, registry.urlIn(place)),
      install_ms: this.#parts.limits.timeoutMs,
    };
  }
}

/** Where lockfiles have another address than builds use. */
function registryPair(url: string, inside: string): Pick<BuildTask, "registry"> {
  return url === inside ? {} : { registry: { url, inside } };
}

/** Returns esbuild's executable. @throws {BuildError} on other platforms. */
export function findEsbuild(): string {
  try {
    return esbuildPath();
  } catch (error) {
    throw new BuildError(`Apps cannot be built on ${process.platform} ${process.arch}.`, { cause: error });
  }
}
