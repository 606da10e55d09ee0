import { type Caller, McpEndpoint, readSettings } from "@shoal/mcp";
import { createId, isId } from "@shoal/primitives";
import { badInput, ServiceError } from "@shoal/router";
import { createTransport } from "@shoal/transport";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Elsewhere } from "../cluster/elsewhere.ts";
import type { ReplicaForwarding } from "../cluster/replica-forwarding.ts";
import type { Config } from "../config/settings.ts";
import { version } from "../config/version.ts";
import { type Access, isPerson } from "../http/auth/access.ts";
import type { Entering } from "../host/entering.ts";
import { ownRequestHeader, type OwnRequests } from "../http/auth/own-requests.ts";
import { mayCall } from "../http/auth/rights.ts";
import { isLoopback } from "../http/listen.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { Log } from "../log/log.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { OriginCheck } from "./origin-check.ts";
import { sendWebResponse, webRequestOf } from "./web-messages.ts";

export interface McpServiceParts {
  readonly config: Pick<
    Config,
    | "host"
    | "max_mcp_sessions"
    | "mcp_idle_timeout_seconds"
    | "oidc_issuer"
    | "oidc_scopes"
    | "public_url"
    | "trusted_proxies"
  >;
  readonly serverId: string;
  /** Where this server listens. */
  readonly localUrl: () => string | undefined;
  readonly origins: RequestOrigins;
  readonly ownRequests: Pick<OwnRequests, "sign">;
  readonly replicas: Pick<ReplicaForwarding, "handOver" | "isForwarded">;
  readonly log: Log;
}

const path = "/mcp";
const metadataPath = "/.well-known/oauth-protected-resource";
const sessionHeader = "mcp-session-id";

/** Serves MCP over Streamable HTTP. Tools call this server's own API with the caller's key. */
export class McpService {
  readonly #parts: McpServiceParts;
  readonly #endpoint: McpEndpoint;
  readonly #originCheck: OriginCheck;
  /** Without a proxy, clients of this machine know the address that the server listens at. */
  readonly #isOnlyLocal: boolean;

  constructor(parts: McpServiceParts) {
    const { config, log, serverId } = parts;
    this.#parts = parts;
    this.#originCheck = new OriginCheck(config);
    this.#isOnlyLocal = isLoopback(config.host) && config.trusted_proxies.length === 0;
    this.#endpoint = new McpEndpoint({
      version,
      // The id names the server that has the connection.
      createId: () => `${serverId}.${createId()}${createId()}`,
      maxConnections: config.max_mcp_sessions,
      maxConnectionsPerKey: Math.ceil(config.max_mcp_sessions / 4),
      idleMs: config.mcp_idle_timeout_seconds * 1000,
      onError: (error) => {
        log.debug({ err: error }, "an MCP request was refused");
      },
    });
  }

  serve(app: FastifyInstance, entering: Entering): void {
    app.route({
      method: ["GET", "POST", "DELETE"],
      url: path,
      exposeHeadRoute: false,
      handler: (request, reply) => this.#handle(request, reply, entering),
      onSend: (request, reply, _payload, done) => {
        if (reply.statusCode === 401) reply.header("www-authenticate", this.#challenge(request));
        done();
      },
    });
    for (const url of [metadataPath, `${metadataPath}${path}`])
      app.get(url, (request, reply) => {
        void reply.header("content-type", "application/json").send(JSON.stringify(this.#metadata(request)));
      });
  }

  /** Ends all connections and their browsers. */
  close(): Promise<void> {
    return this.#endpoint.close();
  }

  async #handle(request: FastifyRequest, reply: FastifyReply, entering: Entering): Promise<void> {
    const { replicas, serverId } = this.#parts;
    const isForwarded = replicas.isForwarded(request.raw);
    if (!isForwarded) this.#originCheck.check(request.headers);
    const access = await entering.authenticate(request, { resource: this.#audience() });
    const home = homeOf(request.headers[sessionHeader]);
    if (home !== undefined && home !== serverId && !isForwarded && (await this.#handOver(home, request, reply, access)))
      return;
    const caller = this.#callerOf(request, access);
    await sendWebResponse(reply, await this.#endpoint.handle(await webRequestOf(request, reply), caller));
  }

  /**
   * The audience of access tokens (RFC 8707). Never from a header of the request: the client would choose the service
   * that its token is for.
   */
  #audience(): string | undefined {
    const { config, localUrl } = this.#parts;
    const own = config.public_url ?? (this.#isOnlyLocal ? localUrl() : undefined);
    return own === undefined ? undefined : own.replace(/(?<!\/)\/+$/, "") + path;
  }

  #challenge({ raw }: FastifyRequest): string {
    const metadata = `Bearer resource_metadata="${this.#parts.origins.baseUrlOf(raw)}${metadataPath}${path}"`;
    return raw.headers.authorization === undefined ? metadata : `${metadata}, error="invalid_token"`;
  }

  /** @returns false if that server is gone: its connections have ended. */
  async #handOver(home: string, request: FastifyRequest, reply: FastifyReply, access: Access): Promise<boolean> {
    try {
      await this.#parts.replicas.handOver(new Elsewhere("", home), { request, reply }, access);
      return true;
    } catch (error) {
      if (ServiceError.isInstance(error) && error.code === "server_unreachable") return false;
      throw error;
    }
  }

  #callerOf(request: FastifyRequest, access: Access): Caller {
    const { localUrl, origins, ownRequests } = this.#parts;
    const settings = readSettings(request.query as Readonly<Record<string, string>>);
    if ("problem" in settings) throw badInput(`query.${settings.field}`, settings.problem);
    const { key, projectId, role, viewerUrl } = access;
    const person =
      isPerson(access) && role !== undefined ? { id: key.id, project: key.project_id ?? "*", role } : undefined;
    const baseUrl = localUrl();
    if (baseUrl === undefined) throw new Error("The server does not listen yet.");
    return {
      keyId: key.id,
      projectId,
      // Two tokens of a person may have different roles.
      ...(person !== undefined && { rights: `${person.role} in ${person.project}` }),
      settings,
      mayCall: (operation) => mayCall(access, operation),
      // A request that another server forwards has no key; its connection has a transport.
      connect: () =>
        createTransport({
          baseUrl,
          // A person is named in the signed header: their token is for /mcp only.
          ...(person === undefined && {
            apiKey: (request.headers.authorization ?? "").slice("bearer ".length).trim(),
          }),
          project: projectId,
          fetch: boundedFetch(),
          headers: {
            [ownRequestHeader]: ownRequests.sign({
              baseUrl: access.baseUrl,
              ...(viewerUrl !== undefined && { viewerUrl }),
              clientIp: origins.clientIpOf(request.raw),
              ...(person !== undefined && { person }),
            }),
          },
        }),
    };
  }

  /** RFC 9728. Without an authorization server, clients need an API key. */
  #metadata({ raw }: FastifyRequest): object {
    const { oidc_issuer: issuer, oidc_scopes: scopes } = this.#parts.config;
    const audience = this.#audience();
    return {
      resource: audience ?? this.#parts.origins.baseUrlOf(raw) + path,
      resource_name: "Shoal",
      ...(issuer !== undefined &&
        audience !== undefined && { authorization_servers: [issuer], scopes_supported: scopes }),
      bearer_methods_supported: ["header"],
    };
  }
}

function homeOf(header: string | string[] | undefined): string | undefined {
  const home = typeof header === "string" ? header.split(".", 1)[0] : undefined;
  return home !== undefined && isId(home) ? home : undefined;
}
