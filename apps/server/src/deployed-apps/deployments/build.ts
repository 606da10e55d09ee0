import { unstorable } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { anySignal } from "@shoal/primitives";
import { createWriteStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Blobs, putHashed } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge } from "../../storage/blobs/measured-content.ts";
import { ParseFailure, type ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { LogWriter } from "../logs/chunk-writer.ts";
import { type AppRuntime, BuildError, type BuiltApp } from "../runtime/app-runtime.ts";
import type { BuildQueue, ClaimedBuild } from "./build-queue.ts";
import { checkDeclared } from "./declared-schedules.ts";
import type { DeploymentStore } from "./deployment-store.ts";
import type { RepositoryArchives } from "./repository.ts";
import { maxArchiveBytes } from "./requested-deployment.ts";

export interface BuildParts {
  readonly database: Pick<Database, "query">;
  readonly queue: BuildQueue;
  readonly store: DeploymentStore;
  readonly blobs: Blobs;
  readonly parsing: ParsePool;
  readonly repositories: RepositoryArchives;
  readonly runtime: Pick<AppRuntime, "build" | "ignoresRepositories" | "remove">;
  /** Between two due times of a schedule. */
  readonly minScheduleSeconds: () => number;
  /** Of this server. */
  readonly folder: string;
}

const limits = { entries: 50_000, unpackedBytes: 2 ** 30 };
const maxDescriptionBytes = 2 ** 20;
const fetchMs = 180_000;

/** The steps from an archive or a repository to a built app. */
export class Build {
  readonly #parts: BuildParts;
  readonly #claimed: ClaimedBuild;
  readonly #writer: LogWriter;
  readonly #signal: AbortSignal;
  readonly #folder: string;
  /** The stored archive, once it is known. */
  sourceBlob: string | undefined;

  constructor(
    parts: BuildParts,
    {
      claimed,
      signal,
      writer,
    }: { readonly claimed: ClaimedBuild; readonly writer: LogWriter; readonly signal: AbortSignal },
  ) {
    this.#parts = parts;
    this.#claimed = claimed;
    this.#writer = writer;
    this.#signal = signal;
    this.#folder = join(parts.folder, claimed.id);
    this.sourceBlob = claimed.source_blob ?? undefined;
  }

  /** @throws {BuildError} for faults of the app; errors of the signal. */
  async run(): Promise<BuiltApp> {
    const { minScheduleSeconds, runtime, store } = this.#parts;
    const { entrypoint, id, project_id, source_type } = this.#claimed;
    const sources = join(this.#folder, "sources");
    try {
      await rm(this.#folder, { recursive: true, force: true });
      await mkdir(sources, { recursive: true, mode: 0o700 });
      if (runtime.ignoresRepositories !== true || source_type !== "github") {
        const archive = join(this.#folder, "archive.zip");
        await this.#download(await this.#archive(), archive);
        await this.#unpack(archive, sources);
        await checkSources(sources, entrypoint);
      }
      const env = await store.openEnv(this.#claimed);
      const built = await runtime.build(
        { deployment_id: id, project: project_id, folder: sources, entrypoint, env },
        this.#writer,
        this.#signal,
      );
      try {
        checkDescription(built);
        for (const app of built.apps) checkDeclared(app, minScheduleSeconds());
      } catch (error) {
        await runtime.remove(built.artifact);
        throw error;
      }
      return built;
    } finally {
      await rm(this.#folder, { recursive: true, force: true });
    }
  }

  say(text: string): void {
    this.#writer.line({ source: "build", text, at: new Date() });
  }

  /** @returns the name of the blob. */
  async #archive(): Promise<string> {
    const { blobs, queue, repositories, store } = this.#parts;
    const { source_ref: ref, source_url: url } = this.#claimed;
    if (this.sourceBlob !== undefined) return this.sourceBlob;
    if (url === null || ref === null) throw new BuildError("The archive of this deployment is gone. Deploy again.");
    this.say(`Fetching ${url} at ${ref}`);
    const signal = anySignal([this.#signal, AbortSignal.timeout(fetchMs)]);
    const token = await store.openToken(this.#claimed);
    try {
      const body = await repositories.open({ url, ref, token }, signal);
      const blob = await putHashed(blobs, body, { maxBytes: maxArchiveBytes });
      this.sourceBlob = blob.name;
      if (await queue.keepSource(this.#claimed, blob)) return blob.name;
      throw new BuildError("Another server builds this deployment.");
    } catch (error) {
      this.#signal.throwIfAborted();
      if (signal.aborted)
        throw new BuildError(`Fetching ${url} took longer than ${String(fetchMs / 1000)} seconds.`, { cause: error });
      if (error instanceof BlobTooLarge)
        throw new BuildError(`The archive of ${url} is larger than ${String(maxArchiveBytes / 2 ** 20)} MiB.`, {
          cause: error,
        });
      throw error;
    }
  }

  async #download(blob: string, path: string): Promise<void> {
    const found = await this.#parts.blobs.get(blob);
    if (found === undefined) throw new BuildError(`The archive of this deployment is not ${this.#parts.blobs.place}`);
    await pipeline(found.stream, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal: this.#signal });
  }

  async #unpack(archive: string, folder: string): Promise<void> {
    const { project_id: owner, source_path, source_type } = this.#claimed;
    const root = (source_path ?? "").replace(/^(?:\.?\/)+|(?<!\/)\/+$/g, "").replace(/^\.$/, "");
    try {
      const { files } = await this.#parts.parsing.run(
        "unpackZip",
        { archive, folder, limits, stripTop: source_type === "github", root },
        { owner, signal: this.#signal },
      );
      this.say(`Unpacked ${String(files)} files`);
    } catch (error) {
      if (error instanceof ParseFailure) throw new BuildError(`The archive: ${error.message}`, { cause: error });
      throw error;
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function checkSources(folder: string, entrypoint: string): Promise<void> {
  if (!(await isFile(join(folder, entrypoint))))
    throw new BuildError(
      `The entry file ${entrypoint} is not in the sources. Its path is relative to the root of the archive, or to source.path.`,
    );
  const isPython = extname(entrypoint) === ".py";
  const manifests = isPython ? ["pyproject.toml", "requirements.txt"] : ["package.json"];
  const found = await Promise.all(manifests.map((name) => isFile(join(folder, name))));
  if (!found.includes(true)) throw new BuildError(`The sources have no ${manifests.join(" or ")} at their root.`);
}

/** The description comes from the code of the app. @throws {BuildError} */
function checkDescription({ apps }: BuiltApp): void {
  if (apps.length === 0) throw new BuildError("The entry file registers no app.");
  const names = apps.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new BuildError(`The app ${JSON.stringify(twice)} is registered twice.`);
  for (const name of [...names, ...apps.flatMap(({ actions }) => actions.map((action) => action.name))])
    if (name === "" || name.length > 255)
      throw new BuildError(
        `Names of apps and actions have 1 to 255 characters: ${JSON.stringify(name.slice(0, 100))}.`,
      );
  const bad = new Set<string>();
  const text = JSON.stringify(apps, (key, value: unknown) => {
    for (const each of [key, value]) if (typeof each === "string" && !isStorable(each)) bad.add(each);
    return value;
  });
  if (bad.size > 0)
    throw new BuildError(
      "Names, schemas and schedules of apps must be valid Unicode, without NUL characters and half surrogate pairs.",
    );
  if (text.length > maxDescriptionBytes)
    throw new BuildError(`The description of the apps is larger than ${String(maxDescriptionBytes / 2 ** 20)} MiB.`);
}

function isStorable(text: string): boolean {
  return unstorable("", text) === undefined;
}
