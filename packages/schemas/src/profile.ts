import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "./common.ts";
import { lazyObject, type Schema } from "./schema.ts";

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

export const DownloadProfileShape = lazyObject(() => ({
  /** `tar.zst`, a tar archive compressed with Zstandard, or `tar`, uncompressed; as it is stored (`tar.zst`) when absent. */
  format: z.optional(z.enum(["tar.zst", "tar"])),
}));
/** What `profiles.download` takes beside the id or name. */
export interface DownloadProfile extends z.input<typeof DownloadProfileShape> {}
export const DownloadProfile: Schema<z.output<typeof DownloadProfileShape>, DownloadProfile> = DownloadProfileShape;
