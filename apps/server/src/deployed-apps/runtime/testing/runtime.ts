import { createPlacement, type DockerOptions, type PlacementKind, type PlacementLog } from "@shoal/placement";
import { createServer, type RequestListener } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { createFileBlobs } from "../../../storage/blobs/blobs.ts";
import { SdkPackages } from "../../registry/sdk-packages.ts";
import type { BuildSource, BuiltApp, LogLine, RunnableApp } from "../app-runtime.ts";
import { LocalAppRuntime, type LocalAppRuntimeOptions } from "../local-app-runtime.ts";

const quiet: PlacementLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface TestRuntime {
  readonly runtime: LocalAppRuntime;
  readonly folder: string;
  readonly lines: LogLine[];
  readonly on: { line(line: LogLine): void };
}

export interface TestRuntimeOptions extends Partial<LocalAppRuntimeOptions> {
  readonly kind?: PlacementKind;
  readonly docker?: DockerOptions;
  /** Answers as the API. */
  readonly api?: RequestListener;
}

/** Closed after the test. */
export async function openRuntime({
  kind = "sandbox",
  docker,
  api,
  ...options
}: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-runtime-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const placement = await createPlacement({
    kind,
    ...(docker && { docker }),
    sessionsDir: join(folder, "sessions"),
    warm: 0,
    allowPrivateHosts: [],
    log: quiet,
  });
  onTestFinished(() => placement.close());
  const server = createServer(api);
  const runtime = await LocalAppRuntime.open({
    placement,
    blobs: createFileBlobs(join(folder, "blobs")),
    folder: join(folder, "apps"),
    registry: {
      url: "https://registry.npmjs.org",
      pythonIndex: "https://pypi.org/simple",
      allowedHosts: [],
      authorities: process.env.NODE_EXTRA_CA_CERTS,
    },
    sdk: new SdkPackages(),
    allowScripts: [],
    build: { memoryBytes: 2 ** 30, diskBytes: 2 ** 30, timeoutMs: 120_000 },
    foldersBytes: 2 ** 30,
    app: { memoryBytes: 512 * 2 ** 20, diskBytes: 64 * 2 ** 20 },
    onApiConnection: (socket) => server.emit("connection", socket),
    outerUrl: () => undefined,
    ...options,
  });
  onTestFinished(() => runtime.close());
  const lines: LogLine[] = [];
  return { runtime, folder, lines, on: { line: (line) => lines.push(line) } };
}

export async function sourceOf(
  files: Readonly<Record<string, string>>,
  entrypoint: string,
  env: Readonly<Record<string, string>> = {},
): Promise<BuildSource> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-source-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return { deployment_id: "d1", project: "p1", folder, entrypoint, env };
}

export function runnable(source: BuildSource, { artifact, language }: BuiltApp): RunnableApp {
  const { deployment_id, entrypoint, env, project } = source;
  return { deployment_id, project, artifact, language, entrypoint, env, api_key: "sk_app" };
}
