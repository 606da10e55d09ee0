import { changedFields, type RequestedLocation, setFields } from "@shoal/contract/network";
import type { Browser, BrowserConditions, UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { SessionRow } from "../state/store.ts";
import { locationOf, sessionLocation } from "./browser-options.ts";

type Request = Pick<z.output<typeof UpdateBrowser>, "conditions" | "location">;

function requestedOf(location: Browser["location"]): RequestedLocation {
  return {
    ...(location?.timezone_source === "override" && { timezone: location.timezone }),
    ...(location?.locale_source === "override" && { locale: location.locale }),
  };
}

/** The fields that a change sets, as `browsers.create` takes them. */
export function seenFields({ conditions = {}, location = {} }: Request): {
  readonly conditions: object;
  readonly location: RequestedLocation;
} {
  return { conditions: setFields<BrowserConditions>(conditions), location: setFields<RequestedLocation>(location) };
}

/** @throws {ServiceError} 400 for a location that browsers do not know. */
export function seenAfter({ conditions, location }: Request, shown: SessionRow["shown"]): SessionRow["shown"] {
  const { conditions: before, location: from, ...others } = shown;
  const where =
    location === undefined ? from : sessionLocation(locationOf(changedFields(requestedOf(from), location)) ?? {});
  const after: BrowserConditions = changedFields(before, conditions);
  return { ...others, ...(where && { location: where }), ...(Object.keys(after).length > 0 && { conditions: after }) };
}
