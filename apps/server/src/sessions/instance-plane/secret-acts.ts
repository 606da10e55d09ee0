import { readAtMost } from "@shoal/primitives/node";
import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import { callInstance, InstanceRefusal, type Instance } from "@shoal/placement";
import { instanceControl, type OfferedSecret, secretTicketHeader } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import { StoredSecret } from "@shoal/schemas";
import type { FastifyRequest } from "fastify";
import { randomBytes } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { noAnswer } from "./no-answer.ts";

/** As the instance limits it. */
const maxBodyBytes = 1024 * 1024;
/** The instance refuses more. */
const bounds: JsonBounds = { values: 50_000, depth: 200 };

export interface SecretActs {
  /** Admits the caller to the stored value, and opens it. @throws {ServiceError} 403, 404, 409. */
  open(request: FastifyRequest, sessionId: string, secret: StoredSecret): Promise<Omit<OfferedSecret, "ticket">>;
}

/** A body that was read, and headers for the instance. */
export interface PreparedBody {
  readonly body: Readable;
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Reads the body of an action. If it names a stored value, the value goes to the instance in a separate request, and the
 * action takes it by a ticket: no body or header of the action contains it, also when the client repeats it.
 * @throws {ServiceError}
 */
export async function prepareAct(
  request: FastifyRequest,
  { id, instance, secrets }: { readonly id: string; readonly instance: Instance; readonly secrets: SecretActs },
): Promise<PreparedBody> {
  const bytes = await readBody(request.raw);
  const body = Readable.from([bytes]);
  const secret = secretIn(bytes);
  if (secret === undefined) return { body, headers: {} };
  const opened = await secrets.open(request, id, secret);
  const ticket = randomBytes(24).toString("base64url");
  try {
    await callInstance(instance, instanceControl.offerSecret, { body: { ...opened, ticket } });
  } catch (error) {
    // Its text could repeat the request.
    throw error instanceof InstanceRefusal
      ? noAnswer(new Error("The instance refused the value."), id)
      : noAnswer(error, id);
  }
  return { body, headers: { [secretTicketHeader]: ticket } };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const bytes = await readAtMost(request.iterator({ destroyOnReturn: false }), maxBodyBytes);
  if (bytes !== undefined) return bytes;
  request.resume();
  throw new ServiceError(413, "payload_too_large", `larger than the limit of ${String(maxBodyBytes)} bytes`, {
    field: "body",
    limit: maxBodyBytes,
  });
}

/** The instance refuses all other bodies: without a ticket, it types no stored value. */
function secretIn(bytes: Buffer): StoredSecret | undefined {
  if (!bytes.includes('"secret"') || exceededJsonBound(bytes, bounds) !== undefined) return undefined;
  try {
    const { secret, text, type } = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
    const parsed = type === "fill" && text === undefined ? StoredSecret.safeParse(secret) : undefined;
    return parsed?.success === true ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
