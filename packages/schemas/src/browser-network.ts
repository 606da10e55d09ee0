import * as z from "zod/mini";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

/** Where a session runs, by the operator's name for the place: 1 to 63 letters, digits and hyphens. */
export const BrowserRegionName: Schema<string> = z.lazy(() => checked(z.string(), z.regex(/^[A-Za-z0-9-]{1,63}$/, "1 to 63 letters, digits and hyphens")));

/** Where a session runs. */
export const BrowserRegion = openEnum("us-east", "eu-west");

export const BrowserNetworkConfigShape = lazyObject(() => ({
  /** Private hosts that the session may reach: names, addresses and ranges (`10.0.0.0/8`), at most 32 of at most 255 characters each. They replace the service's own list; `[]` = none. */
  private_hosts: z.optional(checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.maxLength(32))),
}));
/** What a session may reach beyond public addresses. */
export interface BrowserNetworkConfig extends z.output<typeof BrowserNetworkConfigShape> {}
export const BrowserNetworkConfig: Schema<BrowserNetworkConfig> = BrowserNetworkConfigShape;
