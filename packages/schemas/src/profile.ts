import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

export const ProfileShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project; `null` when it was created without one. */
  name: z.optional(z.nullable(z.string())),
  /** When it was made. */
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
  /** Why the latest attempt to save to it failed; absent when it did not. The state that was saved before is untouched. */
  last_save_error: z.optional(z.string()),
}));
/** Saved browser state (cookies, storage, preferences) that sessions start from. */
export interface Profile extends z.output<typeof ProfileShape> {}
export const Profile: Schema<Profile> = ProfileShape;

export const CreateProfileShape = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
}));
/** What `profiles.create` takes. */
export interface CreateProfile extends z.input<typeof CreateProfileShape> {}
export const CreateProfile: Schema<z.output<typeof CreateProfileShape>, CreateProfile> = CreateProfileShape;

export const UpdateProfileShape = lazyObject(() => ({
  /** The new name, unique in the project, 1 to 255 characters. */
  name: DisplayName,
}));
/** What `profiles.update` takes. */
export interface UpdateProfile extends z.input<typeof UpdateProfileShape> {}
export const UpdateProfile: Schema<z.output<typeof UpdateProfileShape>, UpdateProfile> = UpdateProfileShape;

export const ListProfilesShape = lazyObject(() => ({
  ...pageFields,
  /** Part of a name or an id; case does not matter. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));
/** What `profiles.list` takes. */
export interface ListProfiles extends z.input<typeof ListProfilesShape> {}
export const ListProfiles: Schema<z.output<typeof ListProfilesShape>, ListProfiles> = ListProfilesShape;

/** Number of a saved state, from 1 on. */
export const ProfileVersionNumber: Schema<number> = z.lazy(() => checked(z.int(), z.minimum(1), z.maximum(2_147_483_647)));

export const ProfileVersionShape = lazyObject(() => ({
  /** Number of the state, from 1 on; numbers of a profile are not used twice. */
  version: z.int(),
  /** When it was saved. */
  created_at: Timestamp,
  /** Bytes as it is stored, compressed. */
  size_bytes: z.int(),
  /** SHA-256 of the archive `tar.zst`, hexadecimal in lower case. */
  checksum: z.string(),
  /**
   * What made it: the end of a session (`session`), an automatic save of a running session (`checkpoint`), `browsers.saveProfile` (`save`), a `storage_state`
   * (`import`), another version (`rollback`), or another profile (`clone`).
   */
  source: openEnum("session", "checkpoint", "save", "import", "rollback", "clone"),
  /** The session that it comes from; absent for other sources. */
  session_id: z.optional(z.string()),
  /** Whether it is what sessions start from now. */
  is_current: z.boolean(),
}));
/** One saved state of a profile. */
export interface ProfileVersion extends z.output<typeof ProfileVersionShape> {}
export const ProfileVersion: Schema<ProfileVersion> = ProfileVersionShape;

export const ListProfileVersionsShape = lazyObject(() => pageFields);
/** What `profiles.versions.list` takes beside the id or name. */
export interface ListProfileVersions extends z.input<typeof ListProfileVersionsShape> {}
export const ListProfileVersions: Schema<z.output<typeof ListProfileVersionsShape>, ListProfileVersions> = ListProfileVersionsShape;

export const RollbackProfileShape = lazyObject(() => ({
  /** Number of the saved state to return to, from `profiles.versions.list`. */
  version: ProfileVersionNumber,
}));
/** What `profiles.rollback` takes. */
export interface RollbackProfile extends z.input<typeof RollbackProfileShape> {}
export const RollbackProfile: Schema<z.output<typeof RollbackProfileShape>, RollbackProfile> = RollbackProfileShape;

export const CloneProfileShape = lazyObject(() => ({
  /** Name of the new profile, unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
}));
/** What `profiles.clone` takes. */
export interface CloneProfile extends z.input<typeof CloneProfileShape> {}
export const CloneProfile: Schema<z.output<typeof CloneProfileShape>, CloneProfile> = CloneProfileShape;

const storageStateCookie = () => ({
  /** Name of the cookie; may be empty. */
  name: checked(z.string(), z.maxLength(4096)),
  /** Its value. */
  value: checked(z.string(), z.maxLength(4096)),
  /** Host that it is sent to; with a dot in front, to the hosts below it too. */
  domain: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Path that it is sent to, and those below; begins with `/`. */
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
const NewStorageStateCookie = lazyObject(() => ({
  ...storageStateCookie(),
  /** Whether it goes along with requests from other sites. */
  sameSite: z.enum(["Strict", "Lax", "None"]),
}));
const StorageStateOrigin = lazyObject(() => ({
  /** Scheme, host and port: `https://example.com`. */
  origin: checked(z.string(), z.minLength(1), z.maxLength(2048)),
  /** What its pages keep in local storage. */
  localStorage: z.array(
    z.object({
      /** The key. */
      name: z.string(),
      /** The value. */
      value: z.string(),
    }),
  ),
}));

export const StorageStateShape = lazyObject(() => ({
  /** Every cookie. */
  cookies: z.array(StorageStateCookie),
  /** Origins with local storage. */
  origins: z.array(StorageStateOrigin),
}));
/** Cookies and local storage, as Playwright's `storageState` writes and reads them. */
export interface StorageState extends z.output<typeof StorageStateShape> {}
export const StorageState: Schema<StorageState> = StorageStateShape;

export const ImportStorageStateShape = lazyObject(() => ({
  /** Every cookie; at most 1,000. */
  cookies: checked(z.array(NewStorageStateCookie), z.maxLength(1000)),
  /** Origins with local storage; at most 200. */
  origins: checked(z.array(StorageStateOrigin), z.maxLength(200)),
}));
/** What `profiles.storageState.import` takes: cookies and local storage, as Playwright's `storageState` writes them. */
export interface ImportStorageState extends z.input<typeof ImportStorageStateShape> {}
export const ImportStorageState: Schema<z.output<typeof ImportStorageStateShape>, ImportStorageState> = ImportStorageStateShape;

export const DownloadProfileShape = lazyObject(() => ({
  /** `tar.zst`, a tar archive compressed with Zstandard, or `tar`, uncompressed; as it is stored (`tar.zst`) when absent. */
  format: z.optional(z.enum(["tar.zst", "tar"])),
  /** A saved state other than the present one, by its number. */
  version: z.optional(ProfileVersionNumber),
}));
/** What `profiles.download` takes beside the id or name. */
export interface DownloadProfile extends z.input<typeof DownloadProfileShape> {}
export const DownloadProfile: Schema<z.output<typeof DownloadProfileShape>, DownloadProfile> = DownloadProfileShape;
