import * as z from "zod/mini";
import { Timestamp } from "../base/common.ts";
import { atMostOne, exactlyOne, maxEntries } from "../base/rules.ts";
import { alwaysSent, checked, lazyObject, openEnum } from "../base/schema.ts";
import { siteName } from "../base/site-name.ts";

const itemTypes = ["credential", "credential_account", "wallet", "card"] as const;
const ItemType = () => z.enum(itemTypes);
const fieldTypes = ["text", "email", "password", "totp", "passkey"] as const;
const FieldName = () => checked(z.string(), z.maxLength(64), z.regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/));
const Text = (longest: number) => checked(z.string(), z.maxLength(longest));
const Sites = () =>
  checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(253), siteName())), z.maxLength(50));

/** Definition of a field of an item. */
export interface VaultField extends z.output<typeof VaultField> {}
export const VaultField = lazyObject(() => ({
  /** Identifies the field in the item. */
  name: z.string(),
  /** What it is for. */
  type: openEnum(...fieldTypes),
  /** Whether the item is ready without a value. */
  required: z.boolean(),
  /** Whether answers leave its value out. */
  sensitive: z.boolean(),
  /** Text for people. */
  label: z.optional(z.string()),
}));

/** Definition of an item. */
export interface VaultItemSpec extends z.output<typeof VaultItemSpec> {}
export const VaultItemSpec = lazyObject(() => ({
  /** Where the values are: `kernel`, in the vault; `managed_auth`, in the credential of a connection. */
  provider: openEnum("kernel", "managed_auth"),
  /** Of `kernel`: its fields, in the order of its form. */
  fields: z.optional(z.array(VaultField)),
  /** Of `managed_auth`: the connection whose credential it reads. */
  connection_id: z.optional(z.string()),
  /** Text for people: the title of its form. */
  description: z.optional(z.string()),
  /** Sites of its values, with their subdomains. Stored only: no operation types values yet. */
  sites: z.optional(z.array(z.string())),
}));

/** State of a field. */
export interface VaultFieldState extends z.output<typeof VaultFieldState> {}
export const VaultFieldState = lazyObject(() => ({
  /** Of `kernel`: whether a value is stored. */
  has_value: z.optional(z.boolean()),
  /** The value; only of fields that are not sensitive. */
  value: z.optional(z.string()),
  /** Of `managed_auth`: what the field is for. */
  type: z.optional(openEnum(...fieldTypes)),
}));

/** State of an item. */
export interface VaultItemState extends z.output<typeof VaultItemState> {}
export const VaultItemState = lazyObject(() => ({
  /** As in `spec`. */
  provider: openEnum("kernel", "managed_auth"),
  /** `ready`: every required value is there; `pending_collection`: a person has to enter some; `unavailable`: the connection has no stored credential. */
  status: openEnum("pending_collection", "ready", "unavailable"),
  /** Why it is unavailable. */
  status_reason: z.optional(openEnum("connection_not_found", "no_credential", "external_credential")),
  /** State of each field by name. Lists leave it out for `managed_auth`. */
  fields: z.optional(z.record(z.string(), VaultFieldState)),
}));

/** Something that can be done with an item now. */
export interface VaultItemAbility extends z.output<typeof VaultItemAbility> {}
export const VaultItemAbility = lazyObject(() => ({
  /** `type` of the request. */
  type: z.string(),
  /** What it does and needs. */
  description: z.string(),
}));

/** What a person has to do. */
export interface VaultItemAction extends z.output<typeof VaultItemAction> {}
export const VaultItemAction = lazyObject(() => ({
  /** `collect`: enter values in a form. */
  name: openEnum("collect"),
  /** Address of the form. Anyone with it can enter values until it expires. */
  url: z.string(),
  /** When the address expires: 30 minutes after it was issued. */
  expires_at: Timestamp,
}));

/** What every item has. */
export const vaultItemFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the vault; cannot be changed. */
  key: z.string(),
  /** Its definition. */
  spec: VaultItemSpec,
  /** Its state. */
  state: VaultItemState,
  /** Operations that are possible now. */
  available_operations: z.array(VaultItemAbility),
  /** Always empty. */
  available_expansions: z.array(VaultItemAbility),
  /** Starts at 1 and grows with each change of its definition or values. */
  version: alwaysSent(z.int()),
  /** What a person has to do; absent = nothing. */
  action: z.optional(VaultItemAction),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
});

/** An item of a vault. */
export interface VaultItem extends z.output<typeof VaultItem> {}
export const VaultItem = lazyObject(() => ({
  /** Its kind. */
  type: openEnum("credential"),
  ...vaultItemFields(),
}));

const fieldDefinition = () => ({
  /** Identifies the field in the item: a letter, and up to 63 letters, digits and underscores. */
  name: FieldName(),
  /** `totp` is a Base32 secret of one-time codes; `passkey` a FIDO exchange object as JSON. */
  type: z.enum(fieldTypes),
  /** Whether the item is ready without a value; `true` when absent. */
  required: z._default(z.boolean(), true),
  /** Whether answers leave its value out; `true` when absent, and always for `password`, `totp` and `passkey`. */
  sensitive: z._default(z.boolean(), true),
  /** Text for people, one line of at most 128 bytes. */
  label: z.optional(checked(z.string(), z.minLength(1), z.maxLength(128))),
});
const Value = () => Text(16_384);
const EncryptedValue = () => Text(65_536);

/** A field that `vaults.items.update` adds. */
export interface NewVaultField extends z.input<typeof NewVaultField> {}
export const NewVaultField = lazyObject(fieldDefinition);

/** A field of a new item. */
export interface VaultFieldInput extends z.input<typeof VaultFieldInput> {}
export const VaultFieldInput = z.lazy(() =>
  checked(
    z.object({
      ...fieldDefinition(),
      /** Its value, 1 to 16,384 bytes. */
      value: z.optional(Value()),
      /** Its value as a compact JWE to the key of the vault, instead of `value`. For sensitive fields only. */
      encrypted_value: z.optional(EncryptedValue()),
    }),
    atMostOne("value", "encrypted_value"),
  ),
);

/** Definition of a new item. */
export interface VaultItemSpecInput extends z.input<typeof VaultItemSpecInput> {}
export const VaultItemSpecInput = lazyObject(() => ({
  /** Where the values are: `kernel`, in the vault; `managed_auth`, in the credential of a connection. The others are refused with 501. */
  provider: z.enum(["kernel", "managed_auth", "1password", "link", "agentcard"]),
  /** For `kernel`: 1 to 32 fields, in the order of the form. */
  fields: z.optional(checked(z.array(VaultFieldInput), z.minLength(1), z.maxLength(32))),
  /** For `managed_auth`: id of the connection whose credential it reads. */
  connection_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Text for people, at most 16,384 bytes: the title of the form, such as the name of the site. */
  description: z.optional(Text(16_384)),
  /** For `kernel`: sites of its values, each with its subdomains, up to 50. Without them, values go to the origin of the page that `fill` names. */
  sites: z.optional(Sites()),
}));

/** Input of `vaults.items.put`. */
export interface PutVaultItem extends z.input<typeof PutVaultItem> {}
export const PutVaultItem = lazyObject(() => ({
  /** `credential`; the others are refused with 501. */
  type: ItemType(),
  /** Its definition. */
  spec: VaultItemSpecInput,
}));

/** A new value of a field. */
export interface VaultFieldUpdate extends z.input<typeof VaultFieldUpdate> {}
export const VaultFieldUpdate = z.lazy(() =>
  checked(
    z.object({
      /** The value, at most 16,384 bytes; `null` or an empty text removes it from a field of type `text`, `email` or `password`. */
      value: z.optional(z.nullable(Value())),
      /** The value as a compact JWE to the key of the vault, instead of `value`. For sensitive fields only. */
      encrypted_value: z.optional(EncryptedValue()),
    }),
    exactlyOne("value", "encrypted_value"),
  ),
);

/** Changes of an item. */
export interface VaultItemSpecUpdate extends z.input<typeof VaultItemSpecUpdate> {}
export const VaultItemSpecUpdate = lazyObject(() => ({
  /** New values by name of field, also of added fields. */
  fields: z.optional(checked(z.record(FieldName(), VaultFieldUpdate), maxEntries(32, "fields"))),
  /** Fields to add, up to 32 together with the others. */
  add_fields: z.optional(checked(z.array(NewVaultField), z.maxLength(32))),
  /** Names of fields to remove with their values, before others are added. */
  remove_fields: z.optional(checked(z.array(FieldName()), z.maxLength(32))),
  /** New text for people, at most 16,384 bytes; empty removes it. */
  description: z.optional(Text(16_384)),
  /** Sites of its values, in place of the old ones; empty removes them. */
  sites: z.optional(Sites()),
}));

/** Input of `vaults.items.update`. */
export interface UpdateVaultItem extends z.input<typeof UpdateVaultItem> {}
export const UpdateVaultItem = lazyObject(() => ({
  /** `credential`; the others are refused with 501. */
  type: ItemType(),
  /** Version of the item that the change is based on; 409 for another one. */
  version: checked(z.int(), z.minimum(1), z.maximum(2_147_483_647)),
  /** 409 if the key has another item. */
  expected_item_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** The changes. */
  spec: VaultItemSpecUpdate,
}));

const waitSeconds = () => z._default(checked(z.int(), z.minimum(0), z.maximum(60)), 0);

/** Input of `vaults.items.get`. */
export interface GetVaultItem extends z.input<typeof GetVaultItem> {}
export const GetVaultItem = lazyObject(() => ({
  /** Seconds to wait until the item is ready, 0 to 60. */
  wait: waitSeconds(),
  /** Further data of cards and wallets. No item has any: 409. */
  expand: z.optional(
    checked(z.array(z.enum(["payment_methods", "link_user_info", "link_shipping_addresses"])), z.maxLength(3)),
  ),
}));

/** Input of `vaults.items.events`. */
export interface ListVaultItemEvents extends z.input<typeof ListVaultItemEvents> {}
export const ListVaultItemEvents = lazyObject(() => ({
  /** Id of the last known event. */
  after: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Seconds to wait for an event, 0 to 60. */
  wait: waitSeconds(),
}));

/** Something that happened with an item. */
export interface VaultItemEvent extends z.output<typeof VaultItemEvent> {}
export const VaultItemEvent = lazyObject(() => ({
  /** Identifies the event. */
  id: z.string(),
  /** What happened. */
  name: openEnum("created", "updated", "collection_requested", "collected", "filled", "fill_failed"),
  /** When it happened. */
  created_at: Timestamp,
  /** The session in which the item was used. */
  browser_id: z.optional(z.string()),
  /** More about it, without values: `version` after a change, `fields` and `status` of a fill. */
  data: z.optional(z.record(z.string(), z.unknown())),
}));
