import {
  defaultLocation,
  exitTimezone,
  joinLocations,
  readLocation,
  type RequestedLocation,
} from "@shoal/contract/network";
import type { PlacementAbilities } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { howToInstall } from "./full-chromium.ts";

type Abilities = Pick<PlacementAbilities, "fullChromium" | "locales">;

/** @returns the canonical spelling. @throws {ServiceError} 400 `invalid_browser_location`. */
export function refuseLocation(requested: RequestedLocation | undefined, abilities: Abilities): RequestedLocation {
  const read = readLocation(requested ?? {});
  if ("refusal" in read) throw ServiceError.of(read.refusal);
  refuseLocale(read.location.locale, abilities);
  return read.location;
}

/** Locales named in a message; Shoal's image has hundreds. */
const maxNamed = 60;

function refuseLocale(locale: string | undefined, { fullChromium, locales }: Abilities): void {
  if (locale === undefined || locale === defaultLocation.locale || locales === "all" || locales.includes(locale))
    return;
  const all = [...new Set([defaultLocation.locale, ...locales])];
  const more = all.length > maxNamed ? ` and ${String(all.length - maxNamed)} more` : "";
  const have = `${all.slice(0, maxNamed).join(", ")}${more}`;
  throw new ServiceError(400, "invalid_browser_location", `browsers of this server have ${have}, not ${locale}`, {
    field: "body.location.locale",
    limit: have,
    hint: fullChromium
      ? "Sessions in a sandbox, and in containers and pods of Shoal's image, have every locale. Elsewhere, the operator can install Chromium's languages (Debian: apt-get install chromium-l10n)"
      : howToInstall,
  });
}

interface Choices {
  readonly own: RequestedLocation | undefined;
  readonly profile: RequestedLocation | undefined;
}

/** Field by field. @param country - of the proxy. @throws {ServiceError} 400 `invalid_browser_location`. */
export function locationFor(
  { own, profile }: Choices,
  abilities: Abilities,
  country: string | undefined,
): { readonly location?: RequestedLocation; readonly exit_timezone?: string } {
  try {
    return joinedLocation(joinLocations(own, profile), abilities, country);
  } catch (error) {
    throw ofProfile(error, own);
  }
}

/** Names the profile in the refusal of a value that the request does not have. */
function ofProfile(error: unknown, own: RequestedLocation = {}): unknown {
  const at = "body.location.";
  if (!ServiceError.isInstance(error) || error.field?.startsWith(at) !== true) return error;
  const { code, field, hint, limit, problem, status } = error;
  const name = field.slice(at.length);
  if (Object.hasOwn(own, name)) return error;
  return new ServiceError(status, code, `has a location that is impossible here: ${name} ${problem}`, {
    field: "body.profile",
    ...(hint !== undefined && { hint }),
    ...(limit !== undefined && { limit }),
  });
}

function joinedLocation(
  requested: RequestedLocation,
  abilities: Abilities,
  country: string | undefined,
): { readonly location?: RequestedLocation; readonly exit_timezone?: string } {
  const location = refuseLocation(requested, abilities);
  if (Object.keys(location).length === 0) return {};
  if (location.timezone !== "exit") return { location };
  const found = exitTimezone(country);
  if ("refusal" in found) throw ServiceError.of(found.refusal);
  return { location, exit_timezone: found.timezone };
}
