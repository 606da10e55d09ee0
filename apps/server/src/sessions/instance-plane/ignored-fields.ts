import { ignoredFieldsHeader, type UnknownFields } from "@shoal/router";
import { unknownFieldsHeader } from "@shoal/instance";
import type { FastifyReply } from "fastify";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** The instance validates bodies, so each request carries the service's setting. */
export function unknownFieldsHeaders(unknownFields: UnknownFields): OutgoingHttpHeaders {
  return unknownFields === "refuse" ? { [unknownFieldsHeader]: unknownFields } : {};
}

const maxListLength = 4096;

/** Returns the ignored fields of an answer if the text is well-formed; the instance is not trusted. */
export function ignoredFieldsIn(answer: IncomingHttpHeaders): string | undefined {
  const fields = answer[ignoredFieldsHeader];
  return typeof fields === "string" && fields.length <= maxListLength && /^[\x20-\x7e]+$/.test(fields)
    ? fields
    : undefined;
}

export function logIgnoredFields(reply: FastifyReply, answer: IncomingHttpHeaders): void {
  const fields = ignoredFieldsIn(answer);
  if (fields !== undefined)
    reply.log.info({ ignored_fields: fields }, "ignored fields that the contract does not know");
}
