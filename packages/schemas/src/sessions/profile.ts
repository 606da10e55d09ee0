import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum, type Schema } from "../base/schema.ts";
import { BrowserConditions, BrowserConditionsConfig } from "./browser-conditions.ts";
import { BrowserLocationConfig } from "./browser-location.ts";
import { WebBotAuth } from "./web-bot-auth.ts";
import { atLeastOne, checkedLater } from "../base/rules.ts";

/** Saved browser state (cookies, storage, preferences) that sessions start from. */
export interface Profile extends z.output<typeof Profile> {}
export const Profile = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project; `null` when it was created without one. */
  name: z.optional(z.nullable(z.string())),
  /** Creation time. */
  created_at: Timestamp,
  /** When its name or its saved state last changed; absent while it never did. */
  updated_at: z.optional(Timestamp),
  /** When a browser last started with it; absent while none did. */
  last_used_at: z.optional(Timestamp),
  /** When its present state was saved; absent while it is empty. */
  saved_at: z.optional(Timestamp),
  /** Bytes of its present state as it is stored, compressed; absent while it is empty. */
  size_bytes: z.optional(z.int()),
  /** Number of its present state among `profiles.versions.list`; absent while it is empty. */
  version: z.optional(z.int()),
  /** How sessions that start from it sign their requests; absent when they do not. */
  web_bot_auth: z.optional(WebBotAuth),
  /** Where pages see sessions that start from it; absent without a choice. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position and preferences of pages in sessions that start from it; absent without a choice. */
  conditions: z.optional(BrowserConditions),
  /** Why the latest attempt to save to it failed; absent when it did not. The state that was saved before is untouched. */
  last_save_error: z.optional(z.string()),
}));

/** Input of `profiles.create`. */
export interface CreateProfile extends z.input<typeof CreateProfile> {}
export const CreateProfile = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
  /** Sign the requests of sessions that start from it with the project's key, so that sites can recognize them (Web Bot Auth). */
  web_bot_auth: z.optional(WebBotAuth),
  /** Where pages see sessions that start from it, unless the session or its pool names another time zone or locale. */
  location: z.optional(BrowserLocationConfig),
  /** Permissions, position and preferences of pages in sessions that start from it, unless the session or its pool names others. */
  conditions: z.optional(BrowserConditionsConfig),
}));

/** Input of `profiles.update`. */
export interface UpdateProfile extends z.input<typeof UpdateProfile> {}
export const UpdateProfile = z.lazy(() =>
  checked(
    z.object({
      /** The new name, unique in the project, 1 to 255 characters. */
      name: z.optional(DisplayName),
      /** How sessions that start later sign their requests; `null` takes it away. */
      web_bot_auth: z.optional(z.nullable(WebBotAuth)),
      /** Where pages see sessions that start later; replaces both fields, and `null` takes them away. */
      location: z.optional(z.nullable(BrowserLocationConfig)),
      /** Permissions, position and preferences of pages in sessions that start later; replaces all fields, and `null` takes them away. */
      conditions: z.optional(z.nullable(BrowserConditionsConfig)),
    }),
    atLeastOne("name", "web_bot_auth", "location", "conditions"),
  ),
);

/** Input of `profiles.list`. */
export interface ListProfiles extends z.input<typeof ListProfiles> {}
export const ListProfiles = lazyObject(() => ({
  ...pageFields,
  /** Part of a name or an id; case does not matter. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));

/** Number of a saved state, from 1 on. */
export const ProfileVersionNumber: Schema<number> = z.lazy(() =>
  checked(z.int(), z.minimum(1), z.maximum(2_147_483_647)),
);

/** One saved state of a profile. */
export interface ProfileVersion extends z.output<typeof ProfileVersion> {}
export const ProfileVersion = lazyObject(() => ({
  /** Number of the state, from 1 on; numbers of a profile are not used twice. */
  version: z.int(),
  /** When it was saved. */
  created_at: Timestamp,
  /** Bytes as it is stored, compressed. */
  size_bytes: z.int(),
  /** SHA-256 of the archive `tar.zst`, hexadecimal in lower case. */
  checksum: z.string(),
  /**
   * Origin: the end of a session (`session`), an automatic save of a running session (`checkpoint`), `browsers.saveProfile` (`save`), a `storage_state`
   * (`import`), another version (`rollback`), or another profile (`clone`).
   */
  source: openEnum("session", "checkpoint", "save", "import", "rollback", "clone"),
  /** The session that saved it; absent for other sources. */
  session_id: z.optional(z.string()),
  /** Whether sessions start from this version. */
  is_current: z.boolean(),
}));

/** Query of `profiles.versions.list`. */
export interface ListProfileVersions extends z.input<typeof ListProfileVersions> {}
export const ListProfileVersions = lazyObject(() => pageFields);

/** Input of `profiles.rollback`. */
export interface RollbackProfile extends z.input<typeof RollbackProfile> {}
export const RollbackProfile = lazyObject(() => ({
  /** Number of the saved state to return to, from `profiles.versions.list`. */
  version: ProfileVersionNumber,
}));

/** Input of `profiles.clone`. */
export interface CloneProfile extends z.input<typeof CloneProfile> {}
export const CloneProfile = lazyObject(() => ({
  /** Name of the new profile, unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
}));

const storageStateCookie = () => ({
  /** Name of the cookie; may be empty. */
  name: checked(z.string(), z.maxLength(4096)),
  /** Its value. */
  value: checked(z.string(), z.maxLength(4096)),
  /** Host that it is sent to; with a dot in front, to the hosts below it too. */
  domain: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Path prefix that it is sent to; starts with `/`. */
  path: checked(z.string(), z.minLength(1), z.maxLength(4096)),
  /** When it ends, in seconds since 1970; -1 = with the browser's session. */
  expires: z.number(),
  /** Whether pages cannot read it. */
  httpOnly: z.boolean(),
  /** Whether it is sent over HTTPS only. */
  secure: z.boolean(),
  /** Site of the page that it is kept apart for; absent for an ordinary cookie. */
  partitionKey: z.optional(checked(z.string(), z.maxLength(2048))),
});
const StorageStateCookie = lazyObject(() => ({
  ...storageStateCookie(),
  /** Whether it goes along with requests from other sites. */
  sameSite: openEnum("Strict", "Lax", "None"),
}));
const NewStorageStateCookie = z.lazy(() =>
  checked(
    z.object({
      ...storageStateCookie(),
      /** Whether it goes along with requests from other sites. */
      sameSite: z.enum(["Strict", "Lax", "None"]),
    }),
    checkedLater({
      keywords: {
        properties: { path: { pattern: "^/" } },
        if: { properties: { sameSite: { const: "None" } } },
        then: { properties: { secure: { const: true } } },
      },
    }),
  ),
);
const storageStateOrigin = (...rules: ReturnType<typeof checkedLater<string>>[]) => ({
  /** Scheme, host and port: `https://example.com`. */
  origin: checked(z.string(), z.minLength(1), z.maxLength(2048), ...rules),
  /** Local storage of its pages. */
  localStorage: z.array(
    z.object({
      /** The key. */
      name: z.string(),
      /** The value. */
      value: z.string(),
    }),
  ),
});
const StorageStateOrigin = lazyObject(() => storageStateOrigin());
const NewStorageStateOrigin = lazyObject(() =>
  storageStateOrigin(
    checkedLater({ keywords: { pattern: "^https?://(?:[a-z0-9._-]+|\\[[0-9a-f:]+\\])(?::[0-9]{1,5})?$" } }),
  ),
);

/** Cookies and local storage, as Playwright's `storageState` writes and reads them. */
export interface StorageState extends z.output<typeof StorageState> {}
export const StorageState = lazyObject(() => ({
  /** Every cookie. */
  cookies: z.array(StorageStateCookie),
  /** Origins with local storage. */
  origins: z.array(StorageStateOrigin),
}));

/** Input of `profiles.storageState.import`: cookies and local storage, as Playwright's `storageState` writes them. */
export interface ImportStorageState extends z.input<typeof ImportStorageState> {}
export const ImportStorageState = lazyObject(() => ({
  /** Every cookie; at most 1,000. */
  cookies: checked(z.array(NewStorageStateCookie), z.maxLength(1000)),
  /** Origins with local storage; at most 200. */
  origins: checked(z.array(NewStorageStateOrigin), z.maxLength(200)),
}));

/** Query of `profiles.download`. */
export interface DownloadProfile extends z.input<typeof DownloadProfile> {}
export const DownloadProfile = lazyObject(() => ({
  /** `tar.zst`, a tar archive compressed with Zstandard, or `tar`, uncompressed; as it is stored (`tar.zst`) when absent. */
  format: z.optional(z.enum(["tar.zst", "tar"])),
  /** A saved state other than the present one, by its number. */
  version: z.optional(ProfileVersionNumber),
}));
