import type { ForeignError } from "@shoal/router/fastify";
import type { ErrorBody } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import { statusForForeigners } from "../http/foreign-status.ts";
import { dialects } from "./dialects.ts";
import { dialectOf } from "./kit/dialect-key.ts";

/** Errors of the paths of a dialect have its shape. */
export function foreignError(error: ErrorBody, status: number, request: IncomingMessage): ForeignError | undefined {
  const found = dialectOf(dialects, request.url ?? "");
  if (found === undefined) return undefined;
  const { dialect, inside } = found;
  const shown = statusForForeigners(status);
  const challenges = status === 401 ? dialect.challenges?.(inside, request.headers) : undefined;
  return {
    status: shown,
    body: dialect.errorBody(error, shown, inside),
    ...(challenges && { headers: { "www-authenticate": [...challenges] } }),
  };
}
