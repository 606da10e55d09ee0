import type { Page } from "@shoal/contract";
import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { CreateFlow, type Flow, type FlowSummary, type ListFlows, type UpdateFlow } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { flowNotFound, flowVersionNotFound, maxFlows, tooManyFlows } from "./flow-refusals.ts";
import { checkContent, type FlowContent } from "./flow-content.ts";

const columns = ["id", "name", "version", "start_url", "created_at", "updated_at"] as const;
const keptVersions = 50;

/** Flows of projects and their versions. */
export class Flows {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** @throws {ServiceError} 400, 409. */
  async create(projectId: string, { name, ...content }: z.output<typeof CreateFlow>): Promise<Flow> {
    checkContent(content);
    return this.#query.transaction().execute(async (transaction) => {
      await admit(transaction, projectId);
      const row = await transaction
        .insertInto("flows")
        .values({ id: createId(), project_id: projectId, name, start_url: content.start_url })
        .returning(columns)
        .executeTakeFirstOrThrow();
      await addVersion(transaction, row, content);
      return wholeOf(row, content);
    });
  }

  async list(projectId: string, window: z.output<typeof ListFlows>): Promise<Page<FlowSummary>> {
    const rows = this.#query.selectFrom("flows").select(columns).where("project_id", "=", projectId);
    return toPage(await newestFirst(rows, window).execute(), window, (row) => row);
  }

  /** @throws {ServiceError} 404. */
  async get(projectId: string, id: string, version?: number): Promise<Flow> {
    return read(this.#query, { projectId, id }, version);
  }

  /** @throws {ServiceError} 400, 404, 409. */
  async update(projectId: string, id: string, request: z.output<typeof UpdateFlow>): Promise<Flow> {
    return this.#query.transaction().execute(async (transaction) => {
      if (!isStorable(id)) throw ServiceError.of(flowNotFound(id));
      await transaction
        .selectFrom("flows")
        .select("id")
        .where("id", "=", id)
        .where("project_id", "=", projectId)
        .forUpdate()
        .executeTakeFirstOrThrow(() => ServiceError.of(flowNotFound(id)));
      const present = await read(transaction, { projectId, id });
      const { name = present.name, parameters, start_url: startUrl, steps } = request;
      const content = {
        start_url: startUrl ?? present.start_url,
        parameters: parameters ?? present.parameters,
        steps: steps ?? present.steps,
      };
      const isNew = (parameters ?? startUrl ?? steps) !== undefined;
      if (isNew) checkContent(content);
      const row = await transaction
        .updateTable("flows")
        .set({
          name,
          ...(isNew && { version: present.version + 1, start_url: content.start_url, updated_at: new Date() }),
        })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirstOrThrow();
      if (isNew) await addVersion(transaction, row, content);
      return wholeOf(row, content);
    });
  }

  /** @throws {ServiceError} 404. */
  async delete(projectId: string, id: string): Promise<void> {
    if (!isStorable(id)) throw ServiceError.of(flowNotFound(id));
    const deleted = this.#query.deleteFrom("flows").where("project_id", "=", projectId).where("id", "=", id);
    if ((await deleted.executeTakeFirst()).numDeletedRows === 0n) throw ServiceError.of(flowNotFound(id));
  }
}

async function read(
  query: Kysely<Tables>,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  version?: number,
): Promise<Flow> {
  if (!isStorable(id)) throw ServiceError.of(flowNotFound(id));
  const rows = query.selectFrom("flows").select(columns).where("project_id", "=", projectId);
  const row = await rows.where("id", "=", id).executeTakeFirstOrThrow(() => ServiceError.of(flowNotFound(id)));
  const wanted = version ?? row.version;
  const { content, created_at } = await query
    .selectFrom("flow_versions")
    .select(["content", "created_at"])
    .where("flow_id", "=", id)
    .where("version", "=", wanted)
    .executeTakeFirstOrThrow(() => ServiceError.of(flowVersionNotFound(id, wanted)));
  const stored = CreateFlow.parse({ name: row.name, ...(content as object) });
  return wholeOf({ ...row, version: wanted, ...(version !== undefined && { updated_at: created_at }) }, stored);
}

async function addVersion(
  transaction: Kysely<Tables>,
  { id, version }: Pick<FlowSummary, "id" | "version">,
  content: FlowContent,
): Promise<void> {
  const stored = JSON.stringify(contentOf(content));
  await transaction.insertInto("flow_versions").values({ flow_id: id, version, content: stored }).execute();
  const old = transaction.deleteFrom("flow_versions").where("flow_id", "=", id);
  await old.where("version", "<=", version - keptVersions).execute();
}

/** One request at a time, so that the limit holds. @throws {ServiceError} 409 */
async function admit(transaction: Kysely<Tables>, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(1936223078, hashtext(${projectId}))`.execute(transaction);
  const { count } = await transaction
    .selectFrom("flows")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow();
  if (count >= maxFlows) throw ServiceError.of(tooManyFlows());
}

export function contentOf({ parameters, start_url, steps }: FlowContent): FlowContent {
  return { start_url, parameters, steps };
}

function wholeOf(row: FlowSummary, content: FlowContent): Flow {
  return { ...row, ...contentOf(content) };
}
