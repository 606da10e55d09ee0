import { invalid, type Refusal, staleVaultItem } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { UpdateVaultItem, VaultField } from "@shoal/schemas";
import type * as z from "zod/mini";
import {
  isCollected,
  type OwnDefinition,
  requireDescription,
  requireFieldList,
  requireFields,
  requireSites,
  requireValue,
} from "./item-definition.ts";
import type { ItemRow } from "./item-rows.ts";
import type { ReadValue } from "./item-values.ts";

/**
 * Checks a change of an item.
 * @param read - returns the text of a value.
 * @throws {ServiceError} 400, 409 for another version or item, and for items without own values.
 */
export async function changedFields(
  row: ItemRow,
  { expected_item_id: expectedId, spec, version }: z.output<typeof UpdateVaultItem>,
  read: ReadValue,
): Promise<{ definition: OwnDefinition; removed: readonly string[]; values: Readonly<Record<string, string>> }> {
  if (expectedId !== undefined && expectedId !== row.id) throw anotherItem(row.key);
  const { definition } = row;
  if (definition.provider !== "kernel") throw withoutValues();
  if (version !== row.version) throw ServiceError.of(staleVaultItem(row.version));
  const fields = fieldsAfter(definition.fields, spec);
  const { removed, values } = await valuesOf(fields, spec.fields ?? {}, read);
  const { description, sites, ...kept } = definition;
  const newDescription = spec.description === undefined ? description : requireDescription(spec.description);
  const newSites = spec.sites === undefined ? sites : requireSites(spec.sites);
  return {
    definition: {
      ...kept,
      fields,
      ...(newDescription !== undefined && { description: newDescription }),
      ...(newSites !== undefined && { sites: newSites }),
    },
    removed: [...(spec.remove_fields ?? []), ...removed],
    values,
  };
}

function fieldsAfter(
  fields: readonly VaultField[],
  { add_fields: added = [], remove_fields: removed = [] }: z.output<typeof UpdateVaultItem>["spec"],
): VaultField[] {
  const unknown = removed.findIndex((name) => !fields.some((field) => field.name === name));
  if (unknown !== -1)
    throw ServiceError.of(invalid(`body.spec.remove_fields[${String(unknown)}]`, "the item has no such field"));
  const after = [
    ...fields.filter(({ name }) => !removed.includes(name)),
    ...requireFields(added, "body.spec.add_fields"),
  ];
  requireFieldList(after, added.length > 0 ? "body.spec.add_fields" : "body.spec.remove_fields");
  return after;
}

async function valuesOf(
  fields: readonly VaultField[],
  given: NonNullable<z.output<typeof UpdateVaultItem>["spec"]["fields"]>,
  read: ReadValue,
) {
  const values: Record<string, string> = {};
  const removed: string[] = [];
  for (const [name, update] of Object.entries(given)) {
    const path = `body.spec.fields.${name}`;
    const field = fields.find((each) => each.name === name);
    if (field === undefined) throw ServiceError.of(invalid(path, "the item has no such field"));
    const value = await read(update, { path, sensitive: field.sensitive });
    if (value === undefined || value === "") {
      if (!isCollected(field)) throw ServiceError.of(notCleared(path, field.type));
      removed.push(name);
    } else {
      const part = update.encrypted_value === undefined ? "value" : "encrypted_value";
      requireValue(field.type, value, `${path}.${part}`);
      values[name] = value;
    }
  }
  return { values, removed };
}

/** A client may send an empty text for a field that it did not fill, and a lost seed cannot be entered again. */
function notCleared(path: string, type: string): Refusal {
  return invalid(path, `a value of type ${type} cannot be removed alone`, {
    hint: "Remove the field with remove_fields, or send its new value.",
  });
}

function anotherItem(key: string): ServiceError {
  return new ServiceError(409, "conflict", `the key ${key} has another item now`, {
    field: "body.expected_item_id",
    hint: "Get the item again.",
  });
}

function withoutValues(): ServiceError {
  return new ServiceError(409, "conflict", "The item stores no values: it reads those of its connection.", {
    hint: "Change the credential of the connection with credentials.update.",
  });
}
