import * as z from "zod/mini";
import { DeletionStatus, DisplayName, pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, type Schema } from "./schema.ts";

export const ApiKeyCreatorShape = lazyObject(() => ({
  /** Identifier of the key or person that made the key. */
  id: z.string(),
  /** Address of the person; `admin@localhost` where the service made the key itself. */
  email: z.string(),
  /** Name of the person or key. */
  name: z.nullable(z.string()),
}));
/** Who made an API key. */
export interface ApiKeyCreator extends z.output<typeof ApiKeyCreatorShape> {}
export const ApiKeyCreator: Schema<ApiKeyCreator> = ApiKeyCreatorShape;

const apiKeyFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** For people; not unique. */
  name: z.string(),
  /** When it was made. */
  created_at: Timestamp,
  /** Who made it. */
  created_by: ApiKeyCreator,
  /** When it stops working; `null` = never. */
  expires_at: z.nullable(Timestamp),
  /** When it was deleted; `null` while it was not. */
  deleted_at: z.nullable(Timestamp),
  /** The one project that it opens; `null` = every project of the organisation. */
  project_id: z.nullable(z.string()),
  /** Name of that project; `null` for an organisation-wide key. */
  project_name: z.nullable(z.string()),
  /** First and last characters of the key, enough to recognise it. */
  masked_key: z.string(),
  /** When it last opened the service, some seconds late; absent when it never did. */
  last_used_at: z.optional(Timestamp),
});

export const ApiKeyShape = lazyObject(apiKeyFields);
/** A key that opens the service, without its secret. */
export interface ApiKey extends z.output<typeof ApiKeyShape> {}
export const ApiKey: Schema<ApiKey> = ApiKeyShape;

export const CreatedApiKeyShape = lazyObject(() => ({
  ...apiKeyFields(),
  /** The secret itself. It is shown this once and cannot be read again. */
  key: z.string(),
}));
/** A new key together with its secret. */
export interface CreatedApiKey extends z.output<typeof CreatedApiKeyShape> {}
export const CreatedApiKey: Schema<CreatedApiKey> = CreatedApiKeyShape;

export const CreateApiKeyShape = lazyObject(() => ({
  /** For people, 1 to 255 characters; need not be unique. */
  name: DisplayName,
  /** Days until it stops working, 1 to 3650; `null` or absent = never. */
  days_to_expire: z.optional(z.nullable(checked(z.int(), z.minimum(1), z.maximum(3650)))),
  /** The one project that it opens; `null` or absent = the project of the key that makes it, or every project when that one is organisation-wide. */
  project_id: z.optional(z.nullable(checked(z.string(), z.minLength(1), z.maxLength(255)))),
}));
/** What `apiKeys.create` takes. */
export interface CreateApiKey extends z.input<typeof CreateApiKeyShape> {}
export const CreateApiKey: Schema<z.output<typeof CreateApiKeyShape>, CreateApiKey> = CreateApiKeyShape;

export const UpdateApiKeyShape = lazyObject(() => ({
  /** The new name, 1 to 255 characters. */
  name: DisplayName,
}));
/** What `apiKeys.update` takes. */
export interface UpdateApiKey extends z.input<typeof UpdateApiKeyShape> {}
export const UpdateApiKey: Schema<z.output<typeof UpdateApiKeyShape>, UpdateApiKey> = UpdateApiKeyShape;

export const RotateApiKeyShape = lazyObject(() => ({
  /** Days that the new key lives, 1 to 3650; `null` = for ever, absent = as long as the old key was made for. */
  days_to_expire: z.optional(z.nullable(checked(z.int(), z.minimum(1), z.maximum(3650)))),
  /** Days that the old key goes on working, 0 (it stops at once) to 3650; `null` or absent = 7. */
  expire_in_days: z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(3650)))),
}));
/** What `apiKeys.rotate` takes. */
export interface RotateApiKey extends z.input<typeof RotateApiKeyShape> {}
export const RotateApiKey: Schema<z.output<typeof RotateApiKeyShape>, RotateApiKey> = RotateApiKeyShape;

export const ListApiKeysShape = lazyObject(() => ({
  ...pageFields,
  /** Part of the name of the key, its creator or its project (case does not matter), or the beginning of its id or masked key. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. Several keys may carry it. */
  name: z.optional(z.string()),
  /** What to sort by. */
  sort_by: z._default(z.enum(["created_at", "name", "expires_at"]), "created_at"),
  /** Which end comes first. */
  sort_direction: z._default(z.enum(["asc", "desc"]), "desc"),
  /** Keys in use (expired ones among them), deleted keys, or both. */
  status: z._default(DeletionStatus, "active"),
  /** @deprecated `status=all` says the same. */
  // This is the field's declaration, not a use of it.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- declaring it is no use of it
  include_deleted: z._default(z.boolean(), false),
}));
/** What `apiKeys.list` takes. */
export interface ListApiKeys extends z.input<typeof ListApiKeysShape> {}
export const ListApiKeys: Schema<z.output<typeof ListApiKeysShape>, ListApiKeys> = ListApiKeysShape;

export const GetApiKeyShape = lazyObject(() => ({
  /** Find the key even if it was deleted. */
  include_deleted: z._default(z.boolean(), false),
}));
/** What `apiKeys.get` takes beside the id. */
export interface GetApiKey extends z.input<typeof GetApiKeyShape> {}
export const GetApiKey: Schema<z.output<typeof GetApiKeyShape>, GetApiKey> = GetApiKeyShape;
