import { changedFields, defaultLocation, type RequestedLocation, setFields } from "@shoal/contract/network";
import type { LaunchWishes } from "@shoal/instance";
import type { PlacementAbilities } from "@shoal/placement";
import type { BrowserConditions, UpdateBrowser } from "@shoal/schemas";
import { isDeepStrictEqual } from "node:util";
import type * as z from "zod/mini";
import { locationFor, refuseLocation } from "./location.ts";
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
 * @returns the options after a change; `undefined` if they are the present ones, because a change restarts the browser.
 * @throws {ServiceError} 400 `invalid_browser_location`.
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
  const { exit_timezone: presentZone } = present;
  const where: RequestedLocation = changedFields(present.location, location);
  let found: SeenOptions;
  if (location === undefined) found = present;
  else if (location.timezone === undefined && presentZone !== undefined)
    found = { location: refuseLocation(where, abilities), exit_timezone: presentZone };
  else {
    const exit = where.timezone === "exit" ? await country() : undefined;
    found = locationFor({ own: where, profile: undefined }, abilities, exit);
  }
  const after = seenOf({ ...found, conditions: changedFields<BrowserConditions>(present.conditions, conditions) });
  return isDeepStrictEqual(after, seenOf(present)) ? undefined : after;
}

/** Without empty fields. */
function seenOf({ conditions = {}, exit_timezone: exitZone, location = {} }: SeenOptions): SeenOptions {
  return {
    ...(Object.keys(location).length > 0 && { location }),
    ...(exitZone !== undefined && { exit_timezone: exitZone }),
    ...(Object.keys(conditions).length > 0 && { conditions }),
  };
}

/** What the browser of a session starts with. */
export function seenWishes({ conditions = {}, exit_timezone: exitZone, location = {} }: SeenOptions): LaunchWishes {
  const { locale = defaultLocation.locale, timezone = defaultLocation.timezone } = location;
  return { locale, timezone: exitZone ?? timezone, conditions };
}
