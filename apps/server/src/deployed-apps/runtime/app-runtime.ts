import type { DeclaredSchedule } from "@shoal/app-runner";
import type { AppAction } from "@shoal/schemas";

/** Builds deployed apps and runs them in boxes. */
export interface AppRuntime {
  /** Repositories are not fetched: their builds get an empty folder. */
  readonly ignoresRepositories?: true;
  /**
   * Installs the dependencies, bundles the entry and describes the apps. Aborting removes the box and its files.
   * @throws {BuildError} whose message becomes the `status_reason` of the deployment.
   */
  build(source: BuildSource, on: AppOutput, signal: AbortSignal): Promise<BuiltApp>;
  /**
   * Starts a program that has imported the entry and waits for one invocation.
   * @throws {AppStartError} whose message becomes the `status_reason` of the invocation.
   */
  start(app: RunnableApp, on: AppOutput, signal: AbortSignal): Promise<AppProgram>;
  /** Whether this server can read what {@link build} stored. */
  has(artifact: string): Promise<boolean>;
  /** Deletes what {@link build} stored. An unknown artifact is ignored. */
  remove(artifact: string): Promise<void>;
  /** Resolves when no program and no build is left. */
  close(): Promise<void>;
}

/** Takes what a build or an app writes. */
export interface AppOutput {
  /** Called in the order of each stream. It must not block. */
  line(line: LogLine): void;
}

export interface LogLine {
  readonly source: "stdout" | "stderr" | "build";
  /** At most 64 KiB in UTF-8, without a line break. */
  readonly text: string;
  readonly at: Date;
}

export interface BuildSource {
  readonly deployment_id: string;
  readonly project: string;
  /** The unpacked and checked sources. {@link AppRuntime.build} copies them and changes nothing. */
  readonly folder: string;
  /** Relative to `folder`. */
  readonly entrypoint: string;
  readonly env: Readonly<Record<string, string>>;
}

export type AppLanguage = "node" | "python";

/** The result of a build. */
export interface BuiltApp {
  /** Key of a blob that any server can unpack and run without a build. */
  readonly artifact: string;
  readonly language: AppLanguage;
  readonly apps: readonly DescribedApp[];
}

export interface DescribedApp {
  readonly name: string;
  readonly actions: readonly AppAction[];
  /** Schedules that its actions declare. */
  readonly schedules?: readonly DeclaredSchedule[] | undefined;
}

export interface RunnableApp {
  readonly deployment_id: string;
  readonly project: string;
  readonly artifact: string;
  readonly language: AppLanguage;
  readonly entrypoint: string;
  readonly env: Readonly<Record<string, string>>;
  /** Key of the deployment, which the app calls the service with. */
  readonly api_key: string;
}

/** A program of an app, for one invocation. */
export interface AppProgram {
  /**
   * Runs one action; a second call is an error. Resolves with the result, also when the program ends without one. All
   * lines of the action are reported before.
   */
  invoke(call: AppCall): Promise<AppResult>;
  /** Resolves when all processes, sockets and files are gone. May be called again. */
  stop(): Promise<void>;
  /** Resolves with {@link stop}, or when the program has ended. Never rejects. */
  readonly ended: Promise<void>;
}

export interface AppCall {
  readonly invocation_id: string;
  readonly app_name: string;
  readonly action_name: string;
  /** JSON. */
  readonly payload?: string;
}

/** The result of an action. */
export interface AppResult {
  readonly status: "succeeded" | "failed";
  /** JSON, at most 4.5 MiB; of a failed action `{"error": "…"}`. */
  readonly output?: string;
  readonly status_reason?: string;
}

const buildMarker = Symbol.for("shoal.error.BuildError");

/** The app cannot be deployed. The message is for its author. */
export class BuildError extends Error {
  override readonly name = "BuildError";
  readonly [buildMarker] = true;

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is BuildError {
    return typeof error === "object" && error !== null && buildMarker in error;
  }
}

const startMarker = Symbol.for("shoal.error.AppStartError");

/** The program did not get ready. The message is for the app's author. */
export class AppStartError extends Error {
  override readonly name = "AppStartError";
  readonly [startMarker] = true;

  static isInstance(error: unknown): error is AppStartError {
    return typeof error === "object" && error !== null && startMarker in error;
  }
}
