import { ApiError, Shoal } from "@shoal/client";
import { ServiceError } from "@shoal/router";
import { configure, fastifyOptions, mountAll } from "@shoal/router/fastify";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import * as endpoints from "./endpoints.ts";
import { type Caller, deliveryHandlers } from "./handlers.ts";

/** Options of {@link createDeliveryServer}. */
export interface DeliveryServerOptions {
  /** Address of the Shoal service, whose keys this server accepts. */
  readonly shoalUrl: string;
  /** Replaces the runtime's `fetch` for requests to Shoal, in tests. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Creates the team's server without listening. It validates and answers like Shoal. */
export function createDeliveryServer({ fetch, shoalUrl }: DeliveryServerOptions): FastifyInstance {
  const app = Fastify({ ...fastifyOptions });
  configure(app);

  /** Accepts every valid key of Shoal, and asks Shoal for its project. */
  async function authenticate({ headers }: FastifyRequest): Promise<Caller> {
    const apiKey = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (apiKey === undefined)
      throw new ServiceError(401, "unauthorized", 'Send a key of Shoal as "Authorization: Bearer …".');
    const shoal = new Shoal({ apiKey, baseUrl: shoalUrl, fetch });
    const { authorization, organization } = await passing(() => shoal.auth.context.get());
    return { shoal, owner: authorization.effective_scope.project_id ?? organization.id };
  }

  mountAll(app, endpoints, passingAll(deliveryHandlers()), { context: authenticate });
  return app;
}

/** Passes on Shoal's refusals with their text. */
async function passing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!ApiError.isInstance(error)) throw error;
    throw new ServiceError(error.status, error.code, error.message, { cause: error });
  }
}

function passingAll<H extends object>(handlers: H): H {
  // Each handler keeps its own type and its own calls.
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]: [string, (call: never) => unknown]) => [
      name,
      (call: never) => passing(() => handler(call)),
    ]),
  ) as H;
}
