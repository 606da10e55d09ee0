import * as z from "zod/mini";
import { DeletionStatus, DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject } from "../base/schema.ts";
import { checkedLater } from "../base/rules.ts";

/** Creator of an API key. */
export interface ApiKeyCreator extends z.output<typeof ApiKeyCreator> {}
export const ApiKeyCreator = lazyObject(() => ({
  /** Identifier of the key or person that created the key. */
  id: z.string(),
  /** Email address of the person; `admin@localhost` if the service created the key. */
  email: z.string(),
  /** Name of the person or key. */
  name: z.nullable(z.string()),
}));

/** What one statement of a policy allows. */
export interface KeyPolicyStatement extends z.output<typeof KeyPolicyStatement> {}
export const KeyPolicyStatement = lazyObject(() => ({
  /** An action on objects (`browsers:create`, `use`, `write`, `delete`; `profiles:`, `vaults:` and `proxies:` also `read`; `projects:read`, `organizations:read`), a role (`role:viewer`, `role:operator`, `role:admin`), or an operation by name (`operation:browsers.screenshot`, `operation:browsers.computer.*`). */
  action: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** `organizations/ID/*`, `projects/ID/*`, or one object: `projects/ID/browsers/ID`, and in the same way `profiles`, `vaults` and `proxies`. */
  resource: checked(z.string(), z.minLength(1), z.maxLength(1024)),
}));

/** What a key may do. Everything that no statement allows is refused. */
export interface KeyPolicy extends z.output<typeof KeyPolicy> {}
export const KeyPolicy = lazyObject(() => ({
  /** At most 100. */
  statements: checked(z.array(KeyPolicyStatement), z.maxLength(100)),
}));

const apiKeyFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** For people; not unique. */
  name: z.string(),
  /** Creation time. */
  created_at: Timestamp,
  /** Its creator. */
  created_by: ApiKeyCreator,
  /** When it stops working; `null` = never. */
  expires_at: z.nullable(Timestamp),
  /** Time of its deletion; `null` for an existing key. */
  deleted_at: z.nullable(Timestamp),
  /** The one project that it opens; `null` = every project of the organisation. */
  project_id: z.nullable(z.string()),
  /** Name of that project; `null` for an organisation-wide key. */
  project_name: z.nullable(z.string()),
  /** First and last characters of the key, enough to recognise it. */
  masked_key: z.string(),
  /** Time of its last use, some seconds late; absent if it was never used. */
  last_used_at: z.optional(Timestamp),
  /** The only things that it may do; absent = everything in its project, or in every project. It never changes. */
  policy: z.optional(KeyPolicy),
});

/** A key that opens the service, without its secret. */
export interface ApiKey extends z.output<typeof ApiKey> {}
export const ApiKey = lazyObject(apiKeyFields);

/** A new key together with its secret. */
export interface CreatedApiKey extends z.output<typeof CreatedApiKey> {}
export const CreatedApiKey = lazyObject(() => ({
  ...apiKeyFields(),
  /** The secret. It is returned only here and cannot be read again. */
  key: z.string(),
}));

/** Two fields of which one is absent or `null`. */
const notBoth = (one: string, other: string) => ({
  not: {
    required: [one, other],
    properties: { [one]: { not: { type: "null" } }, [other]: { not: { type: "null" } } },
  },
});

/** Input of `apiKeys.create`. */
export interface CreateApiKey extends z.input<typeof CreateApiKey> {}
export const CreateApiKey = z.lazy(() =>
  checked(
    z.object({
      /** For people, 1 to 255 characters; need not be unique. */
      name: DisplayName,
      /** Days until it stops working, 1 to 3650; `null` or absent = never. */
      days_to_expire: z.optional(z.nullable(checked(z.int(), z.minimum(1), z.maximum(3650)))),
      /** When it stops working, instead of `days_to_expire`: in the future, and within 3650 days; `null` or absent = never. A key with an expiry creates keys that expire at the same time or earlier. */
      expires_at: z.optional(z.nullable(Timestamp)),
      /** The only project that it opens; `null` or absent = the project of the calling key, or every project if that key is organisation-wide. */
      project_id: z.optional(z.nullable(checked(z.string(), z.minLength(1), z.maxLength(255)))),
      /** The only things that it may do, within the rights of the calling key; `null` or absent = everything. */
      policy: z.optional(z.nullable(KeyPolicy)),
      /** Short form of a policy: the rights of a person in this role. `viewer` reads, `operator` works with sessions, `admin` does everything. */
      role: z.optional(z.nullable(z.enum(["viewer", "operator", "admin"]))),
      /** Short form of a policy: the names of the only operations, at most 50, such as `browsers.screenshot` or `browsers.computer.*`. Together with `role`: also these. */
      operations: z.optional(
        z.nullable(
          checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(200))), z.minLength(1), z.maxLength(50)),
        ),
      ),
      /** Short form of a policy: ids of the only sessions that it opens, at most 50; as an operator without `role` and `operations`. */
      browser_ids: z.optional(
        z.nullable(
          checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.minLength(1), z.maxLength(50)),
        ),
      ),
    }),
    checkedLater({ keywords: notBoth("days_to_expire", "expires_at") }),
    checkedLater({ keywords: notBoth("policy", "role") }),
    checkedLater({ keywords: notBoth("policy", "operations") }),
    checkedLater({ keywords: notBoth("policy", "browser_ids") }),
  ),
);

/** Input of `apiKeys.update`. */
export interface UpdateApiKey extends z.input<typeof UpdateApiKey> {}
export const UpdateApiKey = lazyObject(() => ({
  /** The new name, 1 to 255 characters. */
  name: DisplayName,
}));

/** Input of `apiKeys.rotate`. */
export interface RotateApiKey extends z.input<typeof RotateApiKey> {}
export const RotateApiKey = lazyObject(() => ({
  /** Days until the new key expires, 1 to 3650; `null` = never, absent = the lifetime of the old key. */
  days_to_expire: z.optional(z.nullable(checked(z.int(), z.minimum(1), z.maximum(3650)))),
  /** Days that the old key continues to work, 0 (it stops at once) to 3650; `null` or absent = 7. */
  expire_in_days: z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(3650)))),
}));

/** Input of `apiKeys.list`. */
export interface ListApiKeys extends z.input<typeof ListApiKeys> {}
export const ListApiKeys = lazyObject(() => ({
  ...pageFields,
  /** Part of the name of the key, its creator or its project (case does not matter), or the beginning of its id or masked key. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. Several keys may carry it. */
  name: z.optional(z.string()),
  /** Sort field. */
  sort_by: z._default(z.enum(["created_at", "name", "expires_at"]), "created_at"),
  /** Which end comes first. */
  sort_direction: z._default(z.enum(["asc", "desc"]), "desc"),
  /** Keys in use (expired ones among them), deleted keys, or both. */
  status: z._default(DeletionStatus, "active"),
  /** @deprecated `status=all` says the same. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  include_deleted: z._default(z.boolean(), false),
}));

/** Query of `apiKeys.get`. */
export interface GetApiKey extends z.input<typeof GetApiKey> {}
export const GetApiKey = lazyObject(() => ({
  /** Find the key even if it was deleted. */
  include_deleted: z._default(z.boolean(), false),
}));
