import type { OperationsOf } from "@shoal/contract";
import {
  deploymentNeverRan,
  deploymentNotFound,
  deploymentRunsAlready,
  deploymentStillBuilds,
  outsideSources,
  pathInSources,
  repositoryExpected,
  reservedVariables,
  textExpected,
  unstorable,
  variableNameExpected,
} from "@shoal/contract/refusals";
import { describeApps, type AppDescription } from "@shoal/client/app";
import { createId } from "@shoal/primitives";
import { badInput, FormFields, ServiceError, type Handlers, type MultipartPart } from "@shoal/router";
import { CreateDeployment, type AppVersion, type Deployment } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import * as z from "zod/mini";
import { EventLog } from "../files/event-log.ts";
import type { DirectoryNode, TreeNode } from "../files/file-tree.ts";
import { readWhole } from "../files/uploads.ts";
import { unpackZip } from "../files/zip.ts";
import type { Access } from "../state/access.ts";
import type { DeploymentRow } from "../state/apps.ts";
import { replaceDeclared } from "../state/declared-schedules.ts";
import { holds, pageOf } from "../state/listing.ts";
import { linesSince } from "../state/since.ts";
import type { Store } from "../state/store.ts";

type Requested = z.output<typeof CreateDeployment>;

function toDeployment(row: DeploymentRow): Deployment {
  const { id, shown, status, statusReason, updatedAt } = row;
  return {
    id,
    status,
    ...(statusReason !== undefined && { status_reason: statusReason }),
    ...shown,
    updated_at: updatedAt ?? null,
  };
}

/** Whether a deployment has the current version of an app. */
function isCurrent({ isDeleted, status }: DeploymentRow): boolean {
  return status === "running" && !isDeleted;
}

export function findVersion(
  store: Store,
  projectId: string,
  { app, version }: { readonly app: string; readonly version: string },
): { readonly deployment: DeploymentRow; readonly found: AppVersion } | undefined {
  for (const deployment of store.deployments) {
    if (deployment.projectId !== projectId || !isCurrent(deployment)) continue;
    const found = deployment.versions.find((one) => one.app_name === app && one.version === version);
    if (found !== undefined) return { deployment, found };
  }
  return undefined;
}

/** Deployments do not run their sources: they have the apps that this process knows. */
class FakeDeployments {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async create(parts: AsyncIterable<MultipartPart>, projectId: string): Promise<Deployment> {
    const { archive, body } = await takeParts(parts);
    const row = rowOf(projectId, body, archive);
    this.#store.deployments.push(row);
    this.#change(row, "queued");
    const answer = toDeployment(row);
    void this.#build(row, body, archive);
    return answer;
  }

  existing(projectId: string, id: string): DeploymentRow {
    const found = this.#store.deployments.find((row) => row.id === id && row.projectId === projectId && !row.isDeleted);
    if (found === undefined) throw ServiceError.of(deploymentNotFound(id));
    return found;
  }

  delete(row: DeploymentRow): void {
    row.isDeleted = true;
    if (row.status !== "failed" && row.status !== "stopped") this.#change(row, "stopped");
  }

  rollback(row: DeploymentRow): void {
    const { id, status, versions } = row;
    if (status === "queued" || status === "in_progress") throw ServiceError.of(deploymentStillBuilds(id));
    if (versions.length === 0) throw ServiceError.of(deploymentNeverRan(id));
    if (status === "running") throw ServiceError.of(deploymentRunsAlready(id));
    // Followers of the first run have left.
    row.events = new EventLog();
    this.#start(row);
  }

  /** Newest first. */
  visible(projectId: string): DeploymentRow[] {
    return this.#store.deployments.filter((row) => row.projectId === projectId && !row.isDeleted).reverse();
  }

  async #build(row: DeploymentRow, body: Requested, archive: Buffer | undefined): Promise<void> {
    await setImmediate();
    if (row.isDeleted) return;
    this.#change(row, "in_progress");
    try {
      if (archive !== undefined) checkSources(await unpackZip(archive), body.entrypoint_rel_path ?? "");
      const apps = await this.#apps();
      if (apps.length === 0)
        throw new Error("The fake knows no app. Add one with fake.addApp(), or import its file in the test.");
      this.#refuseTaken(row, body, apps);
      // Deleted while it was built.
      if (row.status === "in_progress") this.#publish(row, apps);
    } catch (error) {
      if (row.status !== "in_progress") return;
      row.statusReason = error instanceof Error ? error.message : String(error);
      this.#change(row, "failed");
    }
  }

  /** Those of `fake.addApp` replace registered apps with the same name. */
  async #apps(): Promise<AppDescription[]> {
    const { apps } = await describeApps();
    const added = [...this.#store.apps].map(([name, actions]) => ({
      name,
      actions: Object.keys(actions).map((action) => ({ name: action, input_schema: null, output_schema: null })),
    }));
    return [...apps.filter(({ name }) => !this.#store.apps.has(name)), ...added];
  }

  #refuseTaken(row: DeploymentRow, { force, version }: Requested, apps: readonly AppDescription[]): void {
    if (version === "latest" || force) return;
    for (const { name } of apps) {
      const taken = findVersion(this.#store, row.projectId, { app: name, version });
      if (taken !== undefined)
        throw new Error(
          `Version ${version} of the app ${name} already exists (deployment ${taken.deployment.id}). Choose another version, or replace it with force.`,
        );
    }
  }

  #publish(row: DeploymentRow, apps: readonly AppDescription[]): void {
    const { env_vars = {}, region } = row.shown;
    row.versions = apps.map(({ actions, name }) => ({
      id: createId(),
      app_name: name,
      version: row.version,
      region,
      deployment: row.id,
      actions: [...actions],
      env_vars,
    }));
    row.apps = apps;
    this.#start(row);
  }

  /** Replaces the deployments with the same apps and label. */
  #start(row: DeploymentRow): void {
    const replaced = new Set(
      row.versions.flatMap(
        ({ app_name: app, version }) => findVersion(this.#store, row.projectId, { app, version })?.deployment ?? [],
      ),
    );
    if (row.status === "stopped") {
      const ids = [...replaced].map(({ id }) => id);
      row.statusReason = ids.length === 0 ? "It was started again." : `It replaced deployment ${ids.join(", ")}.`;
    }
    const timestamp = new Date().toISOString();
    for (const { deployment: _, ...version } of row.versions)
      row.events.push({ event: "app_version_summary", ...version, timestamp });
    this.#change(row, "running");
    replaceDeclared(this.#store, row, row.apps);
    for (const old of replaced) {
      old.statusReason = `Deployment ${row.id} replaced it.`;
      this.#change(old, "stopped");
    }
  }

  #change(row: DeploymentRow, status: DeploymentRow["status"]): void {
    row.status = status;
    const timestamp = new Date().toISOString();
    if (status !== "queued") row.updatedAt = timestamp;
    row.events.push({ event: "deployment_state", deployment: toDeployment(row), timestamp });
    if (status === "failed" || status === "stopped") row.events.close();
  }
}

export function deploymentHandlers(store: Store): Handlers<OperationsOf<"apps"> & OperationsOf<"deployments">, Access> {
  const deployments = new FakeDeployments(store);
  return {
    createDeployment: ({ body, context }) => deployments.create(body, context.projectId),
    listDeployments: ({ query: { app_name, app_version, query: part, ...window }, context }) =>
      pageOf(
        deployments
          .visible(context.projectId)
          .filter(
            ({ id, versions }) =>
              (app_name === undefined ||
                versions.some(
                  (one) => one.app_name === app_name && (app_version === undefined || one.version === app_version),
                )) &&
              (part === undefined || id === part || versions.some((one) => holds(one.app_name, part))),
          ),
        window,
        toDeployment,
      ),
    getDeployment: ({ params, context }) => toDeployment(deployments.existing(context.projectId, params.id)),
    deleteDeployment: ({ params, context }) => {
      deployments.delete(deployments.existing(context.projectId, params.id));
    },
    rollbackDeployment: ({ params, context }) => {
      const row = deployments.existing(context.projectId, params.id);
      deployments.rollback(row);
      return toDeployment(row);
    },
    followDeployment: ({ params, query, context, lastEventId }) =>
      deployments
        .existing(context.projectId, params.id)
        .events.read(Number(lastEventId ?? 0) || 0, linesSince(query.since)),
    listApps: ({ query: { app_name, query: part, version, ...window }, context }) =>
      pageOf(
        deployments
          .visible(context.projectId)
          .filter(isCurrent)
          .flatMap(({ versions }) => versions)
          .filter(
            (one) =>
              (app_name === undefined || one.app_name === app_name) &&
              (version === undefined || one.version === version) &&
              (part === undefined || holds(one.app_name, part)),
          ),
        window,
        (one) => one,
      ),
  };
}

async function takeParts(
  parts: AsyncIterable<MultipartPart>,
): Promise<{ readonly body: Requested; readonly archive: Buffer | undefined }> {
  const fields = new FormFields(CreateDeployment);
  let archive: Buffer | undefined;
  for await (const part of parts) {
    if (part.kind === "field") fields.add(part);
    else if (part.name === "file") archive = await readWhole(part.stream, "body.file");
    else throw ServiceError.of(textExpected(`body.${part.name}`));
  }
  const given = { ...fields.values, ...(archive && { file: new File([], "archive.zip") }) };
  const checked = z.safeParse(CreateDeployment, given);
  const [issue] = checked.error?.issues ?? [];
  if (!checked.success) throw badInput(["body", ...(issue?.path ?? [])].join("."), issue?.message ?? "is invalid");
  refuse(checked.data);
  return { body: checked.data, archive };
}

/** What the schema accepts and the service does not. @throws {ServiceError} 400 */
function refuse({ entrypoint_rel_path, env_vars = {}, source, version }: Requested): void {
  if (source !== undefined && !/^https?:\/\/[^/@]+\/[\w.-]+\/[\w.-]+\/?$/.test(source.url))
    throw ServiceError.of(repositoryExpected());
  type Text = readonly [field: string, text: string | undefined];
  const entry: Text =
    source === undefined
      ? ["body.entrypoint_rel_path", entrypoint_rel_path]
      : ["body.source.entrypoint", source.entrypoint];
  const paths: readonly Text[] = [["body.source.path", source?.path], entry];
  const texts: readonly Text[] = [["body.version", version], ["body.source.ref", source?.ref], ...paths];
  for (const [field, path] of paths)
    if (path !== undefined && pathInSources(path) === undefined) throw ServiceError.of(outsideSources(field, path));
  for (const [field, text] of texts) {
    const refusal = unstorable(field, text);
    if (refusal !== undefined) throw ServiceError.of(refusal);
  }
  for (const name of Object.keys(env_vars))
    if (!reservedVariables.has(name) && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw ServiceError.of(variableNameExpected(name));
}

function rowOf(projectId: string, body: Requested, archive: Buffer | undefined): DeploymentRow {
  const { entrypoint_rel_path, env_vars = {}, region, source, version } = body;
  const names = Object.keys(env_vars).filter((name) => !reservedVariables.has(name));
  return {
    id: createId(),
    projectId,
    version,
    shown: {
      region,
      entrypoint_rel_path: source?.entrypoint ?? entrypoint_rel_path ?? "",
      env_vars: Object.fromEntries(names.map((name) => [name, ""])),
      created_at: new Date().toISOString(),
      source_type: source === undefined ? "file" : "github",
      ...(source && { source_url: source.url, source_ref: source.ref }),
      ...(source?.path !== undefined && { source_path: source.path }),
      ...(archive && { source_checksum: createHash("sha256").update(archive).digest("hex") }),
    },
    status: "queued",
    statusReason: undefined,
    updatedAt: undefined,
    isDeleted: false,
    versions: [],
    apps: [],
    events: new EventLog(),
  };
}

function checkSources(top: DirectoryNode, entrypoint: string): void {
  if (!hasFile(top, entrypoint))
    throw new Error(
      `The entry file ${entrypoint} is not in the sources. Its path is relative to the root of the archive, or to source.path.`,
    );
  const manifests = entrypoint.endsWith(".py") ? ["pyproject.toml", "requirements.txt"] : ["package.json"];
  if (!manifests.some((name) => hasFile(top, name)))
    throw new Error(`The sources have no ${manifests.join(" or ")} at their root.`);
}

function hasFile(top: DirectoryNode, path: string): boolean {
  let node: TreeNode | undefined = top;
  for (const name of path.split("/").filter((part) => part !== "" && part !== "."))
    node = node?.kind === "directory" ? node.children.get(name) : undefined;
  return node?.kind === "file";
}
