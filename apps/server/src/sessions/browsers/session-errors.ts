import {
  browserEnded,
  browserNameTaken,
  browserNotFound,
  containsNul,
  viewportTooLarge,
} from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser } from "@shoal/schemas";
import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import type * as z from "zod/mini";
import { isStorable } from "../../http/paging.ts";
import type { SessionRow } from "./session-store.ts";

export function notFound(idOrName: string): ServiceError {
  return ServiceError.of(browserNotFound(idOrName));
}

export function hasEnded(id: string, reason: string | null, at: string | null): ServiceError {
  return ServiceError.of(browserEnded(id, { reason, at }));
}

export function nameTaken(name: string): ServiceError {
  return ServiceError.of(browserNameTaken(name));
}

export function isSeen({ pool_state }: SessionRow): boolean {
  return pool_state === null || pool_state === "leased";
}

/** Limits of Chromium and PostgreSQL, which the contract does not have. */
export function refuseImpossible({
  viewport,
  start_url,
}: Pick<z.output<typeof CreateBrowser>, "viewport" | "start_url">): void {
  for (const side of ["width", "height"] as const)
    if (viewport !== undefined && viewport[side] > maxViewportPixels)
      throw ServiceError.of(viewportTooLarge(side, maxViewportPixels));
  if (!isStorable(start_url)) throw ServiceError.of(containsNul("body.start_url"));
}

export function neverFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Browser ${idOrName} was not found in this project, running or ended.`, {
    hint: "Ended sessions are found by their id only.",
  });
}
