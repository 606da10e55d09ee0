import { invalid } from "@shoal/contract/refusals";
import { readBody, ServiceError } from "@shoal/router";
import { requestIdOf } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { formNoteOf } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import type { Entering } from "../../host/entering.ts";
import { type HtmlPage, htmlPage, sendPage } from "../../http/pages/html-page.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import { packageFile } from "../../config/package-file.ts";
import { collectPath, type OpenedForm } from "../vaults/collections.ts";
import type { VaultParts } from "../vaults/handlers.ts";
import { type OwnDefinition, isCollected, requireValue } from "../vaults/item-definition.ts";
import type { ShownForm } from "./page/form.ts";

/** Written by build.mjs. */
const pagePath = packageFile("dist/pages/collect.html");
/** 32 fields of 16 KiB, in JSON. */
const maxBodyBytes = 1024 * 1024;
/** By name of field; `null` removes a value. */
const Values = z.object({ values: z.record(z.string(), z.nullable(z.string())) });

export interface CollectParts extends Pick<VaultParts, "collections" | "items"> {
  readonly entering: Pick<Entering, "admitWork" | "countRefused">;
  readonly frameAncestors: readonly string[];
  readonly origins: Pick<RequestOrigins, "clientIpOf">;
  readonly recorder: Pick<AuditRecorder, "note">;
}

/** The page is the same document for every link: its script sends the token, which is in the fragment. */
export function serveCollect(app: FastifyInstance, parts: CollectParts): void {
  const { collections, entering, frameAncestors, items } = parts;
  let loaded: HtmlPage | undefined;
  app.route({
    method: ["GET", "HEAD"],
    url: collectPath,
    exposeHeadRoute: false,
    handler(_request, reply) {
      loaded ??= htmlPage(readFileSync(pagePath, "utf8"));
      sendPage(reply, 200, loaded, frameAncestors);
    },
  });
  const opened = async (request: FastifyRequest): Promise<OpenedForm & { readonly definition: OwnDefinition }> => {
    entering.admitWork(request);
    try {
      const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const { row, vault } = await collections.open(token);
      const { definition } = row;
      if (definition.provider !== "kernel") throw new Error(`Item ${row.id} has a link without own fields.`);
      return { row, vault, definition };
    } catch (error) {
      if (ServiceError.isInstance(error)) entering.countRefused(request.raw);
      throw error;
    }
  };
  app.get(`${collectPath}/form`, async (request, reply): Promise<ShownForm> => {
    void reply.header("cache-control", "no-store");
    const { definition, row, vault } = await opened(request);
    const { state } = await items.shown(vault, row);
    return {
      title: definition.description,
      fields: definition.fields.filter(isCollected).map(({ label, name, required, sensitive, type }) => {
        const { has_value: hasValue = false, value } = state.fields?.[name] ?? {};
        return { name, type, required, sensitive, label, has_value: hasValue, value };
      }),
    };
  });
  app.post(`${collectPath}/form`, async (request, reply) => {
    void reply.header("cache-control", "no-store");
    const { definition, row, vault } = await opened(request);
    return recorded(parts, request, { row, vault }, async () => {
      await items.collect(vault, row, { definition, ...changesOf(definition, await valuesIn(request)) });
      return { status: "collected" };
    });
  });
}

/** Writes a request of a person with a valid link to the audit log. */
async function recorded<Result>(
  { origins, recorder }: Pick<CollectParts, "origins" | "recorder">,
  { raw }: FastifyRequest,
  { row, vault }: OpenedForm,
  work: () => Promise<Result>,
): Promise<Result> {
  const beganMs = performance.now();
  let status = 200;
  try {
    return await work();
  } catch (error) {
    status = ServiceError.isInstance(error) ? error.status : 500;
    throw error;
  } finally {
    recorder.note(
      formNoteOf(raw, {
        vaultId: vault.id,
        itemKey: row.key,
        keyId: row.collection_key_id ?? "",
        projectId: vault.project_id,
        status,
        durationMs: performance.now() - beganMs,
        clientIp: origins.clientIpOf(raw),
        requestId: requestIdOf(raw.headers),
      }),
    );
  }
}

/** @throws {ServiceError} 400 for values that do not fit. */
function changesOf(definition: OwnDefinition, given: Readonly<Record<string, string | null>>) {
  const values: Record<string, string> = {};
  const removed: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const path = `body.values.${name}`;
    const field = definition.fields.find((each) => each.name === name);
    if (field === undefined || !isCollected(field))
      throw ServiceError.of(invalid(path.slice(0, 100), "the form has no such field"));
    if (value === null || value === "") removed.push(name);
    else {
      requireValue(field.type, value, path);
      values[name] = value;
    }
  }
  return { values, removed };
}

async function valuesIn(request: FastifyRequest): Promise<Readonly<Record<string, string | null>>> {
  const parsed = Values.safeParse(parse((await readBody(request.raw, maxBodyBytes)).toString()));
  if (!parsed.success) throw ServiceError.of(invalid("body", "expected values by name of field"));
  return parsed.data.values;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
