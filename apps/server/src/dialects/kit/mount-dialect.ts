import { type Handler, type IdempotencyStore, ServiceError, type UnknownFields } from "@shoal/router";
import { mount } from "@shoal/router/fastify";
import type { Endpoint } from "@shoal/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Entrance } from "../../entrance/entrance.ts";
import type { SessionRouting } from "../../entrance/session-routing.ts";
import type { Access } from "../../http/auth/access.ts";
import { refuseTwoKeys } from "../../http/auth/connect-address.ts";
import type { Dialect, DialectCaller, DialectParts } from "./dialect.ts";
import { documentOf } from "./document.ts";
import { NativeCalls, type NativeParts } from "./native-calls.ts";

export interface DialectHost extends DialectParts, NativeParts {
  readonly entrance: Entrance;
  readonly routing: Pick<SessionRouting, "instanceFor" | "requireHere">;
  readonly idempotency: IdempotencyStore<Access>;
  readonly unknownFields: UnknownFields;
}

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
      unknownFields: host.unknownFields,
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
  let document: string | undefined;
  app.get(`/${name}/openapi.json`, async (_request, reply) => {
    document ??= JSON.stringify(documentOf(dialect));
    await reply
      .header("content-type", "application/json")
      .header("cache-control", "public, max-age=300")
      .send(document);
  });
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
