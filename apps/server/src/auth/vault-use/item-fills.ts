import { contract } from "@shoal/contract";
import {
  browserNotFound,
  credentialWithoutSites,
  invalid,
  outsidePolicy,
  type Refusal,
  vaultOperationUnavailable,
} from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { instanceControl, isAmongOrigins } from "@shoal/instance";
import { callInstance, type Instance, InstanceRefusal } from "@shoal/placement";
import { readTotp } from "@shoal/primitives/totp";
import { type HandlerCall, ServiceError } from "@shoal/router";
import type { OperateVaultItem, VaultItemOperation } from "@shoal/schemas";
import type * as z from "zod/mini";
import { Elsewhere } from "../../cluster/elsewhere.ts";
import type { Regions } from "../../cluster/regions.ts";
import type { Host } from "../../host/host.ts";
import type { Access } from "../../http/auth/access.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { SessionRow } from "../../sessions/browsers/session-store.ts";
import type { HandoffGate } from "../../sessions/handoff/handoff-gate.ts";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import type { SignInBrowsers } from "../../sessions/live-view/sign-in-browsers.ts";
import { presentCode } from "../logins/stored-secret.ts";
import { typingOrigins } from "../logins/typing-origins.ts";
import { codeField, type ConnectionValues, seedName } from "../vaults/connection-values.ts";
import type { OwnDefinition } from "../vaults/item-definition.ts";
import { addEvent } from "../vaults/item-events.ts";
import type { ItemRow, ItemRows } from "../vaults/item-rows.ts";
import type { ItemValues } from "../vaults/item-values.ts";
import type { VaultRow } from "../vaults/vaults.ts";

export interface FillParts {
  readonly database: Pick<Database, "query">;
  readonly log: Pick<Host["log"], "warn">;
  readonly items: { readonly rows: Pick<ItemRows, "existing"> };
  readonly values: ItemValues;
  readonly connections: ConnectionValues;
  readonly gate: Pick<HandoffGate, "admit">;
  readonly sessions: Pick<Sessions, "get" | "instanceHere" | "isHere" | "locate">;
  readonly regions: Pick<Regions, "ofSession">;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteStored">;
}

export interface FilledItem {
  readonly vault: VaultRow;
  readonly row: ItemRow;
}

type Call = Pick<
  HandlerCall<typeof contract.operateVaultItem, Access>,
  "body" | "context" | "headers" | "requestId" | "signal"
>;
type Binding = NonNullable<z.output<typeof OperateVaultItem>["fields"]>[number];
/** Where values may be typed, and the value of a field. */
interface Opened {
  readonly sites: readonly string[];
  readonly origins: readonly string[];
  readonly valueOf: (field: string) => Promise<string | undefined>;
}

/** Types values of items into pages, with the engine and the site rule of `browsers.act`. */
export class ItemFills {
  readonly #parts: FillParts;

  constructor(parts: FillParts) {
    this.#parts = parts;
  }

  /** Another server answers if it has the session. @throws {ServiceError} 400, 403 for a page of another site, 404, 409. */
  async fill(call: Call, item: FilledItem): Promise<VaultItemOperation> {
    const { gate, items, regions, sessions, signInBrowsers } = this.#parts;
    const { context, signal } = call;
    const { browser_id: browserId, fields, page_url } = call.body;
    if (browserId === undefined) throw ServiceError.of(invalid("body.browser_id", "fill needs it"));
    if (fields === undefined) throw ServiceError.of(invalid("body.fields", "fill needs it"));
    const session = await this.#sessionOf(context, item, browserId);
    const place = sessions.isHere(session.id)
      ? undefined
      : await sessions.locate(context.projectId, session.id, undefined);
    if (place instanceof Elsewhere) {
      const path = `/vaults/${item.vault.id}/items/${encodeURIComponent(item.row.key)}/operations`;
      // The same operation on another server produced this answer.
      return (await regions.ofSession(place, path, call)) as VaultItemOperation;
    }
    await gate.admit(session.id, signal);
    // After the wait: a code may expire, and the item, the session's profile and the vault may change during it.
    await this.#sessionOf(context, item, browserId);
    const present = { ...item, row: await items.rows.existing(item.vault.id, item.row.key) };
    const instance = await sessions.instanceHere(context.projectId, session.id);
    const address = page_url ?? (needsPage(present.row) ? await onlyPage(instance, signal) : undefined);
    const offer = await offerOf(present, fields, await this.#open(present, address, signal));
    // From here on, the session is closed to callers without the right to secrets.
    await signInBrowsers.noteStored(session.id);
    const filled = await callInstance(instance, instanceControl.fillFields, {
      body: { ...offer, ...(address !== undefined && { page_url: address }) },
      signal,
    }).catch(async (error: unknown) => {
      const refused = refusedFill(error, session.id);
      // Otherwise the page may have values.
      if (!isRefused(error)) await this.#note(present.row, session.id, { status: "unknown", fields });
      throw refused;
    });
    const results = filled.fields.map((result, index) => ({ index, ...result }));
    const status = results.every((one) => one.status === "filled")
      ? "completed"
      : results.some((one) => one.status === "unknown")
        ? "unknown"
        : "failed";
    await this.#note(present.row, session.id, { status, fields });
    return { type: "fill", status, fields: results };
  }

  /** Never rejects: the caller would repeat a fill that the page has. */
  async #note(
    { id, key }: ItemRow,
    sessionId: string,
    { fields, status }: { readonly status: "completed" | "failed" | "unknown"; readonly fields: readonly Binding[] },
  ): Promise<void> {
    const { database, log } = this.#parts;
    await addEvent(database.query, id, {
      name: status === "completed" ? "filled" : "fill_failed",
      sessionId,
      data: { status, fields: fields.map(({ field }) => field) },
    }).catch((error: unknown) => {
      log.warn({ session_id: sessionId, item: key, err: error }, "the use of a vault item could not be recorded");
    });
  }

  async #sessionOf(
    { key: { policy }, projectId }: Access,
    { vault }: FilledItem,
    browserId: string,
  ): Promise<SessionRow> {
    const missing = ServiceError.of({ ...browserNotFound(browserId), field: "body.browser_id" });
    const { row } = await this.#parts.sessions.get(projectId, browserId, false).catch((error: unknown) => {
      throw ServiceError.isInstance(error) && error.status === 404 ? missing : error;
    });
    // A name can pass to another session.
    if (row.id !== browserId) throw missing;
    const isAllowed = policy?.permit(contract.actOnPage, projectId, { id: row.id, profileId: row.profile_id });
    if (policy !== undefined && isAllowed === undefined)
      throw ServiceError.of(outsidePolicy(contract.actOnPage.operationId, "body.browser_id"));
    if (row.options.vaults?.some(({ id }) => id === vault.id) !== true) throw ServiceError.of(withoutVault(vault.name));
    return row;
  }

  async #open({ row, vault }: FilledItem, pageUrl: string | undefined, signal: AbortSignal): Promise<Opened> {
    const { definition } = row;
    if (definition.provider === "kernel") return this.#openOwn(vault, row, { definition, pageUrl, signal });
    const { domain, sites, sso_provider, totp, values } = await this.#parts.connections.open(
      vault.project_id,
      definition.connection_id,
    );
    const all = [domain, ...sites];
    const origins = typingOrigins({ sites: all, ssoProvider: sso_provider ?? undefined });
    if (origins.length === 0) throw ServiceError.of({ ...credentialWithoutSites(row.key), field: "params.key" });
    return {
      sites: all,
      origins,
      valueOf: async (field) => {
        if (field === codeField && totp !== undefined) return presentCode(totp, signal);
        return field !== seedName && Object.hasOwn(values, field) ? values[field] : undefined;
      },
    };
  }

  async #openOwn(
    vault: VaultRow,
    { id, version }: ItemRow,
    {
      definition: { fields, sites },
      pageUrl,
      signal,
    }: { readonly definition: OwnDefinition; readonly pageUrl: string | undefined; readonly signal: AbortSignal },
  ): Promise<Opened> {
    const fillable = fields.filter(({ type }) => type !== "passkey");
    const opened = await this.#parts.values.open(
      vault,
      new Map([[id, { version, names: fillable.map(({ name }) => name) }]]),
    );
    const values = opened.get(id) ?? {};
    if (Object.keys(values).length === 0) throw ServiceError.of(vaultOperationUnavailable("fill"));
    return {
      ...(sites === undefined ? pageOf(pageUrl) : { sites, origins: typingOrigins({ sites }) }),
      valueOf: async (name) => {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        const type = fillable.find((field) => field.name === name)?.type;
        if (type !== "totp" || value === undefined) return value;
        const totp = readTotp(value);
        return "problem" in totp ? undefined : presentCode(totp, signal);
      },
    };
  }
}

const needsPage = ({ definition }: ItemRow): boolean =>
  definition.provider === "kernel" && definition.sites === undefined;

/** @throws {ServiceError} 409 unless the browser has one page, and 503. */
async function onlyPage(instance: Instance, signal: AbortSignal): Promise<string> {
  const { pages, url } = await callInstance(instance, instanceControl.onlyPage, { signal });
  if (url !== undefined) return url;
  throw new ServiceError(409, "conflict", `the browser has ${String(pages)} pages`, {
    field: "body.page_url",
    hint: "Send the exact address of one page, with its query and fragment: tabs of browsers.observe has it.",
  });
}

/** The origin of the page to fill, for items without sites: its frames of other origins get nothing. */
function pageOf(pageUrl: string | undefined): Pick<Opened, "origins" | "sites"> {
  const { host = "", origin = "" } = URL.parse(pageUrl ?? "") ?? {};
  if (host === "" || !isAmongOrigins(origin, typingOrigins({ sites: [host] })))
    throw ServiceError.of(
      invalid("body.page_url", "expected an https address; http only of hosts without a public name"),
    );
  return { sites: [host], origins: [origin] };
}

async function offerOf({ row, vault }: FilledItem, fields: readonly Binding[], { origins, sites, valueOf }: Opened) {
  const values: { selector: string; value: string }[] = [];
  for (const [index, { field, format, selector }] of fields.entries()) {
    const path = `body.fields[${String(index)}]`;
    if (format !== undefined) throw ServiceError.of(invalid(`${path}.format`, "only fields of cards have a format"));
    const value = await valueOf(field);
    if (value === undefined || value === "")
      throw ServiceError.of(
        invalid(`${path}.field`, "the item has no such field with a value that can be filled", {
          hint: "Names and values are in spec and state of the item.",
        }),
      );
    values.push({ selector, value });
  }
  const credential = `${vault.name}/${row.key}`.slice(0, 300);
  return { credential, origins: [...origins], sites: [...sites], fields: values };
}

function withoutVault(name: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    field: "body.browser_id",
    problem: `the session was created without the vault ${name}`,
    hint: "Create the session with vaults: [{ name }].",
  };
}

function isRefused(error: unknown): error is InstanceRefusal {
  return error instanceof InstanceRefusal && [400, 403, 409].includes(error.status);
}

function refusedFill(error: unknown, sessionId: string): unknown {
  if (!isRefused(error))
    return noAnswer(
      error instanceof InstanceRefusal ? new Error("The instance refused the values.") : error,
      sessionId,
    );
  const { code, field, hint, limit, problem, status } = error;
  return new ServiceError(status, code, problem, {
    ...(field !== undefined && { field }),
    ...(hint !== undefined && { hint }),
    ...(limit !== undefined && { limit }),
  });
}
