import { ApiError, Shoal } from "@shoal/client";
import { ServiceError } from "@shoal/router";
import { configure, fastifyOptions, mountAll } from "@shoal/router/fastify";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import * as endpoints from "./endpoints.ts";
import { type Caller, deliveryHandlers } from "./handlers.ts";

/** Where the team's server finds Shoal. */
export interface DeliveryServerOptions {
  /** Address of the Shoal service whose keys open this server. */
  readonly shoalUrl: string;
  /** Replaces the runtime's `fetch` towards Shoal, in tests. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** The team's own server: its operations, checked and answered as Shoal's are. Not yet listening. */
export function createDeliveryServer({ fetch, shoalUrl }: DeliveryServerOptions): FastifyInstance {
  const app = Fastify({ ...fastifyOptions });
  configure(app);

  /** Whoever has a key of Shoal has one here: Shoal itself says whose it is. */
  async function authenticate({ headers }: FastifyRequest): Promise<Caller> {
    const apiKey = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (apiKey === undefined) throw new ServiceError(401, "unauthorized", 'Send a key of Shoal as "Authorization: Bearer …".');
    const shoal = new Shoal({ apiKey, baseUrl: shoalUrl, fetch });
    const { authorization, organization } = await passing(() => shoal.auth.context.get());
    return { shoal, owner: authorization.effective_scope.project_id ?? organization.id };
  }

  mountAll(app, endpoints, passingAll(deliveryHandlers()), { context: authenticate });
  return app;
}

/** Lets what Shoal refuses be refused here, in its own words. */
async function passing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!ApiError.isInstance(error)) throw error;
    throw new ServiceError(error.status, error.code, error.message, { cause: error });
  }
}

function passingAll<H extends object>(handlers: H): H {
  // Each handler keeps its own type: it is called with what it was given for.
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]: [string, (call: never) => unknown]) => [name, (call: never) => passing(() => handler(call))]),
  ) as H;
}
