import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AppRuntime,
  BuildError,
  type BuildSource,
  type DescribedApp,
} from "../deployed-apps/runtime/app-runtime.ts";
import { zipOf } from "./zip.ts";

/** The entry file of a scripted app, as JSON: how its build goes. */
export interface Script {
  readonly apps?: readonly DescribedApp[];
  readonly lines?: readonly string[];
  readonly error?: string;
  /** The build waits until the test lets it go on. */
  readonly waits?: boolean;
}

/** Builds apps whose entry file is a {@link Script}, so that tests choose the moment and the result. */
export class ScriptedBuilds implements AppRuntime {
  readonly built: BuildSource[] = [];
  readonly removed: string[] = [];
  readonly #gates = new Set<() => void>();

  waiting(): number {
    return this.#gates.size;
  }

  /** Lets all waiting builds go on. */
  release(): void {
    for (const open of this.#gates) open();
  }

  async build(...[source, on, signal]: Parameters<AppRuntime["build"]>): ReturnType<AppRuntime["build"]> {
    const script = JSON.parse(await readFile(join(source.folder, source.entrypoint), "utf8")) as Script;
    this.built.push(source);
    for (const text of script.lines ?? []) on.line({ source: "build", text, at: new Date() });
    if (script.waits === true) await this.#gate(signal);
    if (script.error !== undefined) throw new BuildError(script.error);
    return { artifact: `artifact of ${source.deployment_id}`, language: "node", apps: script.apps ?? [] };
  }

  start(): ReturnType<AppRuntime["start"]> {
    return Promise.reject(new Error("Scripted builds cannot run."));
  }

  has(artifact: string): Promise<boolean> {
    return Promise.resolve(!this.removed.includes(artifact));
  }

  remove(artifact: string): Promise<void> {
    this.removed.push(artifact);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #gate(signal: AbortSignal): Promise<void> {
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", abort);
    this.#gates.add(resolve);
    try {
      await promise;
    } finally {
      this.#gates.delete(resolve);
      signal.removeEventListener("abort", abort);
    }
  }
}

export function appNamed(name: string, ...actions: readonly string[]): DescribedApp {
  return { name, actions: actions.map((action) => ({ name: action })) };
}

export async function deploymentOf(
  script: Script,
  fields: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = { "package.json": "{}" },
): Promise<FormData> {
  const archive = await zipOf({ ...files, "index.ts": JSON.stringify(script) });
  return formOf(archive, { entrypoint_rel_path: "index.ts", ...fields });
}

export function formOf(archive: Buffer | undefined, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (archive !== undefined) form.append("file", new Blob([new Uint8Array(archive)]), "app.zip");
  return form;
}
