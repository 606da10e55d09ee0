import type { Endpoint } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import type { UnknownFields } from "@shoal/router";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { pathInside } from "../../http/auth/session-path.ts";
import { type Forwarding, relay, type RelayedHeaders } from "../../http/relay.ts";
import { answerHeadersOf, requestHeadersFor } from "./forwarded-headers.ts";
import { logIgnoredFields, unknownFieldsHeaders } from "./ignored-fields.ts";
import { noAnswer } from "./no-answer.ts";
import { prepareAct, type SecretActs } from "./secret-acts.ts";

/** @throws {ServiceError} before any byte of an answer is sent. */
export async function forward(
  instance: Instance,
  sessionId: string,
  { isVisit = false, ...forwarding }: Forwarding & { readonly isVisit?: boolean },
  headers: RelayedHeaders,
): Promise<void> {
  const path = pathInside(forwarding.request.raw.url ?? "");
  await relay(forwarding, headers, async (init, body) => {
    try {
      const answer = await instance.request({ ...init, path, isVisit }, body);
      logIgnoredFields(forwarding.reply, answer.headers);
      return answer;
    } catch (error) {
      throw noAnswer(error, sessionId);
    }
  });
}

/** @throws {ServiceError} before any byte of an answer is sent. */
export async function forwardOperation(
  instance: Instance,
  sessionId: string,
  { endpoint, unknownFields, ...forwarding }: Forwarding & ForwardedOperation,
): Promise<void> {
  const request = { ...requestHeadersFor(forwarding.request.raw.headers), ...unknownFieldsHeaders(unknownFields) };
  await forward(instance, sessionId, forwarding, { request, answer: answerHeadersOf(endpoint) });
}

interface ForwardedOperation {
  readonly endpoint: Endpoint;
  readonly unknownFields: UnknownFields;
}

export interface InstancePlane {
  /** @returns `undefined` when another server answers. @throws {ServiceError} 401, 403, 404, 409, 503. */
  instanceFor(request: FastifyRequest, sessionId: string): Promise<Instance | undefined>;
  readonly unknownFields?: UnknownFields;
  /** Set for actions, which may name a stored value. */
  readonly secrets?: SecretActs | undefined;
}

export function serveForwarded(app: FastifyInstance, endpoint: Endpoint, plane: InstancePlane): void {
  const answer = answerHeadersOf(endpoint);
  const isStream = Object.values(endpoint.responses).some((content) => content.kind === "events");
  const requestHeaders = unknownFieldsHeaders(plane.unknownFields ?? "ignore");
  app.route<{ Params: { id: string } }>({
    method: endpoint.method === "GET" && !isStream ? ["GET", "HEAD"] : endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { id } = request.params;
      const instance = await plane.instanceFor(request, id);
      if (instance === undefined) return;
      const { secrets } = plane;
      const prepared = secrets && (await prepareAct(request, { id, instance, secrets }));
      await forward(
        instance,
        id,
        { request, reply, isVisit: endpoint.inSession?.passive === "always", ...(prepared && { body: prepared.body }) },
        { request: { ...requestHeadersFor(request.headers), ...requestHeaders, ...prepared?.headers }, answer },
      );
    },
  });
}
