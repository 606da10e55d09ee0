import { isId } from "@shoal/primitives";
import { CreateBrowser } from "@shoal/schemas";
import * as z from "zod/mini";
import { type Fields, fieldsOf, joined, ownField } from "../base/fields.ts";

/** Options of a browser from a model or from flags. */
export interface BrowserInput extends Pick<
  CreateBrowser,
  "headless" | "location" | "start_url" | "stealth" | "timeout_seconds"
> {
  /** Id or name. */
  readonly profile?: string | undefined;
  readonly save_changes?: boolean | undefined;
  /** Id or name. */
  readonly proxy?: string | undefined;
}

/** Agents pause longer than programs: the service's default of a minute would end their browsers. */
export const defaultTimeoutSeconds = 600;

const Name = z.optional(z.string().check(z.minLength(1), z.maxLength(255)));

export const browserFields: Fields<Pick<BrowserInput, "headless" | "location" | "start_url" | "stealth">> = fieldsOf(
  CreateBrowser,
  {
    start_url: "Page to open",
    headless: "false = full Chromium with a window",
    stealth: "Hide signs of automation",
    location: "Where pages see it",
  },
);

export const profileFields: Fields<Pick<BrowserInput, "profile" | "save_changes">> = joined(
  ownField("profile", Name, "Id or name of a profile to start from"),
  ownField("save_changes", z.optional(z.boolean()), "Save to the profile at the end"),
);

export function requestOf({ profile, proxy, save_changes, ...rest }: BrowserInput): CreateBrowser {
  return {
    ...rest,
    ...(profile !== undefined && {
      profile: { ...idOrName(profile), ...(save_changes !== undefined && { save_changes }) },
    }),
    ...(proxy !== undefined && { proxy: idOrName(proxy) }),
  };
}

function idOrName(value: string): { readonly id: string } | { readonly name: string } {
  return isId(value) ? { id: value } : { name: value };
}
