import type { Page } from "@shoal/contract";
import { proxyUsedByConnection, type Refusal } from "@shoal/contract/refusals";
import { containsFolded, type Database, folded } from "@shoal/database";
import type { EgressProbe, EgressUpstream } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { BrowserProxy, CreateProxy, ListProxies, Proxy } from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import { createId } from "@shoal/primitives";
import { containing } from "../../storage/like.ts";
import { emptyPage, isStorable, newestFirst, type Seen, toPage } from "../../http/paging.ts";
import { isForeignKeyViolation } from "../../storage/errors/database-errors.ts";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";
import { exitAddressIn } from "./exit-address.ts";
import { type ExitTemplates, requireType, upstreamOf } from "../../config/exits.ts";
import { badField } from "../../http/bad-field.ts";
import { checkNewProxy } from "./proxy-rules.ts";

const checkTimeoutMs = 20_000;

export interface ChosenProxy {
  readonly shown: BrowserProxy;
  readonly upstream: EgressUpstream;
  /** Of its exit, ISO 3166; absent where its provider does not choose one. */
  readonly country?: string;
}

function countryIn(config: Readonly<Record<string, unknown>>): Pick<ChosenProxy, "country"> {
  const { country } = config;
  return typeof country === "string" && country !== "" ? { country } : {};
}

interface ProxyRow {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly type: string;
  readonly protocol: string;
  readonly bypass_hosts: string[];
  readonly config: Record<string, unknown>;
  readonly password: Buffer | null;
  readonly status: string | null;
  readonly last_checked: string | null;
  readonly ip_address: string | null;
  readonly has_ca_bundle: boolean;
}

/** Without the certificates, which can be megabytes in a list. */
const columns = [
  "id",
  "project_id",
  "name",
  "type",
  "protocol",
  "bypass_hosts",
  "config",
  "password",
  "status",
  "last_checked",
  "ip_address",
  sql<boolean>`ca_bundle is not null`.as("has_ca_bundle"),
] as const;

interface UsableRow extends ProxyRow {
  readonly ca_bundle: string | null;
}

function toProxy(row: ProxyRow): Proxy {
  return {
    id: row.id,
    type: row.type,
    protocol: row.protocol,
    ...(row.name !== null && { name: row.name }),
    ...(row.bypass_hosts.length > 0 && { bypass_hosts: row.bypass_hosts }),
    config:
      row.type === "custom"
        ? { ...row.config, has_password: row.password !== null, has_ca_bundle: row.has_ca_bundle }
        : row.config,
    ...(row.status !== null && { status: row.status }),
    ...(row.last_checked !== null && { last_checked: row.last_checked }),
    ...(row.ip_address !== null && { ip_address: row.ip_address }),
  };
}

function notFound(id: string): ServiceError {
  return new ServiceError(404, "not_found", `Proxy ${id} was not found in this project.`, {
    hint: "List the proxies with proxies.list, or create it with proxies.create.",
  });
}

function severalProxies(name: string): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: `Several proxies of this project are named ${JSON.stringify(name)}.`,
    hint: "Use the id instead (proxy.id): proxies.list shows it.",
  };
}

const placeOf = (id: string, projectId: string): SealedPlace => ({ projectId, id, field: "proxies.password" });

export class Proxies {
  readonly #envelopes: Envelopes;
  readonly #probe: EgressProbe;
  readonly #templates: Readonly<Partial<Record<"datacenter" | "isp" | "residential" | "mobile", string>>>;
  readonly #checkUrl: string;
  readonly #query: import("kysely").Kysely<import("@shoal/database").Tables>;

  /** @param checkUrl - page that returns the address of its client. */
  constructor(parts: {
    readonly database: Database;
    readonly envelopes: Envelopes;
    readonly probe: EgressProbe;
    readonly templates: ExitTemplates;
    readonly checkUrl: string;
  }) {
    const { envelopes, probe, templates, checkUrl } = parts;
    this.#envelopes = envelopes;
    this.#probe = probe;
    this.#templates = templates;
    this.#checkUrl = checkUrl;
    const { query } = parts.database;
    this.#query = query;
  }

  async create(projectId: string, request: z.output<typeof CreateProxy>): Promise<Proxy> {
    requireType(request.type, this.#templates);
    const { bypassHosts, caBundle, config, password } = checkNewProxy(request);
    const id = createId();
    const row = await this.#query
      .insertInto("proxies")
      .values({
        id,
        project_id: projectId,
        name: request.name ?? null,
        type: request.type,
        protocol: request.protocol,
        bypass_hosts: JSON.stringify(bypassHosts),
        config: JSON.stringify(config),
        password: password === undefined ? null : await this.#envelopes.seal(password, placeOf(id, projectId)),
        ca_bundle: caBundle ?? null,
        status: null,
        last_checked: null,
        ip_address: null,
        created_at: new Date(),
      })
      .returning(columns)
      .executeTakeFirstOrThrow();
    return toProxy(row);
  }

  async list(
    projectId: string,
    { query: part, name, limit, offset, visible }: Seen<z.output<typeof ListProxies>>,
  ): Promise<Page<Proxy>> {
    if (!isStorable(part) || !isStorable(name)) return emptyPage();
    let rows = this.#query.selectFrom("proxies").select(columns).where("project_id", "=", projectId);
    if (part !== undefined) {
      const pattern = containing(part);
      rows = rows.where((where) =>
        where.or([
          containsFolded("name_folded", part),
          where("id", "=", part),
          where(where.ref("config", "->>").key("host"), "ilike", pattern),
          where("ip_address", "ilike", pattern),
        ]),
      );
    }
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    const found = await newestFirst(rows, { limit, offset, visible }).execute();
    return toPage(found, { limit, offset }, toProxy);
  }

  async get(projectId: string, idOrName: string): Promise<Proxy> {
    return toProxy(await this.#existing(projectId, { idOrName }));
  }

  async rename(projectId: string, idOrName: string, name: string): Promise<Proxy> {
    const { id: known } = await this.#existing(projectId, { idOrName });
    const row = await this.#query
      .updateTable("proxies")
      .set({ name })
      .where("id", "=", known)
      .returning(columns)
      .executeTakeFirst();
    if (row === undefined) throw notFound(idOrName);
    return toProxy(row);
  }

  async delete(projectId: string, idOrName: string): Promise<void> {
    const { id } = await this.#existing(projectId, { idOrName });
    const { numDeletedRows } = await this.#query
      .deleteFrom("proxies")
      .where("project_id", "=", projectId)
      .where("id", "=", id)
      .executeTakeFirst()
      .catch(async (error: unknown) => {
        throw isForeignKeyViolation(error) ? await this.#explainUse(id, error) : error;
      });
    if (numDeletedRows === 0n) throw notFound(idOrName);
  }

  async #explainUse(id: string, cause: unknown): Promise<unknown> {
    const user = await this.#query
      .selectFrom("auth_connections")
      .select("id")
      .where("proxy_id", "=", id)
      .executeTakeFirst();
    return user === undefined ? cause : ServiceError.of(proxyUsedByConnection(id, user.id), { cause });
  }

  /** @param url - default: the operator's test page, whose result is stored. @throws {ServiceError} 422 on failure. */
  async check(projectId: string, idOrName: string, url: string | undefined): Promise<Proxy> {
    const row = await this.#existing(projectId, { idOrName });
    const target = URL.parse(url ?? this.#checkUrl);
    if (target === null || !/^https?:$/.test(target.protocol))
      throw badField("url", "expected an http:// or https:// address");
    const result = await this.#probe.probe(await this.#upstreamFor(row, createId()), target, checkTimeoutMs);
    if (result.outcome === "refused" && url !== undefined) throw badField("url", result.reason);
    const address = result.outcome === "answered" && result.status === 200 ? exitAddressIn(result.text) : undefined;
    if (result.outcome === "answered" && result.status < 400 && (url !== undefined || address !== undefined)) {
      const stored = url === undefined ? await this.#store(row.id, { status: "available", address }) : row;
      if (stored === undefined) throw notFound(idOrName);
      return { ...toProxy(stored), latency_ms: result.latencyMs };
    }
    if (url === undefined) await this.#store(row.id, { status: "unavailable", address: undefined });
    const page = url === undefined ? "the test page" : "the page";
    const reason =
      result.outcome !== "answered"
        ? result.reason
        : result.status >= 400
          ? `${page} answered with status ${String(result.status)}`
          : `${page} returned no address`;
    throw new ServiceError(422, "proxy_check_failed", `Proxy ${row.id} does not work: ${reason.replace(/\.$/, "")}.`, {
      hint: `Check its ${row.type === "custom" ? "host, port, protocol, user name and password" : "config"}.`,
    });
  }

  /**
   * @param wanted - an id may also be a name, but a name is never an id.
   * @throws {ServiceError} 404; 400 when several proxies have the name, or the type is not configured.
   */
  async choose(
    projectId: string,
    { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
    sessionId: string,
  ): Promise<ChosenProxy> {
    const row = await this.#existing(
      projectId,
      id === undefined && name !== undefined ? { name } : { idOrName: id ?? "" },
    );
    return {
      shown: { id: row.id, ...(row.name !== null && { name: row.name }) },
      upstream: await this.#upstreamFor(row, sessionId),
      ...countryIn(row.config),
    };
  }

  /** A proxy of one session, which is not stored. @throws {ServiceError} 400. */
  forSession(request: z.output<typeof CreateProxy>, sessionId: string): ChosenProxy {
    requireType(request.type, this.#templates);
    const checked = checkNewProxy(request);
    return {
      shown: { mode: "session" },
      upstream: upstreamOf({ ...request, ...checked }, this.#templates, sessionId),
      ...countryIn(checked.config),
    };
  }

  /** An id comes before a name. @throws {ServiceError} 404; 400 when several proxies have the name. */
  async #existing(
    projectId: string,
    wanted: { readonly idOrName: string } | { readonly name: string },
  ): Promise<UsableRow> {
    const text = "name" in wanted ? wanted.name : wanted.idOrName;
    if (!isStorable(text)) throw notFound(text);
    const rows = await this.#query
      .selectFrom("proxies")
      .select(columns)
      .select("ca_bundle")
      .where("project_id", "=", projectId)
      .where((where) =>
        "name" in wanted ? where("name", "=", text) : where.or([where("id", "=", text), where("name", "=", text)]),
      )
      .orderBy(sql`id = ${text}`, "desc")
      .limit(2)
      .execute();
    const [row, other] = rows;
    if (row === undefined) throw notFound(text);
    if (other === undefined || ("idOrName" in wanted && row.id === text)) return row;
    throw ServiceError.of(severalProxies(text));
  }

  async #upstreamFor(row: UsableRow, sessionId: string): Promise<EgressUpstream> {
    const password =
      row.password === null ? undefined : await this.#envelopes.unseal(row.password, placeOf(row.id, row.project_id));
    return upstreamOf(
      {
        type: row.type,
        protocol: row.protocol,
        bypassHosts: row.bypass_hosts,
        config: row.config,
        password,
        caBundle: row.ca_bundle ?? undefined,
      },
      this.#templates,
      sessionId,
    );
  }

  async #store(
    id: string,
    found: { readonly status: "available" | "unavailable"; readonly address: string | undefined },
  ): Promise<ProxyRow | undefined> {
    return this.#query
      .updateTable("proxies")
      .set({
        status: found.status,
        last_checked: new Date(),
        ...(found.address !== undefined && { ip_address: found.address }),
      })
      .where("id", "=", id)
      .returning(columns)
      .executeTakeFirst();
  }
}
