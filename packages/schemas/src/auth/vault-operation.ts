import * as z from "zod/mini";
import { checkedLater } from "../base/rules.ts";
import { checked, lazyObject, openEnum, openUnion } from "../base/schema.ts";
import { vaultItemFields } from "./vault-item.ts";

/** A field of an item, and the element that gets its value. */
export interface VaultFillField extends z.input<typeof VaultFillField> {}
export const VaultFillField = lazyObject(() => ({
  /** Name of the field. For `totp` the element gets a one-time code. */
  field: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** CSS selector of exactly one `<input>` of the page and its frames. */
  selector: checked(z.string(), z.minLength(1), z.maxLength(8192)),
  /** Of cards. */
  format: z.optional(z.enum(["MM/YY", "MM/YYYY"])),
}));

/** Input of `vaults.items.operate`. */
export interface OperateVaultItem extends z.input<typeof OperateVaultItem> {}
export const OperateVaultItem = z.lazy(() =>
  checked(
    z.object({
      /** The operation, one of `available_operations`. Only `collect` and `fill` are available; the others are refused with 501. */
      type: z.enum([
        "collect",
        "fill",
        "arm_passkey",
        "register_passkey",
        "disarm_passkey",
        "webmcp_invoke",
        "authorize",
        "restart_verification",
        "confirm_transaction",
        "prepare_checkout",
        "1pw_create_access_request",
        "1pw_access_request_status",
        "1pw_fill",
        "1pw_recover",
        "1pw_update_access_token",
      ]),
      /** For `fill`: id of a session that was created with the vault. */
      browser_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** For `fill`: 1 to 32 fields with their elements, filled in this order. */
      fields: z.optional(checked(z.array(VaultFillField), z.minLength(1), z.maxLength(32))),
      /** For `fill`: the exact address of the page. It may be absent if the session has exactly one page; an item without sites then trusts that page. */
      page_url: z.optional(checked(z.string(), z.minLength(1), z.maxLength(8192))),
      /** Ignored: a fill has no time limit. */
      timeout_ms: z.optional(z.int()),
    }),
    checkedLater<object>({
      keywords: {
        if: { properties: { type: { const: "fill" } }, required: ["type"] },
        then: { required: ["browser_id", "fields"] },
      },
    }),
  ),
);

/** Result of one field of a fill. */
export interface VaultFilledField extends z.output<typeof VaultFilledField> {}
export const VaultFilledField = lazyObject(() => ({
  /** Position in the request. */
  index: z.int(),
  /** `filled`: the element got the value; `unknown`: it may have. */
  status: openEnum("filled", "failed", "unknown", "not_attempted"),
  /** Why it failed. */
  error_code: z.optional(
    openEnum(
      "target_changed",
      "element_not_found",
      "ambiguous_selector",
      "element_not_editable",
      "option_not_found",
      "timeout",
      "execution_failed",
    ),
  ),
}));

/** Result of `fill`. */
export interface VaultFill extends z.output<typeof VaultFill> {}
export const VaultFill = lazyObject(() => ({
  /** Always `fill`. */
  type: z.literal("fill"),
  /** `failed`: a field failed, and later ones were not attempted; `unknown`: a value may be in the page. */
  status: openEnum("completed", "failed", "unknown"),
  /** One result for each field of the request. */
  fields: z.array(VaultFilledField),
}));

/** The item after `collect`. */
export interface VaultCredentialItem extends z.output<typeof VaultCredentialItem> {}
export const VaultCredentialItem = lazyObject(() => ({
  /** Always `credential`. */
  type: z.literal("credential"),
  ...vaultItemFields(),
}));

/** Result of `vaults.items.operate`: the item after `collect`, or the result of `fill`. */
export const VaultItemOperation = z.lazy(() => openUnion("type", { credential: VaultCredentialItem, fill: VaultFill }));
export type VaultItemOperation = z.output<typeof VaultItemOperation>;
