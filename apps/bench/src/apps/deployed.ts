import { type Deployment, Shoal } from "@shoal/client";
import { type ServiceProcess, startService } from "@shoal/cli/service";
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ZipFile } from "yazl";

export interface AppBench {
  readonly service: ServiceProcess;
  readonly shoal: Shoal;
  /** Temporary. */
  readonly folder: string;
}

/** Runs `work` with a service. */
export async function withService<T>(flags: readonly string[], work: (bench: AppBench) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  try {
    const service = await startService(join(folder, "data"), ["--warm", "0", "--log-level", "warn", ...flags]);
    try {
      return await work({ service, shoal: new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey }), folder });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The app of the benchmarks with the SDK in one file, so that its build installs nothing. */
export async function bundledApp(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "bench-app.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

/** Deploys files by name and waits until the app runs. */
export async function deploy(shoal: Shoal, files: Readonly<Record<string, string>>): Promise<Deployment> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  const file = new File([new Uint8Array(Buffer.concat(chunks))], "app.zip");
  const { id } = await shoal.deployments.create({ file, entrypoint_rel_path: "index.js" });
  const deployment = await shoal.deployments.wait(id, { totalTimeoutMs: 120_000 });
  if (deployment.status !== "running") throw new Error(`The deployment ${String(deployment.status_reason)}`);
  return deployment;
}

export const manifest = { name: "bench", version: "1.0.0", private: true, type: "module" };
