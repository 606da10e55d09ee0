import { contract as native } from "@shoal/contract";
import { isId } from "@shoal/primitives";
import { type Handler, type IdempotencyStore, ServiceError, type UnknownFields } from "@shoal/router";
import { mount } from "@shoal/router/fastify";
import type { Endpoint } from "@shoal/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Entrance } from "../../entrance/entrance.ts";
import type { SessionRouting } from "../../entrance/session-routing.ts";
import type { Access } from "../../http/auth/access.ts";
import { refuseTwoKeys } from "../../http/auth/connect-address.ts";
import { pathInside } from "../../http/auth/session-path.ts";
import { replicaHeader } from "../../http/relay.ts";
import { forward } from "../../sessions/instance-plane/forward.ts";
import { untrustedContent } from "../../sessions/instance-plane/forwarded-headers.ts";
import type { Dialect, DialectCaller, DialectParts, SessionCommands } from "./dialect.ts";
import { documentOf } from "./document.ts";
import { NativeCalls, type NativeParts } from "./native-calls.ts";

export interface DialectHost extends DialectParts, NativeParts {
  readonly entrance: Entrance;
  readonly routing: Pick<SessionRouting, "instanceFor" | "requireHere">;
  readonly idempotency: IdempotencyStore<Access>;
  readonly unknownFields: UnknownFields;
}

const jsonAnswer = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Serves the endpoints of a dialect below its prefix. */
export function mountDialect(app: FastifyInstance, dialect: Dialect, host: DialectHost): void {
  const { contract, files, name, sessionPath } = dialect;
  const handlers = dialect.handlers(host) as Readonly<Record<string, Handler<Endpoint, DialectCaller>>>;
  const { idempotency } = host;
  const callerOf = async (request: FastifyRequest): Promise<DialectCaller> => {
    refuseTwoKeys(request.raw);
    const access = await host.entrance.authenticate(request);
    return { access, request, calls: new NativeCalls(host, request, access) };
  };
  for (const [key, handler] of Object.entries(handlers)) {
    const endpoint = contract[key];
    if (endpoint === undefined) continue;
    const isAboutSession = sessionPath !== undefined && endpoint.path.startsWith(sessionPath);
    mount(app, { ...endpoint, path: `/${name}${endpoint.path}` }, handler, {
      unknownFields: dialect.unknownFields ?? host.unknownFields,
      idempotency: {
        answer: ({ call, ...of }, handle) =>
          idempotency.answer({ ...of, call: { ...call, context: call.context.access } }, handle),
        fingerprintOf: ({ access }) => idempotency.fingerprintOf?.(access) ?? "",
      } satisfies IdempotencyStore<DialectCaller>,
      async context(request) {
        const caller = await callerOf(request);
        const { id: idOrName } = request.params as Readonly<Record<string, string | undefined>>;
        if (isAboutSession && idOrName !== undefined)
          await host.routing.requireHere(request, caller.access, { idOrName, kind: files[key] });
        return caller;
      },
    });
  }
  for (const { path, reason } of dialect.missing)
    for (const url of [`/${name}${path}`, `/${name}${path}/*`])
      app.all(url, async (request) => {
        await callerOf(request);
        throw new ServiceError(501, "not_implemented", reason);
      });
  for (const [path, answer] of Object.entries(dialect.documents ?? {}))
    app.get(`/${name}${path}`, async (_request, reply) => {
      await reply.headers(jsonAnswer).send(JSON.stringify(answer));
    });
  if (dialect.commands !== undefined) mountCommands(app, dialect.commands, host);
  let document: string | undefined;
  app.get(`/${name}/openapi.json`, async (_request, reply) => {
    document ??= JSON.stringify(documentOf(dialect));
    await reply
      .header("content-type", "application/json")
      .header("cache-control", "public, max-age=300")
      .send(document);
  });
}

function mountCommands(app: FastifyInstance, commands: SessionCommands, host: DialectHost): void {
  for (const url of [`/browsers/:id${commands.path}`, `/browsers/:id${commands.path}/*`])
    app.route<{ Params: { id: string } }>({
      method: ["GET", "POST", "DELETE"],
      url,
      exposeHeadRoute: false,
      handler: (request, reply) => command(commands, host, { request, reply }),
    });
}

interface Exchange {
  readonly request: FastifyRequest<{ Params: { id: string } }>;
  readonly reply: FastifyReply;
}

async function command(commands: SessionCommands, host: DialectHost, { reply, request }: Exchange): Promise<void> {
  const { id } = request.params;
  // Their addresses contain ids. With a name, the end of a session would be confirmed, and not happen.
  if (!isId(id)) throw new ServiceError(404, "not_found", "The session does not exist.");
  const [path = ""] = pathInside(request.raw.url ?? "").split("?", 1);
  const method = `${request.method} ${path.slice(commands.path.length)}`;
  const isEnd = method === "DELETE ";
  refuseTwoKeys(request.raw);
  await refuseOtherProjects(host, request, id);
  const way = isEnd ? { endpoint: native.deleteBrowser } : ({ connection: "browsers.cdp.connect" } as const);
  const instance = await host.routing.instanceFor(request, way);
  if (instance === undefined) return;
  if (isEnd) {
    const projectId = host.sessions.projectOf(id);
    if (projectId !== undefined) await host.sessions.delete(projectId, id);
    await reply.headers(jsonAnswer).send(JSON.stringify(commands.ended));
    return;
  }
  const answer = await commands.answers[method]?.({ id, instance, request });
  if (answer !== undefined) {
    await reply.headers(jsonAnswer).send(answer instanceof Readable ? answer : JSON.stringify(answer));
    return;
  }
  const { "content-length": length, "content-type": type } = request.headers;
  const headers = {
    ...(length !== undefined && { "content-length": length }),
    ...(type !== undefined && { "content-type": type }),
  };
  await forward(instance, id, { request, reply }, { request: headers, answer: answerHeaders });
}

/** The session id is the right; a key that is sent as well must be of the same project. @throws {ServiceError} 401, 404 */
async function refuseOtherProjects(host: DialectHost, request: FastifyRequest, id: string): Promise<void> {
  // A server that forwards a request has checked it; the token is checked with that header.
  if (request.headers.authorization === undefined || request.headers[replicaHeader] !== undefined) return;
  const { projectId } = await host.entrance.authenticate(request);
  const known = host.sessions.projectOf(id);
  // Throws 404 for a session of another project.
  if (known !== projectId) await host.sessions.get(projectId, id, false);
}

function answerHeaders({ "content-length": length }: IncomingHttpHeaders): OutgoingHttpHeaders {
  return { ...untrustedContent, ...jsonAnswer, ...(length !== undefined && { "content-length": length }) };
}

/** Answers the paths of a dialect that is off. */
export function mountMissingDialect(app: FastifyInstance, { name, title }: Pick<Dialect, "name" | "title">): void {
  for (const url of [`/${name}`, `/${name}/*`])
    app.all(url, () => {
      throw new ServiceError(404, "not_found", `Clients of ${title} are not enabled on this server.`, {
        hint: `Its operator enables them with the setting dialects, for example shoal serve --dialects ${name}.`,
      });
    });
}
