import { appRunnerFolder, type Described, type Serve } from "@shoal/app-runner";
import { type Placement, PlacementError, type ProgramOptions, type ProgramPlace } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { chmod, cp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Socket } from "node:net";
import { type Blobs, hasBlob } from "../../storage/blobs/blobs.ts";
import { AppBuilder, type BuildLimits, findEsbuild } from "./app-builder.ts";
import {
  type AppOutput,
  type AppProgram,
  type AppRuntime,
  AppStartError,
  BuildError,
  type BuildSource,
  type BuiltApp,
  type RunnableApp,
} from "./app-runtime.ts";
import { ArtifactFolders, type UsedFolder } from "./artifact-folders.ts";
import { layout, proxyVariables } from "./box-layout.ts";
import { BoxTasks } from "./box-tasks.ts";
import { RegistryDoor } from "../registry/registry-door.ts";
import type { SdkPackages } from "../registry/sdk-packages.ts";
import { BuildTools } from "./build-tools.ts";
import { CompiledCode } from "./compiled-code.ts";
import { DependencyCache } from "./dependency-cache.ts";
import { Registry, type RegistrySettings } from "./registry.ts";
import { RunningApp, type ServiceAddresses } from "./running-app.ts";

export interface LocalAppRuntimeOptions {
  readonly placement: Placement;
  readonly blobs: Blobs;
  /** Of this server alone. */
  readonly folder: string;
  readonly registry: RegistrySettings;
  readonly sdk: SdkPackages;
  /** Packages whose install scripts may run. */
  readonly allowScripts: readonly string[];
  readonly build: BuildLimits;
  /** Room for unpacked artifacts that no program uses. */
  readonly foldersBytes: number;
  readonly app: { readonly memoryBytes: number; readonly diskBytes: number };
  /** Receives connections of apps to the API. */
  readonly onApiConnection: (socket: Socket, app: RunnableApp) => void;
  /** Start of the service's addresses for clients outside of boxes, without a slash at the end. */
  readonly outerUrl: () => string | undefined;
}

interface Parts {
  readonly builder: AppBuilder;
  readonly door: RegistryDoor;
  readonly folders: ArtifactFolders;
  readonly programs: string;
}

/** Milliseconds to import the entry. */
const startMs = 60_000;
const maxProcesses = 512;
/** Names nothing: apps only need a value to make their client. */
const keyWhileDescribed = "sk_describe";

/** Runs apps in boxes of this server. */
export class LocalAppRuntime implements AppRuntime {
  readonly #options: LocalAppRuntimeOptions;
  readonly #parts: Parts;
  readonly #programs = new Set<AppProgram>();
  readonly #closing = new AbortController();
  readonly #builds = new Set<Promise<unknown>>();

  private constructor(options: LocalAppRuntimeOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  static async open(options: LocalAppRuntimeOptions): Promise<LocalAppRuntime> {
    const { blobs, folder, placement, sdk } = options;
    const programs = join(folder, "programs");
    const esbuild = await copyPrograms(programs, join(folder, "esbuild"));
    const keepsArchives = placement.copiesProgramFiles;
    const tasks = new BoxTasks(placement, programs);
    const registry = new Registry(options.registry);
    const door = new RegistryDoor({
      upstreams: registry.upstreams,
      npm: registry.npm,
      sdk,
      authorities: options.registry.authorities,
    });
    const dependencies = new DependencyCache(join(folder, "dependencies"));
    await dependencies.open();
    const builder = new AppBuilder({
      tasks,
      tools: new BuildTools({ folder: join(folder, "tools"), tasks, registry, door, keepsArchives }),
      dependencies,
      registry,
      sdk,
      door,
      blobs,
      limits: options.build,
      allowScripts: options.allowScripts,
      esbuild,
    });
    const folders = await ArtifactFolders.open({
      folder: join(folder, "artifacts"),
      tasks,
      keepsArchives,
      maxBytes: options.foldersBytes,
    });
    return new LocalAppRuntime(options, { builder, door, folders, programs });
  }

  build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltApp> {
    const building = this.#build(source, on, anySignal([signal, this.#closing.signal]));
    const settled = building.catch(() => undefined).finally(() => this.#builds.delete(settled));
    this.#builds.add(settled);
    return building;
  }

  async start(app: RunnableApp, on: AppOutput, signal: AbortSignal): Promise<AppProgram> {
    try {
      return (await this.#start(app, on, signal)).program;
    } catch (error) {
      signal.throwIfAborted();
      throw asStartError(error);
    }
  }

  has(artifact: string): Promise<boolean> {
    return hasBlob(this.#options.blobs, artifact);
  }

  async remove(artifact: string): Promise<void> {
    await this.#parts.folders.remove(artifact);
    await this.#options.blobs.delete(artifact);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The service is shutting down."));
    await Promise.all([...this.#builds, ...[...this.#programs].map((program) => program.stop())]);
    this.#parts.door.close();
    await this.#parts.folders.close();
  }

  async #build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltApp> {
    const { artifact, language } = await this.#parts.builder.build(source, on, signal);
    try {
      const { deployment_id, entrypoint, env, project } = source;
      const app = { deployment_id, project, artifact, language, entrypoint, env, api_key: keyWhileDescribed };
      const apps = await this.#describe(app, on, signal);
      return { artifact, language, apps };
    } catch (error) {
      await this.remove(artifact);
      throw error;
    }
  }

  /** Starts it as for an invocation, so that a deployment that runs has also started once. */
  async #describe(app: RunnableApp, on: AppOutput, signal: AbortSignal): Promise<Described> {
    const asBuild: AppOutput = {
      line: (line) => {
        on.line({ ...line, source: "build" });
      },
    };
    try {
      const { program, apps } = await this.#start(app, asBuild, signal);
      await program.stop();
      if (apps.length > 0) return apps;
    } catch (error) {
      if (AppStartError.isInstance(error))
        throw new BuildError(`${app.entrypoint} failed when it was imported: ${error.message}`, { cause: error });
      throw error;
    }
    throw new BuildError(
      `${app.entrypoint} registered no app. Register actions when the file is imported, outside of functions that only run locally.`,
    );
  }

  async #start(
    app: RunnableApp,
    on: AppOutput,
    signal: AbortSignal,
  ): Promise<{ readonly program: AppProgram; readonly apps: Described }> {
    const stop = anySignal([signal, this.#closing.signal]);
    const folder = await this.#parts.folders.use(app.artifact, this.#options.blobs, stop);
    const { copiesProgramFiles } = this.#options.placement;
    const compiled = app.language === "node" && !copiesProgramFiles ? await CompiledCode.of(folder.path) : undefined;
    let running: RunningApp | undefined;
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => void running?.stop();
    const ending = anySignal([stop, late.signal]);
    ending.addEventListener("abort", end, { once: true });
    try {
      let serve: Serve | undefined;
      let addresses: ServiceAddresses | undefined;
      const outside = this.#options.outerUrl();
      const options = this.#programOptions(app, folder, (made, place) => {
        if (outside !== undefined) {
          addresses = { inside: place.apiUrl, outside };
          made.env.SHOAL_PUBLIC_URL = outside;
        }
        serve = compiled === undefined ? made : { ...made, compile_cache: compiled.cacheIn(place) };
      });
      const box = await this.#options.placement.startProgram(options, stop).catch((error: unknown) => {
        folder.release();
        throw error;
      });
      // A box on another machine may wait for a node or its image before.
      timer = setTimeout(() => {
        late.abort();
      }, startMs);
      const program = new RunningApp(box, on, {
        addresses,
        onEnd: () => {
          folder.release();
          this.#programs.delete(program);
        },
      });
      running = program;
      this.#programs.add(program);
      const apps = await program.begin(serve ?? {}, compiled);
      await compiled?.keep();
      stop.throwIfAborted();
      return { program, apps };
    } catch (error) {
      await running?.stop();
      await compiled?.discard();
      stop.throwIfAborted();
      if (late.signal.aborted)
        throw new AppStartError(
          `${app.entrypoint} was not imported within ${String(startMs / 1000)} s. Do long work in actions.`,
          { cause: error },
        );
      throw error;
    } finally {
      clearTimeout(timer);
      ending.removeEventListener("abort", end);
    }
  }

  #programOptions(
    app: RunnableApp,
    folder: UsedFolder,
    onServe: (serve: Serve, place: ProgramPlace) => void,
  ): ProgramOptions {
    const root = app.language === "node" ? layout.node : layout.python;
    return {
      project: app.project,
      readOnly: [
        { from: folder.path, to: root, isArchive: this.#options.placement.copiesProgramFiles },
        { from: this.#parts.programs, to: layout.programs },
      ],
      writable: [],
      scratch: [],
      folder: root,
      reach: "public",
      memoryBytes: this.#options.app.memoryBytes,
      diskBytes: this.#options.app.diskBytes,
      maxProcesses,
      onApiConnection: (socket) => {
        this.#options.onApiConnection(socket, app);
      },
      command: (place) => {
        onServe(serveOf(app, place, place.pathOf(root)), place);
        return {
          args: [place.pathOf(`${layout.programs}/runner.cjs`), String(place.channel)],
          // Nothing of the app: these variables are also those of the programs that make the box.
          env: proxyVariables(place),
        };
      },
    };
  }
}

/** Other errors name files of the host. */
function asStartError(error: unknown): AppStartError {
  if (AppStartError.isInstance(error)) return error;
  const code = PlacementError.isInstance(error) ? error.code : undefined;
  if (code === "no_space")
    return new AppStartError("The server has too little free disk space to start the app. Retry later.", {
      cause: error,
    });
  if (code === "no_capacity" || code === "unavailable")
    return new AppStartError("The cluster of the service has no room for the app, or does not answer. Retry later.", {
      cause: error,
    });
  return new AppStartError("The server cannot start the app. Retry, or deploy it again.", { cause: error });
}

function serveOf(app: RunnableApp, place: ProgramPlace, root: string): Serve {
  return {
    type: "serve",
    forward: [...place.forward],
    entry: join(root, app.entrypoint),
    env: {
      ...app.env,
      ...proxyVariables(place),
      ENTRYPOINT_RELPATH: app.entrypoint,
      KERNEL_API_KEY: app.api_key,
      KERNEL_BASE_URL: place.apiUrl,
      // Apps only test whether it is set; an invocation replaces it with its id.
      KERNEL_INVOCATION: "waiting",
      SHOAL_API_KEY: app.api_key,
      SHOAL_BASE_URL: place.apiUrl,
    },
    ...(app.language === "python" && {
      python: { program: "/usr/bin/python3", paths: [root, join(root, ".shoal-packages")] },
    }),
  };
}

/** An upgrade may replace the originals while the service runs. @returns the path of esbuild. */
async function copyPrograms(folder: string, tools: string): Promise<string> {
  for (const each of [folder, tools]) await rm(each, { recursive: true, force: true });
  await cp(appRunnerFolder, folder, { recursive: true });
  const original = findEsbuild();
  const esbuild = join(tools, basename(original));
  await cp(original, esbuild);
  for (const name of await readdir(folder)) await chmod(join(folder, name), 0o644);
  await Promise.all([folder, tools, esbuild].map((path) => chmod(path, 0o755)));
  return esbuild;
}
