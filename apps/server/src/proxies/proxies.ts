import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded } from "@shoal/database";
import type { EgressProbe, EgressUpstream } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { BrowserProxy, CreateProxy, ListProxies, Proxy } from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import { createId } from "../ids.ts";
import { containing } from "../like.ts";
import { emptyPage, isStorable, newestFirst, toPage } from "../paging.ts";
import type { Secrets } from "../secrets.ts";
import { exitAddressIn } from "./exit-address.ts";
import { type ExitTemplates, requireType, upstreamOf } from "./exits.ts";
import { badField } from "../bad-field.ts";
import { checkNewProxy } from "./proxy-rules.ts";

/** A page that takes longer through a proxy is none that anybody waits for. */
const checkTimeoutMs = 20_000;

/** A proxy as a session takes it. */
export interface ChosenProxy {
  readonly shown: BrowserProxy;
  readonly upstream: EgressUpstream;
}

/** The proxies of every project. */
export interface Proxies {
  create(projectId: string, request: z.output<typeof CreateProxy>): Promise<Proxy>;
  list(projectId: string, filter: z.output<typeof ListProxies>): Promise<Page<Proxy>>;
  get(projectId: string, id: string): Promise<Proxy>;
  rename(projectId: string, id: string, name: string): Promise<Proxy>;
  delete(projectId: string, id: string): Promise<void>;
  /** @param url - what to fetch; the operator's test page when absent, and what was found is stored then. @throws {ServiceError} 422 when it does not work. */
  check(projectId: string, id: string, url: string | undefined): Promise<Proxy>;
  /** The proxy for a session. @throws {ServiceError} 404; 400 when several have the name, or the operator no longer provides its type. */
  choose(
    projectId: string,
    choice: { readonly id?: string | undefined; readonly name?: string | undefined },
    sessionId: string,
  ): Promise<ChosenProxy>;
}

interface ProxyRow {
  readonly id: string;
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

/** Without the certificates: a list could hold megabytes of them. */
const columns = [
  "id",
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

/** A proxy that is to be spoken to. */
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
    config: row.type === "custom" ? { ...row.config, has_password: row.password !== null, has_ca_bundle: row.has_ca_bundle } : row.config,
    ...(row.status !== null && { status: row.status }),
    ...(row.last_checked !== null && { last_checked: row.last_checked }),
    ...(row.ip_address !== null && { ip_address: row.ip_address }),
  };
}

function notFound(id: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Proxy ${id} was not found in this project. List the proxies with proxies.list, or create it with proxies.create.`,
  );
}

/** @param checkUrl - page that answers with the address that it was asked from. */
export function createProxies(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly probe: EgressProbe;
  readonly templates: ExitTemplates;
  readonly checkUrl: string;
}): Proxies {
  const { secrets, probe, templates, checkUrl } = parts;
  const { query } = parts.database;
  const purposeOf = (id: string) => `proxy password ${id}`;

  /** @returns the certificates too. */
  async function existing(projectId: string, id: string): Promise<UsableRow> {
    const row = isStorable(id)
      ? await query
          .selectFrom("proxies")
          .select(columns)
          .select("ca_bundle")
          .where("project_id", "=", projectId)
          .where("id", "=", id)
          .executeTakeFirst()
      : undefined;
    if (row === undefined) throw notFound(id);
    return row;
  }

  function upstreamFor(row: UsableRow, sessionId: string): EgressUpstream {
    const password = row.password === null ? undefined : secrets.unseal(row.password, purposeOf(row.id));
    if (row.password !== null && password === undefined) {
      throw new ServiceError(
        500,
        "internal_error",
        `The password of proxy ${row.id} cannot be read: the service's secret_key is another one than when it was stored. Create the proxy again.`,
      );
    }
    return upstreamOf(
      { type: row.type, protocol: row.protocol, bypassHosts: row.bypass_hosts, config: row.config, password, caBundle: row.ca_bundle ?? undefined },
      templates,
      sessionId,
    );
  }

  async function store(
    id: string,
    found: { readonly status: "available" | "unavailable"; readonly address: string | undefined },
  ): Promise<ProxyRow | undefined> {
    return query
      .updateTable("proxies")
      .set({ status: found.status, last_checked: new Date(), ...(found.address !== undefined && { ip_address: found.address }) })
      .where("id", "=", id)
      .returning(columns)
      .executeTakeFirst();
  }

  return {
    async create(projectId, request) {
      requireType(request.type, templates);
      const { bypassHosts, caBundle, config, password } = checkNewProxy(request);
      const id = createId();
      const row = await query
        .insertInto("proxies")
        .values({
          id,
          project_id: projectId,
          name: request.name ?? null,
          type: request.type,
          protocol: request.protocol,
          bypass_hosts: JSON.stringify(bypassHosts),
          config: JSON.stringify(config),
          password: password === undefined ? null : secrets.seal(password, purposeOf(id)),
          ca_bundle: caBundle ?? null,
          status: null,
          last_checked: null,
          ip_address: null,
          created_at: new Date(),
        })
        .returning(columns)
        .executeTakeFirstOrThrow();
      return toProxy(row);
    },

    async list(projectId, { query: part, name, limit, offset }) {
      if (!isStorable(part) || !isStorable(name)) return emptyPage();
      let rows = query.selectFrom("proxies").select(columns).where("project_id", "=", projectId);
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
      const found = await newestFirst(rows, { limit, offset }).execute();
      return toPage(found, { limit, offset }, toProxy);
    },

    get: async (projectId, id) => toProxy(await existing(projectId, id)),

    async rename(projectId, id, name) {
      const { id: known } = await existing(projectId, id);
      const row = await query.updateTable("proxies").set({ name }).where("id", "=", known).returning(columns).executeTakeFirst();
      if (row === undefined) throw notFound(id);
      return toProxy(row);
    },

    async delete(projectId, id) {
      if (!isStorable(id)) throw notFound(id);
      const { numDeletedRows } = await query.deleteFrom("proxies").where("project_id", "=", projectId).where("id", "=", id).executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound(id);
    },

    async check(projectId, id, url) {
      const row = await existing(projectId, id);
      const target = URL.parse(url ?? checkUrl);
      if (target === null || !/^https?:$/.test(target.protocol)) throw badField("url", "expected an http:// or https:// address");
      const result = await probe.probe(upstreamFor(row, createId()), target, checkTimeoutMs);
      if (result.outcome === "refused" && url !== undefined) throw badField("url", result.reason);
      const address = result.outcome === "answered" && result.status === 200 ? exitAddressIn(result.text) : undefined;
      if (result.outcome === "answered" && result.status < 400 && (url !== undefined || address !== undefined)) {
        const stored = url === undefined ? await store(row.id, { status: "available", address }) : row;
        if (stored === undefined) throw notFound(id);
        return { ...toProxy(stored), latency_ms: result.latencyMs };
      }
      if (url === undefined) await store(row.id, { status: "unavailable", address: undefined });
      const page = url === undefined ? "the test page" : "the page";
      const reason =
        result.outcome !== "answered"
          ? result.reason
          : result.status >= 400
            ? `${page} answered with status ${String(result.status)}`
            : `${page} said no address`;
      throw new ServiceError(
        422,
        "proxy_check_failed",
        `Proxy ${row.id} does not work: ${reason.replace(/\.$/, "")}. Check its ${row.type === "custom" ? "host, port, protocol, user name and password" : "config"}.`,
      );
    },

    async choose(projectId, { id, name }, sessionId) {
      if (id !== undefined || name === undefined) {
        const row = await existing(projectId, id ?? "");
        return { shown: { id: row.id, ...(row.name !== null && { name: row.name }) }, upstream: upstreamFor(row, sessionId) };
      }
      const rows = isStorable(name)
        ? await query
            .selectFrom("proxies")
            .select(columns)
            .select("ca_bundle")
            .where("project_id", "=", projectId)
            .where("name", "=", name)
            .limit(2)
            .execute()
        : [];
      const [row, other] = rows;
      if (row === undefined) throw notFound(name);
      if (other !== undefined)
        throw badField("proxy.name", `several proxies of this project are named ${JSON.stringify(name)}. Give the id of one as proxy.id`);
      return { shown: { id: row.id, name }, upstream: upstreamFor(row, sessionId) };
    },
  };
}
