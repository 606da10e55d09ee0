import type { QueryKey } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useAction } from "../action.ts";
import type { RowAction } from "./row-menu.tsx";

interface DeletionOptions {
  /** `key`. */
  readonly kind: string;
  readonly name: string;
  /** What else the deletion changes. */
  readonly text: string;
  readonly act: () => PromiseLike<unknown>;
  readonly done?: () => unknown;
  readonly changes: readonly QueryKey[];
}

/** Returns the entry of a row's menu that deletes the resource after a question. */
export function useDeletion({ kind, name, text, act, done, changes }: DeletionOptions): RowAction {
  const { mutate } = useAction<void, unknown>({
    act,
    told: () => `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${name} was deleted.`,
    done,
    changes,
  });
  return {
    label: "Delete",
    icon: Trash2,
    isDangerous: true,
    run: mutate,
    confirm: { title: `Delete ${kind} ${name}?`, text, action: `Delete the ${kind}` },
  };
}
