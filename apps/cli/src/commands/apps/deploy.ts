import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Run } from "../../core/types.ts";
import { archiveFolder } from "../../operations/archive.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printable } from "../../output/format.ts";
import { upload } from "../../operations/upload.ts";
import { secretText } from "../../table/request.ts";
import { type AppFlags, type Fields, followToEnd, type SpecOf } from "./follow-to-end.ts";

export interface EnvironmentFlags {
  readonly env?: readonly string[];
  readonly envFile?: readonly string[];
}

interface DeployFlags extends AppFlags, EnvironmentFlags {
  readonly force?: boolean;
  readonly region?: string;
  readonly follow: boolean;
}

interface Sources {
  /** Fields of `deployments.create` with the sources and the environment. */
  readonly fields: Fields;
  /** `7 files` */
  readonly label: string;
  /** `7 files of ./shop` */
  readonly described: string;
}

/** As the field of `deployments.create`, if there is one. */
export function environment({ env: pairs = [], envFile: files = [] }: EnvironmentFlags): {
  env_vars?: Record<string, string>;
} {
  const found: Record<string, string> = {};
  for (const file of files) {
    try {
      Object.assign(found, parseEnv(readFileSync(file, "utf8")));
    } catch {
      throw new UsageError(`--env-file: cannot read ${file}.`);
    }
  }
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`--env takes KEY=value, not "${pair}".`);
    found[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return Object.keys(found).length === 0 ? {} : { env_vars: found };
}

export async function deploy(entrypoint: string, specOf: SpecOf, flags: DeployFlags, run: Run): Promise<void> {
  const path = resolve(entrypoint);
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) throw new UsageError(`<entrypoint> must be a file; ${entrypoint} is not.`);
  const variables = environment(flags);
  const folder = dirname(path);
  await using archive = await archiveFolder(folder, { gitignore: true, signal: run.signal });
  const label = `${String(archive.files)} files`;
  const fields = { ...variables, entrypoint_rel_path: basename(path), file: archive.path };
  await deploySources({ fields, label, described: `Uploaded ${label} of ${printable(folder)}` }, specOf, flags, run);
}

export async function deployRepository(
  specOf: SpecOf,
  flags: DeployFlags & {
    readonly url: string;
    readonly ref: string;
    readonly entrypoint: string;
    readonly path?: string;
    readonly githubToken?: string;
  },
  run: Run,
): Promise<void> {
  const { entrypoint, githubToken, path, ref, url } = flags;
  const token = githubToken === undefined ? undefined : secretText("--github-token", githubToken);
  const source = {
    type: "github",
    url,
    ref,
    entrypoint,
    ...(path !== undefined && { path }),
    ...(token !== undefined && { auth: { method: "github_token", token } }),
  };
  const described = `Sent ${printable(url)} at ${printable(ref)}`;
  // The request shows the token, and terminals keep what they show.
  const shown =
    token !== undefined && flags.dryRun === true
      ? { ...source, auth: { method: "github_token", token: "***" } }
      : source;
  await deploySources({ fields: { ...environment(flags), source: shown }, label: url, described }, specOf, flags, run);
}

async function deploySources(sources: Sources, specOf: SpecOf, flags: DeployFlags, run: Run): Promise<void> {
  const { terminal } = run;
  const create = specOf("deployments.create");
  const body = {
    version: flags.version ?? "latest",
    ...(flags.force === true && { force: true }),
    ...(flags.region !== undefined && { region: flags.region }),
    ...sources.fields,
  };
  const request = { params: {}, query: {}, body };
  if (flags.dryRun === true) {
    const { printRequest } = await import("../../operations/dry-run.ts");
    await printRequest({ spec: create, request, given: flags as unknown as Fields }, flags, run);
    return;
  }
  const deployment = (await upload(create, request, { ...flags, label: sources.label }, run)) as { id: string };
  if (flags.output !== "table") terminal.stdout.write(`${JSON.stringify(deployment)}\n`);
  else if (flags.quiet !== true) terminal.stderr.write(`${sources.described} as deployment ${deployment.id}.\n`);
  if (!flags.follow) return;
  const end = await followToEnd(
    specOf("deployments.follow"),
    deployment.id,
    { event: "deployment_state", field: "deployment", ends: ["running", "failed", "stopped"] },
    { flags, run },
  );
  if (end.status !== "running") {
    const reason = typeof end.status_reason === "string" ? end.status_reason.replace(/\.$/, "") : "";
    throw new ExitError(
      exitCodes.error.status,
      `Deployment ${deployment.id} ${String(end.status)}${reason && `: ${reason}`}.`,
      `Print its log with: shoal deployments follow ${deployment.id}`,
    );
  }
  if (flags.output === "table" && flags.quiet !== true)
    terminal.stderr.write(`Deployment ${deployment.id} is running.\n`);
}
