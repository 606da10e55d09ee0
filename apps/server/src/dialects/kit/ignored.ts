import { ignoredFieldsHeader } from "@shoal/router";
import { replyOf } from "@shoal/router/fastify";
import type { FastifyRequest } from "fastify";

/** Adds fields that have no effect to the header that lists them. @param fields - paths, such as `body.region`. */
export function reportIgnored(request: FastifyRequest, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const reply = replyOf(request);
  const present = reply.getHeader(ignoredFieldsHeader);
  reply.header(ignoredFieldsHeader, [...(typeof present === "string" ? [present] : []), ...fields].join(", "));
}
