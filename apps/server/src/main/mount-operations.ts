import { contract, type Endpoint } from "@shoal/contract";
import { type Handler, notImplementedError } from "@shoal/router";
import { mount } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createOpenSecret } from "../auth/logins/stored-secret.ts";
import { forPages } from "../auth/sign-in-links/page-answers.ts";
import { type Access, isOpen, type OpenCaller } from "../http/auth/access.ts";
import { withinPolicies } from "../http/auth/key-scopes.ts";
import { forRoles } from "../http/auth/role-answers.ts";
import { serveForwarded } from "../sessions/instance-plane/forward.ts";
import type { SecretActs } from "../sessions/instance-plane/secret-acts.ts";
import { explainingClosedProjects } from "../storage/errors/closed-project.ts";
import type { Host } from "../host/host.ts";
import type { OpenedFeatures } from "./features.ts";
import { keyedHandlers, openHandlers } from "./handlers.ts";
import { isImplemented, isMountedApart } from "./implemented.ts";

/** Longest wait for a stored value and its store of keys, in milliseconds. */
const secretMs = 30_000;

/**
 * Mounts every operation of the contract: those of the control plane with their handler, the others as forwarded ones.
 * @returns the handlers of operations with a key, by name.
 */
export function mountOperations(
  app: FastifyInstance,
  { config }: Host,
  { all, entrance, features, routing }: OpenedFeatures,
): Readonly<Record<string, unknown>> {
  const unknownFields = config.unknown_fields;
  const idempotency = features.idempotency.provides;
  const { policyObjects } = features.apiKeys.provides;
  const keyed: Readonly<Record<string, unknown>> = { ...keyedHandlers(all) };
  const open: Readonly<Record<string, unknown>> = { ...openHandlers(all) };
  const enter = (request: FastifyRequest, endpoint: Endpoint) => entrance.enter(request, endpoint);
  const enterSession = (request: FastifyRequest, endpoint: Endpoint) => routing.enter(request, endpoint);
  const openSecret = createOpenSecret(features.credentials.provides);
  const secrets: SecretActs = {
    async open(request, id, secret) {
      const { close, projectId } = await routing.admitSecret(request, id);
      const opened = await openSecret(projectId, secret, AbortSignal.timeout(secretMs));
      await close();
      return opened;
    },
  };
  const refuse = async (request: FastifyRequest, endpoint: Endpoint): Promise<never> => {
    // A missing key is reported first.
    if (!isOpen(endpoint)) await entrance.authenticate(request);
    throw notImplementedError(endpoint);
  };

  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    if (isMountedApart(name)) continue;
    if (endpoint.plane === "instance") {
      serveForwarded(app, endpoint, {
        unknownFields,
        ...(endpoint === contract.actOnPage && { secrets }),
        async instanceFor(request) {
          const instance = await routing.instanceFor(request, { endpoint });
          if (instance !== undefined && !isImplemented(name)) throw notImplementedError(endpoint);
          return instance;
        },
      });
    } else if (!isImplemented(name)) {
      mount(app, endpoint, () => undefined as never, { context: refuse });
    } else if (!isOpen(endpoint)) {
      // `keyedHandlers` ties the name to its handler.
      const own = keyed[name] as Handler<Endpoint, Access>;
      const handler = explainingClosedProjects(
        forRoles(
          endpoint,
          withinPolicies(endpoint, endpoint.handoff === undefined ? own : forPages(endpoint, own), policyObjects),
        ),
      ) as Handler<Endpoint, Access>;
      mount(app, endpoint, handler, {
        unknownFields,
        idempotency,
        context: endpoint.path.startsWith(`${contract.listBrowsers.path}/{`) ? enterSession : enter,
      });
    } else if (name in open) {
      mount(app, endpoint, open[name] as Handler<Endpoint, OpenCaller>, {
        unknownFields,
        context: (request) => entrance.enterOpen(request, endpoint),
      });
    }
  }
  return keyed;
}
