import { ignoredFieldsHeader, type UnknownFields } from "@shoal/router";
import { unknownFieldsHeader } from "@shoal/instance";
import type { FastifyReply } from "fastify";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** The instance checks bodies of its operations, so the service's setting travels with each request. */
export function unknownFieldsHeaders(unknownFields: UnknownFields): OutgoingHttpHeaders {
  return unknownFields === "refuse" ? { [unknownFieldsHeader]: unknownFields } : {};
}

/** Longer than any list that the router makes. */
const maxListLength = 4096;

/** The list of ignored fields in an instance's answer. The instance is not trusted, so its text is checked. */
export function ignoredFieldsIn(answer: IncomingHttpHeaders): string | undefined {
  const fields = answer[ignoredFieldsHeader];
  return typeof fields === "string" && fields.length <= maxListLength && /^[\x20-\x7e]+$/.test(fields) ? fields : undefined;
}

/** Logs which fields of a request an instance ignored. */
export function logIgnoredFields(reply: FastifyReply, answer: IncomingHttpHeaders): void {
  const fields = ignoredFieldsIn(answer);
  if (fields !== undefined) reply.log.info({ ignored_fields: fields }, "ignored fields that the contract does not know");
}
