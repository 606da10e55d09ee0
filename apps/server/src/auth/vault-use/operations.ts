import type { operateVaultItem } from "@shoal/contract";
import { outsidePolicy, vaultItemOfOthers, vaultOperationUnavailable } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { OperateVaultItem } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Access } from "../../http/auth/access.ts";
import type { ItemFills } from "./item-fills.ts";
import { mayChange, shownTo, type VaultParts } from "../vaults/handlers.ts";

type Asked = z.output<typeof OperateVaultItem>["type"];

/** Of credentials of the vault; all others are operations of cards, wallets and accounts. */
const unavailable: Readonly<Partial<Record<Asked, string>>> = {
  arm_passkey: "every client of the browser could read the private key there",
  register_passkey: "every client of the browser could read the private key there",
  disarm_passkey: "every client of the browser could read the private key there",
  webmcp_invoke: "the answer of a page's tool can contain the values",
};

export function operationHandlers(
  parts: VaultParts,
  fills: ItemFills,
): Handlers<{ operateVaultItem: typeof operateVaultItem }, Access> {
  const { collections, items, vaults } = parts;
  return {
    async operateVaultItem(call) {
      const { body, context, params } = call;
      const vault = await vaults.existing(context.projectId, params.id_or_name);
      const row = await items.rows.existing(vault.id, params.key);
      if (body.type === "fill") return fills.fill(call, { vault, row });
      if (body.type !== "collect") throw notHere(body.type);
      if (row.definition.provider !== "kernel") throw ServiceError.of(vaultOperationUnavailable(body.type));
      // The form changes the item.
      if (!mayChange(context, vault)) throw ServiceError.of(outsidePolicy("vaults.items.operate", "body.type"));
      const linked = await collections.requested(row, context.key.id);
      return { ...(await shownTo(parts, context, { vault, row: linked })), type: "credential" };
    },
  };
}

function notHere(type: Asked): ServiceError {
  const reason = unavailable[type];
  if (reason === undefined) return ServiceError.of(vaultItemOfOthers("body.type", `the operation ${type}`));
  return new ServiceError(501, "not_implemented", `${type} is not available: ${reason}`, {
    field: "body.type",
    hint: "Read available_operations of the item.",
  });
}
