import * as z from "zod/mini";
import { rule } from "../base/rules.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";

/** Permissions that `conditions.permissions` can decide, by their names in `navigator.permissions`. */
export const permissionNames = [
  "accelerometer",
  "background-sync",
  "camera",
  "clipboard-read",
  "clipboard-write",
  "geolocation",
  "idle-detection",
  "local-fonts",
  "local-network-access",
  "microphone",
  "midi",
  "notifications",
  "persistent-storage",
  "storage-access",
  "window-management",
] as const;

/** As pages read it in `origin`. Chromium takes no other one, and insecure pages have no permissions. */
const PermissionOrigin = () =>
  checked(
    z.string(),
    z.maxLength(300),
    rule(
      (text) => secureOrigin.test(text) && isOrigin(text),
      "must be an origin such as https://example.com or http://localhost:3000",
      {
        keywords: { pattern: secureOrigin.source },
      },
    ),
  );
const secureOrigin =
  /^(?:https:\/\/[^\s/?#@A-Z]+|http:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?)$/;
const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** The requested answer to a permission prompt. */
export interface BrowserPermissionConfig extends z.output<typeof BrowserPermissionConfig> {}
export const BrowserPermissionConfig = lazyObject(() => ({
  /** Name of the permission. */
  name: z.enum(permissionNames),
  /** Whether pages have it. */
  setting: z._default(z.enum(["granted", "denied"]), "granted"),
  /** Pages of this origin only, such as `https://example.com`; all pages when absent. With `http:` only this machine, because other pages are insecure and have no permissions. */
  origin: z.optional(PermissionOrigin()),
}));

const Permissions = () => checked(z.array(BrowserPermissionConfig), z.maxLength(100));
const Geolocation = () =>
  z.object({
    /** Degrees north, -90 to 90. */
    latitude: checked(z.number(), z.minimum(-90), z.maximum(90)),
    /** Degrees east, -180 to 180. */
    longitude: checked(z.number(), z.minimum(-180), z.maximum(180)),
    /** Meters, 0 to 10000000. */
    accuracy: z._default(checked(z.number(), z.minimum(0), z.maximum(10_000_000)), 10),
  });

/** What pages find in the browser, as requested. */
export interface BrowserConditionsConfig extends z.output<typeof BrowserConditionsConfig> {}
export const BrowserConditionsConfig = lazyObject(() => ({
  /** Answers to permission prompts, at most 100; the last one for a permission and an origin counts. A prompt without an answer is denied. */
  permissions: z.optional(Permissions()),
  /** Position for pages with the permission `geolocation`. */
  geolocation: z.optional(Geolocation()),
  /** `prefers-color-scheme`; `light` when absent. */
  color_scheme: z.optional(z.enum(["light", "dark"])),
  /** `prefers-reduced-motion`; `no-preference` when absent. */
  reduced_motion: z.optional(z.enum(["reduce", "no-preference"])),
  /** `deny` cancels every download, also of pages whose client accepts downloads. `allow` keeps them without a question, also several of one page. `allow` when absent. */
  downloads: z.optional(z.enum(["allow", "deny"])),
}));

/** Other conditions for a running session. A field that is absent stays, `null` goes back to the default. */
export interface BrowserConditionsUpdate extends z.output<typeof BrowserConditionsUpdate> {}
export const BrowserConditionsUpdate = lazyObject(() => ({
  /** Answers to permission prompts, at most 100, in place of the present ones. */
  permissions: z.optional(z.nullable(Permissions())),
  /** Position for pages with the permission `geolocation`. */
  geolocation: z.optional(z.nullable(Geolocation())),
  /** `prefers-color-scheme`. */
  color_scheme: z.optional(z.nullable(z.enum(["light", "dark"]))),
  /** `prefers-reduced-motion`. */
  reduced_motion: z.optional(z.nullable(z.enum(["reduce", "no-preference"]))),
  /** Whether pages can download. */
  downloads: z.optional(z.nullable(z.enum(["allow", "deny"]))),
}));

/** The answer to a permission prompt. */
export interface BrowserPermission extends z.output<typeof BrowserPermission> {}
export const BrowserPermission = lazyObject(() => ({
  /** Name of the permission. */
  name: openEnum(...permissionNames),
  /** Whether pages have it. */
  setting: openEnum("granted", "denied"),
  /** Pages of this origin only; all pages when absent. */
  origin: z.optional(z.string()),
}));

/** What pages find in the browser. */
export interface BrowserConditions extends z.output<typeof BrowserConditions> {}
export const BrowserConditions = lazyObject(() => ({
  /** Answers to permission prompts; the last one for a permission and an origin counts. A prompt without an answer is denied. */
  permissions: z.optional(z.array(BrowserPermission)),
  /** Position for pages with the permission `geolocation`. */
  geolocation: z.optional(
    z.object({
      /** Degrees north. */
      latitude: z.number(),
      /** Degrees east. */
      longitude: z.number(),
      /** Meters. */
      accuracy: z.number(),
    }),
  ),
  /** `prefers-color-scheme`; `light` when absent. */
  color_scheme: z.optional(openEnum("light", "dark")),
  /** `prefers-reduced-motion`; `no-preference` when absent. */
  reduced_motion: z.optional(openEnum("reduce", "no-preference")),
  /** `deny`: every download is canceled; `allow` when absent. */
  downloads: z.optional(openEnum("allow", "deny")),
}));
