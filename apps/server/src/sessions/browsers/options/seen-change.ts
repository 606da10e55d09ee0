import { changedFields, defaultLocation, type RequestedLocation, setFields } from "@shoal/contract/network";
import type { LaunchWishes } from "@shoal/instance";
import type { PlacementAbilities } from "@shoal/placement";
import type { BrowserConditions, UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { locationFor } from "./location.ts";
import type { RequestedOptions, SessionOptions } from "./session-options.ts";

type Request = Pick<z.output<typeof UpdateBrowser>, "conditions" | "location">;
export type SeenOptions = Pick<SessionOptions, "conditions" | "exit_timezone" | "location">;

/** The fields that a change sets, as `browsers.create` takes them. */
export function seenFields({ conditions, location }: Request): {
  readonly conditions: RequestedOptions["conditions"];
  readonly location: RequestedOptions["location"];
} {
  return {
    conditions: conditions && setFields<BrowserConditions>(conditions),
    location: location && setFields<RequestedLocation>(location),
  };
}

/**
 * @param country - finds the country of the proxy; called for the time zone `exit` only.
 * @returns the options after a change; `undefined` without one. @throws {ServiceError} 400 `invalid_browser_location`.
 */
export async function seenAfter(
  { conditions, location }: Request,
  present: SeenOptions,
  {
    abilities,
    country,
  }: { readonly abilities: PlacementAbilities; readonly country: () => Promise<string | undefined> },
): Promise<SeenOptions | undefined> {
  if (conditions === undefined && location === undefined) return undefined;
  const where: RequestedLocation = changedFields(present.location, location);
  const found: SeenOptions =
    location === undefined
      ? present
      : locationFor(
          { own: where, profile: undefined },
          abilities,
          where.timezone === "exit" ? await country() : undefined,
        );
  const shown: BrowserConditions = changedFields(present.conditions, conditions);
  return {
    ...(found.location && { location: found.location }),
    ...(found.exit_timezone !== undefined && { exit_timezone: found.exit_timezone }),
    ...(Object.keys(shown).length > 0 && { conditions: shown }),
  };
}

/** What the browser of a session starts with. */
export function seenWishes({ conditions = {}, exit_timezone: exitZone, location = {} }: SeenOptions): LaunchWishes {
  const { locale = defaultLocation.locale, timezone = defaultLocation.timezone } = location;
  return { locale, timezone: exitZone ?? timezone, conditions };
}
