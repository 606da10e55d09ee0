import { type HandoffEnd, handoffExpired, handoffTokenExpired, handoffUnknown } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { ExchangedHandoff } from "@shoal/schemas";
import type { KeyRow } from "../../http/auth/access.ts";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { isStorable } from "../../http/paging.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { type LinkCode, LinkCodes } from "./link-codes.ts";
import { LinkTokens } from "./link-tokens.ts";

/** A page under development sends its code twice. */
const repeatMs = 10_000;
/** The page shows the end of a login for this time. */
const afterEndMs = 5 * 60_000;

export interface SignInLinkParts {
  readonly database: Pick<Database, "query">;
  readonly issuingKeys: IssuingKeys;
  readonly projects: Pick<ProjectLookup, "find">;
  readonly secrets: Pick<Secrets, "hasSigned" | "sign">;
}

/** The access of a sign-in page. */
export interface LinkAccess {
  readonly key: KeyRow;
  readonly projectId: string;
  readonly flowId: string;
}

interface Exchange {
  readonly access: LinkAccess;
  readonly exchanged: ExchangedHandoff;
}

/** Lets pages without a key complete one login. */
export class SignInLinks {
  readonly #parts: SignInLinkParts;
  readonly #codes: LinkCodes;
  readonly #tokens: LinkTokens;

  constructor(parts: SignInLinkParts) {
    this.#parts = parts;
    this.#codes = new LinkCodes(parts.secrets);
    this.#tokens = new LinkTokens(parts.secrets);
  }

  /** @throws {ServiceError} 404 for a code that was not issued for the connection; 410 for a used or expired code. */
  async exchange(connectionId: string, text: string, nowMs: number): Promise<Exchange> {
    const code = this.#codes.open(text);
    if (code === undefined || !isStorable(connectionId)) throw ServiceError.of(handoffUnknown());
    const flow = (await this.#firstUse(connectionId, code, nowMs)) ?? (await this.#find(connectionId, code.flowId));
    if (flow === undefined) throw ServiceError.of(handoffUnknown());
    const end = endOf(flow, code, nowMs);
    if (end !== undefined) throw ServiceError.of(handoffExpired(end));
    const { flowId, keyId } = code;
    const key = await this.#keyOf(keyId, () => handoffExpired("ended"));
    const expiresAtMs = msOf(flow.expires_at) + afterEndMs;
    const jwt = this.#tokens.sign({ connectionId, flowId, keyId, expiresAtMs });
    return { access: { key, projectId: flow.project_id, flowId }, exchanged: { invocation_id: flowId, jwt } };
  }

  /** @throws {ServiceError} 401 unless the token is for this connection and its login runs, or ended a moment ago. */
  async admit(text: string, connectionId: string, nowMs: number): Promise<LinkAccess> {
    const token = this.#tokens.open(text);
    if (token?.connectionId !== connectionId || token.expiresAtMs <= nowMs)
      throw ServiceError.of(handoffTokenExpired());
    const flow = await this.#find(connectionId, token.flowId);
    if (flow === undefined || !isShown(flow, nowMs)) throw ServiceError.of(handoffTokenExpired());
    const key = await this.#keyOf(token.keyId, handoffTokenExpired);
    const project = await this.#parts.projects.find(flow.project_id);
    if (project?.status !== "active") throw ServiceError.of(handoffTokenExpired());
    return { key, projectId: flow.project_id, flowId: token.flowId };
  }

  async #keyOf(keyId: string, refusal: typeof handoffTokenExpired): Promise<KeyRow> {
    try {
      return await this.#parts.issuingKeys.require(keyId);
    } catch (error) {
      throw ServiceError.isInstance(error) ? ServiceError.of(refusal()) : error;
    }
  }

  /** Counts the exchange. @returns `undefined` unless this is the first exchange of the login's current code. */
  async #firstUse(connectionId: string, { flowId, number }: LinkCode, nowMs: number) {
    const row = await this.#parts.database.query
      .updateTable("auth_flows")
      .set({ handoffs: number + 1, handed_off_at: new Date(nowMs) })
      .where("id", "=", flowId)
      .where("connection_id", "=", connectionId)
      .where("handoffs", "=", number)
      .where("status", "=", "IN_PROGRESS")
      .where("expires_at", ">", new Date(nowMs).toISOString())
      .returning("id")
      .executeTakeFirst();
    return row === undefined ? undefined : this.#find(connectionId, flowId);
  }

  #find(connectionId: string, flowId: string): Promise<(FoundFlow & { readonly project_id: string }) | undefined> {
    return this.#parts.database.query
      .selectFrom("auth_flows")
      .innerJoin("auth_connections", "auth_connections.id", "auth_flows.connection_id")
      .select([
        "auth_connections.flow_id as latest_id",
        "auth_connections.project_id",
        "auth_flows.expires_at",
        "auth_flows.handed_off_at",
        "auth_flows.handoffs",
        "auth_flows.id",
        "auth_flows.status",
        "auth_flows.updated_at",
      ])
      .where("auth_flows.id", "=", flowId)
      .where("auth_flows.connection_id", "=", connectionId)
      .executeTakeFirst();
  }
}

interface FoundFlow {
  readonly id: string;
  /** The latest login of the connection. */
  readonly latest_id: string | null;
  readonly status: string;
  readonly expires_at: string | null;
  readonly updated_at: string;
  readonly handed_off_at: string | null;
  readonly handoffs: number;
}

/** Epoch milliseconds; `-Infinity` for `null`. */
const msOf = (time: string | null) => (time === null ? -Infinity : Date.parse(time));

function isRunning({ expires_at, status }: FoundFlow, nowMs: number): boolean {
  return status === "IN_PROGRESS" && msOf(expires_at) > nowMs;
}

/** @returns `undefined` for the first exchange, which was counted, and for its repetition. */
function endOf(flow: FoundFlow, { number }: LinkCode, nowMs: number): HandoffEnd | undefined {
  const isUsed = flow.handoffs > number;
  if (flow.status === "SUCCESS") return isUsed ? "used" : "ended";
  if (flow.status === "IN_PROGRESS" && isRunning(flow, nowMs))
    return flow.handoffs === number + 1 && nowMs - msOf(flow.handed_off_at) <= repeatMs ? undefined : "used";
  return flow.status === "IN_PROGRESS" || flow.status === "EXPIRED" ? "expired" : "ended";
}

function isShown(flow: FoundFlow, nowMs: number): boolean {
  if (flow.latest_id !== flow.id) return false;
  const endedMs = flow.status === "IN_PROGRESS" ? msOf(flow.expires_at) : msOf(flow.updated_at);
  return isRunning(flow, nowMs) || nowMs < endedMs + afterEndMs;
}
