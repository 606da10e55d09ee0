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

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);

/** Paths of the named fields that are given. @param path - of the object. */
export function givenIn(path: string, object: object | undefined, names: readonly string[]): string[] {
  const values = new Map(Object.entries(object ?? {}));
  return names.filter((name) => isGiven(values.get(name))).map((name) => `${path}.${name}`);
}

/** As {@link givenIn}, of the objects of a list: the first with each field. */
export function givenInList(path: string, list: readonly object[] | undefined, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const index = (list ?? []).findIndex((object) => givenIn(path, object, [name]).length > 0);
    return index === -1 ? [] : [`${path}[${String(index)}].${name}`];
  });
}
